"""How soon the first relevant document appears."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from evalcore.arrays import FloatArray, IntArray
from evalcore.metrics.base import Facts, check_cutoff, check_grade
from evalcore.metrics.ties import expected_reciprocal_rank
from evalcore.metrics.top_k import possible
from evalcore.rankings import Hits, JudgedRankings


@dataclass(frozen=True, slots=True, kw_only=True)
class RR:
    """Reciprocal rank of the first relevant document; its mean over queries is MRR.

        RR@c = 1 / rank of the first relevant document if that rank is at most c, else 0

    Range 0 to 1. Relevant is a grade of at least ``rel``. Without a cutoff all ranks count. Defined for
    every query: without relevant judged documents it is 0.

    Source: Voorhees 1999, TREC-8 question answering; trec_eval ``recip_rank``.

    >>> RR(cutoff=10).per_query(JudgedRankings.from_lists(retrieved=[[0, 1, 1]], judged=[[1, 1, 0]]))
    array([0.5])
    """

    FACTS: ClassVar[Facts] = Facts(monotone=True, binary=True, shared_ranks=True)
    min_grade: float = 1
    cutoff: int | None = None

    def __post_init__(self) -> None:
        check_cutoff(self.cutoff)
        check_grade(self.min_grade)

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,)."""
        return _first(rankings.relevant(self.min_grade), rankings.n_hits(self.min_grade, self.cutoff))

    def expected(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,)."""
        return expected_reciprocal_rank(rankings, self.min_grade, self.cutoff)

    def bounds(self, rankings: JudgedRankings, *, best_grade: float) -> tuple[FloatArray, FloatArray]:
        """No unjudged document is relevant, or all are if the best grade is; (n_rankings,) each."""
        found = possible(rankings, self.min_grade, best_grade)
        certain = possible(rankings, self.min_grade, 0.0)  # a bar of 0 is passed by any of these grades
        return _first(certain, certain.counts(self.cutoff)), _first(found, found.counts(self.cutoff))


def _first(hits: Hits, counts: IntArray) -> FloatArray:
    """The reciprocal rank of the first hit, 0 where none counts.  (n_rankings,)"""
    values = np.zeros(len(counts))
    found = np.flatnonzero(counts)
    values[found] = 1 / hits.ranks[hits.offsets[found]]
    return values
