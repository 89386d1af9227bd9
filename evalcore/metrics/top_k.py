"""How many relevant documents are found: precision, recall, their mean, success, R-precision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from evalcore.arrays import FloatArray, IntArray
from evalcore.errors import MetricNameError
from evalcore.metrics.base import Facts, check_cutoff, check_grade
from evalcore.rankings import JudgedRankings

LARGEST_BETA = 1_000_000


def ratio(above: FloatArray | IntArray, below: FloatArray | IntArray, *, otherwise: float) -> FloatArray:
    """One array over another, and a stated value where the lower one is 0.  (n,)"""
    quotient = np.full(len(below), otherwise)
    np.divide(above, below, out=quotient, where=below > 0)
    return quotient


@dataclass(frozen=True, slots=True, kw_only=True)
class P:
    """Precision: the share of the ranking that is relevant.

        P@c = relevant documents in the first c ranks / c
        P   = relevant documents retrieved / documents retrieved

    Range 0 to 1. Relevant is a grade of at least ``rel``. With a cutoff a ranking shorter than c is filled
    up with documents that are not relevant; without one, an empty ranking has 0. Defined for
    every query.

    Source: Cleverdon 1967, doi:10.1108/eb050097; trec_eval ``P``, ``set_P``.

    >>> P(cutoff=5).per_query(JudgedRankings.from_lists(retrieved=[[0, 2]], judged=[[2, 0]]))
    array([0.2])
    """

    FACTS: ClassVar[Facts] = Facts(linear=True, monotone=True, binary=True, shared_ranks=True)
    min_grade: float = 1
    cutoff: int | None = None

    def __post_init__(self) -> None:
        check_cutoff(self.cutoff)
        check_grade(self.min_grade)

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,)."""
        hits = rankings.n_hits(self.min_grade, self.cutoff)
        if self.cutoff is not None:
            return hits / self.cutoff
        return ratio(hits, rankings.retrieved.lengths, otherwise=0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class R:
    """Recall: the share of the relevant documents that is found.

        R@c = relevant documents in the first c ranks / relevant judged documents

    Range 0 to 1. Relevant is a grade of at least ``rel``. Without a cutoff all ranks count. Undefined
    for a query without relevant judged documents.

    Source: Cleverdon 1967, doi:10.1108/eb050097; trec_eval ``recall``, ``set_recall``.

    >>> R(cutoff=10).per_query(JudgedRankings.from_lists(retrieved=[[0, 1]], judged=[[1, 0, 1]]))
    array([0.5])
    """

    FACTS: ClassVar[Facts] = Facts(needs_relevant=True, linear=True, monotone=True, binary=True, shared_ranks=True)
    min_grade: float = 1
    cutoff: int | None = None

    def __post_init__(self) -> None:
        check_cutoff(self.cutoff)
        check_grade(self.min_grade)

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,), NaN where no judged document is relevant."""
        hits = rankings.n_hits(self.min_grade, self.cutoff)
        return ratio(hits, rankings.n_relevant(self.min_grade), otherwise=np.nan)


@dataclass(frozen=True, slots=True, kw_only=True)
class F:
    """Weighted harmonic mean of precision and recall.

        F@c = (1 + beta^2) P@c R@c / (beta^2 P@c + R@c)

    Range 0 to 1. ``beta`` above 1 favours recall; it is beta and not its square, which is what
    trec_eval's ``set_F`` takes. 0 where nothing relevant is found; undefined for a query without
    relevant judged documents.

    Source: van Rijsbergen 1979, Information Retrieval, chapter 7.

    >>> F(cutoff=2).per_query(JudgedRankings.from_lists(retrieved=[[0, 1]], judged=[[1, 0]])).round(4)
    array([0.6667])
    """

    FACTS: ClassVar[Facts] = Facts(needs_relevant=True, monotone=True, binary=True, shared_ranks=True)
    beta: float = 1
    min_grade: float = 1
    cutoff: int | None = None

    def __post_init__(self) -> None:
        check_cutoff(self.cutoff)
        check_grade(self.min_grade)
        if not 0 < self.beta <= LARGEST_BETA:
            raise MetricNameError(f"beta is {self.beta!r}; it must be above 0 and at most {LARGEST_BETA}")

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,), NaN where no judged document is relevant."""
        precision = P(min_grade=self.min_grade, cutoff=self.cutoff).per_query(rankings)
        recall = R(min_grade=self.min_grade, cutoff=self.cutoff).per_query(rankings)
        weight = self.beta**2
        value = ratio((1 + weight) * precision * recall, weight * precision + recall, otherwise=0.0)
        return np.where(np.isnan(recall), np.nan, value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Success:
    """Whether anything relevant is found.

        Success@c = 1 if a relevant document is in the first c ranks, else 0

    Range 0 to 1. Relevant is a grade of at least ``rel``. Defined for every query: without relevant
    judged documents it is 0. Also known as hit rate; not to be confused with recall.

    Source: trec_eval ``success``.

    >>> Success(cutoff=1).per_query(JudgedRankings.from_lists(retrieved=[[0, 1], [1]], judged=[[1], [1]]))
    array([0., 1.])
    """

    FACTS: ClassVar[Facts] = Facts(monotone=True, binary=True, shared_ranks=True)
    min_grade: float = 1
    cutoff: int | None = None

    def __post_init__(self) -> None:
        check_cutoff(self.cutoff)
        check_grade(self.min_grade)

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,)."""
        return (rankings.n_hits(self.min_grade, self.cutoff) > 0).astype(np.float64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rprec:
    """Precision at the rank equal to the number of relevant documents.

        Rprec = relevant documents in the first n ranks / n,  n = relevant judged documents

    Range 0 to 1. Relevant is a grade of at least ``rel``. A ranking shorter than n is filled up with
    documents that are not relevant. Undefined for a query without relevant judged documents.

    Source: Buckley & Voorhees 2005, TREC, chapter 3; trec_eval ``Rprec``.

    >>> Rprec().per_query(JudgedRankings.from_lists(retrieved=[[1, 0, 1]], judged=[[1, 1, 0]]))
    array([0.5])
    """

    FACTS: ClassVar[Facts] = Facts(needs_relevant=True, linear=True, monotone=True, binary=True, shared_ranks=True)
    min_grade: float = 1
    cutoff: ClassVar[None] = None

    def __post_init__(self) -> None:
        check_grade(self.min_grade)

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,), NaN where no judged document is relevant."""
        n_relevant = rankings.n_relevant(self.min_grade)
        return ratio(rankings.relevant(self.min_grade).counts(n_relevant), n_relevant, otherwise=np.nan)
