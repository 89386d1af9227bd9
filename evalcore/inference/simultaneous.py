"""Statements about all contrasts of a family that hold together, from their joint bootstrap distribution."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from statistics import NormalDist
from typing import Literal

import numpy as np

from evalcore.arrays import FloatArray
from evalcore.errors import DataError
from evalcore.inference.evidence import Interval, quantile
from evalcore.inference.intervals import interval
from evalcore.inference.joint import Joint

Side = Literal["both", "lower", "upper"]
"""Which ends of the intervals hold together."""
LAW = NormalDist()


def max_t(joint: Joint) -> FloatArray:
    """Adjusted for all contrasts of a family at once (single-step max-T): the chance of any false rejection.

        z_j = Phi^-1(1 - p_j / 2)                p_j Student's two-sided p-value
        z*_j = |delta*_j - delta_j| / s_j        s_j the root of the sum of u_g**2, which is how far delta*_j spreads
        adjusted p_j = (1 + replicates in which the largest z* of the family reaches z_j) / (replicates + 1)

    Like Holm's p-values, but smaller where contrasts correlate. Student's t is compared as the normal deviate with
    its p-value: replicates do not know that standard errors from few units are uncertain, and with t itself 15
    contrasts of 50 units reject in 8 % of the cases that should be 5 % (20 clusters: 27 %). NaN without a standard
    error.

    Source: Westfall & Young 1993, Resampling-Based Multiple Testing, section 2.3.
    """
    found = np.full(len(joint.statistics), np.nan)
    for places, largest in _largest(joint):
        p_values = np.array([joint.p_values[place] for place in places])
        reached = [-LAW.inv_cdf(max(p / 2, 1e-300)) for p in p_values.tolist()]
        times = len(largest) - np.searchsorted(largest, reached, side="left")
        found[places] = np.maximum(p_values, (1 + times) / (joint.n_replicates + 1))
    return found


def joint_confidence(joint: Joint, *, confidence: float, side: Side = "both") -> FloatArray:
    """The confidence at which each contrast's own interval must be made so that those of its family hold together.

        q = quantile of the family's largest z* at C         z* as in `max_t`, m contrasts
        joint confidence = 2 Phi(q) - 1                      at least C, at most 1 - (1 - C) / m (Bonferroni)

    `both`, C = confidence: with probability `confidence` every interval of the family holds its contrast. `lower` or
    `upper`: every lower or every upper end is right, and the others mean nothing. Each side misses half as often as
    both, so C = 2 confidence - 1: largest signed deviations would say the same but for the skewness of replicates,
    which moves them to the wrong side (of 50 skewed units ends at 95 % missed in 16 % instead of 12 %).

    (n_contrasts,), NaN without a standard error. Raises DataError if C is not between 0 and 1.
    """
    wanted = confidence if side == "both" else 2 * confidence - 1
    if not 0 < wanted < 1:
        raise DataError(f"confidence {confidence} is not between {0 if side == 'both' else 0.5} and 1; 95 % is 0.95")
    found = np.full(len(joint.statistics), np.nan)
    for places, largest in _largest(joint):
        at_once = math.erf(quantile(largest, wanted) / math.sqrt(2))
        found[places] = min(max(at_once, wanted), 1 - (1 - wanted) / max(1, len(places)))
    return found


def simultaneous_intervals(joint: Joint, *, confidence: float, side: Side = "both") -> list[Interval]:
    """The `auto` interval of each contrast at its `joint_confidence`."""
    at_once = joint_confidence(joint, confidence=confidence, side=side).tolist()
    return [
        interval("auto", replace(evidence, confidence=each))
        for evidence, each in zip(joint.evidence(), at_once, strict=True)
    ]


def simultaneous_bounds(joint: Joint, *, level: float, side: Literal["lower", "upper"]) -> FloatArray:
    """The ends on one side; in each family any of them is wrong with a probability of `level`.  (n_contrasts,)"""
    intervals = simultaneous_intervals(joint, confidence=1 - level, side=side)
    return np.array([each.low if side == "lower" else each.high for each in intervals])


def _largest(joint: Joint) -> Iterator[tuple[list[int], FloatArray]]:
    """The contrasts of each family that have a p-value, and the largest z* of each replicate, ascending."""
    for family in joint.by_family():
        places = [place for place in family if not math.isnan(joint.p_values[place])]
        largest = np.zeros(joint.n_replicates)
        for place in places:
            statistic = joint.statistics[place]
            if statistic.plain_error > 0:
                moved = np.abs(joint.replicates(place) - statistic.estimate) / statistic.plain_error
                np.fmax(largest, moved, out=largest)  # a replicate that says nothing of one contrast is NaN
        yield places, np.sort(largest)
