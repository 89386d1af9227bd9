"""Which quantiles are wanted of which measures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from jobs.measures import Measure


@dataclass(frozen=True, slots=True)
class Wanted:
    """A quantile that is wanted of a measure, and the column of ones for the values up to it."""

    measure: Measure
    level: float
    indicator: Measure


def wanted(measures: Sequence[Measure], levels: Sequence[float]) -> list[Wanted]:
    """The levels of every measure that is a mean of values, and the median of each that is a median."""
    return [
        Wanted(
            measure,
            level,
            Measure(name=measure.name, source=column, column=column, statistic="mean", bounded=True),
        )
        for measure in measures
        if measure.statistic in ("mean", "median")
        for place, level in enumerate(dict.fromkeys([*levels, *([0.5] if measure.statistic == "median" else [])]))
        for column in [f"{measure.column}_up_to_{place}"]
    ]
