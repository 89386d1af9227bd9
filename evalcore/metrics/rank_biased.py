"""What is found by a reader who goes on from each rank with some probability: RBP, its residual, INST."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from evalcore.arrays import FloatArray, IntArray
from evalcore.errors import MetricNameError
from evalcore.metrics.base import Facts, check_cutoff, check_grade
from evalcore.metrics.discounts import powers
from evalcore.rankings import Hits, JudgedRankings
from evalcore.segments import accumulate, segment_sum

SMALLEST_T = 0.5


def _check(metric: RBP | RBPResidual) -> None:
    check_cutoff(metric.cutoff)
    if not 0 < metric.persistence < 1:
        raise MetricNameError(f"p is {metric.persistence!r}; it must be above 0 and below 1")


def _check_gain(metric: RBP | INST) -> None:
    check_grade(metric.min_grade)
    if metric.max_grade is not None and not 0 < metric.max_grade < math.inf:
        raise MetricNameError(f"max is {metric.max_grade!r}; it must be a finite number above 0")


def _gain(metric: RBP | INST, grades: FloatArray) -> FloatArray:
    """From 0 to 1; NaN gains 0.  (n,)"""
    relevant = grades >= metric.min_grade
    if metric.max_grade is None:
        return relevant.astype(np.float64)
    return np.where(relevant, np.clip(grades, 0, metric.max_grade), 0.0) / metric.max_grade


def _chance(persistence: float, ranks: IntArray | FloatArray) -> FloatArray:
    """(1 - p) p^(rank - 1), how likely it is that the document at this rank is the last one seen.  (n,)"""
    if ranks.dtype != np.int64:  # shared ranks: halves and other fractions
        distinct, which = np.unique(ranks, return_inverse=True)
        return np.asarray((1 - persistence) * persistence ** (distinct - 1))[which]
    return (1 - persistence) * powers(persistence, int(ranks.max(initial=0)))[ranks - 1]


@dataclass(frozen=True, slots=True, kw_only=True)
class RBP:
    """Rank-biased precision: what a reader gains who goes on from each rank with probability p.

        RBP@c = (1 - p) * sum over ranks r <= c of p^(r - 1) * gain(grade at r)

    Range 0 to 1: a ranking without an end and all of it of the best grade would have 1, the first c ranks
    have at most 1 - p^c. ``p`` is 0.8, 0.5 for impatient readers, 0.95 for patient ones. Documents of a
    grade of at least ``rel`` gain 1, or with ``max`` the share min(grade, max) / max; unjudged ones gain 0.
    So this is the base: what is not known could add up to `RBPResidual`, and the value lies in the
    interval [base, base + residual]. Its bounds leave out what was not retrieved: they are the base, and the
    base with the best gain for each unjudged document up to the cutoff. Defined for every query.

    Source: Moffat & Zobel 2008, doi:10.1145/1416950.1416952.

    >>> RBP(persistence=0.5).per_query(JudgedRankings.from_lists(retrieved=[[1, 0, 1]], judged=[[1, 1, 0]]))
    array([0.625])
    """

    FACTS: ClassVar[Facts] = Facts(linear=True, monotone=True, shared_ranks=True)
    persistence: float = 0.8
    min_grade: float = 1
    max_grade: float | None = None
    cutoff: int | None = None

    def __post_init__(self) -> None:
        _check(self)
        _check_gain(self)

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,)."""
        hits = rankings.relevant(self.min_grade)
        starts = hits.offsets[:-1]
        found = _gain(self, hits.grades) * _chance(self.persistence, hits.ranks)
        return segment_sum(found, starts, starts + rankings.n_hits(self.min_grade, self.cutoff))

    def expected(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,)."""
        return _expected(self, rankings, _gain(self, rankings.retrieved.values))

    def bounds(self, rankings: JudgedRankings, *, best_grade: float) -> tuple[FloatArray, FloatArray]:
        """The base, and the base with the best gain of every unjudged document that was retrieved."""
        worst, best = _gain(self, np.array([0.0, best_grade]))
        base, open_ = self.per_query(rankings), _unjudged(self, rankings)
        return base + worst * open_, base + max(worst, best) * open_


@dataclass(frozen=True, slots=True, kw_only=True)
class RBPResidual:
    """How much RBP could grow if every document without a judgment turned out to be of the best grade.

        RBPResidual@c = (1 - p) * sum over unjudged documents at ranks r <= d of p^(r - 1)  +  p^d
        d = min(c, documents retrieved)

    Range 0 to 1. The first part is of unjudged documents, the second of all ranks below the last one that is
    counted. The value lies in the interval [RBP@c, RBP@c + RBPResidual@c]. Defined for every query: 1 for an
    empty ranking, of which nothing is known.

    Source: Moffat & Zobel 2008, doi:10.1145/1416950.1416952.

    >>> RBPResidual(persistence=0.5).per_query(JudgedRankings.from_lists(retrieved=[[1, None]], judged=[[1]]))
    array([0.5])
    """

    FACTS: ClassVar[Facts] = Facts(empty=1.0, higher_is_better=None, linear=True, shared_ranks=True)
    persistence: float = 0.8
    cutoff: int | None = None

    def __post_init__(self) -> None:
        _check(self)

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,)."""
        return _unjudged(self, rankings) + self._below(rankings)

    def expected(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,)."""
        gains = np.isnan(rankings.retrieved.values).astype(np.float64)
        return _expected(self, rankings, gains) + self._below(rankings)

    def _below(self, rankings: JudgedRankings) -> FloatArray:
        seen = rankings.retrieved.lengths
        if self.cutoff is not None:
            seen = np.minimum(seen, self.cutoff)
        return powers(self.persistence, int(seen.max(initial=0)) + 1)[seen]


def _unjudged(metric: RBP | RBPResidual, rankings: JudgedRankings) -> FloatArray:
    """The chance that the last document seen is unjudged and not below the cutoff.  (n_rankings,)"""
    hits = rankings.once("unjudged hits", lambda: rankings.hits(np.isnan(rankings.retrieved.values)))
    starts = hits.offsets[:-1]
    return segment_sum(_chance(metric.persistence, hits.ranks), starts, starts + hits.counts(metric.cutoff))


def _expected(metric: RBP | RBPResidual, rankings: JudgedRankings, gains: FloatArray) -> FloatArray:
    """The mean over all orders of tied documents: each is as good as the mean of its run.  (n_rankings,)

    gains   (n_documents,) from 0
    """
    runs = rankings.need("tie_runs")
    sizes = np.diff(runs)
    means = segment_sum(gains, runs[:-1], runs[1:]) / sizes
    documents = Hits.among(rankings.retrieved, np.repeat(means > 0, sizes))
    found = np.repeat(means[means > 0], sizes[means > 0]) * _chance(metric.persistence, documents.ranks)
    starts = documents.offsets[:-1]
    return segment_sum(found, starts, starts + documents.counts(metric.cutoff))


@dataclass(frozen=True, slots=True, kw_only=True)
class INST:
    """What a reader gains who wants T relevant documents, and goes on the longer the fewer have been found.

        INST = sum over ranks r of view(r) * gain(grade at r) / sum over ranks r of view(r)
        view(1) = 1,  view(r + 1) = view(r) * ((r + T + T(r) - 1) / (r + T + T(r)))^2
        T(r) = T - sum of the gains up to rank r

    Range 0 to 1. The sums are over a ranking without an end, where nothing is gained below the last document
    retrieved; cwl_eval ends them at rank 1,000, and so has slightly larger values. Documents of a
    grade of at least ``rel`` gain 1, or with ``max`` the share min(grade, max) / max; unjudged ones gain 0.
    ``T`` is at least 0.5. Defined for every query.

    Source: Moffat, Bailey, Scholer & Thomas 2015, doi:10.1145/2838931.2838938.

    >>> INST(T=1).per_query(JudgedRankings.from_lists(retrieved=[[1]], judged=[[1]])).round(4)
    array([0.6079])
    """

    FACTS: ClassVar[Facts] = Facts(monotone=True)
    T: float = 1
    min_grade: float = 1
    max_grade: float | None = None
    cutoff: ClassVar[None] = None

    def __post_init__(self) -> None:
        _check_gain(self)
        if not SMALLEST_T <= self.T < math.inf:
            raise MetricNameError(f"T is {self.T!r}; it must be a finite number from {SMALLEST_T}")

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,)."""
        hits = rankings.relevant(self.min_grade)
        offsets = hits.offsets + np.arange(len(hits.offsets))  # one block more a ranking, from rank 1 to the first hit
        tops = offsets[:-1]
        ranks, gains = np.ones(offsets[-1]), np.zeros(offsets[-1])
        hit = np.ones(offsets[-1], dtype=bool)
        hit[tops] = False
        ranks[hit], gains[hit] = hits.ranks, _gain(self, hits.grades)
        # From a hit to the next one T(r) is constant, and the product of the steps telescopes: with
        # still = T + T(rank of the hit),  view(r) = view(rank of the hit) * ((rank + still - 1) / (r + still - 1))^2
        still = 2 * self.T - accumulate(np.add, gains, offsets)
        since = ranks + still - 1
        steps = np.ones(len(ranks))
        np.divide(np.roll(since, 1), ranks - 1 + np.roll(still, 1), out=steps, where=hit)
        views = accumulate(np.multiply, steps**2, offsets)
        ends = np.roll(ranks, -1)
        ends[offsets[1:] - 1] = np.inf
        blocks = views * since**2 * (_trigamma(since + hit) - _trigamma(ends + still))
        return segment_sum(views * gains, tops, offsets[1:]) / segment_sum(blocks, tops, offsets[1:])


def _trigamma(x: FloatArray) -> FloatArray:
    """Sum of 1 / (x + i)^2 over i = 0, 1, 2 …, for x > 0.  (n,)"""
    direct, far = np.zeros(len(x)), x + 20
    for i in range(20):  # from there on the series below is exact to the last bits
        direct += 1 / (x + i) ** 2
    inverse = 1 / far
    square = inverse**2
    series = 1 / 6 - square * (1 / 30 - square * (1 / 42 - square * (1 / 30 - square * 5 / 66)))
    return direct + inverse + square / 2 + inverse * square * series
