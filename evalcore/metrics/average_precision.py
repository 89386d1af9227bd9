"""Precision averaged over the relevant documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from evalcore.arrays import FloatArray
from evalcore.metrics.base import Facts, check_cutoff, check_grade
from evalcore.metrics.top_k import ratio
from evalcore.rankings import JudgedRankings
from evalcore.segments import segment_sum


@dataclass(frozen=True, slots=True, kw_only=True)
class AP:
    """Mean of the precision at each relevant document; its mean over queries is MAP.

        AP@c = sum over relevant documents at ranks r <= c of (relevant documents up to r / r)
               / relevant judged documents

    Range 0 to 1. Relevant is a grade of at least ``rel``. A relevant document that is not retrieved, or
    stands below the cutoff, adds 0 and still counts in the denominator. Undefined for a query
    without relevant judged documents.

    Source: Buckley & Voorhees 2005, TREC, chapter 3; trec_eval ``map``, ``map_cut``.

    >>> AP().per_query(JudgedRankings.from_lists(retrieved=[[1, 0, 1]], judged=[[1, 1, 0]])).round(4)
    array([0.8333])
    """

    FACTS: ClassVar[Facts] = Facts(needs_relevant=True, monotone=True, binary=True, shared_ranks=True)
    min_grade: float = 1
    cutoff: int | None = None

    def __post_init__(self) -> None:
        check_cutoff(self.cutoff)
        check_grade(self.min_grade)

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,), NaN where no judged document is relevant."""
        hits = rankings.relevant(self.min_grade)
        precisions = rankings.once(("precisions", self.min_grade), lambda: hits.numbers() / hits.ranks)
        starts = hits.offsets[:-1]
        total = segment_sum(precisions, starts, starts + rankings.n_hits(self.min_grade, self.cutoff))
        return ratio(total, rankings.n_relevant(self.min_grade), otherwise=np.nan)
