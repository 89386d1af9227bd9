"""Incomplete judgments: one query, a loop over the documents above each relevant one."""

from __future__ import annotations

import math

from evalcore.metrics import Bpref, GMBpref, InfAP, NumNonRelJudgedRet, Unjudged


def judged_not_relevant(metric, grade: float | None) -> bool:
    """Whether an assessor looked at it and said no."""
    if grade is None or grade >= metric.min_grade:
        return False
    return grade >= 0 or getattr(metric, "negative", "unjudged") == "not_relevant"


def _relevant(metric, grade: float | None) -> bool:
    return grade is not None and grade >= metric.min_grade


def _binary_preference(metric: Bpref | GMBpref, retrieved, judged) -> float:
    n_relevant = sum(_relevant(metric, grade) for grade in judged)
    n_others = sum(judged_not_relevant(metric, grade) for grade in judged)
    if n_relevant == 0:
        return math.nan
    total = 0.0
    for rank, grade in enumerate(retrieved):
        if _relevant(metric, grade):
            above = sum(judged_not_relevant(metric, other) for other in retrieved[:rank])
            total += 1 - min(above, n_relevant) / min(n_others, n_relevant) if above else 1
    return total / n_relevant


def _inferred(metric: InfAP, retrieved, judged) -> float:
    n_relevant = sum(_relevant(metric, grade) for grade in judged)
    if n_relevant == 0:
        return math.nan
    total = 0.0
    for above, grade in enumerate(retrieved):
        if not _relevant(metric, grade):
            continue
        if above == 0:
            total += 1
            continue
        pooled = sum(other is not None for other in retrieved[:above])
        relevant = sum(_relevant(metric, other) for other in retrieved[:above])
        others = sum(judged_not_relevant(metric, other) for other in retrieved[:above])
        share = (relevant + 1e-5) / (relevant + others + 2e-5)
        total += 1 / (above + 1) + above / (above + 1) * (pooled / above) * share
    return total / n_relevant


def _unjudged_share(metric: Unjudged, retrieved, judged) -> float:
    seen = retrieved if metric.cutoff is None else retrieved[: metric.cutoff]
    return sum(grade is None for grade in seen) / len(seen) if seen else math.nan


VALUES = {
    Bpref: _binary_preference,
    GMBpref: lambda metric, retrieved, judged: max(_binary_preference(metric, retrieved, judged), 0.00001),
    InfAP: _inferred,
    NumNonRelJudgedRet: lambda metric, retrieved, judged: float(
        sum(judged_not_relevant(metric, grade) for grade in retrieved)
    ),
    Unjudged: _unjudged_share,
}
EXAMPLES = [
    Bpref(),
    Bpref(min_grade=2, negative="not_relevant"),
    GMBpref(),
    GMBpref(min_grade=2, negative="not_relevant"),
    InfAP(),
    InfAP(min_grade=2),
    NumNonRelJudgedRet(),
    NumNonRelJudgedRet(min_grade=2),
    Unjudged(),
    Unjudged(cutoff=3),
]
