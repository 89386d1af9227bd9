"""Clicks: one query, a loop over ranks."""

from __future__ import annotations

import math

from evalcore.metrics import IPS, SNIPS, Discount
from tests.support.families.gain import discount_of
from tests.support.families.top_k import is_relevant

NO_DISCOUNT, LN = Discount.parse("none"), Discount.parse("ln")


def weight(metric, propensity: float) -> float:
    """What a click counts."""
    inverse = 1 / propensity
    return inverse if metric.clip == "none" else min(inverse, metric.clip)


def _earned(metric, retrieved, judged, extras) -> float:
    total = 0.0
    for rank, (grade, propensity) in enumerate(zip(retrieved, extras.propensities, strict=True), start=1):
        counts = metric.cutoff is None or rank <= metric.cutoff
        if counts and is_relevant(metric, grade):
            total += weight(metric, propensity) * discount_of(metric.discount.name, rank)
    return total


def _share(metric, retrieved, judged, extras) -> float:
    below = 0.0
    for grade, propensity in zip(judged, extras.judged_propensities, strict=True):
        if is_relevant(metric, grade):
            below += weight(metric, propensity)
    return _earned(metric, retrieved, judged, extras) / below if below else math.nan


VALUES = {IPS: _earned, SNIPS: _share}
EXAMPLES = [
    IPS(),
    IPS(cutoff=3, clip=2),
    IPS(cutoff=5, discount=NO_DISCOUNT, min_grade=2),
    SNIPS(),
    SNIPS(cutoff=3, clip=2.5),
    SNIPS(cutoff=5, discount=LN, min_grade=2),
]
