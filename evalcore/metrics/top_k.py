"""How many relevant documents are found: precision, recall, their mean, success."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from evalcore.arrays import FloatArray, IntArray
from evalcore.errors import MetricNameError, unknown
from evalcore.metrics.base import Facts, check_cutoff, check_grade
from evalcore.metrics.ties import LastRun, expected_hits, relevant_before
from evalcore.rankings import Hits, JudgedRankings

LARGEST_BETA = 1_000_000


def ratio(above: FloatArray | IntArray, below: FloatArray | IntArray, *, otherwise: float) -> FloatArray:
    """One array over another, and a stated value where the lower one is 0.  (n,)"""
    quotient = np.full(len(below), otherwise)
    np.divide(above, below, out=quotient, where=below > 0)
    return quotient


def check_choice(what: str, given: str, known: tuple[str, ...]) -> None:
    """Raises MetricNameError unless it is known."""
    if given not in known:
        raise MetricNameError(unknown(what, given, known))


def check_capped(what: str, given: str, known: tuple[str, ...], cutoff: int | None) -> None:
    """Raises MetricNameError unless it is known, and there is a cutoff k if it reads one and is not the default."""
    check_choice(what, given, known)
    if cutoff is None and given != known[0] and "k" in given:
        raise MetricNameError(f"{what}={given} needs a cutoff, like @10")


def possible(rankings: JudgedRankings, min_grade: float, best_grade: float) -> Hits:
    """Retrieved documents that are relevant, or would be if all unjudged ones had the best grade."""
    if best_grade < min_grade:
        return rankings.relevant(min_grade)
    grades = rankings.retrieved.values
    return rankings.once(("possible", min_grade), lambda: rankings.hits((grades >= min_grade) | np.isnan(grades)))


@dataclass(frozen=True, slots=True, kw_only=True)
class P:
    """Precision: the share of the ranking that is relevant.

        P@c = relevant documents in the first c ranks / c
        P   = relevant documents retrieved / documents retrieved

    Range 0 to 1. Relevant is a grade of at least ``rel``. With a cutoff a ranking shorter than c is filled
    up with documents that are not relevant, unless ``denominator`` is min(k,n), the smaller of cutoff and
    documents retrieved; an empty ranking has 0. Defined for every query.

    Source: Cleverdon 1967, doi:10.1108/eb050097; trec_eval ``P``, ``set_P``.

    >>> P(cutoff=5).per_query(JudgedRankings.from_lists(retrieved=[[0, 2]], judged=[[2, 0]]))
    array([0.2])
    """

    FACTS: ClassVar[Facts] = Facts(linear=True, monotone=True, binary=True)
    DENOMINATORS: ClassVar[tuple[str, ...]] = ("k", "min(k,n)")
    denominator: str = "k"
    min_grade: float = 1
    cutoff: int | None = None

    def __post_init__(self) -> None:
        check_cutoff(self.cutoff)
        check_grade(self.min_grade)
        check_capped("denominator", self.denominator, self.DENOMINATORS, self.cutoff)

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,)."""
        return self._of(rankings, rankings.n_hits(self.min_grade, self.cutoff))

    def expected(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,)."""
        return self._of(rankings, expected_hits(rankings, self.min_grade, self.cutoff))

    def bounds(self, rankings: JudgedRankings, *, best_grade: float) -> tuple[FloatArray, FloatArray]:
        """No unjudged document is relevant, or all are if the best grade is; (n_rankings,) each."""
        found = possible(rankings, self.min_grade, best_grade)
        certain = possible(rankings, self.min_grade, 0.0)  # a bar of 0 is passed by any of these grades
        return self._of(rankings, certain.counts(self.cutoff)), self._of(rankings, found.counts(self.cutoff))

    def _of(self, rankings: JudgedRankings, hits: FloatArray | IntArray) -> FloatArray:
        if self.cutoff is not None and self.denominator == "k":
            return hits / self.cutoff
        n_retrieved = rankings.retrieved.lengths
        return ratio(hits, n_retrieved if self.cutoff is None else np.minimum(n_retrieved, self.cutoff), otherwise=0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class R:
    """Recall: the share of the relevant documents that is found.

        R@c = relevant documents in the first c ranks / relevant judged documents

    Range 0 to 1. Relevant is a grade of at least ``rel``. Without a cutoff all ranks count. With ``cap=k`` the
    denominator is at most c, so that 1 can be reached: capped recall. Undefined for a query without relevant
    judged documents.

    Source: Cleverdon 1967, doi:10.1108/eb050097; trec_eval ``recall``, ``set_recall``; capped: BEIR ``R_cap``.

    >>> R(cutoff=10).per_query(JudgedRankings.from_lists(retrieved=[[0, 1]], judged=[[1, 0, 1]]))
    array([0.5])
    """

    FACTS: ClassVar[Facts] = Facts(needs_relevant=True, linear=True, monotone=True, binary=True, shared_ranks=True)
    CAPS: ClassVar[tuple[str, ...]] = ("none", "k")
    cap: str = "none"
    min_grade: float = 1
    cutoff: int | None = None

    def __post_init__(self) -> None:
        check_cutoff(self.cutoff)
        check_grade(self.min_grade)
        check_capped("cap", self.cap, self.CAPS, self.cutoff)

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,), NaN where no judged document is relevant."""
        return self._of(rankings, rankings.n_hits(self.min_grade, self.cutoff))

    def expected(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,), NaN where no judged document is relevant."""
        return self._of(rankings, expected_hits(rankings, self.min_grade, self.cutoff))

    def _of(self, rankings: JudgedRankings, hits: FloatArray | IntArray) -> FloatArray:
        most = rankings.n_relevant(self.min_grade)
        if self.cap == "k" and self.cutoff is not None:
            most = np.minimum(most, self.cutoff)
        return ratio(hits, most, otherwise=np.nan)


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

    FACTS: ClassVar[Facts] = Facts(needs_relevant=True, monotone=True, binary=True)
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
        return self._of(rankings, rankings.n_hits(self.min_grade, self.cutoff))

    def expected(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,), NaN where no judged document is relevant."""
        return self._of(rankings, expected_hits(rankings, self.min_grade, self.cutoff))

    def _of(self, rankings: JudgedRankings, hits: FloatArray | IntArray) -> FloatArray:
        """Proportional to the hits, since precision and recall are."""
        precision = P(min_grade=self.min_grade, cutoff=self.cutoff)._of(rankings, hits)
        recall = R(min_grade=self.min_grade, cutoff=self.cutoff)._of(rankings, hits)
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

    def expected(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,)."""
        last = LastRun.of(rankings, relevant_before(rankings, self.min_grade), self.cutoff)
        found = (last.hits_seen() > 0).astype(np.float64)
        cut = last.cut()
        found[last.is_cut()] = cut.mean(lambda n_seen: (cut.hits_above + n_seen > 0).astype(np.float64))
        return found
