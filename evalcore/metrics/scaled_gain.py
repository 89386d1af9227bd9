"""Gain per document looked at, as a share of the gain that the highest grade would bring: SDCG and BPM."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from evalcore.arrays import FloatArray
from evalcore.errors import MetricNameError
from evalcore.metrics.base import Facts, check_cutoff
from evalcore.metrics.discounts import LOG2, Discount
from evalcore.metrics.gain import check_parts
from evalcore.metrics.gained import ROUNDING, expected_sum, gainers, share
from evalcore.metrics.gains import LINEAR, Gain
from evalcore.metrics.top_k import ratio
from evalcore.rankings import Hits, JudgedRankings
from evalcore.segments import accumulate, index_in_segment, segment_sum

DEEPEST_SUM = 1_000_000  # discounts are summed up to the cutoff


def _check(metric: SDCG | BPM) -> None:
    check_cutoff(metric.cutoff)
    if not 0 < metric.max_grade < math.inf:
        raise MetricNameError(f"max is {metric.max_grade!r}; it must be a finite number above 0")


def _scaled(rankings: JudgedRankings, max_grade: float) -> tuple[Hits, FloatArray]:
    """The documents with a grade above 0, and their grades up to the highest."""
    hits = gainers(rankings, "retrieved", LINEAR)
    return hits, np.minimum(hits.grades, max_grade)


@dataclass(frozen=True, slots=True, kw_only=True)
class SDCG:
    """Scaled DCG: what the first documents are worth, as a share of as many of the highest grade.

        SDCG@c = sum over ranks r <= c of min(grade at r, max) / max * discount(r)
                 / sum over ranks r <= c of discount(r)

    Range 0 to 1. Unlike nDCG it takes it that there are documents of the grade ``max`` enough, and does not
    depend on which are known. A higher grade counts as ``max``, which is 1; an unjudged document and a
    negative grade gain 0. With a cutoff a ranking shorter than c is filled up with documents that gain
    nothing; without one an empty ranking has 0. Defined for every query.

    Source: Moffat et al. 2015, doi:10.1145/2838931.2838938; cwl_eval ``NDCG-k``, ir_measures ``SDCG``.

    >>> SDCG(cutoff=2, max_grade=2).per_query(JudgedRankings.from_lists(retrieved=[[1, 2]], judged=[[2, 1]])).round(4)
    array([0.6934])
    """

    FACTS: ClassVar[Facts] = Facts(linear=True, monotone=True, shared_ranks=True)
    gain: ClassVar[Gain] = LINEAR
    discount: Discount = LOG2
    max_grade: float = 1
    cutoff: int | None = None

    def __post_init__(self) -> None:
        check_parts(self)
        _check(self)
        if self.cutoff is not None and self.cutoff > DEEPEST_SUM:
            raise MetricNameError(f"cutoff is {self.cutoff}; it must be at most {DEEPEST_SUM}")

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,)."""
        hits, grades = _scaled(rankings, self.max_grade)
        starts = hits.offsets[:-1]
        worth = grades / self.max_grade * self.discount(hits.ranks)
        found = segment_sum(worth, starts, starts + hits.counts(self.cutoff))
        return self._share(found, rankings)

    def expected(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,)."""
        hits, grades = _scaled(rankings, self.max_grade)
        found = expected_sum(rankings, hits, grades / self.max_grade, self.discount, self.cutoff)
        return self._share(found, rankings)

    def _share(self, found: FloatArray, rankings: JudgedRankings) -> FloatArray:
        offsets = rankings.retrieved.offsets if self.cutoff is None else np.array([0, self.cutoff])
        most = segment_sum(self.discount(index_in_segment(offsets) + 1), offsets[:-1], offsets[1:])
        return np.nan_to_num(share(found, np.broadcast_to(most, found.shape)), nan=0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class BPM:
    """Bejeweled player model: gain per document of a reader who stops with enough gain or enough effort.

        BPM@c = sum over ranks r <= s of gain(r) / s,  gain(r) = min(grade at r, max) / max
        s     = the first rank where the gains up to it reach T; c if there is none up to c

    Range 0 to 1. ``T`` is the gain that the reader wants, in documents of the grade ``max``; c is what they
    are willing to look at. This is the static form: T and c do not change on the way. A grade above
    ``max``, which is 1, counts as ``max``; an unjudged document and a negative grade gain 0. With a cutoff a
    ranking shorter than c is filled up with documents that gain nothing; without one c is the length of
    the ranking, and an empty one has 0. Defined for every query.

    Source: Zhang et al. 2017, doi:10.1145/3077136.3080841; cwl_eval ``BPM-Static``, ir_measures ``BPM``.

    >>> BPM(cutoff=10).per_query(JudgedRankings.from_lists(retrieved=[[0, 1, 1]], judged=[[1, 1, 0]]))
    array([0.5])
    """

    FACTS: ClassVar[Facts] = Facts()
    gain: ClassVar[Gain] = LINEAR
    T: float = 1
    max_grade: float = 1
    cutoff: int | None = None

    def __post_init__(self) -> None:
        _check(self)
        if not 0 < self.T < math.inf:
            raise MetricNameError(f"T is {self.T!r}; it must be a finite number above 0")

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,)."""
        hits, grades = _scaled(rankings, self.max_grade)
        enough = np.flatnonzero(accumulate(np.add, grades, hits.offsets) >= self.T * self.max_grade - ROUNDING)
        most = rankings.retrieved.lengths if self.cutoff is None else np.full(len(rankings), self.cutoff)
        stop = most.copy()
        first = np.append(enough, len(grades))[np.searchsorted(enough, hits.offsets[:-1])]
        stops = first < hits.offsets[1:]
        stop[stops] = np.minimum(stop, np.append(hits.ranks, 0)[first])[stops]
        starts = hits.offsets[:-1]
        found = segment_sum(grades, starts, starts + hits.counts(stop))
        return ratio(found / self.max_grade, stop, otherwise=0.0)
