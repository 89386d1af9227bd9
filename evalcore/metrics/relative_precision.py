"""Precision that allows for how many documents are relevant: R-precision, relative precision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from evalcore.arrays import FloatArray, IntArray
from evalcore.errors import MetricNameError
from evalcore.metrics.base import Facts, check_cutoff, check_grade
from evalcore.metrics.ties import expected_hits
from evalcore.metrics.top_k import ratio
from evalcore.rankings import JudgedRankings

LARGEST_MULTIPLE = 1_000
ALL_BUT_A_TENTH = 0.9
"""As trec_eval rounds a number of documents: a fraction of a tenth or more goes up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rprec:
    """Precision at the rank equal to the number of relevant documents, or a multiple of it.

        Rprec = relevant documents in the first n ranks / n,  n = relevant judged documents * mult

    Range 0 to 1. Relevant is a grade of at least ``rel``. A ranking shorter than n is filled up with
    documents that are not relevant. A fraction of n of a tenth or more counts as one rank more, and n is at
    least 1. Undefined for a query without relevant judged documents.

    Source: Buckley & Voorhees 2005, TREC, chapter 3; trec_eval ``Rprec``, ``Rprec_mult``.

    >>> Rprec().per_query(JudgedRankings.from_lists(retrieved=[[1, 0, 1]], judged=[[1, 1, 0]]))
    array([0.5])
    """

    FACTS: ClassVar[Facts] = Facts(needs_relevant=True, linear=True, monotone=True, binary=True)
    mult: float = 1
    min_grade: float = 1
    cutoff: ClassVar[None] = None

    def __post_init__(self) -> None:
        check_grade(self.min_grade)
        if not 0 < self.mult <= LARGEST_MULTIPLE:
            raise MetricNameError(f"mult is {self.mult!r}; it must be above 0 and at most {LARGEST_MULTIPLE}")

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,), NaN where no judged document is relevant."""
        deepest = self._deepest(rankings)
        return ratio(rankings.relevant(self.min_grade).counts(deepest), deepest, otherwise=np.nan)

    def expected(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,), NaN where no judged document is relevant."""
        deepest = self._deepest(rankings)
        return ratio(expected_hits(rankings, self.min_grade, deepest), deepest, otherwise=np.nan)

    def _deepest(self, rankings: JudgedRankings) -> IntArray:
        """(n_rankings,), 0 where no judged document is relevant."""
        n_relevant = rankings.n_relevant(self.min_grade)
        if self.mult == 1:
            return n_relevant
        deepest = (self.mult * n_relevant + ALL_BUT_A_TENTH).astype(np.int64)
        return np.maximum(deepest, np.minimum(n_relevant, 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class RelativeP:
    """Precision as a share of the best that this many ranks can have.

        RelativeP@c = relevant documents in the first c ranks / min(c, relevant judged documents)
        RelativeP   = relevant documents retrieved / min(documents retrieved, relevant judged documents)

    Range 0 to 1. Relevant is a grade of at least ``rel``. With a cutoff it is ``R(cap=k)``. An empty ranking
    has 0; undefined for a query without relevant judged documents.

    Source: trec_eval ``relative_P``, ``set_relative_P``.

    >>> RelativeP(cutoff=2).per_query(JudgedRankings.from_lists(retrieved=[[1, 0]], judged=[[1, 0]]))
    array([1.])
    """

    FACTS: ClassVar[Facts] = Facts(needs_relevant=True, linear=True, monotone=True, binary=True)
    min_grade: float = 1
    cutoff: int | None = None

    def __post_init__(self) -> None:
        check_cutoff(self.cutoff)
        check_grade(self.min_grade)

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,), NaN where no judged document is relevant."""
        return self._of(rankings, rankings.n_hits(self.min_grade, self.cutoff))

    def expected(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,), NaN where no judged document is relevant."""
        return self._of(rankings, expected_hits(rankings, self.min_grade, self.cutoff))

    def _of(self, rankings: JudgedRankings, hits: FloatArray | IntArray) -> FloatArray:
        n_relevant = rankings.n_relevant(self.min_grade)
        n_ranks = rankings.retrieved.lengths if self.cutoff is None else self.cutoff
        return np.where(n_relevant > 0, ratio(hits, np.minimum(n_relevant, n_ranks), otherwise=0.0), np.nan)
