"""Interpolated precision: how much of what is read is relevant, once this share of all that is relevant is found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from evalcore.arrays import FloatArray, IntArray
from evalcore.errors import MetricNameError
from evalcore.metrics.average_precision import precisions
from evalcore.metrics.base import Facts, check_grade
from evalcore.metrics.relative_precision import ALL_BUT_A_TENTH
from evalcore.metrics.top_k import check_choice
from evalcore.rankings import JudgedRankings

LEVELS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
POINTS = ("reached", "trec_eval9", "trec_eval10")
ROUNDING = 1e-9


def interpolated(rankings: JudgedRankings, min_grade: float, recall: float, point: str) -> FloatArray:
    """The greatest precision at or below the recall level.  (n_rankings,), NaN where none judged is relevant"""
    hits, n_relevant = rankings.relevant(min_grade), rankings.n_relevant(min_grade)
    starts = hits.offsets[:-1] + np.maximum(_needed(np.multiply(recall, n_relevant, dtype=np.float64), point) - 1, 0)
    found = np.flatnonzero(starts < hits.offsets[1:])
    values = np.where(n_relevant > 0, 0.0, np.nan)
    if found.size:
        edges, precise = (
            np.column_stack([starts[found], hits.offsets[1:][found]]).ravel(),
            precisions(rankings, min_grade),
        )
        greatest = np.maximum.reduceat(precise, edges[:-1] if edges[-1] == len(precise) else edges)[::2]
        values[found] = np.where(n_relevant[found] > 0, greatest, np.nan)
    return values


def _needed(relevant: FloatArray, point: str) -> IntArray:
    """How many relevant documents have to be found for a number of them that need not be whole.  (n_rankings,)"""
    if point == "trec_eval9":
        return (relevant + ALL_BUT_A_TENTH).astype(np.int64)
    if point == "trec_eval10":
        return np.floor(relevant + 0.5).astype(np.int64)
    return np.ceil(relevant - ROUNDING).astype(np.int64)  # 0.07 * 100 is 7


@dataclass(frozen=True, slots=True, kw_only=True)
class IPrec:
    """Interpolated precision: the best precision at any rank where at least this recall is reached.

        IPrec@x = max over ranks r with R@r >= x of P@r

    The number behind @ is the recall level, from 0 to 1. Range 0 to 1; 0 where the level is not reached. Relevant is
    a grade of at least ``rel``. Undefined for a query without relevant judged documents.

    ``point`` is how many of R relevant documents make the level x:

        reached      x R, rounded up: recall is at least x
        trec_eval9   x R, rounded up from a tenth and down below it
        trec_eval10  x R, rounded to the nearest whole number

    Source: Salton & McGill 1983, Introduction to Modern Information Retrieval; trec_eval ``iprec_at_recall``.

    >>> IPrec(recall=0.5).per_query(JudgedRankings.from_lists(retrieved=[[0, 1, 1]], judged=[[1, 1]])).round(4)
    array([0.6667])
    """

    FACTS: ClassVar[Facts] = Facts(needs_relevant=True, monotone=True, binary=True)
    AT: ClassVar[str] = "recall"
    recall: float = np.nan
    point: str = "reached"
    min_grade: float = 1
    cutoff: ClassVar[None] = None

    def __post_init__(self) -> None:
        check_grade(self.min_grade)
        check_choice("point", self.point, POINTS)
        if not 0 <= self.recall <= 1:
            raise MetricNameError("write a recall level from 0 to 1 behind @, like IPrec@0.1")

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,), NaN where no judged document is relevant."""
        return interpolated(rankings, self.min_grade, self.recall, self.point)


@dataclass(frozen=True, slots=True, kw_only=True)
class IPrecCurve:
    """Interpolated precision at the recall levels 0, 0.1, 0.2 to 1: a vector of 11 values.

        IPrecCurve = (IPrec@0, IPrec@0.1, ..., IPrec@1)

    Parameters and range as for IPrec. Undefined for a query without relevant judged documents.

    Source: as IPrec.

    >>> IPrecCurve().per_query(JudgedRankings.from_lists(retrieved=[[1, 0]], judged=[[1, 1]]))
    array([[1., 1., 1., 1., 1., 1., 0., 0., 0., 0., 0.]])
    """

    FACTS: ClassVar[Facts] = Facts(needs_relevant=True, monotone=True, binary=True)
    point: str = "reached"
    min_grade: float = 1
    cutoff: ClassVar[None] = None

    def __post_init__(self) -> None:
        check_grade(self.min_grade)
        check_choice("point", self.point, POINTS)

    @property
    def elements(self) -> tuple[str, ...]:
        """The recall levels."""
        return tuple(str(level) for level in LEVELS)

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings, 11), NaN where no judged document is relevant."""
        return np.column_stack([interpolated(rankings, self.min_grade, level, self.point) for level in LEVELS])


@dataclass(frozen=True, slots=True, kw_only=True)
class ElevenPointAP:
    """The mean of the interpolated precision at 11 recall levels.

        11ptAP = (IPrec@0 + IPrec@0.1 + ... + IPrec@1) / 11

    Parameters and range as for IPrec. Undefined for a query without relevant judged documents.

    Source: as IPrec; trec_eval ``11pt_avg``.

    >>> ElevenPointAP().per_query(JudgedRankings.from_lists(retrieved=[[1, 0]], judged=[[1, 1]])).round(4)
    array([0.5455])
    """

    FACTS: ClassVar[Facts] = Facts(needs_relevant=True, monotone=True, binary=True)
    point: str = "reached"
    min_grade: float = 1
    cutoff: ClassVar[None] = None

    def __post_init__(self) -> None:
        check_grade(self.min_grade)
        check_choice("point", self.point, POINTS)

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,), NaN where no judged document is relevant."""
        total = np.zeros(len(rankings))
        for level in LEVELS:
            total += interpolated(rankings, self.min_grade, level, self.point)
        return total / len(LEVELS)
