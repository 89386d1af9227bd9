"""nDCG averaged over several ranks of one ranking, as trec_eval does: where the ideal changes, or where gains are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from evalcore.arrays import FloatArray, IntArray, Offsets
from evalcore.metrics.base import Facts
from evalcore.metrics.discounts import LOG2, Discount
from evalcore.metrics.gain import check_parts
from evalcore.metrics.gained import ROUNDING, gainers, mean_of_runs, tie_runs_of
from evalcore.metrics.gains import LINEAR, Gain
from evalcore.metrics.top_k import ratio
from evalcore.rankings import JudgedRankings
from evalcore.segments import accumulate, index_in_segment, running_count, segment_sum


@dataclass(frozen=True, slots=True, kw_only=True)
class RNDCG:
    """nDCG averaged over the ranks where the gain of the best ranking falls, and the end of the ranking.

        Rndcg = mean of nDCG@c over the ranks c

    With 5 documents of gain 3, 3 of gain 2 and 10 of gain 1 the ranks are 5, 8 and 18. The whole ranking
    counts as one more if at least two documents stand below the last of those; a ranking longer by one
    has it not, as in trec_eval. Range 0 to 1. An unjudged document and a negative grade gain 0. Undefined
    for a query where no judged document gains anything.

    Source: trec_eval ``Rndcg``.

    >>> RNDCG().per_query(JudgedRankings.from_lists(retrieved=[[1, 2]], judged=[[2, 1]])).round(4)
    array([0.6799])
    """

    FACTS: ClassVar[Facts] = Facts(needs_relevant=True, linear=True, monotone=True, shared_ranks=True)
    gain: Gain = LINEAR
    discount: Discount = LOG2
    cutoff: ClassVar[None] = None

    def __post_init__(self) -> None:
        check_parts(self)

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,), NaN where nothing can be gained."""
        hits = gainers(rankings, "retrieved", self.gain)
        owner = np.repeat(np.arange(len(rankings)), np.diff(hits.offsets))
        return self._mean(rankings, hits.grades * self._weights(rankings, hits.ranks, owner), hits.offsets)

    def expected(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,), NaN where nothing can be gained."""
        offsets = rankings.retrieved.offsets
        ranks, owner = index_in_segment(offsets) + 1, np.repeat(np.arange(len(rankings)), np.diff(offsets))
        hits = gainers(rankings, "retrieved", self.gain)
        runs, run = tie_runs_of(rankings, hits)
        weights = mean_of_runs(self._weights(rankings, ranks, owner), runs)[run]
        return self._mean(rankings, hits.grades * weights, hits.offsets)

    def _mean(self, rankings: JudgedRankings, worth: FloatArray, offsets: Offsets) -> FloatArray:
        value = segment_sum(worth, offsets[:-1], offsets[1:])
        value[np.abs(value - 1) < ROUNDING] = 1  # weights are rounded
        value[np.diff(gainers(rankings, "judged", self.gain).offsets) == 0] = np.nan
        return value

    def _weights(self, rankings: JudgedRankings, ranks: IntArray | FloatArray, owner: IntArray) -> FloatArray:
        """What a gain at this rank of its ranking adds to the mean.  (n,)"""
        depths, shares, offsets = rankings.once(("points", self), lambda: self._points(rankings))
        # the sum of the shares of the points at this rank and below
        below = np.append(accumulate(np.add, shares[::-1], offsets[-1] - offsets[::-1])[::-1], 0.0)
        deepest = 1 + max(depths.max(initial=0), int(np.ceil(ranks.max(initial=0))))
        places = np.repeat(np.arange(len(rankings)), np.diff(offsets)) * deepest + depths
        point = np.searchsorted(places, owner * deepest + np.ceil(ranks).astype(np.int64))
        return np.where(point < offsets[1:][owner], below[point], 0.0) * self.discount(ranks)

    def _points(self, rankings: JudgedRankings) -> tuple[IntArray, FloatArray, Offsets]:
        """The ranks that are averaged over, with the share of a discounted gain in the mean there."""
        best, lengths = gainers(rankings, "judged", self.gain), rankings.retrieved.lengths
        gains, offsets = best.grades, best.offsets
        ranks = index_in_segment(offsets) + 1
        ideal = accumulate(np.add, gains * self.discount(ranks), offsets)
        n_best = np.diff(offsets)
        last = ranks == np.repeat(n_best, n_best)
        falls = last.copy()
        falls[:-1] |= gains[1:] < gains[:-1]
        whole = np.repeat(lengths > n_best + 1, n_best) & last
        points = np.repeat(np.arange(len(gains)), falls.astype(np.int64) + whole)
        depths = ranks[points]
        added = np.flatnonzero(np.diff(points, prepend=-1) == 0)  # the second of those that stand for two
        depths[added] = np.repeat(lengths, n_best)[points[added]]
        counts = (running_count(falls) + running_count(whole))[offsets]
        return depths, 1 / (ideal[points] * np.repeat(np.diff(counts), np.diff(counts))), counts


@dataclass(frozen=True, slots=True, kw_only=True)
class NDCGRel:
    """nDCG averaged over the documents that gain something.

        nDCG_rel = sum over documents that gain, at ranks r, of nDCG@r / judged documents that gain

    One that is not retrieved counts with the nDCG of the whole ranking. Range 0 to 1. An unjudged document
    and a negative grade gain 0. Undefined for a query where no judged document gains anything.

    Source: trec_eval ``ndcg_rel``.

    >>> NDCGRel().per_query(JudgedRankings.from_lists(retrieved=[[0, 1]], judged=[[1]])).round(4)
    array([0.6309])
    """

    FACTS: ClassVar[Facts] = Facts(needs_relevant=True, monotone=True)
    gain: Gain = LINEAR
    discount: Discount = LOG2
    cutoff: ClassVar[None] = None

    def __post_init__(self) -> None:
        check_parts(self)

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,), NaN where nothing can be gained."""
        hits, best = (gainers(rankings, side, self.gain) for side in ("retrieved", "judged"))
        found, ideal = (
            accumulate(np.add, each.grades * self.discount(each.ranks), each.offsets) for each in (hits, best)
        )
        n_hits, n_best = np.diff(hits.offsets), np.diff(best.offsets)
        depths = np.minimum(hits.ranks, np.repeat(n_best, n_hits))
        values = ratio(found, ideal[np.repeat(best.offsets[:-1], n_hits) + depths - 1], otherwise=np.nan)
        total = segment_sum(values, hits.offsets[:-1], hits.offsets[1:])
        missed = (n_hits > 0) & (n_best > n_hits)
        at_end = found[hits.offsets[1:][missed] - 1] / ideal[best.offsets[1:][missed] - 1]
        total[missed] += (n_best - n_hits)[missed] * at_end
        return ratio(total, n_best, otherwise=np.nan)
