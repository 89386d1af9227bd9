"""What an interval is made from."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from evalcore.arrays import FloatArray
from evalcore.inference.distributions import student_t_quantile
from evalcore.inference.influence import Statistic
from evalcore.inference.ordered import ordered_sum
from evalcore.inference.wild import WildBootstrap


class Interval(NamedTuple):
    """Both ends, low <= high; NaN where there is no interval."""

    low: float
    high: float


@dataclass(frozen=True, eq=False, kw_only=True)
class Evidence:
    """All that an interval may see of an estimate.

    statistic    influence and standard error (influence.py), over all units
    confidence   a fraction: 95 % is 0.95
    replicates   (n_replicates,) of the bootstrap, ascending; empty if no method asks for them
    studentized  (n_replicates,) likewise, in standard errors from the estimate (studentized.py)
    n_replicates, seed   of what a method draws by itself (wild.py)
    """

    statistic: Statistic
    confidence: float
    replicates: FloatArray = field(default_factory=lambda: np.zeros(0))
    studentized: FloatArray = field(default_factory=lambda: np.zeros(0))
    n_replicates: int = 9_999
    seed: int = 0

    @property
    def estimate(self) -> float:
        """The value of the statistic."""
        return self.statistic.estimate

    @property
    def tails(self) -> tuple[float, float]:
        """The probabilities that the two ends stand for: 0.025 and 0.975 for 95 %."""
        return (1 - self.confidence) / 2, (1 + self.confidence) / 2

    @property
    def t_quantile(self) -> float:
        """Of Student's distribution with the statistic's degrees of freedom, at the upper tail."""
        return student_t_quantile(self.tails[1], self.statistic.degrees_of_freedom)

    @cached_property
    def wild(self) -> WildBootstrap:
        """The wild cluster bootstrap of the statistic."""
        return WildBootstrap(self.statistic, replicates=self.n_replicates, seed=self.seed)


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


def replicate_deviation(replicates: FloatArray) -> float:
    """The standard deviation of replicates, from exact sums."""
    spread = replicates - ordered_sum(replicates) / len(replicates)
    return math.sqrt(ordered_sum(spread**2) / (len(replicates) - 1))


def acceleration(statistic: Statistic) -> float:
    """The a of `bca`: how fast the standard error grows with the estimate, from the skewness of the deletions."""
    spread = statistic.deletion[statistic.n > 0]
    spread = spread - ordered_sum(spread) / len(spread)
    spread = spread / (np.abs(spread).max() or 1.0)  # a ratio of powers: the scale cancels, and cannot overflow
    squares = ordered_sum(spread * spread)
    return ordered_sum(spread * spread * spread) / (6 * squares * math.sqrt(squares) or 1.0)


def share_below(evidence: Evidence) -> float:
    """Of the replicates, those equal to the estimate counted half; half a replicate away from 0 and 1 at least."""
    replicates, tie = evidence.replicates, evidence.statistic.resolution
    below = np.searchsorted(replicates, evidence.estimate - tie, side="left")
    up_to = np.searchsorted(replicates, evidence.estimate + tie, side="right")
    count = len(replicates)
    return min(max(float(below + up_to) / 2, 0.5), count - 0.5) / count
