"""Rows of a query that name documents: judgments by subtopic, preferences, another system's ranking."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from evalcore.arrays import FloatArray, IntArray, Offsets
from evalcore.segments import offsets_of

FURTHER_LIST = 2**32
"""What the codes of two lists of preferences of one group differ by."""
Rows: TypeAlias = Sequence[Sequence[tuple[str, str, float]]]
"""(document, group, value) of each ranking."""


@dataclass(frozen=True, slots=True)
class Entries:
    """Such rows of many queries.

    documents  (n_entries,) codes of documents, those of `JudgedRankings.documents`
    groups     (n_entries,) codes of subtopics or of groups of preferences, see `group_codes`; all the same where
               there are none
    values     (n_entries,) grades or levels; of a reference ranking its ranks from 1
    offsets    (n_rankings + 1,)

    Judgments come in the order of documents, then of groups, and codes ascend as their texts do: so nothing that
    depends on an order depends on the batch.
    """

    documents: IntArray
    groups: IntArray
    values: FloatArray
    offsets: Offsets


def coded(*tables: Rows | None) -> list[Entries | None]:
    """Rows as Entries, a document having one code in all of them."""
    documents = _codes(row[0] for table in tables if table for rows in table for row in rows)
    groups = group_codes(row[1] for table in tables if table for rows in table for row in rows)
    return [None if table is None else _entries(table, documents, groups) for table in tables]


def group_codes(texts: Iterable[str]) -> dict[str, int]:
    r"""A number for each group, in the order of the texts.

    "group<TAB>list" is a list of a group: list i, in order, has the group's number + FURTHER_LIST * i.

    >>> group_codes(["b", "a", "b"]), group_codes(["a\tx", "a\ty"])["a\ty"] == FURTHER_LIST
    ({'a': 0, 'b': 1}, True)
    """
    lists: dict[str, list[str]] = {}
    for text in sorted(set(texts)):
        lists.setdefault(text.partition("\t")[0], []).append(text)
    return {
        text: group + FURTHER_LIST * place
        for group, several in enumerate(lists.values())
        for place, text in enumerate(several)
    }


def _codes(texts: Iterable[str]) -> dict[str, int]:
    """A number for each text, in the order of the texts."""
    return {text: code for code, text in enumerate(sorted(set(texts)))}


def _entries(table: Rows, documents: Mapping[str, int], groups: Mapping[str, int]) -> Entries:
    rows = [row for each in table for row in each]
    return Entries(
        documents=np.array([documents[document] for document, _, _ in rows], dtype=np.int64),
        groups=np.array([groups[group] for _, group, _ in rows], dtype=np.int64),
        values=np.array([value for _, _, value in rows], dtype=np.float64),
        offsets=offsets_of([len(each) for each in table]),
    )
