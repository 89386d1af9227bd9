"""What every metric is, and how a class says what is true of all its instances."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral
from typing import ClassVar, Literal, Protocol

from evalcore.arrays import FloatArray
from evalcore.errors import MetricNameError
from evalcore.rankings import JudgedRankings


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is true of a metric whatever its parameters.

    low, high          range of a query's value; high may be infinite
    statistic          how queries combine: ``mean``, or ``sum`` for counts
    needs_relevant     undefined (NaN) exactly where the judgments hold nothing that counts: no relevant
                       document, or for nDCG none that gains
    empty              value for a ranking that holds nothing: NaN if undefined, None if the judgments decide
    higher_is_better   which direction is an improvement; None where neither is
    """

    high: float = 1.0
    low: float = 0.0
    statistic: Literal["mean", "sum"] = "mean"
    needs_relevant: bool = False
    empty: float | None = 0.0
    higher_is_better: bool | None = True


class Metric(Protocol):
    """A value for each ranking.  Metrics are frozen dataclasses: equal if their parameters are."""

    FACTS: ClassVar[Facts]

    @property
    def cutoff(self) -> int | None:
        """Deepest rank counted; None counts all."""

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,), NaN where undefined."""


UNBOUNDED = math.inf
DEEPEST_CUTOFF = 2**31 - 1


def check_cutoff(cutoff: int | None) -> None:
    """Raises MetricNameError unless the cutoff is None or a whole number from 1 to 2**31 - 1."""
    if cutoff is None:
        return
    whole = isinstance(cutoff, Integral) and not isinstance(cutoff, bool)
    if not whole or not 1 <= cutoff <= DEEPEST_CUTOFF:
        raise MetricNameError(f"cutoff is {cutoff!r}; it must be a whole number from 1")


def check_grade(min_grade: float) -> None:
    """Raises MetricNameError unless the lowest relevant grade is a finite number."""
    if not math.isfinite(min_grade):
        raise MetricNameError(f"rel is {min_grade!r}; it must be a finite number")
