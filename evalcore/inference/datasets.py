"""Several data sets with no query in common: the mean over them, each with one vote or a weight."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from evalcore.errors import DataError
from evalcore.inference.clusters import pooled_degrees_of_freedom
from evalcore.inference.distributions import student_t_cdf, student_t_quantile
from evalcore.inference.estimates import Contrast, Estimate
from evalcore.inference.evidence import Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcomes:
    """In how many data sets a contrast's interval is above 0, below 0, or neither: counted, not added up."""

    above: int
    below: int
    neither: int


def mean_estimate(
    estimates: Sequence[Estimate], *, weights: Sequence[float] | None = None, confidence: float = 0.95
) -> Estimate:
    """The mean of a measure over data sets, with Student's interval.

        estimate = sum over k of w_k estimate_k             w_k: the weights over their sum, or 1 / data sets
        variance = sum over k of w_k**2 error_k**2          with the degrees of freedom of Welch and Satterthwaite

    It speaks of these data sets and of further queries like theirs. What to expect of another data set is a question
    with the data set as unit: `infer` of one value each. n_queries and n_units are sums, and a flag of any data set
    is one of the mean. For other intervals join the tables, and `infer` with the data sets as strata of these weights.
    NaN if one of them is.  Raises DataError for no data set, or weights that do not fit.

    Source: Welch 1947, doi:10.1093/biomet/34.1-2.28.
    """
    shares = _shares(len(estimates), weights)
    error, df = _pooled(estimates, shares)
    mean = _mean([each.estimate for each in estimates], shares)
    return Estimate(
        estimate=mean,
        standard_error=error,
        degrees_of_freedom=df,
        n_queries=sum(each.n_queries for each in estimates),
        n_units=sum(each.n_units for each in estimates),
        flags=_flags(estimates),
        intervals={"t": _interval(mean, error, df, confidence)},
        end_errors={"t": 0.0 * error},
    )


def mean_contrast(
    contrasts: Sequence[Contrast],
    baselines: Sequence[float],
    *,
    weights: Sequence[float] | None = None,
    confidence: float = 0.95,
) -> Contrast:
    """The mean of a difference over data sets, as `mean_estimate`; baselines are the baseline's estimates.

    relative_delta is the mean delta over the mean baseline, without an interval (NaN), and effect_size the mean of
    theirs. Where no data set has an error the p-value is the largest of theirs.
    """
    if len(baselines) != len(contrasts):
        raise DataError(f"{len(contrasts)} contrasts and {len(baselines)} estimates of the baseline: one for each")
    shares = _shares(len(contrasts), weights)
    error, df = _pooled(contrasts, shares)
    delta = _mean([each.delta for each in contrasts], shares)
    baseline = _mean(baselines, shares)
    p_value = max(2 * student_t_cdf(-abs(delta) / error, df), math.ulp(0.0)) if error > 0 else math.nan
    return Contrast(
        delta=delta,
        relative_delta=delta / baseline if baseline else math.nan,
        relative_interval=Interval(math.nan, math.nan),
        standard_error=error,
        degrees_of_freedom=df,
        p_value=max(each.p_value for each in contrasts) if error == 0 else p_value,
        p_values={},
        effect_size=_mean([each.effect_size for each in contrasts], shares),
        n_queries=sum(each.n_queries for each in contrasts),
        n_units=sum(each.n_units for each in contrasts),
        flags=_flags(contrasts),
        intervals={"t": _interval(delta, error, df, confidence)},
        end_errors={"t": 0.0 * error},
    )


def outcomes(contrasts: Sequence[Contrast], *, method: str) -> Outcomes:
    """Counts the data sets by where the interval of that method is; which side is better is for the metric to say."""
    ends = [contrast.intervals[method] for contrast in contrasts]
    above, below = sum(low > 0 for low, _ in ends), sum(high < 0 for _, high in ends)
    return Outcomes(above=above, below=below, neither=len(ends) - above - below)


def _shares(n_data_sets: int, weights: Sequence[float] | None) -> list[float]:
    if not n_data_sets:
        raise DataError("no data set: a mean needs one at least")
    given = [1.0] * n_data_sets if weights is None else [float(weight) for weight in weights]
    total = math.fsum(given)
    if len(given) != n_data_sets or not all(0 <= weight < math.inf for weight in given) or total == 0:
        raise DataError(
            f"{n_data_sets} data sets need as many weights, finite, not negative and not all 0; found {given}"
        )
    return [weight / total for weight in given]


def _mean(values: Sequence[float], shares: Sequence[float]) -> float:
    return math.fsum(share * value for share, value in zip(shares, values, strict=True))


def _pooled(found: Sequence[Estimate | Contrast], shares: Sequence[float]) -> tuple[float, float]:
    """The standard error of the mean, and its degrees of freedom."""
    errors = [share * each.standard_error for share, each in zip(shares, found, strict=True)]
    if any(math.isnan(error) for error in errors):
        return math.nan, 1.0
    return math.hypot(*errors), pooled_degrees_of_freedom(errors, [each.degrees_of_freedom for each in found])


def _flags(found: Sequence[Estimate | Contrast]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(flag for each in found for flag in each.flags))


def _interval(value: float, error: float, df: float, confidence: float) -> Interval:
    if not 0 < confidence < 1:
        raise DataError(f"confidence {confidence} is not a fraction between 0 and 1; 95 % is 0.95")
    reach = student_t_quantile((1 + confidence) / 2, df) * error
    return Interval(value - reach, value + reach)
