"""How far unjudged documents could move DCG and nDCG."""

from __future__ import annotations

from typing import Literal

import numpy as np

from evalcore.arrays import FloatArray, IntArray
from evalcore.metrics.discounts import Discount
from evalcore.metrics.gained import discounted_gain, gainers, share, weights_by_rank
from evalcore.metrics.gains import Gain
from evalcore.rankings import Hits, JudgedRankings
from evalcore.segments import accumulate, index_in_segment, running_count, segment_sum


def dcg_bounds(
    rankings: JudgedRankings,
    gain: Gain,
    discount: Discount,
    min_grade: float | None,
    cutoff: int | None,
    best_grade: float,
) -> tuple[FloatArray, FloatArray]:
    """Unjudged documents gain nothing, or all of them the most."""
    low = discounted_gain(rankings, "retrieved", gain, discount, min_grade=min_grade, cutoff=cutoff)
    unknown, weights = _unknown(rankings, discount, cutoff)
    starts = unknown.offsets[:-1]
    could_add = segment_sum(weights, starts, unknown.offsets[1:])
    return low, low + gain.greatest(best_grade, min_grade) * could_add


def ndcg_bounds(
    rankings: JudgedRankings,
    values: FloatArray,
    *,
    best: Literal["judged", "best"],
    gain: Gain,
    discount: Discount,
    min_grade: float | None,
    cutoff: int | None,
    ideal_cutoff: int | None,
    best_grade: float,
) -> tuple[FloatArray, FloatArray]:
    """The least and greatest nDCG over the gains from 0 to the most that unjudged documents could have.

    nDCG is linear in the unknown gains over a convex function of them, since the ideal grows with them too:
    unjudged documents below the cutoff count. Such a quotient is least at a corner, where each document gains
    nothing or the most; of all corners with the same ideal the least has its gains in the lowest ranks.

    It is greatest at a corner or where unknown gains equal known ones: with documents of gain 1 around it, one
    of gain 1 in the right place is better than one of gain 3. Corners alone (set the best-ranked to the most)
    give no upper bound. Over levels z of gain, with n(z) known documents that gain more, D(m) the sum of the
    first m discounts, W(k) that of the discounts of the k best-ranked unjudged documents:

        DCG   = known + integral over z of W(k(z))
        ideal =         integral over z of D(n(z) + k(z)),  k(z) unjudged documents gain more than z

    For a value t that is to be exceeded, the best k(z) makes W(k) - t D(n(z) + k) greatest, for each z by
    itself; k falls as z rises, as it must. Each round takes the nDCG of that choice as the next t, until none
    is greater (Dinkelbach 1967, doi:10.1287/mnsc.13.7.492).
    """
    most = gain.greatest(best_grade, min_grade)
    found = discounted_gain(rankings, "retrieved", gain, discount, min_grade=min_grade, cutoff=cutoff)
    unknown, weights = _unknown(rankings, discount, cutoff)
    known = gainers(rankings, best, gain, min_grade)

    # for each ranking an entry for each number of unjudged documents, from none to all
    offsets = unknown.offsets + np.arange(len(rankings) + 1)
    owner = np.repeat(np.arange(len(rankings)), np.diff(offsets))
    number = index_in_segment(offsets)
    first = _sums(weights, number, offsets)
    last = _sums(weights[_reversed(unknown)], number, offsets)
    deepest = int(np.diff(unknown.offsets).max(initial=0) + np.diff(known.offsets).max(initial=0))
    ranks = np.arange(1, (deepest if ideal_cutoff is None else min(deepest, ideal_cutoff)) + 1)
    totals = np.concatenate([[0.0], np.cumsum(discount(ranks))])

    def ideal(n_documents: IntArray) -> FloatArray:
        return totals[np.minimum(n_documents, len(ranks))]

    levels, beyond = _levels(known, most, ideal(np.arange(deepest + 1)))
    at_corners = beyond[owner]
    for n_known, width in levels:
        at_corners += width[owner] * ideal(n_known[owner] + number)
    low = np.fmin.reduceat(share(found[owner] + most * last, at_corners), offsets[:-1]) if len(rankings) else values
    high = np.fmax.reduceat(share(found[owner] + most * first, at_corners), offsets[:-1]) if len(rankings) else values

    improved = ~np.isnan(high) & (np.diff(unknown.offsets) > 0)
    while improved.any():
        above, below = found.copy(), beyond.copy()
        for n_known, width in levels:
            chosen = _first_best(first - high[owner] * ideal(n_known[owner] + number), owner, offsets)
            above += width * first[chosen]
            below += width * ideal(n_known + number[chosen])
        value = share(above, below)
        improved &= value > high
        high[improved] = value[improved]
    return np.fmin(low, values), np.fmax(high, values)


def _unknown(rankings: JudgedRankings, discount: Discount, cutoff: int | None) -> tuple[Hits, FloatArray]:
    """The unjudged documents of each ranking, and the weights of their gains: 0 below the cutoff."""
    unknown = rankings.once("unjudged hits", lambda: rankings.hits(np.isnan(rankings.retrieved.values)))
    return unknown, weights_by_rank(unknown.ranks, discount, cutoff)


def _sums(weights: FloatArray, number: IntArray, offsets: IntArray) -> FloatArray:
    """The sum of the first weights of each ranking, for each number of them from none."""
    spread = np.zeros(len(number))
    spread[number > 0] = weights
    return accumulate(np.add, spread, offsets)


def _reversed(hits: Hits) -> IntArray:
    """Indices of the hits, those of each ranking backwards."""
    return np.repeat(hits.offsets[1:], np.diff(hits.offsets)) - 1 - index_in_segment(hits.offsets)


def _levels(known: Hits, most: float, ideal: FloatArray) -> tuple[list[tuple[IntArray, FloatArray]], FloatArray]:
    """The levels of gain between which the number of known documents that gain more does not change.

    Returns pairs of that number and the width of the level up to the most, (n_rankings,) each, the levels
    of each ranking from the highest down; and what the levels above the most add to the ideal.
    """
    n_rankings = len(known.offsets) - 1
    offsets = known.offsets + np.arange(n_rankings + 1)
    n_known = index_in_segment(offsets)
    tops = np.full(len(n_known), most)  # of the level above the best known document
    tops[n_known > 0] = known.grades
    floors = np.zeros(len(n_known))
    floors[:-1] = tops[1:]
    floors[offsets[1:] - 1] = 0
    above = np.where(n_known > 0, np.maximum(tops, most) - np.maximum(floors, most), 0.0)
    beyond = segment_sum(above * ideal[n_known], offsets[:-1], offsets[1:])
    widths = np.minimum(tops, most) - np.minimum(floors, most)
    wide = widths > 0
    n_known, widths, offsets = n_known[wide], widths[wide], running_count(wide)[offsets]
    levels = []
    for index in range(int(np.diff(offsets).max(initial=0))):
        here = np.diff(offsets) > index
        number, width = np.zeros(n_rankings, dtype=np.int64), np.zeros(n_rankings)
        number[here], width[here] = n_known[offsets[:-1][here] + index], widths[offsets[:-1][here] + index]
        levels.append((number, width))
    return levels, beyond


def _first_best(values: FloatArray, owner: IntArray, offsets: IntArray) -> IntArray:
    """The index of the first greatest value of each segment; none is empty.  (n_segments,)"""
    greatest = np.flatnonzero(values == np.maximum.reduceat(values, offsets[:-1])[owner])
    return greatest[np.searchsorted(greatest, offsets[:-1])]
