"""What the subtopics of a query get in the mean, when judgments name them: coverage, precision, average precision.

All count a judgment of at least ``rel`` as relevant and nothing more, and all are undefined for a query
none of whose subtopics has a relevant document; a subtopic without one is not counted among the n.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from evalcore.arrays import FloatArray
from evalcore.metrics.base import Facts, check_cutoff, check_grade
from evalcore.metrics.subtopics import relevant
from evalcore.metrics.top_k import ratio
from evalcore.rankings import JudgedRankings

FACTS = Facts(needs_relevant=True, needs=frozenset({"documents", "subtopics"}), binary=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class StRecall:
    """Subtopic recall: the share of the subtopics that is covered.

        StRecall@c = subtopics with a relevant document in the first c ranks / n

    Range 0 to 1. n and when it is undefined: `evalcore.metrics.diversity`.

    Source: Zhai, Cohen & Lafferty 2003, doi:10.1145/860435.860440; ndeval ``strec``.

    >>> rankings = JudgedRankings.from_lists(
    ...     retrieved=[[1, 1]], judged=[[1, 1]], documents=[["a", "b"]], subtopics=[[("a", "s", 1), ("b", "t", 1)]])
    >>> StRecall(cutoff=1).per_query(rankings)
    array([0.5])
    """

    FACTS: ClassVar[Facts] = FACTS
    min_grade: float = 1
    cutoff: int | None = None

    def __post_init__(self) -> None:
        check_cutoff(self.cutoff)
        check_grade(self.min_grade)

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,), NaN where no subtopic has a relevant document."""
        entries = relevant(rankings, self.min_grade)
        found = entries.found(self.cutoff)
        first = found[entries.above[found] == 0]
        covered = np.bincount(entries.rankings[first], minlength=len(rankings))
        return ratio(covered, entries.n_subtopics, otherwise=np.nan)


@dataclass(frozen=True, slots=True, kw_only=True)
class PIA:
    """Precision for a user who may mean any subtopic: the mean of the subtopics' P.

        P_IA@c = sum over subtopics of relevant documents in the first c ranks / c / n

    Range 0 to 1. All subtopics are as likely. Without a cutoff c is the length of the ranking, and an empty
    ranking has 0. n and when it is undefined: `evalcore.metrics.diversity`.

    Source: Agrawal et al. 2009, doi:10.1145/1498759.1498766; ndeval ``P-IA``.

    >>> rankings = JudgedRankings.from_lists(
    ...     retrieved=[[1, 1]], judged=[[1, 1]], documents=[["a", "b"]], subtopics=[[("a", "s", 1), ("b", "t", 1)]])
    >>> PIA(cutoff=1).per_query(rankings)
    array([0.5])
    """

    FACTS: ClassVar[Facts] = replace(FACTS, linear=True)
    min_grade: float = 1
    cutoff: int | None = None

    def __post_init__(self) -> None:
        check_cutoff(self.cutoff)
        check_grade(self.min_grade)

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,), NaN where no subtopic has a relevant document."""
        entries = relevant(rankings, self.min_grade)
        n_found = np.bincount(entries.rankings[entries.found(self.cutoff)], minlength=len(rankings))
        depths = rankings.retrieved.lengths if self.cutoff is None else self.cutoff
        value = ratio(n_found, depths * entries.n_subtopics, otherwise=0.0)
        value[entries.n_subtopics == 0] = np.nan
        return value


@dataclass(frozen=True, slots=True, kw_only=True)
class MapIA:
    """Average precision for a user who may mean any subtopic: the mean of the subtopics' AP.

        MAP_IA = sum over subtopics of AP of the ranking judged by this subtopic alone / n

    Range 0 to 1. All subtopics are as likely. n and when it is undefined: `evalcore.metrics.diversity`.

    Source: Agrawal et al. 2009, doi:10.1145/1498759.1498766; ndeval ``MAP-IA``.

    >>> rankings = JudgedRankings.from_lists(
    ...     retrieved=[[1, 1]], judged=[[1, 1]], documents=[["a", "b"]], subtopics=[[("a", "s", 1), ("b", "t", 1)]])
    >>> MapIA().per_query(rankings)
    array([0.75])
    """

    FACTS: ClassVar[Facts] = FACTS
    min_grade: float = 1
    cutoff: ClassVar[None] = None

    def __post_init__(self) -> None:
        check_grade(self.min_grade)

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,), NaN where no subtopic has a relevant document."""
        entries = relevant(rankings, self.min_grade)
        found = entries.found(None)
        n_relevant = np.bincount(entries.subtopics)
        precisions = (entries.above[found] + 1) / entries.ranks[found]
        values = np.bincount(entries.subtopics[found], weights=precisions, minlength=len(n_relevant)) / n_relevant
        owners = np.empty(len(n_relevant), dtype=np.int64)
        owners[entries.subtopics] = entries.rankings
        total = np.bincount(owners, weights=values, minlength=len(rankings))
        return ratio(total, entries.n_subtopics, otherwise=np.nan)
