"""An interval of a median or another quantile of query values."""

from __future__ import annotations

from evalcore.errors import DataError
from evalcore.inference.distributions import student_t_quantile
from evalcore.inference.evidence import Interval
from evalcore.inference.influence import Statistic


def quantile_levels(p: float, indicator: Statistic, *, confidence: float) -> Interval:
    """The levels whose quantiles are the ends of the interval of the p-quantile, by Woodruff's method.

        q = the p-quantile of the values        indicator: the mean of 1{value <= q} over the queries
        low, high = p -+ t * standard error of the indicator, kept within 0 and 1

    So the standard error is that of a share, for units of any kind, and no density is needed. The quantile at a level
    is the smallest value with at least that share of the values at or below it. A level of 0 or 1 is the smallest or
    the largest value, and tells nothing of what may lie beyond. NaN for less than 2 units.
    Raises DataError unless 0 < p < 1.

    Source: Woodruff 1952, doi:10.1080/01621459.1952.10483443.
    """
    if not 0 < p < 1:
        raise DataError(f"no quantile at {p}: a level between 0 and 1 is needed, 0.5 for the median")
    reach = student_t_quantile((1 + confidence) / 2, indicator.degrees_of_freedom) * indicator.standard_error
    low, high = p - reach, p + reach
    return Interval(0.0 if low < 0 else low, 1.0 if high > 1 else high)
