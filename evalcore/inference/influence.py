"""A mean, or a difference of means, as what each unit contributes to it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from evalcore.arrays import FloatArray, IntArray
from evalcore.inference import clusters
from evalcore.inference.ordered import ordered_sum
from evalcore.inference.sums import UnitSums

RESOLUTION_BITS = 50
"""Differences below 2**-50 of a column's scale are rounding: a double keeps 53 bits, and sums lose a few."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Statistic:
    """A mean over queries, or the difference of two, seen from the units.  All arrays: (n_units,)

        share       h_g = n_g / N                        n_g: queries of unit g,  N = sum of n_g
        influence   u_g = (S_g - estimate * n_g) / N     S_g: sum of unit g
        adjusted    u_g / sqrt(1 - h_g)                  of the expected square that u_g would have, were it not fitted
        deletion    estimate - (estimate without unit g) = u_g / (1 - h_g)

    of a contrast: the candidate's less the baseline's, and of the two shares the mean. `values` are unit means
    (of a contrast: deltas), NaN where undefined; `n` counts queries, of a contrast those of the side that has more.
    Influence below rounding is exactly 0. `square_sum` is the sum over queries of the squared value, NaN where nobody
    counted it. `sides` are the candidate's and the baseline's statistics of a contrast. `parts` are independent
    statistics of units apart, strata, whose sum this is: shares and what is made of them are then those within a
    part, times its weight, and `levels` are the estimate in each unit's stratum.
    """

    estimate: float
    share: FloatArray
    influence: FloatArray
    adjusted: FloatArray
    deletion: FloatArray
    values: FloatArray
    n: IntArray
    n_queries: int
    resolution: float
    square_sum: float = math.nan
    sides: tuple[Statistic, Statistic] | None = None
    parts: tuple[Statistic, ...] = ()
    levels: FloatArray | None = None

    @cached_property
    def n_units(self) -> int:
        """Units with a counted query."""
        return int(np.count_nonzero(self.n))

    @cached_property
    def standard_error(self) -> float:
        """CR2: the root of the sum of adjusted_g**2; NaN for less than 2 units with a counted query, on either side.

        Unbiased where the queries of a unit are independent. With one query a unit it is s / sqrt(N), as are CR1
        and CR3.  Source: Bell & McCaffrey 2002, Survey Methodology 28(2), 169-181.
        """
        apart = self.counted_parts or self.sides or [self]
        if min(statistic.n_units for statistic in apart) < 2 or math.isnan(self.estimate):
            return math.nan
        return math.sqrt(ordered_sum(self.adjusted**2))

    @property
    def deviation(self) -> float:
        """Of the units' values or deltas, as the standard error has it: standard_error * sqrt(n_units).

        Of a contrast of two sides without a unit in common the root of the mean of their squares.  Source: Cohen
        1988, Statistical Power Analysis for the Behavioral Sciences, section 2.3.2.
        """
        if self.sides is not None and self.unpaired:
            return math.sqrt(sum(side.deviation**2 for side in self.sides) / 2)
        return self.standard_error * math.sqrt(self.n_units)

    @property
    def unpaired(self) -> bool:
        """Whether this is a contrast of two sides without a unit in common, such as two arms of an experiment."""
        return self.sides is not None and not np.any((self.sides[0].n > 0) & (self.sides[1].n > 0))

    @cached_property
    def plain_error(self) -> float:
        """CR0, the root of the sum of u_g**2: what the spread of bootstrap replicates estimates."""
        return math.sqrt(ordered_sum(self.influence**2))

    @cached_property
    def degrees_of_freedom(self) -> float:
        """Of `standard_error`, by `evalcore.inference.clusters`: n_units - 1 where all units have the same share.

        Of a contrast of two sides without a unit in common those of Welch, and of sides that share units but not
        all queries the fewer of the two.  Source: Welch 1947, doi:10.1093/biomet/34.1-2.28.
        """
        if self.parts:
            parts = self.counted_parts
            return clusters.pooled_degrees_of_freedom(
                [part.standard_error for part in parts], [part.degrees_of_freedom for part in parts]
            )
        if self.sides is None or np.array_equal(self.sides[0].share, self.sides[1].share):
            return clusters.degrees_of_freedom(
                self.share[self.n > 0], correlation=self.correlation, n_queries=self.n_queries
            )
        one, other = self.sides
        if not self.unpaired:
            return min(one.degrees_of_freedom, other.degrees_of_freedom)
        return clusters.pooled_degrees_of_freedom(
            [one.standard_error, other.standard_error], [one.degrees_of_freedom, other.degrees_of_freedom]
        )

    @cached_property
    def correlation(self) -> float:
        """Between the queries of a unit (ICC), from 0 to 1; 1, the most careful guess, where squares are unknown."""
        counted = self.n > 0
        return clusters.correlation(
            self.share[counted],
            self.influence[counted],
            n_queries=self.n_queries,
            squares=self.square_sum - self.n_queries * self.estimate**2,
        )

    @property
    def counted_parts(self) -> list[Statistic]:
        """The parts with a counted query."""
        return [part for part in self.parts if part.n_units]

    @cached_property
    def units_alike(self) -> bool:
        """Whether all units of a part have the same share: queries as units, or clusters of one size."""
        if self.parts:
            return all(part.units_alike for part in self.parts)
        share = self.share[self.n > 0]
        return bool(len(share) == 0 or share.max() - share.min() <= 1e-12 * share.max())

    @cached_property
    def effective_units(self) -> float:
        """One over the sum of h_g**2 (Kish): fewer than there are if a few units hold most queries."""
        if self.units_alike and not self.parts:
            return float(np.count_nonzero(self.n))
        squares = ordered_sum(self.share**2)
        return 1 / squares if squares > 0 else 0.0

    @cached_property
    def informative_units(self) -> int:
        """Units whose value is not the most common one; of a contrast those whose delta is not 0.

        Of a contrast of two sides without a unit in common the fewer of theirs.
        """
        if self.sides is not None and self.unpaired:
            return min(side.informative_units for side in self.sides)
        usual = 0.0 if self.sides is not None else self._most_common_value()
        return int(np.count_nonzero(np.abs(self.values - usual) > self.resolution))

    def _most_common_value(self) -> float:
        """The value that most units have, the smallest of equals; NaN if there is none."""
        values, times = np.unique(self.values[~np.isnan(self.values)], return_counts=True)
        return float(values[np.argmax(times)]) if values.size else math.nan


