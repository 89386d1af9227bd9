"""Quantiles of each system's values with intervals by Woodruff's method: the twin of `jobs.quantiles`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from evalcore.arrays import FloatArray
from evalcore.inference.quantiles import quantile_levels
from evalcore.inference.strata import Strata
from jobs.direct.sums import Counted, unit_sums
from jobs.inferred import Quantile, QuantileKey
from jobs.sums import Sums
from jobs.wanted_quantiles import wanted


def quantiles(
    counted: Counted, levels: Sequence[float], *, units: Sequence[str], confidence: float
) -> dict[QuantileKey, Quantile]:
    """Of every system and measure that is a mean or a median of values, where it has any.

    units   (n_queries,) as they were summed
    """
    asked = wanted(counted.measures, levels)
    if not asked:
        return {}
    known = {
        (system, each.measure.column): np.sort(row[~np.isnan(row)])
        for each in asked
        for system, row in zip(counted.systems, counted.values[each.measure.column], strict=True)
    }
    found = {
        (system, column, each.level): percentile(values, each.level)
        for each in asked
        for (system, column), values in known.items()
        if column == each.measure.column and len(values)
    }
    indicators = [each.indicator for each in asked]
    exponents = {each.column: 0 for each in indicators}
    marked = replace(
        counted,
        measures=indicators,
        parts={},
        values={each.indicator.column: _up_to(counted, each.measure.column, each.level, found) for each in asked},
        undefined={each.column: np.zeros_like(counted.rows) for each in indicators},
    )
    sums = Sums.of_columns(
        unit_sums(marked, None, units, exponents),
        [],
        systems=counted.systems,
        pairs=[],
        measures=indicators,
        exponents=exponents,
    )
    design = Strata.of(sums.table, None)
    told = {}
    for each in asked:
        for system in counted.systems:
            key = (system, each.measure.column, each.level)
            if key in found:
                column = sums.estimated(((system, None), each.indicator.column), each.indicator)
                reach = quantile_levels(each.level, design.statistic(column), confidence=confidence)
                ends = [percentile(known[key[:2]], end) for end in reach if not math.isnan(end)]
                value = found[key]
                told[key] = Quantile(value, min(value, *ends), max(value, *ends)) if ends else Quantile(value)
    return told


def percentile(ascending: FloatArray, level: float) -> float:
    """Between two values in proportion, in the arithmetic of Spark's function of that name.

    >>> percentile(np.array([1.0, 2.0, 4.0]), 0.75)
    3.0
    """
    position = (len(ascending) - 1) * level
    below, above = math.floor(position), math.ceil(position)
    low, high = float(ascending[below]), float(ascending[above])
    return low + (position - below) * (high - low)


def _up_to(counted: Counted, column: str, level: float, found: dict[QuantileKey, float]) -> FloatArray:
    """1 for a value up to its system's quantile, 0 above, NaN for none.  (n_systems, n_queries)"""
    values = counted.values[column]
    bars = np.array([[found.get((system, column, level), math.nan)] for system in counted.systems])
    return np.where(np.isnan(values), np.nan, values <= bars)
