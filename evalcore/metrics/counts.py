"""What was returned and what is known of it: counts, and the share that is judged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from evalcore.arrays import FloatArray, IntArray
from evalcore.metrics.base import UNBOUNDED, Facts, check_cutoff, check_grade
from evalcore.metrics.incomplete import not_relevant
from evalcore.metrics.ties import LastRun, expected_hits
from evalcore.metrics.top_k import ratio
from evalcore.rankings import JudgedRankings
from evalcore.segments import running_count, segment_count


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

    FACTS: ClassVar[Facts] = Facts(empty=float("nan"), higher_is_better=None, linear=True)
    cutoff: int | None = None

    def __post_init__(self) -> None:
        check_cutoff(self.cutoff)

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,), NaN for an empty ranking."""
        grades = rankings.retrieved
        judged = rankings.once("judged hits", lambda: rankings.hits(~np.isnan(grades.values)))
        return self._of(rankings, judged.counts(self.cutoff))

    def expected(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,), NaN for an empty ranking."""
        before = running_count(~np.isnan(rankings.retrieved.values))
        return self._of(rankings, LastRun.of(rankings, before, self.cutoff).hits_seen())

    def _of(self, rankings: JudgedRankings, n_judged: FloatArray | IntArray) -> FloatArray:
        lengths = rankings.retrieved.lengths
        seen = lengths if self.cutoff is None else np.minimum(lengths, self.cutoff)
        return ratio(n_judged, seen, otherwise=np.nan)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unjudged:
    """The share of the returned documents that have no judgment.

        Unjudged@c = documents without a judgment in the first c ranks / min(c, documents retrieved)

    Range 0 to 1; 1 - `Judged`. Undefined for an empty ranking. Under the convention ``unjudged: removed`` it
    is 0.

    Source: Buckley & Voorhees 2004, doi:10.1145/1008992.1009000 (why unjudged documents matter).

    >>> Unjudged(cutoff=10).per_query(JudgedRankings.from_lists(retrieved=[[0, None]], judged=[[0, 1]]))
    array([0.5])
    """

    FACTS: ClassVar[Facts] = Facts(empty=float("nan"), higher_is_better=None, linear=True)
    cutoff: int | None = None

    def __post_init__(self) -> None:
        check_cutoff(self.cutoff)

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,), NaN for an empty ranking."""
        return 1 - Judged(cutoff=self.cutoff).per_query(rankings)

    def expected(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,), NaN for an empty ranking."""
        return 1 - Judged(cutoff=self.cutoff).expected(rankings)


@dataclass(frozen=True, slots=True, kw_only=True)
class NumRet:
    """Documents retrieved, up to the depth; summed over queries.

        NumRet = documents in the ranking

    Range from 0. Defined for every query.

    Source: trec_eval ``num_ret``.

    >>> NumRet().per_query(JudgedRankings.from_lists(retrieved=[[0, 2]], judged=[[2]]))
    array([2.])
    """

    FACTS: ClassVar[Facts] = Facts(
        high=UNBOUNDED, statistic="sum", higher_is_better=None, order_free=True, judgments=False
    )
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

    def expected(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,)."""
        return expected_hits(rankings, self.min_grade, self.cutoff)


@dataclass(frozen=True, slots=True, kw_only=True)
class NumNonRelJudgedRet:
    """Documents retrieved that are judged and not relevant; summed over queries.

        NumNonRelJudgedRet = documents in the ranking with a grade below rel and not below 0

    Range from 0. A grade below 0 says that a document was not judged, as in trec_eval. Defined for every query.

    Source: trec_eval ``num_nonrel_judged_ret``.

    >>> NumNonRelJudgedRet().per_query(JudgedRankings.from_lists(retrieved=[[0, None, 2, -1]], judged=[[2, 0, -1]]))
    array([1.])
    """

    FACTS: ClassVar[Facts] = Facts(high=UNBOUNDED, statistic="sum", higher_is_better=None, order_free=True)
    min_grade: float = 1
    cutoff: ClassVar[None] = None

    def __post_init__(self) -> None:
        check_grade(self.min_grade)

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,)."""
        flags = not_relevant(rankings.retrieved.values, self.min_grade)
        return segment_count(flags, rankings.retrieved.offsets).astype(np.float64)
