"""What metrics that read scores share: the judged documents by score, and the pairs of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from evalcore.arrays import AnyArray, FloatArray, IntArray, Offsets
from evalcore.rankings import JudgedRankings
from evalcore.segments import index_in_segment, offsets_of, running_count, segment_sum, sort_segments

PAIRS_AT_ONCE = 2**17
"""Enough that a loop costs nothing, and few enough to stay in the processor's cache."""


@dataclass(frozen=True, slots=True)
class Scored:
    """The judged documents of each ranking: highest score first, of equal scores highest grade first.

    So nothing computed from them depends on the order in which tied documents came.

    scores    (n_documents,)    -inf where the system gave NaN or an infinite number: tied, behind all others
    grades    (n_documents,)    none NaN
    offsets   (n_rankings + 1,)
    """

    scores: FloatArray
    grades: FloatArray
    offsets: Offsets

    @classmethod
    def of(cls, rankings: JudgedRankings) -> Scored:
        """Those of these rankings, put in order once for all metrics."""
        return rankings.once("scored", lambda: cls._of(rankings))

    @classmethod
    def _of(cls, rankings: JudgedRankings) -> Scored:
        judged = ~np.isnan(rankings.retrieved.values)
        kept = rankings.retrieved.kept(judged)
        scores = rankings.need("scores")[judged]
        scores = np.where(np.isfinite(scores), scores, -np.inf)
        by_grade = sort_segments(-kept.values, kept.offsets)
        order = by_grade[sort_segments(-scores[by_grade], kept.offsets)]
        return cls(scores[order], kept.values[order], kept.offsets)

    @property
    def lengths(self) -> IntArray:
        """(n_rankings,)"""
        return np.diff(self.offsets)

    @property
    def numbers(self) -> FloatArray:
        """The scores as numbers to reckon with: NaN where there is none.  (n_documents,)"""
        return np.where(np.isfinite(self.scores), self.scores, np.nan)


def total(values: AnyArray, offsets: Offsets) -> FloatArray:
    """Sum of each segment.  (n_items,) -> (n_segments,)"""
    return segment_sum(values.astype(np.float64, copy=False), offsets[:-1], offsets[1:])


def each(per_segment: AnyArray, offsets: Offsets) -> AnyArray:
    """What is true of a segment, for each of its items.  (n_segments,) -> (n_items,)"""
    return np.repeat(per_segment, np.diff(offsets))


def runs_of(offsets: Offsets, *columns: AnyArray) -> Offsets:
    """Where each run of neighbours that are alike begins, and the end of the last; none spans two segments.

    columns   (n_items,) alike are items that are equal in every column

    >>> runs_of(np.array([0, 3, 4]), np.array([5, 5, 2, 2]))
    array([0, 2, 3, 4])
    """
    starts = np.zeros(int(offsets[-1]), dtype=bool)
    for column in columns:
        starts[1:] |= column[1:] != column[:-1]
    starts[offsets[:-1][np.diff(offsets) > 0]] = True
    return np.append(np.flatnonzero(starts), len(starts))


def n_alike(runs: Offsets, offsets: Offsets) -> FloatArray:
    """How many pairs of items stand in one run.  (n_segments,)"""
    return total(index_in_segment(runs), offsets)  # 0 + 1 + ... + (size - 1) = size * (size - 1) / 2


