"""Tests that count or rank units: known from elsewhere, and only a description, for they do not test the mean."""

from __future__ import annotations

import math

import numpy as np

from evalcore.arrays import FloatArray
from evalcore.inference.influence import Statistic
from evalcore.inference.joint import Joint
from evalcore.inference.ordered import ordered_sum
from evalcore.inference.randomization import MOST_EXACT_UNITS, sign_flip_p_value

LEAST = math.ulp(0.0)
"""No p-value is 0, though it may be less than a double can say."""


def wilcoxon(joint: Joint) -> FloatArray:
    """Wilcoxon's signed-rank test of the units' deltas, two-sided: are they symmetric around 0?

        W = sum of the ranks of |delta|, those of negative deltas with a minus      variance = sum of rank**2

    Deltas of 0 are dropped, as Wilcoxon did, and equal ones share the mean of their ranks, with which the variance
    needs no correction. Up to 20 units exact over all ways to give signs, beyond normal without correction for
    continuity. A unit of several queries is its mean delta. 1 where all deltas are 0, NaN where there is none.

    Source: Wilcoxon 1945, doi:10.2307/3001968. That it is not for the mean: Urbano, Lima & Hanjalic 2019,
    doi:10.1145/3331184.3331259.
    """
    return np.array([_wilcoxon(statistic) for statistic in joint.statistics])


def sign(joint: Joint) -> FloatArray:
    """The sign test, two-sided and exact: are units won as often as lost?

        p = min(1, 2 P(X <= fewer of wins and losses))        X binomial with wins + losses trials and p = 1/2

    Units without a difference are dropped. 1 where all are, NaN where no unit has both sides.

    Source: Dixon & Mood 1946, doi:10.1080/01621459.1946.10501898.
    """
    return np.array([_sign(statistic) for statistic in joint.statistics])


def _wilcoxon(statistic: Statistic) -> float:
    deltas = _differences(statistic)
    if deltas is None or not len(deltas):
        return math.nan if deltas is None else 1.0
    signed = np.copysign(_mean_ranks(np.abs(deltas), step=statistic.resolution), deltas)
    if len(deltas) <= MOST_EXACT_UNITS:
        return sign_flip_p_value(signed)
    z = ordered_sum(signed) / math.sqrt(ordered_sum(signed**2))
    return max(math.erfc(abs(z) / math.sqrt(2)), LEAST)


def _sign(statistic: Statistic) -> float:
    deltas = _differences(statistic)
    if deltas is None:
        return math.nan
    wins = int(np.count_nonzero(deltas > 0))
    trials, fewer = len(deltas), min(wins, len(deltas) - wins)
    # P(X <= k) = P(X = k) (1 + k / (n - k + 1) + k (k - 1) / ((n - k + 1) (n - k + 2)) + ...)
    steps = np.arange(fewer, 0, -1) / np.arange(trials - fewer + 1, trials + 1)
    tail = math.comb(trials, fewer) / (1 << trials) * (1 + ordered_sum(np.multiply.accumulate(steps)))
    return min(1.0, max(2 * tail, LEAST))


def _differences(statistic: Statistic) -> FloatArray | None:
    """The deltas of the units that both sides count and that are not 0; None if they count none."""
    counted = statistic.values[~np.isnan(statistic.values)]
    return counted[np.abs(counted) > statistic.resolution] if len(counted) else None


def _mean_ranks(magnitudes: FloatArray, *, step: float) -> FloatArray:
    """From 1; those no further than `step` from the next smaller one are equal to it."""
    order = np.argsort(magnitudes, kind="stable")
    rises = np.append(np.inf, np.diff(magnitudes[order])) > step
    group = np.cumsum(rises) - 1
    ends = np.append(np.flatnonzero(rises), len(order))
    ranks = np.empty(len(order))
    ranks[order] = ((ends[:-1] + 1 + ends[1:]) / 2)[group]
    return ranks
