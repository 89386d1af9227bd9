"""A reader who goes on from rank to rank: one query, a loop over ranks."""

from __future__ import annotations

from evalcore.metrics import INST, RBP, RBPResidual
from tests.support.families.top_k import is_relevant

N_TERMS = 20_000


def gain(metric, grade: float | None) -> float:
    """From 0 to 1."""
    if not is_relevant(metric, grade):
        return 0.0
    if metric.max_grade is None:
        return 1.0
    return min(max(grade, 0.0), metric.max_grade) / metric.max_grade


def _rank_biased_precision(metric: RBP, retrieved, judged) -> float:
    total = 0.0
    for rank, grade in enumerate(retrieved, start=1):
        if metric.cutoff is None or rank <= metric.cutoff:
            total += (1 - metric.persistence) * metric.persistence ** (rank - 1) * gain(metric, grade)
    return total


def _residual(metric: RBPResidual, retrieved, judged) -> float:
    seen = retrieved if metric.cutoff is None else retrieved[: metric.cutoff]
    total = metric.persistence ** len(seen)
    for rank, grade in enumerate(seen, start=1):
        if grade is None:
            total += (1 - metric.persistence) * metric.persistence ** (rank - 1)
    return total


def _adaptive(metric: INST, retrieved, judged) -> float:
    view, so_far, earned, views = 1.0, 0.0, 0.0, 0.0
    for rank, grade in enumerate(retrieved, start=1):
        earned += view * gain(metric, grade)
        views += view
        so_far += gain(metric, grade)
        x = rank + metric.T + (metric.T - so_far)
        view *= ((x - 1) / x) ** 2
    # from here on nothing is gained, and view falls as 1 / x^2: N_TERMS of them, and the rest by the integral from
    # the middle between the last of them and the next, which is off by less than 1 / N_TERMS^3
    x = len(retrieved) + 1 + metric.T + (metric.T - so_far) - 1
    inverse_squares = sum(1 / (x + i) ** 2 for i in range(N_TERMS)) + 1 / (x + N_TERMS - 0.5)
    return earned / (views + view * x**2 * inverse_squares)


VALUES = {RBP: _rank_biased_precision, RBPResidual: _residual, INST: _adaptive}
EXAMPLES = [
    RBP(),
    RBP(cutoff=3),
    RBP(persistence=0.95, min_grade=2, cutoff=5),
    RBP(max_grade=2),
    RBPResidual(),
    RBPResidual(persistence=0.5, cutoff=3),
    INST(),
    INST(T=2.5, min_grade=2),
    INST(T=0.5, max_grade=3),
]
