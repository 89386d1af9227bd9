"""How far the ends of an interval would move with another seed."""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist
from typing import NamedTuple

from evalcore.arrays import FloatArray
from evalcore.inference.evidence import Evidence, acceleration, quantile, replicate_deviation, share_below
from evalcore.inference.intervals import interval, resamples
from evalcore.inference.ordered import ordered_sum


class EndErrors(NamedTuple):
    """Standard deviations of the two ends of an interval over seeds, in the metric's unit."""

    low: float
    high: float


def end_errors(method: str, evidence: Evidence) -> EndErrors:
    """Of the interval by that method from that evidence: 0 where nothing is drawn, NaN where there is no interval.

    About what the Monte-Carlo standard deviation is; with fewer than some hundred replicates a rough guess.
    """
    if math.isnan(evidence.statistic.standard_error):
        return EndErrors(math.nan, math.nan)
    if method not in END_ERRORS or not evidence.statistic.influence.any():
        return EndErrors(0.0, 0.0)
    return END_ERRORS[method](evidence)


def _percentile(evidence: Evidence) -> EndErrors:
    return EndErrors(*(_of_quantile(evidence.replicates, p) for p in evidence.tails))


def _basic(evidence: Evidence) -> EndErrors:
    low, high = _percentile(evidence)
    return EndErrors(high, low)


def _of_quantile(ascending: FloatArray, p: float, spread: float | None = None) -> float:
    """(q(p + s) - q(p - s)) / 2, s the standard deviation of the level: root of p (1 - p) / B for a level p set before.

    Source: Serfling 1980, Approximation Theorems of Mathematical Statistics, section 2.3.
    """
    s = math.sqrt(p * (1 - p) / len(ascending)) if spread is None else spread
    return (quantile(ascending, p + s) - quantile(ascending, p - s)) / 2


def _normal(evidence: Evidence) -> EndErrors:
    """By (kurtosis - 1) / (4 B), the relative variance of a standard deviation of the B replicates."""
    replicates, deviation = evidence.replicates, replicate_deviation(evidence.replicates)
    moved = (replicates - ordered_sum(replicates) / len(replicates)) / (deviation or 1.0)
    squares = moved * moved
    kurtosis = ordered_sum(squares * squares) / len(replicates)
    error = NormalDist().inv_cdf(evidence.tails[1]) * deviation * math.sqrt((kurtosis - 1) / (4 * len(replicates)))
    return EndErrors(error, error)


def _bca(evidence: Evidence) -> EndErrors:
    """As of `percentile`, at a level that is itself counted from the replicates.

        level = Phi(w)    w = z0 + z / (1 - a z)    z = z0 + z_p        the share below the estimate is b = Phi(z0)
        slope = d level / d b = phi(w) (1 + 1 / (1 - a z)**2) / phi(z0)
        B spread**2 = slope**2 b (1 - b) - 2 slope (min(b, level) - b level) + level (1 - level)

    by the covariance of two shares of the same replicates below different values.
    """
    law, count = NormalDist(), len(evidence.replicates)
    b, a = share_below(evidence), acceleration(evidence.statistic)
    z0 = law.inv_cdf(b)
    errors = []
    for p in evidence.tails:
        z = z0 + law.inv_cdf(p)
        shrink = 1 - a * z
        if not shrink > 0:  # the end is the last replicate, whatever its level
            errors.append(0.0)
            continue
        w = z0 + z / shrink
        level = law.cdf(w)
        slope = law.pdf(w) * (1 + 1 / (shrink * shrink)) / law.pdf(z0)
        square = slope * slope * b * (1 - b) - 2 * slope * (min(b, level) - b * level) + level * (1 - level)
        errors.append(_of_quantile(evidence.replicates, level, math.sqrt(max(0.0, square) / count)))
    return EndErrors(*errors)


def _studentized(evidence: Evidence) -> EndErrors:
    error = evidence.statistic.plain_error
    low, high = (error * _of_quantile(evidence.studentized, p) for p in evidence.tails)
    return EndErrors(high, low)


def _wild(evidence: Evidence) -> EndErrors:
    """Half of how far the ends move where the confidence does by the standard deviation of a p-value at them."""
    confidence, n_replicates = evidence.confidence, evidence.n_replicates
    step = math.sqrt(confidence * (1 - confidence) / n_replicates)
    highest = 1 - 1 / (n_replicates + 1)  # p-values are no smaller
    reaches = [
        [evidence.wild.reach(side, level) for level in (confidence - step, min(confidence + step, highest))]
        for side in (-1, 1)
    ]
    low, high = ((outer - inner) / 2 for inner, outer in reaches)
    return EndErrors(low, high) if math.isfinite(low + high) else EndErrors(math.nan, math.nan)


def _auto(evidence: Evidence) -> EndErrors:
    """Of the member that an end is from: Student's and Hall's ends do not move."""
    if not resamples("auto", evidence.statistic):
        return EndErrors(0.0, 0.0)
    hull, drawn, errors = interval("auto", evidence), interval("studentized", evidence), _studentized(evidence)
    return EndErrors(*(error if end == own else 0.0 for end, own, error in zip(hull, drawn, errors, strict=True)))


END_ERRORS: dict[str, Callable[[Evidence], EndErrors]] = {
    "auto": _auto,
    "percentile": _percentile,
    "basic": _basic,
    "normal": _normal,
    "bca": _bca,
    "studentized": _studentized,
    "wild": _wild,
}
"""The methods that draw."""
