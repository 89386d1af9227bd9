"""What was returned and what is known of it: counts, and the share that is judged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from evalcore.arrays import FloatArray
from evalcore.metrics.base import UNBOUNDED, Facts, check_cutoff, check_grade
from evalcore.metrics.top_k import ratio
from evalcore.rankings import JudgedRankings


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """The share of the returned documents that have a judgment.

        Judged@c = judged documents in the first c ranks / min(c, documents retrieved)

    Range 0 to 1; says how far the other metrics can be trusted and not how good the ranking is.
    Undefined for an empty ranking. Under the convention ``unjudged: removed`` it is 1.

    Source: Buckley & Voorhees 2004, doi:10.1145/1008992.1009000 (why unjudged documents matter).

    >>> Judged(cutoff=10).per_query(JudgedRankings.from_lists(retrieved=[[0, None]], judged=[[0, 1]]))
    array([0.5])
    """

    FACTS: ClassVar[Facts] = Facts(empty=float("nan"), higher_is_better=None, linear=True, shared_ranks=True)
    cutoff: int | None = None

    def __post_init__(self) -> None:
        check_cutoff(self.cutoff)

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,), NaN for an empty ranking."""
        grades = rankings.retrieved
        judged = rankings.once("judged hits", lambda: rankings.hits(~np.isnan(grades.values)))
        seen = grades.lengths if self.cutoff is None else np.minimum(grades.lengths, self.cutoff)
        return ratio(judged.counts(self.cutoff), seen, otherwise=np.nan)


@dataclass(frozen=True, slots=True, kw_only=True)
class NumRet:
    """Documents retrieved, up to the depth; summed over queries.

        NumRet = documents in the ranking

    Range from 0. Defined for every query.

    Source: trec_eval ``num_ret``.

    >>> NumRet().per_query(JudgedRankings.from_lists(retrieved=[[0, 2]], judged=[[2]]))
    array([2.])
    """

    FACTS: ClassVar[Facts] = Facts(high=UNBOUNDED, statistic="sum", higher_is_better=None, order_free=True)
    cutoff: ClassVar[None] = None

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,)."""
        return rankings.retrieved.lengths.astype(np.float64)


@dataclass(frozen=True, slots=True, kw_only=True)
class NumRel:
    """Relevant judged documents; summed over queries.

        NumRel = judged documents with a grade of at least rel

    Range from 0. Depends on the judgments and not on the system. Defined for every query.

    Source: trec_eval ``num_rel``.

    >>> NumRel().per_query(JudgedRankings.from_lists(retrieved=[[]], judged=[[2, 1, 0]]))
    array([2.])
    """

    FACTS: ClassVar[Facts] = Facts(high=UNBOUNDED, statistic="sum", empty=None, higher_is_better=None, order_free=True)
    min_grade: float = 1
    cutoff: ClassVar[None] = None

    def __post_init__(self) -> None:
        check_grade(self.min_grade)

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,)."""
        return rankings.n_relevant(self.min_grade).astype(np.float64)


@dataclass(frozen=True, slots=True, kw_only=True)
class NumRelRet:
    """Relevant documents retrieved; summed over queries.

        NumRelRet@c = documents in the first c ranks with a grade of at least rel

    Range from 0. Without a cutoff all ranks count. Defined for every query.

    Source: trec_eval ``num_rel_ret``.

    >>> NumRelRet().per_query(JudgedRankings.from_lists(retrieved=[[0, 2]], judged=[[2, 1]]))
    array([1.])
    """

    FACTS: ClassVar[Facts] = Facts(
        high=UNBOUNDED, statistic="sum", linear=True, monotone=True, binary=True, shared_ranks=True
    )
    min_grade: float = 1
    cutoff: int | None = None

    def __post_init__(self) -> None:
        check_cutoff(self.cutoff)
        check_grade(self.min_grade)

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,)."""
        return rankings.n_hits(self.min_grade, self.cutoff).astype(np.float64)
