"""From unit sums to estimates and paired contrasts, with their intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from evalcore.arrays import FloatArray
from evalcore.errors import DataError, EvalcoreError, unknown
from evalcore.inference import influence
from evalcore.inference.bootstrap import replicate_means
from evalcore.inference.distributions import student_t_cdf
from evalcore.inference.influence import Statistic
from evalcore.inference.intervals import INTERVALS, RESAMPLING, Evidence, Interval, interval
from evalcore.inference.sums import UnitSums

FEWEST_REPLICATES = 99
FEWEST_INFORMATIVE_UNITS = 10
FEWEST_EFFECTIVE_UNITS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """A number to be estimated: a smooth function of sums.

    mean        the mean of a column
    ratio       the sum of a column over that of the column `below`, which counts the same queries
    geometric   e to the mean of a column of logarithms
    """

    column: int
    below: int | None = None
    kind: Literal["mean", "ratio", "geometric"] = "mean"


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A measure over its counted queries, in the metric's unit; NaN if there is none.

    standard_error is CR1 over the units. n_units counts the units with a counted query.

    flags   one_unit       less than 2 such units: no standard error and no interval (NaN)
            degenerate     no unit has influence: the interval is the estimate twice
            insufficient   fewer than 10 units whose value is not the most common one: intervals cover too little
            few_clusters   N**2 / sum of n_g**2 is below 10, n_g the queries of a unit and N their sum
    """

    estimate: float
    standard_error: float
    n_queries: int
    n_units: int
    flags: tuple[str, ...]
    intervals: dict[str, Interval]


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    """How much higher the candidate's measure is than the baseline's, over the same units.

        delta = candidate - baseline     relative_delta = delta / baseline (NaN for a baseline of 0)
        p_value   two-sided, t = delta / standard_error with n_units - 1 degrees of freedom
        effect_size = delta / standard deviation of the units' deltas = delta / (standard_error sqrt(n_units))

    p_value is 1 if no delta differs from 0, never 0, and NaN for less than 2 units. Where all units have the
    same delta, which leaves no error to divide by, it is 2**(1 - n_units), that of sign flips. effect_size is NaN for
    a standard error of 0. n_queries are those that both sides count. Flags as in Estimate, with
    `insufficient` for fewer than 10 units whose delta differs from 0.
    """

    delta: float
    relative_delta: float
    standard_error: float
    p_value: float
    effect_size: float
    n_queries: int
    n_units: int
    flags: tuple[str, ...]
    intervals: dict[str, Interval]


@dataclass(frozen=True, slots=True, kw_only=True)
class Inference:
    """One Estimate for each measure, one Contrast for each pair asked for, in their order."""

    estimates: list[Estimate]
    contrasts: list[Contrast]


def infer(
    sums: UnitSums,
    *,
    measures: Sequence[Measure] | None = None,
    contrasts: Sequence[tuple[int, int]] = (),
    methods: Sequence[str] = ("percentile", "bca", "t"),
    confidence: float = 0.95,
    replicates: int = 9_999,
    seed: int = 0,
) -> Inference:
    """Every measure and every (candidate, baseline) pair's difference of measures, each with its intervals.

    measures   what to estimate; default: the mean of each column
    contrasts  pairs of places in `measures`

    Units are taken as independent; the queries of one unit may depend on each other in any way. Replicates
    are drawn only if a method needs them, the same for all columns. Those that drew no query of a column
    say nothing of it and are left out.  Raises EvalcoreError for an unknown method, and DataError for a
    confidence, number of replicates or column that cannot be.

    >>> sums = UnitSums.from_values(["q1", "q2", "q3"], np.array([[0.5, 0.25], [1.0, 0.5], [0.0, 0.0]]))
    >>> found = infer(sums, contrasts=[(0, 1)], methods=["t"])
    >>> found.estimates[0].estimate, found.contrasts[0].delta, found.contrasts[0].flags
    (0.5, 0.25, ('insufficient', 'few_clusters'))
    """
    if measures is None:
        measures = [Measure(column=column) for column in range(len(sums.exponents))]
    _check(measures, contrasts, methods, confidence, replicates)
    columns = [_statistic(sums, measure) for measure in measures]
    pairs = [
        influence.of_contrast(columns[candidate], columns[baseline], estimate=_delta(sums, measures, columns, pair))
        for pair in contrasts
        for candidate, baseline in [pair]
    ]
    drawn = replicates if RESAMPLING.intersection(methods) else 0
    means, deltas = _replicates(sums, measures, contrasts, replicates=drawn, seed=seed)

    def intervals(statistic: Statistic, replicated: FloatArray) -> dict[str, Interval]:
        counted = statistic.n > 0
        evidence = Evidence(
            estimate=statistic.estimate,
            standard_error=statistic.standard_error,
            influence=statistic.influence[counted],
            deletion=statistic.deletion[counted],
            replicates=np.sort(replicated[~np.isnan(replicated)]),
            confidence=confidence,
            resolution=statistic.resolution,
        )
        return {method: interval(method, evidence) for method in methods}

    return Inference(
        estimates=[
            Estimate(
                estimate=column.estimate,
                standard_error=column.standard_error,
                n_queries=column.n_queries,
                n_units=column.n_units,
                flags=_flags(column, uninformative=column.most_common_value()),
                intervals=intervals(column, replicated),
            )
            for column, replicated in zip(columns, means, strict=True)
        ],
        contrasts=[
            _contrast(pair, columns[baseline].estimate, intervals(pair, replicated))
            for pair, (_, baseline), replicated in zip(pairs, contrasts, deltas, strict=True)
        ],
    )


