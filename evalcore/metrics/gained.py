"""Sums of gains over ranks: what the metrics of gain.py and its neighbours are made of."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

from evalcore.arrays import FloatArray, IntArray, Offsets
from evalcore.metrics.discounts import Discount
from evalcore.metrics.gains import Gain
from evalcore.metrics.top_k import ratio
from evalcore.rankings import Hits, JudgedRankings
from evalcore.segments import index_in_segment, running_count, segment_count, segment_sum, sort_segments

Side: TypeAlias = Literal["retrieved", "judged", "best"]
"""Which documents: the retrieved ones as they stand; the judged or (``best``) the retrieved ones, best first."""

ROUNDING = 1e-12


def discounted_gain(
    rankings: JudgedRankings,
    side: Side,
    gain: Gain,
    discount: Discount,
    *,
    min_grade: float | None = None,
    cutoff: int | None = None,
) -> FloatArray:
    """Sum of gain * discount over the first ranks.  (n_rankings,)"""
    hits = _gainful(rankings, side, gain, min_grade)
    counts = rankings.once(("n_gainful", side, gain.of_any_grade, min_grade, cutoff), lambda: hits.counts(cutoff))

    def worth() -> FloatArray:
        return _gains_in_order(hits, side, gain) * discount(hits.ranks)

    starts = hits.offsets[:-1]
    return segment_sum(rankings.once(("worth", side, gain, discount, min_grade), worth), starts, starts + counts)


def expected_gain(
    rankings: JudgedRankings,
    gain: Gain,
    discount: Discount,
    *,
    min_grade: float | None = None,
    cutoff: int | None = None,
) -> FloatArray:
    """The mean of the discounted gain over all orders of tied documents.  (n_rankings,)"""
    hits = _gainful(rankings, "retrieved", gain, min_grade)
    return expected_sum(rankings, hits, gain(hits.grades), discount, cutoff)


def expected_sum(
    rankings: JudgedRankings, hits: Hits, gains: FloatArray, discount: Discount, cutoff: int | None
) -> FloatArray:
    """The mean, over all orders of tied documents, of the sum of these gains discounted by rank.  (n_rankings,)

    Each gain has the mean discount of the ranks of its run.
    """

    def weights() -> FloatArray:
        ranks = index_in_segment(rankings.retrieved.offsets) + 1
        return mean_of_runs(weights_by_rank(ranks, discount, cutoff), runs)

    places = _places(rankings, hits)
    runs, run = tie_runs_of(rankings, hits)
    first_ranks = hits.ranks - (places - runs[run])
    counts = hits.counts(None) if cutoff is None else segment_count(first_ranks <= cutoff, hits.offsets)
    means = rankings.once(("mean weights", discount, cutoff), weights)
    starts = hits.offsets[:-1]
    return segment_sum(gains * means[run], starts, starts + counts)


def weights_by_rank(ranks: IntArray | FloatArray, discount: Discount, cutoff: int | None) -> FloatArray:
    """The discount, 0 below the cutoff.  (n,)"""
    weights = discount(ranks)
    return weights if cutoff is None else np.where(ranks <= cutoff, weights, 0.0)


def gainers(rankings: JudgedRankings, side: Side, gain: Gain, min_grade: float | None = None) -> Hits:
    """The documents that gain something; their `grades` are gains."""

    def found() -> Hits:
        hits = _gainful(rankings, side, gain, min_grade)
        gains = _gains_in_order(hits, side, gain)
        keep = gains > 0
        return Hits(hits.ranks[keep], gains[keep], running_count(keep)[hits.offsets])

    return rankings.once(("gainers", side, gain, min_grade), found)


def share(found: FloatArray, best: FloatArray) -> FloatArray:
    """One sum of gains over another, NaN where that is 0.  (n,)"""
    return no_more_than_one(ratio(found, best, otherwise=np.nan))


def no_more_than_one(value: FloatArray) -> FloatArray:
    """Without the last bits above 1 that come of adding the same numbers in two orders.  (n,)"""
    value[(value > 1) & (value < 1 + ROUNDING)] = 1
    return value


def mean_of_runs(weights: FloatArray, runs: Offsets) -> FloatArray:
    """The mean weight of the documents of each run of ties.  (n_documents,) -> (n_runs,)"""
    return segment_sum(weights, runs[:-1], runs[1:]) / np.diff(runs)


def tie_runs_of(rankings: JudgedRankings, hits: Hits) -> tuple[Offsets, IntArray]:
    """Where runs of ties begin, and the run of each of these retrieved documents.  (n_runs + 1,), (n_hits,)"""
    runs = rankings.need("tie_runs")
    return runs, np.searchsorted(runs, _places(rankings, hits), side="right") - 1


def _places(rankings: JudgedRankings, hits: Hits) -> IntArray:
    """(n_hits,) indices into the values of the retrieved documents"""
    return hits.ranks.astype(np.int64) - 1 + np.repeat(rankings.retrieved.offsets[:-1], np.diff(hits.offsets))


def _gains_in_order(hits: Hits, side: Side, gain: Gain) -> FloatArray:
    gains = gain(hits.grades)
    if side != "retrieved" and gain.table:  # best grade first need not be best gain first
        gains = gains[sort_segments(-gains, hits.offsets)]
    return gains


def _gainful(rankings: JudgedRankings, side: Side, gain: Gain, min_grade: float | None) -> Hits:
    """The documents that can gain anything, for all gains that see grades of 0 and less or do not."""

    def find() -> Hits:
        grades = rankings.judged if side == "judged" else rankings.retrieved
        wanted = ~np.isnan(grades.values) if gain.of_any_grade else grades.values > 0
        if min_grade is not None:
            wanted &= grades.values >= min_grade
        if side == "judged":
            return Hits.among(grades, wanted)
        hits = rankings.hits(wanted)
        if side == "retrieved":
            return hits
        best_first = sort_segments(-hits.grades, hits.offsets)
        return Hits(index_in_segment(hits.offsets) + 1, hits.grades[best_first], hits.offsets)

    return rankings.once(("gainful", side, gain.of_any_grade, min_grade), find)
