"""What is estimated of each system: a metric under a mean, or one element of a metric whose value is a vector."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from pyspark.sql import Column
from pyspark.sql import functions as F

from evalcore import Conventions, Metric, column_name, name
from evalcore.metrics.base import HasElements, floor_of

Statistic: TypeAlias = Literal["mean", "sum", "ratio", "geometric", "weighted", "median", "units"]
WEIGHT = "weight"
"""The column of QUERIES that holds weights."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """One number for each system.

    name       the metric's name; of a vector with the element in square brackets
    column     what holds a query's value in counted SCORES, and the sums in UNIT SUMS
    element    the place in the vector
    statistic  how the values of queries become one number: the metric's own, or that of ``mean``
    bounded    whether a query's value is within -1 and 1 by definition
    """

    metric: Metric
    name: str
    column: str
    element: int | None
    statistic: Statistic
    bounded: bool

    @property
    def kind(self) -> Literal["mean", "ratio", "geometric"]:
        """What inference makes of the sums."""
        if self.statistic in ("ratio", "weighted", "units"):
            return "ratio"
        return "geometric" if self.statistic == "geometric" else "mean"

    @property
    def unit_weight(self) -> str:
        """The column that weighs queries so that each unit counts once."""
        return f"{self.column}_unit_weight"

    @property
    def values(self) -> dict[str, Column]:
        """The columns of counted SCORES, from those of SCORES: the query's value first."""
        whole = column_name(self.metric)
        value = F.col(whole) if self.element is None else F.get(whole, F.lit(self.element))
        parts = ("above", "below") if self.statistic == "ratio" else ()
        return {self.column: value, **{f"{self.column}_{part}": F.col(f"{whole}_{part}") for part in parts}}

    @property
    def sums(self) -> dict[str, Column]:
        """The columns of UNIT SUMS, each the sum of what a row of counted SCORES adds to it; one, or two of a ratio."""
        value, below = F.col(self.column), f"{self.column}_below"
        match self.statistic:
            case "ratio":
                return {self.column: F.col(f"{self.column}_above"), below: F.col(below)}
            case "weighted" | "units":
                weight = F.col(WEIGHT if self.statistic == "weighted" else self.unit_weight).cast("double")
                return {self.column: value * weight, below: F.when(value.isNotNull(), weight)}
            case "geometric":
                return {self.column: F.log(F.when(value.isNotNull(), F.greatest(value, F.lit(floor_of(self.metric)))))}
        return {self.column: value}


def measures_of(metrics: Sequence[Metric], conventions: Conventions) -> list[Measure]:
    """All that is estimated of each system, in the order of the metrics."""
    return [measure for metric in metrics for measure in _of(metric, conventions)]


def _of(metric: Metric, conventions: Conventions) -> list[Measure]:
    own, chosen = metric.FACTS.statistic, conventions.mean
    statistic: Statistic = own if own != "mean" else "mean" if chosen == "queries" else chosen
    as_usual = conventions.duplicates != "counted" and conventions.ties != "average_rank"
    within = max(abs(metric.FACTS.low), abs(metric.FACTS.high)) <= 1 and as_usual
    whole = Measure(
        metric=metric,
        name=name(metric),
        column=column_name(metric),
        element=None,
        statistic=statistic,
        bounded=within and statistic in ("mean", "median", "units"),
    )
    if not isinstance(metric, HasElements):
        return [whole]
    return [
        replace(whole, name=f"{whole.name}[{label}]", column=f"{whole.column}_{place}", element=place)
        for place, label in enumerate(metric.elements)
    ]
