"""Runs and judgments as mappings from queries, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import replace
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from evalcore.errors import DataError
from evalcore.given import numbers, texts
from evalcore.ids import Ids
from evalcore.listed import Listed
from evalcore.segments import index_in_segment
from evalcore.texts import Texts

Run: TypeAlias = Mapping[Any, Mapping[Any, float] | Sequence[tuple[Any, float]] | Sequence[Any]]
"""query -> {document: score}, or [(document, score), ...], or the documents alone, best first."""
Qrels: TypeAlias = Mapping[Any, Mapping[Any, float] | Mapping[Any, Mapping[Any, float]] | Collection[Any]]
"""query -> {document: grade}, or {document: {subtopic: grade}}, or the relevant documents alone."""


def run_of(answers: Mapping[str, Any], queries: Sequence[str], *, whose: str) -> Listed:
    """The answers to these queries.  Raises DataError for what is no ranking, no id or no number."""
    documents: list[Any] = []
    scores: list[Any] = []
    ends = [0]
    for query in queries:
        answer = answers.get(query, ())
        if isinstance(answer, Mapping):
            documents += answer
            scores += answer.values()
        elif isinstance(answer, (str, bytes, Set)) or not isinstance(answer, Collection):
            raise DataError(f"query {query} of {whose}: {answer!r} is no ranking of documents")
        else:
            rows = list(answer)
            if rows and isinstance(rows[0], (tuple, list)):
                try:
                    scores += [score for _, score in rows]
                    rows = [document for document, _ in rows]
                except (TypeError, ValueError):
                    raise DataError(f"query {query} of {whose}: not all rows are (document, score)") from None
            documents += rows
        ends.append(len(documents))
    if scores and len(scores) < len(documents):
        raise DataError(f"some queries of {whose} give scores and others documents alone; give all of them one way")
    found = _listed(whose, queries, ends, texts(documents, f"document of {whose}"))
    unscored = not scores and bool(documents)
    return found if unscored else replace(found, values=numbers(scores, found.place))


def judgments_of(qrels: Mapping[str, Any], *, whose: str = "the judgments", what: str = "the grade") -> Listed:
    """Raises DataError for what is no judgment, and for a document that is judged twice.

    what   what the numbers are: "the grade"
    """
    documents: list[Any] = []
    values: list[Any] = []
    ends = [0]
    for query, given in qrels.items():
        if isinstance(given, (str, bytes)) or not isinstance(given, Collection):
            raise DataError(f"query {query} of {whose}: {given!r} is no collection of documents")
        documents += given
        values += given.values() if isinstance(given, Mapping) else [1.0] * len(given)
        ends.append(len(documents))
    ids = texts(documents, f"document of {whose}")
    if ids is not documents:  # not all are texts, so that two may have become one
        for query, start, stop in zip(qrels, ends[:-1], ends[1:], strict=True):
            if len(set(ids[start:stop])) < stop - start and isinstance(qrels[query], Mapping):
                raise DataError(f"query {query} of {whose}: a document is there as a number and as the text of it")
    groups = None
    if any(issubclass(kind, Mapping) for kind in set(map(type, values))):
        ids, values, ends, groups = _by_group(ids, values, ends)
    found = _listed(whose, list(qrels), ends, ids, groups)
    return replace(found, values=numbers(values, found.place_of(what)))


def _by_group(
    documents: Sequence[str], values: Sequence[Any], ends: Sequence[int]
) -> tuple[list[str], list[Any], list[int], list[str]]:
    """A row for each grade of a document that has several, and its group; a grade alone is of one without a name."""
    rows: list[tuple[str, Any, str]] = []
    bounds = [0]
    for start, stop in pairwise(ends):
        for document, value in zip(documents[start:stop], values[start:stop], strict=True):
            by_group = value if isinstance(value, Mapping) else {"": value}
            rows += [(document, grade, str(group)) for group, grade in by_group.items()]
        bounds.append(len(rows))
    return [row[0] for row in rows], [row[1] for row in rows], bounds, [row[2] for row in rows]


def _listed(
    whose: str, queries: Sequence[str], ends: Sequence[int], documents: list[str], groups: list[str] | None = None
) -> Listed:
    offsets = np.array(ends, dtype=np.int64)
    return Listed(
        whose,
        list(queries),
        offsets,
        Ids(Texts.of(documents)),
        None,
        ranks=index_in_segment(offsets).astype(np.float64) + 1,
        groups=None if groups is None else Ids(Texts.of(groups)),
    )
