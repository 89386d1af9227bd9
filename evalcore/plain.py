"""Plain mappings of runs and judgments -> JudgedRankings."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import chain, islice, repeat
from typing import Any, TypeAlias

import numpy as np

from evalcore.arrays import AnyArray, BoolArray, FloatArray, IntArray, Offsets
from evalcore.conventions import TIES_BY_SCORE, Conventions
from evalcore.entries import Rows, coded
from evalcore.errors import DataError
from evalcore.given import Place, few, finite, numbers, texts
from evalcore.ordering import random_keys, rank_order, tie_runs
from evalcore.rankings import Grades, JudgedRankings
from evalcore.segments import index_in_segment, offsets_of, running_count, sort_segments

Run: TypeAlias = Mapping[Any, Mapping[Any, float] | Sequence[tuple[Any, float]] | Sequence[Any]]
"""query -> {document: score}, or [(document, score), ...], or the documents alone, best first."""
Qrels: TypeAlias = Mapping[Any, Mapping[Any, float] | Mapping[Any, Mapping[Any, float]] | Collection[Any]]
"""query -> {document: grade}, or {document: {subtopic: grade}}, or the relevant documents alone."""
Judged: TypeAlias = dict[str, dict[str, float]]
"""query -> document -> grade, of its subtopics the best."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """What a run returned, each query's documents in rank order.

    documents  n_documents ids
    scores     (n_documents,) as given, else what falls with the rank
    offsets    (n_queries + 1,)
    scored     whether scores were given
    """

    documents: list[str]
    scores: FloatArray
    offsets: Offsets
    scored: bool

    @classmethod
    def of(
        cls, queries: Sequence[str], answers: Mapping[str, Any], conventions: Conventions, *, whose: str = "the run"
    ) -> Ranked:
        """The answers to these queries.  Raises DataError for what cannot be and what the conventions refuse."""
        documents, given, offsets = _flat(queries, answers, whose)

        def place(index: int) -> str:
            query = queries[int(np.searchsorted(offsets, index, side="right")) - 1]
            return f"query {query} of {whose}, document {documents[index]}"

        scored = given is not None
        scores = -index_in_segment(offsets).astype(np.float64) if given is None else numbers(given, place)
        if conventions.non_finite_score == "error" and conventions.ties != "rank_column":
            finite(scores, place, unless=", and non_finite_score is error")
        keep = _one_each(documents, scores, offsets, conventions, place)
        found = cls(documents, scores, offsets, scored)
        if keep is not None:
            found = found._taken(np.flatnonzero(keep), running_count(keep)[offsets])
        if scored and conventions.ties != "rank_column":
            keys = _keys(queries, found, conventions)
            order = rank_order(found.scores, found.offsets, doc_ids=keys, conventions=conventions)
            found = found._taken(order, found.offsets)
        return found if conventions.depth == "auto" else found._cut(conventions.depth, conventions)

    def _taken(self, indices: IntArray, offsets: Offsets) -> Ranked:
        documents = [self.documents[index] for index in indices.tolist()]
        return Ranked(documents, self.scores[indices], offsets, self.scored)

    def _cut(self, depth: int, conventions: Conventions) -> Ranked:
        """Up to the depth; of documents that are tied there all, if the tie rule is to look at them all."""
        index = index_in_segment(self.offsets)
        if conventions.ties in TIES_BY_SCORE:
            runs = tie_runs(self.scores, self.offsets, conventions)
            index = np.repeat(index[runs[:-1]], np.diff(runs))
        keep = index < depth
        return self._taken(np.flatnonzero(keep), running_count(keep)[self.offsets])


def _flat(
    queries: Sequence[str], answers: Mapping[str, Any], whose: str
) -> tuple[list[str], list[Any] | None, Offsets]:
    """All documents query by query, and their scores; None if no query comes with scores."""
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
    unscored = not scores and bool(documents)
    return texts(documents, f"document of {whose}"), None if unscored else scores, np.array(ends, dtype=np.int64)


def _one_each(
    documents: Sequence[str], scores: FloatArray, offsets: Offsets, conventions: Conventions, place: Place
) -> BoolArray | None:
    """Which to keep so that no query has a document twice; None for all."""
    if conventions.duplicates == "counted":
        return None
    spans = list(zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True))
    repeated = [(start, stop) for start, stop in spans if len(set(documents[start:stop])) < stop - start]
    if not repeated:
        return None
    keep = np.ones(len(documents), dtype=bool)
    ranked = np.where(np.isfinite(scores), scores, -np.inf)
    extra: list[int] = []
    for start, stop in repeated:
        chosen: dict[str, int] = {}
        for index in range(start, stop):
            known = chosen.setdefault(documents[index], index)
            if known != index:
                extra.append(index)
                better = conventions.duplicates == "best_score" and ranked[index] > ranked[known]
                if better or conventions.duplicates == "last":
                    chosen[documents[index]] = index
        keep[start:stop] = False
        keep[list(chosen.values())] = True
    if conventions.duplicates == "error":
        examples = few([place(index) for index in extra[:4]])
        raise DataError(f"{len(extra)} documents are returned again, and duplicates is error: {examples}")
    return keep


def _keys(queries: Sequence[str], found: Ranked, conventions: Conventions) -> AnyArray | None:
    """What breaks ties."""
    if conventions.ties == "input_order":
        return None
    if conventions.ties == "random":
        of_query = chain.from_iterable(map(repeat, queries, np.diff(found.offsets).tolist()))
        return random_keys(list(of_query), found.documents)
    return np.array(found.documents, dtype=object)


def judged_of(qrels: Mapping[str, Any]) -> Judged:
    """Raises DataError for what is no judgment, and for a document that is judged twice."""
    found = {query: _judged(query, given) for query, given in qrels.items()}
    values = list(chain.from_iterable(grades.values() for grades in found.values()))

    def place(index: int) -> str:
        flat = ((query, document) for query, grades in found.items() for document in grades)
        return "the grade of query {}, document {}".format(*next(islice(flat, index, None)))

    finite(numbers(values, place), place)
    return found


def _judged(query: str, given: Any) -> dict[str, Any]:  # noqa: ANN401 (a value of Qrels)
    if isinstance(given, (str, bytes)) or not isinstance(given, Collection):
        raise DataError(f"query {query} of the judgments: {given!r} is no collection of documents")
    ids = texts(list(given), f"query {query} of the judgments: document")
    if not isinstance(given, Mapping):
        return dict.fromkeys(ids, 1.0)
    found = dict(zip(ids, given.values(), strict=True))
    if len(found) < len(ids):
        raise DataError(f"query {query} of the judgments: a document is there as a number and as the text of it")
    if any(isinstance(value, Mapping) for value in found.values()):
        return {document: _best(query, document, value) for document, value in found.items() if value != {}}
    return found


def _best(query: str, document: str, value: Any) -> float:  # noqa: ANN401 (a grade, or those of subtopics)
    grades = list(value.values()) if isinstance(value, Mapping) else [value]
    return float(numbers(grades, lambda _: f"a grade of query {query}, document {document}").max())


def judged_rankings(
    queries: Sequence[str],
    ranked: Ranked,
    judged: Judged,
    *,
    qrels: Mapping[str, Any],
    needs: frozenset[str],
    reference: Ranked | None,
    propensities: Judged | None,
) -> JudgedRankings:
    """The rankings with the judgments of their queries, and with what metrics need beside grades.

    qrels   what `judged` was made from, for the grades of single subtopics
    """
    nothing: dict[str, float] = {}
    known = [judged.get(query, nothing) for query in queries]
    offsets = offsets_of([len(grades) for grades in known])
    values = np.fromiter(
        chain.from_iterable(grades.values() for grades in known), dtype=np.float64, count=int(offsets[-1])
    )
    shown = _rows(ranked) if "documents" in needs else None
    entries = _by_subtopic(queries, qrels) if needs & {"subtopics", "preferences"} else None
    theirs = None if reference is None else _rows(reference)
    documents, by_subtopic, other = coded(shown, entries, theirs)
    best_first = sort_segments(-values, offsets)
    looked_at = of_judged = None
    if propensities is not None:
        chances = [propensities.get(query, nothing) for query in queries]
        looked_at = _of_retrieved(ranked, chances)
        each = (map(chance.get, grades, repeat(np.nan)) for chance, grades in zip(chances, known, strict=True))
        of_judged = np.fromiter(chain.from_iterable(each), dtype=np.float64, count=len(values))[best_first]
    return JudgedRankings(
        retrieved=Grades(_of_retrieved(ranked, known), ranked.offsets),
        judged=Grades(values[best_first], offsets),
        propensities=looked_at,
        judged_propensities=of_judged,
        scores=ranked.scores if "scores" in needs else None,
        documents=None if documents is None else documents.documents,
        subtopics=by_subtopic,
        preferences=by_subtopic,
        reference=other,
    )


def _of_retrieved(ranked: Ranked, known: Sequence[Mapping[str, float]]) -> FloatArray:
    """What is known of each returned document, NaN where nothing is.  (n_documents,)"""
    bounds = zip(ranked.offsets[:-1].tolist(), ranked.offsets[1:].tolist(), known, strict=True)
    found = chain.from_iterable(
        map(of_query.get, ranked.documents[start:stop], repeat(np.nan)) for start, stop, of_query in bounds
    )
    return np.fromiter(found, dtype=np.float64, count=len(ranked.documents))


def _rows(ranked: Ranked) -> Rows:
    """(document, no group, rank) of each query."""
    bounds = zip(ranked.offsets[:-1].tolist(), ranked.offsets[1:].tolist(), strict=True)
    return [
        [(document, "", float(rank)) for rank, document in enumerate(ranked.documents[start:stop], start=1)]
        for start, stop in bounds
    ]


def _by_subtopic(queries: Sequence[str], qrels: Mapping[str, Any]) -> Rows:
    """(document, subtopic, grade) of each query, sorted; a grade without subtopic is of one that has no name."""
    found = []
    for query in queries:
        given = qrels.get(query, {})
        judged = given if isinstance(given, Mapping) else dict.fromkeys(given, 1.0)
        grades = [(each, value if isinstance(value, Mapping) else {"": value}) for each, value in judged.items()]
        found.append(sorted((str(each), str(subtopic), grade) for each, by in grades for subtopic, grade in by.items()))
    return found
