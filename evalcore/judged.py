"""Judgments, one grade a document, and what they say of the documents of rankings."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evalcore.arrays import BoolArray, FloatArray, IntArray, Offsets
from evalcore.entries import Entries, group_codes
from evalcore.errors import DataError
from evalcore.given import few
from evalcore.listed import Listed
from evalcore.ranked import Ranked
from evalcore.rankings import Grades, JudgedRankings
from evalcore.segments import index_in_segment, segment_count, sort_segments
from evalcore.texts import ODD, Texts


@dataclass(frozen=True, slots=True)
class Judged:
    """Values of documents of queries.

    offsets    (n_queries + 1,)
    documents  (n_documents,) codes, each once in a query and rising there
    values     (n_documents,) grades or propensities; of several groups of a document the greatest
    rows       the judgments of which a document may have several, one for each group
    """

    offsets: Offsets
    documents: IntArray
    values: FloatArray
    rows: Entries

    @classmethod
    def of(cls, listed: Listed, documents: IntArray, *, what: str) -> Judged:
        """Raises DataError for values of one document that differ.

        documents   (n_rows,) codes
        what        what the values are: "grade"
        """
        given = np.ones(len(documents)) if listed.values is None else listed.values
        names, groups = [""], np.zeros(len(documents), dtype=np.int64)
        if listed.groups is not None:
            names, groups = listed.groups.appearing()
            places = {name: place for place, name in enumerate(sorted(names))}
            groups = np.array([places[name] for name in names], dtype=np.int64)[groups]
        order = sort_segments(documents, listed.offsets, stable=False)
        first = _first(documents[order], listed.offsets)
        if not first.all():
            order = np.lexsort((groups, documents, _segment(listed.offsets)))
            first = _first(documents[order], listed.offsets)
        new = first.copy()
        new[1:] |= groups[order][1:] != groups[order][:-1]
        other = np.flatnonzero(~new)
        differ = other[given[order[other]] != given[order[other - 1]]]
        if len(differ):
            examples = few([listed.place(row) for row in order[differ[:4]].tolist()])
            raise DataError(f"{len(differ)} documents are judged again with another {what}: {examples}")
        known = group_codes(names)
        codes = np.array([known[name] for name in sorted(names)], dtype=np.int64)
        rows, first = order[new], first[new]
        offsets = np.append(0, np.cumsum(segment_count(new, listed.offsets)))
        values = given[rows]
        return cls(
            offsets=np.append(0, np.cumsum(segment_count(first, offsets))),
            documents=documents[rows[first]],
            values=values if first.all() else np.maximum.reduceat(values, np.flatnonzero(first)),
            rows=Entries(documents[rows], codes[groups[rows]], values, offsets),
        )

    @property
    def several(self) -> bool:
        """Whether a document has judgments of several groups."""
        return len(self.rows.documents) > len(self.documents)

    def find(self, documents: IntArray, offsets: Offsets) -> FloatArray:
        """The values of some documents of each query, NaN where there is none.  (n_documents,)"""
        found = np.full(len(documents), np.nan)
        if not len(self.documents) or not len(documents):
            return found
        most = 1 + max(documents.max(), self.documents.max())
        here = _segment(self.offsets) * most + self.documents
        wanted = _segment(offsets) * most + documents
        rows = np.flatnonzero(_perhaps(here, wanted))
        place = np.minimum(np.searchsorted(here, wanted[rows]), len(here) - 1)
        there = here[place] == wanted[rows]
        found[rows[there]] = self.values[place[there]]
        return found


def judged_rankings(
    ranked: Ranked,
    judged: Judged,
    texts: Texts,
    *,
    needs: frozenset[str],
    reference: Ranked | None,
    propensities: Judged | None,
) -> JudgedRankings:
    """The rankings with the judgments of their queries, and with what metrics need beside grades.

    texts   of the codes of documents
    """
    looked_at = of_judged = None
    best_first = sort_segments(-judged.values, judged.offsets, stable=False)
    if propensities is not None:
        looked_at = propensities.find(ranked.documents, ranked.offsets)
        chances = propensities.find(judged.documents, judged.offsets)
        by_chance = sort_segments(-chances, judged.offsets)  # so that no order of rows shows in a sum
        best_first = by_chance[sort_segments(-judged.values[by_chance], judged.offsets)]
        of_judged = chances[best_first]
    documents = entries = other = None
    if "documents" in needs:
        documents, entries, other = _by_text(ranked, judged.rows, reference, texts)
    return JudgedRankings(
        retrieved=Grades(judged.find(ranked.documents, ranked.offsets), ranked.offsets),
        judged=Grades(judged.values[best_first], judged.offsets),
        propensities=looked_at,
        judged_propensities=of_judged,
        scores=ranked.scores if "scores" in needs else None,
        documents=documents,
        subtopics=entries if needs & {"subtopics", "preferences"} else None,
        preferences=entries if needs & {"subtopics", "preferences"} else None,
        reference=other,
    )


def _by_text(
    ranked: Ranked, rows: Entries, reference: Ranked | None, texts: Texts
) -> tuple[IntArray, Entries, Entries | None]:
    """Documents as codes in the order of their texts, and entries in that order."""
    theirs = np.empty(0, dtype=np.int64) if reference is None else reference.documents
    present = np.unique(np.concatenate([ranked.documents, rows.documents, theirs]))
    codes = np.empty(len(texts), dtype=np.int64)
    codes[present] = texts.taken(present).order()
    order = np.lexsort((codes[rows.documents], _segment(rows.offsets)))  # groups stay in the order of their texts
    entries = Entries(codes[rows.documents[order]], rows.groups[order], rows.values[order], rows.offsets)
    other = None
    if reference is not None:
        ranks = (index_in_segment(reference.offsets) + 1).astype(np.float64)
        other = Entries(codes[theirs], np.zeros(len(theirs), dtype=np.int64), ranks, reference.offsets)
    return codes[ranked.documents], entries, other


def _segment(offsets: Offsets) -> IntArray:
    """The segment of each item.  (n_items,)"""
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


def _perhaps(here: IntArray, wanted: IntArray) -> BoolArray:
    """False only where a key is not here: most of what is returned is not judged, and need not be searched for.

    here, wanted   (n,), (n_wanted,) keys from 0
    """
    bits = (16 * len(here)).bit_length()
    table = np.zeros(1 << bits, dtype=bool)
    table[_slots(here, bits)] = True
    return table[_slots(wanted, bits)]


def _slots(keys: IntArray, bits: int) -> IntArray:
    return (keys.view(np.uint64) * ODD[0] >> np.uint64(64 - bits)).view(np.int64)


def _first(codes: IntArray, offsets: Offsets) -> BoolArray:
    """Whether a code is not that of the item before it in the segment.  (n_items,)"""
    first = np.ones(len(codes), dtype=bool)
    first[1:] = codes[1:] != codes[:-1]
    first[offsets[:-1][np.diff(offsets) > 0]] = True
    return first