def of_column(sums: UnitSums, column: int) -> Statistic:
    """The mean of a column."""
    n = np.ascontiguousarray(sums.n[:, column])
    n_queries = int(n.sum())
    share = n / max(1, n_queries)
    estimate = sums.mean(column)
    totals = sums.unit_totals(column)
    resolution = math.ldexp(1.0, int(sums.exponents[column]) - RESOLUTION_BITS)
    excess = np.zeros(len(n)) if n_queries == 0 else totals - estimate * n
    excess[np.abs(excess) <= resolution * n] = 0.0
    influence = excess / max(1, n_queries)
    rest = np.maximum(1, n_queries - n) / max(1, n_queries)  # 1 - h_g; all queries in one unit: its excess is 0
    return Statistic(
        estimate=estimate,
        share=share,
        influence=influence,
        adjusted=influence / np.sqrt(rest),
        deletion=influence / rest,
        values=np.divide(totals, n, out=np.full(len(n), np.nan), where=n > 0),
        n=n,
        n_queries=n_queries,
        resolution=resolution,
        square_sum=sums.product(column, column),
    )


def of_ratio(sums: UnitSums, above: int, below: int) -> Statistic:
    """The sum of one column over that of another, which has the same queries and no negative value.

    u_g = (A_g - estimate * B_g) / B      A_g, B_g: sums of unit g,  B = sum of B_g
    """
    n = sums.n[:, below]
    totals, weights = sums.unit_totals(above), sums.unit_totals(below)
    weight = math.fsum(weights.tolist())
    if not weight > 0:
        nothing = np.zeros(len(n))
        return Statistic(
            estimate=math.nan, share=nothing, influence=nothing, adjusted=nothing, deletion=nothing,
            values=np.full(len(n), np.nan), n=np.zeros_like(n), n_queries=0, resolution=0.0,
        )  # fmt: skip
    estimate = float(sums.exact_ratio(above, below))
    units = max(1, int(n.sum())) / weight  # queries to one unit of what is below
    steps = [math.ldexp(1.0, int(sums.exponents[column]) - RESOLUTION_BITS) for column in (above, below)]
    step = steps[0] + abs(estimate) * steps[1]
    excess = totals - estimate * weights
    excess[np.abs(excess) <= step * n] = 0.0
    counts = (weights > 0) | (totals != 0)  # a unit with nothing below may still add above
    usual = weight / max(1, int(np.count_nonzero(counts)))
    values = estimate + excess / np.where(weights > 0, weights, usual)
    influence = excess / weight
    rest = np.where(weights < weight, (weight - weights) / weight, 1.0)
    return Statistic(
        estimate=estimate,
        share=weights / weight,
        influence=influence,
        adjusted=influence / np.sqrt(rest),
        deletion=influence / rest,
        values=np.where(counts, values, np.nan),
        n=np.where(counts, n, 0),
        n_queries=int(n.sum()),
        resolution=step * units,
    )


