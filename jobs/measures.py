"""What is estimated of each system: a metric under a mean, or one element of a metric whose value is a vector."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from evalcore import Conventions, Metric, column_name, name
from evalcore.conventions import GEOMETRIC_FLOOR
from evalcore.metrics.base import HasElements, floor_of

Statistic: TypeAlias = Literal["mean", "sum", "ratio", "geometric", "weighted", "median", "units"]
TIE = 1e-9
"""Values closer than this are a tie: equal up to the rounding of their sums."""
WEIGHT = "weight"
"""The column of QUERIES that holds weights."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """One number for each system.

    name                 the metric's name; of a vector with the element in square brackets
    source               the column of SCORES that holds a query's value
    column               what holds it in counted SCORES, and the sums in UNIT SUMS
    element              the place in the vector
    statistic            how the values of queries become one number: the metric's own, or that of ``mean``
    bounded              whether a query's value is within -1 and 1 by definition
    higher_is_better, needs_relevant, undefined_by_system   of the metric, see evalcore.metrics.base.Facts
    floor                the least value that a geometric mean takes
    """

    name: str
    source: str
    column: str
    element: int | None = None
    statistic: Statistic = "mean"
    bounded: bool = False
    higher_is_better: bool | None = True
    needs_relevant: bool = False
    undefined_by_system: bool = False
    floor: float = GEOMETRIC_FLOOR

    @property
    def kind(self) -> Literal["mean", "ratio", "geometric"]:
        """What inference makes of the sums."""
        if self.statistic in ("ratio", "weighted", "units"):
            return "ratio"
        return "geometric" if self.statistic == "geometric" else "mean"

    @property
    def sums(self) -> tuple[str, ...]:
        """The columns of UNIT SUMS: one, or two of a ratio."""
        return (self.column, f"{self.column}_below") if self.kind == "ratio" else (self.column,)

    @property
    def unit_weight(self) -> str:
        """The column that weighs queries so that each unit counts once."""
        return f"{self.column}_unit_weight"


def measures_of(metrics: Sequence[Metric], conventions: Conventions) -> list[Measure]:
    """All that is estimated of each system, in the order of the metrics."""
    return [measure for metric in metrics for measure in _of(metric, conventions)]


def _of(metric: Metric, conventions: Conventions) -> list[Measure]:
    facts, chosen = metric.FACTS, conventions.mean
    own = facts.statistic
    statistic: Statistic = own if own != "mean" else "mean" if chosen == "queries" else chosen
    as_usual = conventions.duplicates != "counted" and conventions.ties != "average_rank"
    within = max(abs(facts.low), abs(facts.high)) <= 1 and as_usual
    whole = Measure(
        name=name(metric),
        source=column_name(metric),
        column=column_name(metric),
        statistic=statistic,
        bounded=within and statistic in ("mean", "median", "units"),
        higher_is_better=facts.higher_is_better,
        needs_relevant=facts.needs_relevant,
        undefined_by_system=facts.undefined_by_system,
        floor=floor_of(metric),
    )
    if not isinstance(metric, HasElements):
        return [whole]
    return [
        replace(whole, name=f"{whole.name}[{label}]", column=f"{whole.column}_{place}", element=place)
        for place, label in enumerate(metric.elements)
    ]
