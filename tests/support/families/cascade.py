"""A reader who goes down the ranking and stops at what satisfies: the twins of expected reciprocal rank."""

from __future__ import annotations

from evalcore.metrics import ERR, NERR
from tests.support.families.gain import exponential_gain


def _expected_reciprocal_rank(metric, retrieved, judged) -> float:
    value, still_looking = 0.0, 1.0
    for rank, grade in enumerate(retrieved[: metric.cutoff], start=1):
        satisfied = exponential_gain(grade or 0) / 2**metric.max_grade
        value += still_looking * satisfied / rank
        still_looking *= 1 - satisfied
    return value


def _normalised(metric, retrieved, judged) -> float:
    best = _expected_reciprocal_rank(metric, sorted(judged, reverse=True), judged)
    return _expected_reciprocal_rank(metric, retrieved, judged) / best if best else float("nan")


VALUES = {ERR: _expected_reciprocal_rank, NERR: _normalised}

EXAMPLES = [
    ERR(),
    ERR(max_grade=3),
    ERR(cutoff=3),
    NERR(),
    NERR(max_grade=3, cutoff=5),
]
