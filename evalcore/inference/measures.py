"""What can be estimated from unit sums."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np

from evalcore.arrays import FloatArray
from evalcore.inference import influence
from evalcore.inference.influence import Statistic
from evalcore.inference.sums import UnitSums


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """A number to be estimated: a smooth function of sums.

    mean        the mean of a column
    ratio       the sum of a column over that of the column `below`, which counts the same queries
    geometric   e to the mean of a column of logarithms; until the end inference is about that mean
    """

    column: int
    below: int | None = None
    kind: Literal["mean", "ratio", "geometric"] = "mean"


def statistic_of(sums: UnitSums, measure: Measure) -> Statistic:
    """The measure as its units contribute to it; of a geometric mean its logarithm."""
    if measure.kind == "ratio" and measure.below is not None:
        return influence.of_ratio(sums, measure.column, measure.below)
    return influence.of_column(sums, measure.column)


def exact(sums: UnitSums, measure: Measure) -> Fraction:
    """The measure unrounded; of a geometric mean its logarithm.  Raises ZeroDivisionError if it is undefined."""
    if measure.kind == "ratio" and measure.below is not None:
        return sums.exact_ratio(measure.column, measure.below)
    return sums.exact_mean(measure.column)


def divisor(sums: UnitSums, measure: Measure) -> Fraction:
    """What the measure divides by: the number of counted queries, or the sum of the column below; unrounded."""
    column = measure.column if measure.below is None else measure.below
    n = Fraction(int(sums.n[:, column].sum()))
    return n * sums.exact_mean(column) if n and measure.kind == "ratio" else n


def replicated(mean: Callable[[int], FloatArray], measure: Measure) -> FloatArray:
    """The measure in replicates of the mean of any column; of a geometric mean its logarithm; NaN where undefined.

    What is above and below a ratio counts the same queries, so means do.  (n_replicates,)
    """
    if measure.kind == "ratio" and measure.below is not None:
        above, below = mean(measure.column), mean(measure.below)
        quotient = np.full(len(above), np.nan)
        np.divide(above, below, out=quotient, where=below > 0)
        return quotient
    return mean(measure.column)
