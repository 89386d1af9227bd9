"""Measures for judgments that are incomplete: they tell a document judged not relevant from one never judged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from evalcore.arrays import BoolArray, FloatArray
from evalcore.conventions import GEOMETRIC_FLOOR
from evalcore.errors import MetricNameError, unknown
from evalcore.metrics.base import Facts, check_grade
from evalcore.metrics.top_k import ratio
from evalcore.rankings import JudgedRankings
from evalcore.segments import running_count, segment_count, segment_sum

NEGATIVE = ("unjudged", "not_relevant")
SMALL = 1e-5
"""What infAP adds to both counts of judged documents, so that a share of none of them is a half (trec_eval)."""


def not_relevant(grades: FloatArray, min_grade: float, *, negative: str = "unjudged") -> BoolArray:
    """Whether a document is judged and not relevant.  (n_documents,)"""
    lower = grades < min_grade
    return lower if negative == "not_relevant" else lower & (grades >= 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bpref:
    """How many judged documents that are not relevant stand above the relevant ones; unjudged ones do not matter.

        Bpref = sum over relevant documents retrieved of (1 - min(n, R) / min(R, N)) / R
        n = documents above it that are judged not relevant
        R, N = relevant judged documents, and judged documents that are not relevant

    Range 0 to 1. Relevant is a grade of at least ``rel``; a relevant document with nothing judged not relevant
    above it adds 1 / R. ``negative`` says what a grade below 0 is: ``unjudged``, as in trec_eval, or
    ``not_relevant``, as in ranx, which differs from this where N is 0 only: there it divides by 0. Undefined
    for a query without relevant judged documents.

    Source: Buckley & Voorhees 2004, doi:10.1145/1008992.1009000; trec_eval ``bpref``.

    >>> Bpref().per_query(JudgedRankings.from_lists(retrieved=[[1, 0, None, 1]], judged=[[1, 1, 0, 0]]))
    array([0.75])
    """

    FACTS: ClassVar[Facts] = Facts(needs_relevant=True, monotone=True)
    min_grade: float = 1
    negative: str = "unjudged"
    cutoff: ClassVar[None] = None

    def __post_init__(self) -> None:
        _check(self)

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,), NaN where no judged document is relevant."""
        return rankings.once(("bpref", self.min_grade, self.negative), lambda: self._per_query(rankings)).copy()

    def _per_query(self, rankings: JudgedRankings) -> FloatArray:
        grades, judged = rankings.retrieved.values, rankings.judged
        above = running_count(not_relevant(grades, self.min_grade, negative=self.negative))
        hits, n_relevant = rankings.relevant(self.min_grade), rankings.n_relevant(self.min_grade)
        n_others = segment_count(not_relevant(judged.values, self.min_grade, negative=self.negative), judged.offsets)
        n_hits = np.diff(hits.offsets)
        passed = above[:-1][grades >= self.min_grade] - np.repeat(above[rankings.retrieved.offsets[:-1]], n_hits)
        most = np.repeat(n_relevant, n_hits)
        worth = 1 - ratio(np.minimum(passed, most), np.minimum(most, np.repeat(n_others, n_hits)), otherwise=0.0)
        return ratio(segment_sum(worth, hits.offsets[:-1], hits.offsets[1:]), n_relevant, otherwise=np.nan)


def _check(metric: Bpref | GMBpref) -> None:
    check_grade(metric.min_grade)
    if metric.negative not in NEGATIVE:
        raise MetricNameError(unknown("value", str(metric.negative), NEGATIVE))


@dataclass(frozen=True, slots=True, kw_only=True)
class GMBpref:
    """Bpref as it enters a geometric mean over queries: values below 0.00001 are raised to it.

        GMBpref = max(Bpref, 0.00001)

    Range 0.00001 to 1. Parameters and conventions are those of `Bpref`. Undefined for a query without
    relevant judged documents.

    Source: trec_eval ``gm_bpref``.

    >>> GMBpref().per_query(JudgedRankings.from_lists(retrieved=[[1], [0]], judged=[[1, 1, 0], [1, 0]]))
    array([5.e-01, 1.e-05])
    """

    FACTS: ClassVar[Facts] = Facts(
        low=GEOMETRIC_FLOOR, empty=GEOMETRIC_FLOOR, statistic="geometric", needs_relevant=True, monotone=True
    )
    min_grade: float = 1
    negative: str = "unjudged"
    cutoff: ClassVar[None] = None

    def __post_init__(self) -> None:
        _check(self)

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,), NaN where no judged document is relevant."""
        bpref = Bpref(min_grade=self.min_grade, negative=self.negative)
        return np.maximum(bpref.per_query(rankings), GEOMETRIC_FLOOR)


@dataclass(frozen=True, slots=True, kw_only=True)
class InfAP:
    """Average precision, inferred where only a sample of the pool was judged.

        infAP = sum over relevant documents retrieved of (1 + d * (r + e) / (r + n + 2e)) / rank  /  R
        d = documents above it that are in the pool, judged or not
        r, n = documents above it that are relevant, and that are judged not relevant
        R = relevant judged documents, e = 0.00001

    Range 0 to 1. Relevant is a grade of at least ``rel``. A grade below 0 says that a document is in the pool
    and was not judged; a document without a grade is not in the pool, and precision counts it as not relevant.
    Undefined for a query without relevant judged documents.

    Source: Yilmaz & Aslam 2006, doi:10.1145/1183614.1183633; trec_eval ``infAP``.

    >>> InfAP().per_query(JudgedRankings.from_lists(retrieved=[[1, None, 1]], judged=[[1, 1]])).round(4)
    array([0.8333])
    """

    FACTS: ClassVar[Facts] = Facts(needs_relevant=True)
    min_grade: float = 1
    cutoff: ClassVar[None] = None

    def __post_init__(self) -> None:
        check_grade(self.min_grade)

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,), NaN where no judged document is relevant."""
        grades, hits = rankings.retrieved.values, rankings.relevant(self.min_grade)
        firsts = np.repeat(rankings.retrieved.offsets[:-1], np.diff(hits.offsets))
        found = np.flatnonzero(grades >= self.min_grade)

        def above(wanted: BoolArray) -> FloatArray:
            before = running_count(wanted)
            return (before[found] - before[firsts]).astype(np.float64)

        pooled, relevant = above(~np.isnan(grades)), above(grades >= self.min_grade)
        others = above(not_relevant(grades, self.min_grade))
        precisions = (1 + pooled * ((relevant + SMALL) / (relevant + others + 2 * SMALL))) / hits.ranks
        total = segment_sum(precisions, hits.offsets[:-1], hits.offsets[1:])
        return ratio(total, rankings.n_relevant(self.min_grade), otherwise=np.nan)
