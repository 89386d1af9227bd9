"""Incomplete judgments: one query, a loop over the documents above each relevant one."""

from __future__ import annotations

import math

from evalcore.metrics import Bpref, GMBpref, InfAP, NumNonRelJudgedRet, Unjudged
from tests.support.families.top_k import is_relevant, n_hits, n_relevant


def judged_not_relevant(metric, grade: float | None) -> bool:
    """Whether an assessor looked at it and said no."""
    if grade is None or grade >= metric.min_grade:
        return False
    return grade >= 0 or getattr(metric, "negative", "unjudged") == "not_relevant"


def _binary_preference(metric: Bpref | GMBpref, retrieved, judged) -> float:
    wanted = n_relevant(metric, judged)
    n_others = sum(judged_not_relevant(metric, grade) for grade in judged)
    if wanted == 0:
        return math.nan
    total = 0.0
    for rank, grade in enumerate(retrieved):
        if is_relevant(metric, grade):
            above = sum(judged_not_relevant(metric, other) for other in retrieved[:rank])
            total += 1 - min(above, wanted) / min(n_others, wanted) if above else 1
    return total / wanted


def _inferred(metric: InfAP, retrieved, judged) -> float:
    wanted = n_relevant(metric, judged)
    if wanted == 0:
        return math.nan
    total = 0.0
    for above, grade in enumerate(retrieved):
        if not is_relevant(metric, grade):
            continue
        if above == 0:
            total += 1
            continue
        pooled = sum(other is not None for other in retrieved[:above])
        relevant = n_hits(metric, retrieved, above)
        others = sum(judged_not_relevant(metric, other) for other in retrieved[:above])
        share = (relevant + 1e-5) / (relevant + others + 2e-5)
        total += 1 / (above + 1) + above / (above + 1) * (pooled / above) * share
    return total / wanted


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
