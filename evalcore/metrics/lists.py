"""Lists as such: how many there are, and how many hold nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from evalcore.arrays import FloatArray
from evalcore.metrics.base import Facts
from evalcore.rankings import JudgedRankings


@dataclass(frozen=True, slots=True, kw_only=True)
class NumQ:
    """Queries that are counted; summed over queries.

        NumQ = 1

    Value 1. Which queries are counted is for the conventions to say: unanswered, unjudged_query. Defined for
    every query.

    Source: trec_eval ``num_q``.

    >>> NumQ().per_query(JudgedRankings.from_lists(retrieved=[[], [0]], judged=[[1], [0]]))
    array([1., 1.])
    """

    FACTS: ClassVar[Facts] = Facts(statistic="sum", empty=1.0, higher_is_better=None, order_free=True, judgments=False)
    cutoff: ClassVar[None] = None

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,)."""
        return np.ones(len(rankings))


@dataclass(frozen=True, slots=True, kw_only=True)
class ZeroResult:
    """Whether nothing was returned; its mean over queries is the zero-result rate.

        ZeroResult = 1 if the ranking is empty, else 0

    Range 0 to 1; lower is better. Reads no judgments. Defined for every query.

    >>> ZeroResult().per_query(JudgedRankings.from_lists(retrieved=[[], [0]], judged=[[1], [0]]))
    array([1., 0.])
    """

    FACTS: ClassVar[Facts] = Facts(empty=1.0, higher_is_better=False, order_free=True, judgments=False)
    cutoff: ClassVar[None] = None

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,)."""
        return np.equal(rankings.retrieved.lengths, 0).astype(np.float64)