def _statistic(sums: UnitSums, measure: Measure) -> Statistic:
    if measure.kind == "ratio" and measure.below is not None:
        return influence.of_ratio(sums, measure.column, measure.below)
    column = influence.of_column(sums, measure.column)
    return influence.of_geometric(column) if measure.kind == "geometric" else column


def _delta(
    sums: UnitSums, measures: Sequence[Measure], statistics: Sequence[Statistic], pair: tuple[int, int]
) -> float:
    candidate, baseline = pair
    if measures[candidate].kind == measures[baseline].kind == "mean":
        return sums.mean_difference(measures[candidate].column, measures[baseline].column)
    return statistics[candidate].estimate - statistics[baseline].estimate


def _replicates(
    sums: UnitSums,
    measures: Sequence[Measure],
    contrasts: Sequence[tuple[int, int]],
    *,
    replicates: int,
    seed: int,
) -> tuple[list[FloatArray], list[FloatArray]]:
    """Each measure and each difference in every replicate; the differences of two means are taken between sums."""
    of_means = [
        (place, (measures[candidate].column, measures[baseline].column))
        for place, (candidate, baseline) in enumerate(contrasts)
        if measures[candidate].kind == measures[baseline].kind == "mean"
    ]
    by_column, by_pair = replicate_means(sums, [pair for _, pair in of_means], replicates=replicates, seed=seed)
    found = [_replicated(by_column, measure) for measure in measures]
    deltas = [found[candidate] - found[baseline] for candidate, baseline in contrasts]
    for (place, _), exact in zip(of_means, by_pair, strict=True):
        deltas[place] = exact
    return found, deltas


def _replicated(means: FloatArray, measure: Measure) -> FloatArray:
    """A measure in every replicate; what is above and below a ratio counts the same queries, so means do."""
    if measure.kind == "ratio" and measure.below is not None:
        above, below = means[measure.column], means[measure.below]
        quotient = np.full(len(above), np.nan)
        np.divide(above, below, out=quotient, where=below > 0)
        return quotient
    of_column: FloatArray = means[measure.column]
    return np.exp(of_column) if measure.kind == "geometric" else of_column


def _contrast(pair: Statistic, baseline: float, intervals: dict[str, Interval]) -> Contrast:
    error = pair.standard_error
    return Contrast(
        delta=pair.estimate,
        relative_delta=pair.estimate / baseline if baseline else math.nan,
        standard_error=error,
        p_value=_p_value(pair),
        effect_size=pair.estimate / (error * math.sqrt(pair.n_units)) if error > 0 else math.nan,
        n_queries=pair.n_queries,
        n_units=pair.n_units,
        flags=_flags(pair, uninformative=0.0),
        intervals=intervals,
    )


def _p_value(pair: Statistic) -> float:
    error = pair.standard_error
    if math.isnan(error):
        return math.nan
    if error == 0 and abs(pair.estimate) <= pair.resolution:
        return 1.0
    if error == 0:
        return max(2.0 ** (1 - pair.n_units), math.ulp(0.0))
    return max(2 * student_t_cdf(-abs(pair.estimate) / error, pair.n_units - 1), math.ulp(0.0))


def _flags(statistic: Statistic, *, uninformative: float) -> tuple[str, ...]:
    """The flags of Estimate that hold, in its order."""
    one_unit = math.isnan(statistic.standard_error)
    raised = {
        "one_unit": one_unit,
        "degenerate": not one_unit and not statistic.influence.any(),
        "insufficient": statistic.n_units_away_from(uninformative) < FEWEST_INFORMATIVE_UNITS,
        "few_clusters": statistic.effective_units < FEWEST_EFFECTIVE_UNITS,
    }
    return tuple(flag for flag, holds in raised.items() if holds)


def _check(
    measures: Sequence[Measure],
    contrasts: Sequence[tuple[int, int]],
    methods: Sequence[str],
    confidence: float,
    replicates: int,
) -> None:
    for method in methods:
        if method not in INTERVALS:
            raise EvalcoreError(unknown("interval method", method, INTERVALS))
    if not 0 < confidence < 1:
        raise DataError(f"confidence {confidence} is not a fraction between 0 and 1; 95 % is 0.95")
    if replicates < FEWEST_REPLICATES and RESAMPLING.intersection(methods):
        raise DataError(f"{replicates} replicates; at least {FEWEST_REPLICATES} are needed")
    for pair in contrasts:
        if not all(0 <= place < len(measures) for place in pair):
            raise DataError(f"contrast {pair} names a column that does not exist; there are {len(measures)}, from 0")
