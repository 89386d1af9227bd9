"""Confidence intervals: each is one function of the evidence and one line of INTERVALS."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from evalcore.arrays import FloatArray
from evalcore.errors import EvalcoreError, unknown
from evalcore.inference.distributions import student_t_quantile


class Interval(NamedTuple):
    """Both ends, low <= high; NaN where there is no interval."""

    low: float
    high: float


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Evidence:
    """All that an interval may see of an estimate.

    influence    (n_units,) what each unit with a counted query adds to the estimate (influence.py)
    deletion     (n_units,) estimate - (estimate without the unit)
    replicates   (n_replicates,) of the bootstrap, ascending; empty if no method asks for them
    confidence   a fraction: 95 % is 0.95
    resolution   differences up to this are rounding
    """

    estimate: float
    standard_error: float
    influence: FloatArray
    deletion: FloatArray
    replicates: FloatArray
    confidence: float
    resolution: float

    @property
    def n_units(self) -> int:
        """Units with a counted query."""
        return len(self.influence)

    @property
    def tails(self) -> tuple[float, float]:
        """The probabilities that the two ends stand for: 0.025 and 0.975 for 95 %."""
        return (1 - self.confidence) / 2, (1 + self.confidence) / 2


def t(evidence: Evidence) -> Interval:
    """Student's interval, with n_units - 1 degrees of freedom.

        estimate +- q * standard error      q the quantile of Student's t at the upper tail

    Source: Student 1908, doi:10.1093/biomet/6.1.1; for clusters Cameron & Miller 2015, doi:10.3368/jhr.50.2.317.
    """
    reach = student_t_quantile(evidence.tails[1], evidence.n_units - 1) * evidence.standard_error
    return Interval(evidence.estimate - reach, evidence.estimate + reach)


def percentile(evidence: Evidence) -> Interval:
    """The quantiles of the replicates at the two tails.

    Source: Efron & Tibshirani 1993, An Introduction to the Bootstrap, chapter 13.
    """
    low, high = evidence.tails
    return Interval(quantile(evidence.replicates, low), quantile(evidence.replicates, high))


def bca(evidence: Evidence) -> Interval:
    """Quantiles of the replicates at levels corrected for bias and for a standard error that varies.

        level(p) = Phi(z0 + (z0 + z_p) / (1 - a (z0 + z_p)))       z_p = Phi^-1(p), p the two tails
        z0 = Phi^-1(share of replicates below the estimate, those equal to it counted half)
        a  = sum of L_g**3 / (6 (sum of L_g**2)**1.5)       L_g = deletion less its mean over the units

    a is the jackknife's acceleration, without its loop. The share is kept half a replicate away from 0 and 1.

    Source: Efron 1987, doi:10.1080/01621459.1987.10478410.
    """
    normal = NormalDist()
    z0, a = normal.inv_cdf(_share_below(evidence)), acceleration(evidence)

    def level(p: float) -> float:
        z = z0 + normal.inv_cdf(p)
        shrink = 1 - a * z
        return normal.cdf(z0 + z / shrink if shrink > 0 else math.copysign(math.inf, z))

    low, high = evidence.tails
    return Interval(quantile(evidence.replicates, level(low)), quantile(evidence.replicates, level(high)))


INTERVALS: dict[str, Callable[[Evidence], Interval]] = {
    "percentile": percentile,
    "bca": bca,
    "t": t,
}
RESAMPLING = frozenset({"percentile", "bca"})
"""The methods that need replicates."""


def interval(method: str, evidence: Evidence) -> Interval:
    """The interval by one of INTERVALS; the estimate twice if no unit has influence, NaN for less than 2 units.

    Raises EvalcoreError for a method that does not exist.
    """
    if method not in INTERVALS:
        raise EvalcoreError(unknown("interval method", method, INTERVALS))
    if evidence.n_units < 2 or math.isnan(evidence.estimate):
        return Interval(math.nan, math.nan)
    if not evidence.influence.any():
        return Interval(evidence.estimate, evidence.estimate)
    return INTERVALS[method](evidence)


def quantile(ascending: FloatArray, p: float) -> float:
    """The value at rank (B + 1) p of B ascending values, linear between ranks, the first or last beyond them.

    B = 9,999 makes the ends of a 95 % interval the 250th and the 9,750th. p is rounded to 1e-12: the last
    bits of a normal distribution function differ between platforms.

    >>> quantile(np.array([1.0, 2.0, 4.0]), 0.5), quantile(np.array([1.0, 2.0, 4.0]), 0.625)
    (2.0, 3.0)
    """
    rank = min(max((len(ascending) + 1) * round(p, 12), 1.0), float(len(ascending)))
    below = int(rank)
    low, high = ascending[below - 1], ascending[min(below, len(ascending) - 1)]
    return float(low + (rank - below) * (high - low))


def acceleration(evidence: Evidence) -> float:
    """The a of `bca`: how fast the standard error grows with the estimate, from the skewness of the deletions."""
    spread = evidence.deletion - math.fsum(evidence.deletion.tolist()) / evidence.n_units
    spread /= np.abs(spread).max() or 1.0  # a ratio of powers: the scale cancels, and now cannot overflow
    return math.fsum((spread**3).tolist()) / (6 * math.fsum((spread**2).tolist()) ** 1.5 or 1.0)


def _share_below(evidence: Evidence) -> float:
    replicates, tie = evidence.replicates, evidence.resolution
    below = np.searchsorted(replicates, evidence.estimate - tie, side="left")
    up_to = np.searchsorted(replicates, evidence.estimate + tie, side="right")
    count = len(replicates)
    return min(max(float(below + up_to) / 2, 0.5), count - 0.5) / count
