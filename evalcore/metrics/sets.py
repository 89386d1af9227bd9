"""What is retrieved as a set, whatever its order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from evalcore.arrays import FloatArray
from evalcore.errors import MetricNameError
from evalcore.metrics.base import UNBOUNDED, Facts, check_grade
from evalcore.metrics.top_k import ratio
from evalcore.rankings import JudgedRankings


@dataclass(frozen=True, slots=True, kw_only=True)
class SetAP:
    """Precision times recall of all that was retrieved.

        SetAP = relevant documents retrieved^2 / (documents retrieved * relevant judged documents)

    Range 0 to 1. Relevant is a grade of at least ``rel``. The average precision where nothing is known of
    the order: each relevant document has the precision of the set. An empty ranking has 0; undefined for a
    query without relevant judged documents.

    Source: trec_eval ``set_map``.

    >>> SetAP().per_query(JudgedRankings.from_lists(retrieved=[[0, 1]], judged=[[1, 1]]))
    array([0.25])
    """

    FACTS: ClassVar[Facts] = Facts(needs_relevant=True, binary=True, order_free=True)
    min_grade: float = 1
    cutoff: ClassVar[None] = None

    def __post_init__(self) -> None:
        check_grade(self.min_grade)

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,), NaN where no judged document is relevant."""
        hits, n_relevant = rankings.n_hits(self.min_grade, None), rankings.n_relevant(self.min_grade)
        value = ratio(hits * hits, rankings.retrieved.lengths * n_relevant, otherwise=0.0)
        return np.where(n_relevant > 0, value, np.nan)


@dataclass(frozen=True, slots=True, kw_only=True)
class Utility:
    """Documents found and not found, each kind with its worth.

        Utility = relret * relevant documents retrieved + nonrelret * other documents retrieved
                  + relnotret * relevant documents not retrieved + nonrelnotret * other documents not retrieved

    Any number, in units of the worths. Relevant is a grade of at least ``rel``; an unjudged document is not.
    Documents that are not relevant and not retrieved are counted among the ``documents`` of the
    collection, which has to be given where they are worth anything. Defined for every query; an empty ranking
    has 0 unless what is not retrieved is worth something.

    Source: trec_eval ``utility``.

    >>> Utility(relret=2).per_query(JudgedRankings.from_lists(retrieved=[[0, 1, None]], judged=[[1, 1, 0]]))
    array([0.])
    """

    FACTS: ClassVar[Facts] = Facts(low=-UNBOUNDED, high=UNBOUNDED, empty=None, binary=True, order_free=True)
    relret: float = 1
    nonrelret: float = -1
    relnotret: float = 0
    nonrelnotret: float = 0
    documents: float = 0
    min_grade: float = 1
    cutoff: ClassVar[None] = None

    def __post_init__(self) -> None:
        check_grade(self.min_grade)
        worths = (self.relret, self.nonrelret, self.relnotret, self.nonrelnotret)
        if not np.isfinite(worths).all():
            raise MetricNameError(f"a worth is not a finite number among {worths!r}")
        if not 0 <= self.documents < UNBOUNDED or self.documents != int(self.documents):
            raise MetricNameError(f"documents is {self.documents!r}; it must be a whole number from 0")
        if self.nonrelnotret and not self.documents:
            raise MetricNameError("nonrelnotret needs documents, how many there are in the collection")

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,)."""
        found = rankings.n_hits(self.min_grade, None).astype(np.float64)
        others = rankings.retrieved.lengths - found
        missed = rankings.n_relevant(self.min_grade) - found
        rest = self.documents - found - others - missed
        worth: FloatArray = (
            self.relret * found + self.nonrelret * others + self.relnotret * missed + self.nonrelnotret * rest
        )
        return worth