def of_geometric(column: Statistic) -> Statistic:
    """The exponential of a mean of logarithms."""
    scale = math.exp(column.estimate)
    return replace(
        scaled(column, scale),
        estimate=scale,
        values=np.exp(column.values),
        resolution=column.resolution * max(1.0, scale),
        square_sum=math.nan,
        levels=None if column.levels is None else scale * (1 + column.levels - column.estimate),
    )


def scaled(statistic: Statistic, factor: float) -> Statistic:
    """The statistic times a number."""
    return replace(
        statistic,
        estimate=factor * statistic.estimate,
        influence=factor * statistic.influence,
        adjusted=factor * statistic.adjusted,
        deletion=factor * statistic.deletion,
        values=factor * statistic.values,
        resolution=abs(factor) * statistic.resolution,
        square_sum=factor * factor * statistic.square_sum,
        parts=tuple(scaled(part, factor) for part in statistic.parts),
        levels=None if statistic.levels is None else factor * statistic.levels,
    )


def of_contrast(
    candidate: Statistic, baseline: Statistic, *, estimate: float, square_sum: float = math.nan
) -> Statistic:
    """The candidate's less the baseline's, from the same units. `estimate` is the delta, rounded once."""
    resolution = max(candidate.resolution, baseline.resolution)
    # contrasts are many: of sides that count the same queries they keep the same arrays
    alike = np.array_equal(candidate.n, baseline.n) and np.array_equal(candidate.share, baseline.share)
    influence = candidate.influence - baseline.influence
    rounding = np.abs(influence) <= resolution * (candidate.share + baseline.share)
    return Statistic(
        estimate=estimate,
        share=candidate.share if alike else (candidate.share + baseline.share) / 2,
        influence=np.where(rounding, 0.0, influence),
        adjusted=np.where(rounding, 0.0, candidate.adjusted - baseline.adjusted),
        deletion=np.where(rounding, 0.0, candidate.deletion - baseline.deletion),
        values=candidate.values - baseline.values,
        n=candidate.n if alike else np.maximum(candidate.n, baseline.n),
        n_queries=int(np.minimum(candidate.n, baseline.n).sum()),
        resolution=resolution,
        square_sum=square_sum,
        sides=(candidate, baseline),
        levels=None if candidate.levels is None or baseline.levels is None else candidate.levels - baseline.levels,
    )
