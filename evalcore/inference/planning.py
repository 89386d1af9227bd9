"""How small a change an evaluation can show, and how many units a smaller one needs."""

from __future__ import annotations

import math
from statistics import NormalDist

from evalcore.errors import DataError
from evalcore.inference.distributions import student_t_cdf, student_t_quantile
from evalcore.inference.influence import Statistic


def minimal_detectable_effect(
    standard_error: float, degrees_of_freedom: float, *, power: float = 0.8, confidence: float = 0.95
) -> float:
    """The least true effect whose interval excludes 0 with probability `power`, in the metric's unit.

        effect = (t at the upper tail + t at power) * standard_error       t: Student's quantiles; 2.80 for many units

    NaN without a standard error.  Raises DataError unless power and confidence are fractions and power is at least 0.5.

    Source: Bloom 1995, doi:10.1177/0193841X9501900504.

    >>> round(minimal_detectable_effect(0.01, 1e6), 4)
    0.028
    """
    return _multiple(degrees_of_freedom, power=power, confidence=confidence) * standard_error


def chance_to_detect(
    effect: float, standard_error: float, degrees_of_freedom: float, *, confidence: float = 0.95
) -> float:
    """The probability that the interval excludes 0, on the side of a true effect of this magnitude.

        P(T <= |effect| / standard_error - t at the upper tail)

    With a margin for the effect and a confidence of 0.9, whose lower end is a one-sided bound of 95 %, it is the
    probability that a candidate as good as the baseline passes a gate. NaN without a standard error above 0.
    """
    _check(confidence)
    if not standard_error > 0:
        return math.nan
    tail = student_t_quantile((1 + confidence) / 2, degrees_of_freedom)
    return student_t_cdf(abs(effect) / standard_error - tail, degrees_of_freedom)


def units_needed(
    effect: float,
    standard_error: float,
    degrees_of_freedom: float,
    n_units: int,
    *,
    power: float = 0.8,
    confidence: float = 0.95,
) -> int | None:
    """The fewest units like the n_units seen with which `effect` is the minimal detectable one; at least 2.

        standard error of n units      = standard_error * sqrt(n_units / n)
        degrees of freedom of n units  = (degrees_of_freedom + 1) * n / n_units - 1, at least 1

    None without a standard error above 0, from which nothing can be told. Raises DataError for an effect of 0.
    """
    if not abs(effect) > 0:
        raise DataError(f"an effect of {effect} needs more units than there are: name the least that matters")
    if not standard_error > 0:
        return None

    def detectable(n: int) -> float:
        df = max(1.0, (degrees_of_freedom + 1) * n / n_units - 1)
        return _multiple(df, power=power, confidence=confidence) * standard_error * math.sqrt(n_units / n)

    normal = NormalDist().inv_cdf((1 + confidence) / 2) + NormalDist().inv_cdf(power)
    too_few = max(1, math.ceil(n_units * (normal * standard_error / effect) ** 2) - 1)  # less than Student's asks for
    enough = too_few + 1
    while detectable(enough) > abs(effect):
        too_few, enough = enough, 2 * enough
    while enough - too_few > 1:
        middle = (too_few + enough) // 2
        too_few, enough = (middle, enough) if detectable(middle) > abs(effect) else (too_few, middle)
    return enough


def design_effect(statistic: Statistic) -> float:
    """How many times the variance is what it would be, were all queries independent.

        standard_error**2 / (sum of (value - estimate)**2 / (N - 1) / N)         N queries

    As many times as many queries are needed as with one query a unit. For clusters of about n queries with
    correlation c it is about 1 + (n - 1) c, for strata less than 1. 1 if nothing varies; NaN where the sum of squares
    is unknown (`UnitSums.products`), to four digits where it is.  Source: Kish 1965, Survey Sampling, section 8.2.
    """
    n = statistic.n_queries
    if n == statistic.n_units and not statistic.parts and statistic.sides is None:
        return 1.0
    if math.isnan(statistic.square_sum) or n < 2:
        return math.nan
    squares = statistic.square_sum - n * statistic.estimate**2
    independent = squares / (n - 1) / n
    return statistic.standard_error**2 / independent if independent > 0 else 1.0


def _multiple(df: float, *, power: float, confidence: float) -> float:
    _check(confidence)
    if not 0.5 <= power < 1:
        raise DataError(f"power {power} is not a fraction from 0.5 to 1; 80 % is 0.8")
    return student_t_quantile((1 + confidence) / 2, df) + student_t_quantile(power, df)


def _check(confidence: float) -> None:
    if not 0 < confidence < 1:
        raise DataError(f"confidence {confidence} is not a fraction between 0 and 1; 95 % is 0.95")
