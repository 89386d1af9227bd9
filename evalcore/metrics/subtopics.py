"""What documents add to a ranking whose judgments name subtopics, given what stands above them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from evalcore.arrays import FloatArray, IntArray, Offsets
from evalcore.metrics.discounts import powers
from evalcore.rankings import JudgedRankings
from evalcore.segments import index_in_segment, offsets_of, running_count, segment_count, segment_sum

Weigh: TypeAlias = Callable[[IntArray], FloatArray]
"""What is left of a gain at these ranks."""
NEGLIGIBLE_BITS = 70


@dataclass(frozen=True, slots=True)
class Relevant:
    """The entries of ``subtopics`` that are relevant, and how often each subtopic of each ranking has one.

    rankings     (n_entries,)   index of the ranking
    subtopics    (n_entries,)   index of the subtopic, another one in each ranking; one without a relevant
                                document has none
    documents    (n_entries,)   index of the document, likewise; in a ranking they rise with the id
    ranks        (n_entries,)   rank of the document; 0 = not retrieved
    above        (n_entries,)   relevant documents of the subtopic that stand higher, where it is retrieved
    n_subtopics  (n_rankings,)
    """

    rankings: IntArray
    subtopics: IntArray
    documents: IntArray
    ranks: IntArray
    above: IntArray
    n_subtopics: IntArray

    def found(self, cutoff: int | None) -> IntArray:
        """The entries whose document has a rank up to the cutoff, as indices."""
        retrieved = self.ranks > 0
        return np.flatnonzero(retrieved if cutoff is None else retrieved & (self.ranks <= cutoff))


def relevant(rankings: JudgedRankings, min_grade: float) -> Relevant:
    """Those of at least this grade."""
    return rankings.once(("relevant subtopics", min_grade), lambda: _relevant(rankings, min_grade))


def _relevant(rankings: JudgedRankings, min_grade: float) -> Relevant:
    entries = rankings.need("subtopics")
    kept = np.flatnonzero(entries.values >= min_grade)
    of_ranking = np.repeat(np.arange(len(rankings)), np.diff(entries.offsets))[kept]
    ranks = rankings.ranks_of("subtopics")[kept]
    owners, subtopics = _indices(of_ranking, entries.groups[kept])
    _, documents = _indices(of_ranking, entries.documents[kept])
    by_rank = np.lexsort((np.where(ranks > 0, ranks, np.iinfo(np.int64).max), subtopics))
    above = np.empty(len(kept), dtype=np.int64)
    above[by_rank] = index_in_segment(offsets_of(np.bincount(subtopics)))
    return Relevant(of_ranking, subtopics, documents, ranks, above, np.bincount(owners, minlength=len(rankings)))


def _indices(rankings: IntArray, codes: IntArray) -> tuple[IntArray, IntArray]:
    """The ranking of each pair of ranking and code, rising, and of each entry the index of its pair."""
    most = codes.max(initial=0) + 1
    pairs, which = np.unique(rankings * most + codes, return_inverse=True)
    return pairs // most, which


@dataclass(frozen=True, slots=True)
class Gains:
    """The relevant documents of each ranking, and what each adds to those above it.

    ranks     (n_documents,) from 1, rising within a ranking
    values    (n_documents,)
    offsets   (n_rankings + 1,)
    """

    ranks: IntArray
    values: FloatArray
    offsets: Offsets

    def total(self, weigh: Weigh, cutoff: int | None) -> FloatArray:
        """Sum of value times weight over the ranks up to the cutoff.  (n_rankings,)"""
        starts, stops = self.offsets[:-1], self.offsets[1:]
        if cutoff is not None:
            stops = starts + segment_count(self.ranks <= cutoff, self.offsets)
        return segment_sum(self.values * weigh(self.ranks), starts, stops)


def novel_gains(rankings: JudgedRankings, alpha: float, min_grade: float) -> Gains:
    """A document adds for each of its subtopics (1 - alpha) to the number of higher documents that have it."""
    return rankings.once(("novel gains", alpha, min_grade), lambda: _novel_gains(rankings, alpha, min_grade))


def _novel_gains(rankings: JudgedRankings, alpha: float, min_grade: float) -> Gains:
    all_relevant = relevant(rankings, min_grade)
    found = all_relevant.found(None)
    above, ranks = all_relevant.above[found], all_relevant.ranks[found]
    deepest = ranks.max(initial=0) + 1
    hits, which = np.unique(all_relevant.rankings[found] * deepest + ranks, return_inverse=True)
    gains = np.bincount(which, weights=powers(1 - alpha, above.max(initial=0) + 1)[above], minlength=len(hits)).astype(
        np.float64
    )
    return Gains(hits % deepest, gains, np.searchsorted(hits // deepest, np.arange(len(rankings) + 1)))


def greedy_gains(rankings: JudgedRankings, alpha: float, min_grade: float, cutoff: int | None) -> Gains:
    """As `novel_gains`, of the ranking that at each rank takes the judged document that adds most.

    Of documents that add as much it takes the one with the greatest id.
    """
    key = ("greedy gains", alpha, min_grade, cutoff)
    return rankings.once(key, lambda: _greedy_gains(rankings, alpha, min_grade, cutoff))


def _greedy_gains(rankings: JudgedRankings, alpha: float, min_grade: float, cutoff: int | None) -> Gains:
    entries = relevant(rankings, min_grade)
    documents, subtopics = entries.documents, entries.subtopics
    owners = np.zeros(documents.max(initial=-1) + 1, dtype=np.int64)  # the ranking of each document that is left
    owners[documents] = entries.rankings
    worth = np.ones(subtopics.max(initial=-1) + 1)  # what a subtopic adds next
    chosen_of, chosen_gains = [np.empty(0, dtype=np.int64)], [np.empty(0)]
    while len(owners) and (cutoff is None or len(chosen_of) <= cutoff):
        gains = np.bincount(documents, weights=worth[subtopics], minlength=len(owners))
        starts = np.flatnonzero(np.append(True, owners[1:] != owners[:-1]))
        stops = np.append(starts[1:], len(owners))
        most = np.maximum.reduceat(gains, starts)
        is_most = gains == np.repeat(most, stops - starts)
        chosen = np.flatnonzero(is_most)[running_count(is_most)[stops] - 1]
        chosen_of.append(owners[chosen])
        chosen_gains.append(most)
        left = np.ones(len(owners), dtype=bool)
        left[chosen] = False
        stays = left[documents]
        worth[subtopics[~stays]] *= 1 - alpha
        documents, subtopics, owners = running_count(left)[documents[stays]], subtopics[stays], owners[left]
    taken = np.concatenate(chosen_of)
    by_ranking = np.argsort(taken, kind="stable")
    offsets = offsets_of(np.bincount(taken, minlength=len(rankings)))
    return Gains(index_in_segment(offsets) + 1, np.concatenate(chosen_gains)[by_ranking], offsets)


def negligible_rank(alpha: float) -> float:
    """The rank from which (1 - alpha) to the rank is too small to change a sum that began with 1."""
    if alpha in (0, 1):
        return math.inf if alpha == 0 else 1.0
    return NEGLIGIBLE_BITS * math.log(2) / -math.log1p(-alpha) + 1
