"""What every metric is, and how a class says what is true of all its instances."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol

from evalcore.arrays import FloatArray
from evalcore.errors import MetricNameError
from evalcore.rankings import JudgedRankings


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is true of a metric whatever its parameters.

    low, high          range of a query's value; high may be infinite
    statistic          how queries combine: ``mean``, or ``sum`` for counts
    needs_relevant     undefined (NaN) exactly for a query without relevant judged documents
    empty              value for a ranking that holds nothing, where defined
    higher_is_better   which direction is an improvement
    """

    high: float = 1.0
    low: float = 0.0
    statistic: Literal["mean", "sum"] = "mean"
    needs_relevant: bool = False
    empty: float = 0.0
    higher_is_better: bool = True


class Metric(Protocol):
    """A value for each ranking.  Metrics are frozen dataclasses: equal if their parameters are."""

    FACTS: ClassVar[Facts]

    @property
    def cutoff(self) -> int | None:
        """Deepest rank counted; None counts all."""

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,), NaN where undefined."""


def check_cutoff(cutoff: int | None) -> None:
    """Raises MetricNameError unless the cutoff is None or a whole number from 1."""
    if cutoff is not None and (isinstance(cutoff, bool) or not isinstance(cutoff, int) or cutoff < 1):
        raise MetricNameError(f"cutoff is {cutoff!r}; it must be a whole number from 1")
