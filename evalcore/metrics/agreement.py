"""How far the order of the scores agrees with that of the grades: rank correlations."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import numpy as np

from evalcore.arrays import FloatArray, IntArray, Offsets
from evalcore.errors import MetricNameError, unknown
from evalcore.metrics.base import Facts
from evalcore.metrics.scored import PairCounts, Scored, each, out_of_order, runs_of, total
from evalcore.metrics.top_k import ratio
from evalcore.rankings import JudgedRankings
from evalcore.segments import index_in_segment, sort_segments

Variant = Literal["b", "a"]

OF_SCORES = Facts(low=-1.0, empty=math.nan, needs=frozenset({"scores"}), order_free=True)


def correlation(x: FloatArray, y: FloatArray, offsets: Offsets) -> FloatArray:
    """Pearson's, of numbers whose mean is 0 in each segment.  (n_segments,), NaN where one is constant"""
    size = np.sqrt(total(x * x, offsets) * total(y * y, offsets))
    return np.clip(ratio(total(x * y, offsets), size, otherwise=np.nan), -1, 1)


def centred_ranks(runs: Offsets, offsets: Offsets) -> FloatArray:
    """Twice the mean rank of each item's run, less twice the mean of all ranks: a whole number.  (n_items,)"""
    sizes = np.diff(runs)
    before = each(runs[:-1], runs) - each(offsets[:-1], offsets)
    return (2 * before + each(sizes, runs) - each(np.diff(offsets), offsets)).astype(np.float64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spearman:
    """Rank correlation of scores and grades.

        Spearman = Pearson's correlation of the ranks by score and the ranks by grade

    Range -1 to 1. Tied documents have the mean of their ranks, on either side. Unjudged documents are left
    out before ranks are given. Undefined for fewer than two judged documents, and where all their scores or
    all their grades are the same.

    Source: Spearman 1904, doi:10.2307/1412159; scipy ``spearmanr``.

    >>> rankings = JudgedRankings.from_lists(retrieved=[[1, 2, 0]], judged=[[2, 1, 0]], scores=[[0.9, 0.5, 0.1]])
    >>> Spearman().per_query(rankings)
    array([0.5])
    """

    FACTS: ClassVar[Facts] = OF_SCORES
    cutoff: ClassVar[None] = None

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,), NaN where one side has no order."""
        scored = Scored.of(rankings)
        offsets = scored.offsets
        of_scores = centred_ranks(runs_of(offsets, scored.scores), offsets)
        by_grade = sort_segments(-scored.grades, offsets)
        of_grades = np.empty(len(by_grade))
        of_grades[by_grade] = centred_ranks(runs_of(offsets, scored.grades[by_grade]), offsets)
        return correlation(of_scores, of_grades, offsets)


@dataclass(frozen=True, slots=True, kw_only=True)
class KendallTau:
    """Pairs of documents in the order of their grades, less pairs against it, as a share of pairs.

        KendallTau            = (right - wrong) / sqrt(pairs with different scores * pairs with different grades)
        KendallTau(variant=a) = (right - wrong) / all pairs

    Range -1 to 1. Right is a pair where the higher grade has the higher score; a pair that is tied on either
    side is neither right nor wrong. Pairs are of judged documents; unjudged ones are left out. Undefined for
    fewer than two judged documents and where all their grades are the same; variant b also where all their
    scores are.

    Source: Kendall 1938, doi:10.1093/biomet/30.1-2.81 (a); Kendall 1945, doi:10.1093/biomet/33.3.239 (b);
    scipy ``kendalltau`` (b).

    >>> rankings = JudgedRankings.from_lists(retrieved=[[1, 2, 0]], judged=[[2, 1, 0]], scores=[[0.9, 0.5, 0.1]])
    >>> KendallTau().per_query(rankings).round(4)
    array([0.3333])
    """

    FACTS: ClassVar[Facts] = OF_SCORES
    variant: Variant = "b"
    cutoff: ClassVar[None] = None

    def __post_init__(self) -> None:
        if self.variant not in get_args(Variant):
            raise MetricNameError(unknown("variant", str(self.variant), get_args(Variant)))

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,), NaN where a side has no order."""
        pairs = PairCounts.of(rankings)
        of_grades = pairs.right + pairs.wrong + pairs.tied
        of_scores = pairs.right + pairs.wrong + pairs.level
        below = np.sqrt(of_grades * of_scores)
        if self.variant == "a":
            lengths = Scored.of(rankings).lengths
            below = np.where(of_grades > 0, lengths * (lengths - 1) / 2, 0.0)
        return ratio(pairs.right - pairs.wrong, below, otherwise=np.nan)


