"""The slow, obvious twin of every metric and of the ordering: one query, plain lists and loops.

Written from the definitions, to be checked by reading. A grade of None is unjudged; judged grades may
come in any order; an undefined value is nan. Most twins are in `families`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from evalcore.conventions import Conventions
from evalcore.metrics import RR, F, Judged, Metric, NumRel, NumRelRet, NumRet, P, R, Success
from tests.support import families
from tests.support.extras import Extras
from tests.support.families.top_k import is_relevant, n_hits, n_relevant

NAN = float("nan")
Retrieved = Sequence[float | None]
Graded = Sequence[float]


def value(metric: Metric, retrieved: Retrieved, judged: Graded, extras: Extras | None = None) -> float:
    """The metric of one ranking; a metric that needs more than grades reads it from the extras."""
    if metric.FACTS.needs:
        return VALUES[type(metric)](metric, retrieved, judged, extras)
    return VALUES[type(metric)](metric, retrieved, judged)


def _f_measure(metric: F, retrieved: Retrieved, judged: Graded) -> float:
    precision = value(P(cutoff=metric.cutoff, min_grade=metric.min_grade), retrieved, judged)
    recall = value(R(cutoff=metric.cutoff, min_grade=metric.min_grade), retrieved, judged)
    if math.isnan(recall):
        return NAN
    if precision == 0 or recall == 0:
        return 0.0
    # the weighted harmonic mean, where recall weighs beta**2 times as much as precision
    return (1 + metric.beta**2) / (1 / precision + metric.beta**2 / recall)


def _success(metric: Success, retrieved: Retrieved, judged: Graded) -> float:
    return 1.0 if n_hits(metric, retrieved, metric.cutoff) >= 1 else 0.0


def _reciprocal_rank(metric: RR, retrieved: Retrieved, judged: Graded) -> float:
    for rank, grade in enumerate(retrieved, start=1):
        if metric.cutoff is not None and rank > metric.cutoff:
            break
        if is_relevant(metric, grade):
            return 1 / rank
    return 0.0


def _judged_share(metric: Judged, retrieved: Retrieved, judged: Graded) -> float:
    seen = retrieved if metric.cutoff is None else retrieved[: metric.cutoff]
    n_judged = 0
    for grade in seen:
        if grade is not None:
            n_judged += 1
    return n_judged / len(seen) if seen else NAN


VALUES: dict[type, Callable[..., float]] = {
    F: _f_measure,
    Judged: _judged_share,
    NumRel: lambda metric, retrieved, judged: float(n_relevant(metric, judged)),
    NumRelRet: lambda metric, retrieved, judged: float(n_hits(metric, retrieved, metric.cutoff)),
    NumRet: lambda metric, retrieved, judged: float(len(retrieved)),
    RR: _reciprocal_rank,
    Success: _success,
}
for _family in families.modules():
    assert not VALUES.keys() & _family.VALUES.keys(), f"{_family.__name__} has a twin that stands elsewhere too"
    VALUES |= _family.VALUES


def rank_order(
    scores: Sequence[float], doc_ids: Sequence[str], ranks: Sequence[float], conventions: Conventions
) -> list[int]:
    """Indices of the documents of one ranking, best first."""
    indices = range(len(scores))
    if conventions.ties == "rank_column":
        return sorted(indices, key=lambda i: ranks[i])

    def compared(i: int) -> tuple[bool, float]:
        score = scores[i]
        if not math.isfinite(score):
            return (True, 0.0)  # behind every number, and tied with the others there
        if conventions.score_precision == "float32":
            with np.errstate(over="ignore"):
                score = float(np.float32(score))
        return (False, -score)

    descending = sorted(indices, key=lambda i: doc_ids[i].encode(), reverse=True)
    by_tie_rule = dict.fromkeys(("average", "average_rank", "optimistic", "pessimistic"), descending) | {
        "doc_id_desc": descending,
        "doc_id_asc": sorted(indices, key=lambda i: doc_ids[i].encode()),
        "input_order": indices,
        "random": sorted(indices, key=lambda i: doc_ids[i].encode()),  # of the keys that stand for ids
    }
    return sorted(by_tie_rule[conventions.ties], key=compared)  # a stable sort keeps the order among equals
