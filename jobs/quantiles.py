"""Counted SCORES -> quantiles of each system's values, with intervals by Woodruff's method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from evalcore.inference.quantiles import quantile_levels
from evalcore.inference.strata import Strata
from jobs.inferred import Quantile, QuantileKey
from jobs.sums import Sums
from jobs.wanted_quantiles import Wanted, wanted

__all__ = ["up_to", "values", "wanted", "with_intervals"]


def values(counted: DataFrame, quantiles: Sequence[Wanted]) -> dict[QuantileKey, float]:
    """The quantile of each system's values, between two values in proportion.  Runs one job.

    Holds every distinct value of a system and measure in memory once.
    """
    rows = counted.groupBy("system").agg(
        *(F.percentile(each.measure.column, each.level).alias(each.indicator.column) for each in quantiles)
    )
    return {
        (row.system, each.measure.column, each.level): row[each.indicator.column]
        for row in rows.collect()
        for each in quantiles
        if row[each.indicator.column] is not None
    }


def up_to(counted: DataFrame, quantiles: Sequence[Wanted], values: Mapping[QuantileKey, float]) -> DataFrame:
    """Counted SCORES with the indicators: 1 for a value up to its system's quantile, 0 above, null for none."""

    def quantile_of(each: Wanted) -> Column:
        known = [(key[0], value) for key, value in values.items() if key[1:] == (each.measure.column, each.level)]
        pairs = [F.lit(part) for system, value in known for part in (system, value)]
        return F.create_map(*pairs)[F.col("system")] if pairs else F.lit(None).cast("double")

    indicators: dict[str, Column] = {}
    for each in quantiles:
        column = each.indicator.column
        indicators[column] = (F.col(each.measure.column) <= quantile_of(each)).cast("double")
        indicators[f"{column}_undefined"] = F.lit(False)
    return counted.withColumns(indicators)


def with_intervals(
    counted: DataFrame,
    quantiles: Sequence[Wanted],
    values: Mapping[QuantileKey, float],
    sums: Sums,
    *,
    confidence: float,
) -> dict[QuantileKey, Quantile]:
    """Each quantile with its interval, from UNIT SUMS of the indicators.  Runs one job.

    The ends are quantiles of the same values at other levels, so the second look costs what the first did.
    """
    design = Strata.of(sums.table, sums.strata)
    levels = {}
    for each in quantiles:
        for system in {key[0] for key in values}:
            key = (system, each.measure.column, each.level)
            if key in values:
                column = sums.estimated(((system, None), each.indicator.column), each.indicator)
                levels[key] = quantile_levels(each.level, design.statistic(column), confidence=confidence)
    told = [(key, end) for key, ends in levels.items() for end in ends if end == end]
    if not told:
        return {key: Quantile(value) for key, value in values.items()}
    row = counted.agg(
        *(
            F.percentile(F.when(F.col("system") == F.lit(system), F.col(column)), end).alias(f"end_{place}")
            for place, ((system, column, _), end) in enumerate(told)
        )
    ).collect()[0]
    ends: dict[QuantileKey, list[float]] = {}
    for place, (key, _) in enumerate(told):
        ends.setdefault(key, []).append(row[f"end_{place}"])
    return {
        key: Quantile(value, min(value, *ends[key]), max(value, *ends[key])) if key in ends else Quantile(value)
        for key, value in values.items()
    }