@dataclass(frozen=True, slots=True, kw_only=True)
class TauAP:
    """Kendall's tau with more weight on the top: how much of what stands above a document belongs there.

        TauAP = 2 / (n - 1) * sum over ranks r = 2 … n of right(r) / (r - 1)  -  1

    where right(r) counts the documents above rank r with a higher grade than the one there, half for an equal
    grade. Range -1 to 1. Ranks are those by score among the judged documents; unjudged ones are left out. Of
    tied scores it is the mean over all orders, so a system that gives one score to all has 0. Undefined for
    fewer than two judged documents and where all their grades are the same.

    Source: Yilmaz, Aslam & Robertson 2008, doi:10.1145/1390334.1390435; for tied scores Urbano & Marrero 2017,
    ICTIR (tau_AP,a).

    >>> rankings = JudgedRankings.from_lists(retrieved=[[1, 2, 0]], judged=[[2, 1, 0]], scores=[[0.9, 0.5, 0.1]])
    >>> TauAP().per_query(rankings)
    array([0.])
    """

    FACTS: ClassVar[Facts] = OF_SCORES
    cutoff: ClassVar[None] = None

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,), NaN where grades give no order."""
        scored = Scored.of(rankings)
        offsets, lengths = scored.offsets, scored.lengths
        tied, alike = runs_of(offsets, scored.scores), runs_of(offsets, scored.scores, scored.grades)
        by_grade = sort_segments(-scored.grades, offsets)
        grade_runs = runs_of(offsets, scored.grades[by_grade])
        equal_above = np.empty(len(by_grade), dtype=np.int64)
        equal_above[by_grade] = index_in_segment(grade_runs)
        equal_above -= index_in_segment(alike)
        lower_above, _ = _out_of_order(rankings)
        above = each(tied[:-1], tied) - each(offsets[:-1], offsets)
        # twice the right ones above the run; in the mean over its orders, a pair within it is right by half
        of_run = total(2 * (above - lower_above) - equal_above, tied) / np.diff(tied)
        right = each(of_run, tied) + index_in_segment(tied)
        found = total(right / 2 / np.maximum(index_in_segment(offsets), 1), offsets)
        has_order = np.diff(np.searchsorted(grade_runs, offsets)) > 1
        return ratio(2 * found, np.where(has_order, lengths - 1, 0), otherwise=np.nan) - 1


def _out_of_order(rankings: JudgedRankings) -> tuple[IntArray, IntArray]:
    """With how many above it and below it a judged document is in the wrong order.  (n_documents,) each"""
    scored = Scored.of(rankings)
    return rankings.once("out of order", lambda: out_of_order(scored.grades, scored.offsets))


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightedTau:
    """Kendall's tau where a pair weighs the more, the nearer the top its documents stand.

        <x, y>      = sum over pairs of sign(x_i - x_j) * sign(y_i - y_j) * (1 / r_i + 1 / r_j)
        WeightedTau = <score, grade> / sqrt(<score, score> * <grade, grade>)

    Range -1 to 1. The mean of two such values: with ranks r by score, tied ones by grade, and with ranks by
    grade, tied ones by score. Pairs are of judged documents; unjudged ones are left out. Undefined for fewer
    than two judged documents, and where all their scores or all their grades are the same.

    Source: Vigna 2015, doi:10.1145/2736277.2741088; scipy ``weightedtau`` with its defaults.

    >>> rankings = JudgedRankings.from_lists(retrieved=[[1, 2, 0]], judged=[[2, 1, 0]], scores=[[0.9, 0.5, 0.1]])
    >>> WeightedTau().per_query(rankings).round(4)
    array([0.1818])
    """

    FACTS: ClassVar[Facts] = OF_SCORES
    cutoff: ClassVar[None] = None

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,), NaN where one side has no order."""
        scored = Scored.of(rankings)
        offsets = scored.offsets
        by_grade = sort_segments(-scored.grades, offsets)
        same_grade = np.empty(len(by_grade), dtype=np.int64)
        same_grade[by_grade] = _sizes(runs_of(offsets, scored.grades[by_grade]))
        same_score = _sizes(runs_of(offsets, scored.scores))
        same_both = _sizes(runs_of(offsets, scored.scores, scored.grades))
        lengths = each(scored.lengths, offsets)
        before, behind = _out_of_order(rankings)
        # with how many others a document is in the right order, less those with which it is in the wrong one
        surplus = lengths - same_score - same_grade + same_both - 2 * (before + behind)
        index = index_in_segment(offsets)
        by_rank = np.empty_like(index)
        by_rank[by_grade] = index
        values = np.zeros(len(rankings))
        for weight in (1 / (index + 1), 1 / (by_rank + 1)):
            scores, grades = (total(weight * (lengths - same), offsets) for same in (same_score, same_grade))
            values += ratio(total(weight * surplus, offsets), np.sqrt(scores * grades), otherwise=np.nan) / 2
        return np.clip(values, -1, 1)


def _sizes(runs: Offsets) -> IntArray:
    """How many items the run of each item holds.  (n_items,)"""
    return each(np.diff(runs), runs)