def out_of_order(values: FloatArray | IntArray, offsets: Offsets) -> tuple[IntArray, IntArray]:
    """With how many before it and with how many behind it an item is out of falling order.  (n_items,) each

    Those before it that are less, and those behind it that are greater:

        values  3 1 2 2 | 1 1      before  0 0 1 1 0 0      behind  0 2 0 0 0 0

    A radix sort of all segments at once, highest bit first: items that agree in the bits seen so far stand
    together in their first order, and the next bit says which of them are out of order. The work grows with
    the logarithm of the number of distinct values of a segment.
    """
    order = sort_segments(values, offsets)
    runs = runs_of(offsets, values[order])
    n_runs = np.diff(np.searchsorted(runs, offsets))
    codes = np.empty(len(values), dtype=np.int64)  # the values of a segment as 0, 1, 2 …
    codes[order] = each(index_in_segment(offsets_of(n_runs)), runs)
    before, behind = np.zeros_like(codes), np.zeros_like(codes)
    items, groups = np.arange(len(codes)), offsets
    for bit in reversed(range(int(codes.max(initial=0)).bit_length())):
        high = (codes[items] >> bit & 1).astype(bool)
        n_high = running_count(high)
        starts, ends = each(groups[:-1], groups), each(groups[1:], groups)
        highs_before = n_high[:-1] - n_high[starts]
        lows_before = np.arange(len(items)) - starts - highs_before
        before[items[high]] += lows_before[high]
        behind[items[~high]] += (n_high[ends] - n_high[:-1])[~high]
        n_low = np.diff(groups) - np.diff(n_high[groups])
        moved = np.empty_like(items)
        moved[starts + np.where(high, each(n_low, groups) + highs_before, lows_before)] = items
        split = np.column_stack([groups[:-1], groups[:-1] + n_low]).ravel()
        items, groups = moved, np.append(split[np.diff(split, append=len(items)) > 0], len(items))
    return before, behind


@dataclass(frozen=True, slots=True)
class PairCounts:
    """How many pairs of judged documents of a ranking are of each kind.  (n_rankings,) whole numbers each

    right   the higher grade has the higher score
    wrong   the higher grade has the lower score
    tied    grades differ, scores do not
    level   scores differ, grades do not
    """

    right: FloatArray
    wrong: FloatArray
    tied: FloatArray
    level: FloatArray

    @classmethod
    def of(cls, rankings: JudgedRankings, min_grade: float | None = None) -> PairCounts:
        """Of the grades, or of relevant and not relevant."""
        return rankings.once(("pair counts", min_grade), lambda: cls._of(Scored.of(rankings), min_grade))

    @classmethod
    def _of(cls, scored: Scored, min_grade: float | None) -> PairCounts:
        offsets, lengths = scored.offsets, scored.lengths
        grades = scored.grades if min_grade is None else (scored.grades >= min_grade).astype(np.float64)
        before, _ = out_of_order(grades, offsets)
        same_score = n_alike(runs_of(offsets, scored.scores), offsets)
        same_grade = n_alike(runs_of(offsets, grades[sort_segments(grades, offsets)]), offsets)
        same_both = n_alike(runs_of(offsets, scored.scores, grades), offsets)
        wrong = total(before, offsets)
        in_all = lengths * (lengths - 1) / 2
        return cls(
            right=in_all - same_score - same_grade + same_both - wrong,
            wrong=wrong,
            tied=same_score - same_both,
            level=same_grade - same_both,
        )


def sums_over_pairs(
    grades: FloatArray, offsets: Offsets, loss: Callable[[IntArray, IntArray], FloatArray]
) -> tuple[FloatArray, FloatArray]:
    """The sum of a loss over all pairs of documents with different grades, and how many pairs there are.

    grades   (n_documents,) best first within each ranking
    loss     (n_pairs,) from the indices of the better documents and of the worse ones

    Takes memory for `PAIRS_AT_ONCE` pairs, or as many as the longest ranking has documents.  (n_rankings,) each
    """
    runs = runs_of(offsets, grades)
    worse_from = each(runs[1:], runs)  # with the best first, all from there to the end of the ranking are worse
    counts = each(offsets[1:], offsets) - worse_from
    block = offsets_of(counts)[:-1] // PAIRS_AT_ONCE
    cuts = [0, *(np.flatnonzero(np.diff(block)) + 1).tolist(), len(grades)]
    sums = np.zeros(len(grades))
    for start, stop in pairwise(cuts):
        edges = offsets_of(counts[start:stop])
        better = each(np.arange(start, stop), edges)
        worse = worse_from[better] + index_in_segment(edges)
        sums[start:stop] = total(loss(better, worse), edges)
    return total(sums, offsets), total(counts, offsets)


def softplus(x: FloatArray) -> FloatArray:
    """log(1 + exp(x)), without overflow."""
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))
