"""The slow, obvious twin of every metric and of the ordering: one query, plain lists and loops.

Written from the definitions, to be checked by reading. A grade of None is unjudged; judged grades may
come in any order; an undefined value is nan.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from evalcore.conventions import Conventions
from evalcore.metrics import (
    AP,
    CG,
    DCG,
    IDCG,
    NDCG,
    RR,
    F,
    Judged,
    Metric,
    NumRel,
    NumRelRet,
    NumRet,
    P,
    R,
    Rprec,
    Success,
)
from tests.support import families
from tests.support.extras import Extras

NAN = float("nan")
Retrieved = Sequence[float | None]
Graded = Sequence[float]


def value(metric: Metric, retrieved: Retrieved, judged: Graded, extras: Extras | None = None) -> float:
    """The metric of one ranking; a metric that needs more than grades reads it from the extras."""
    if metric.FACTS.needs:
        return VALUES[type(metric)](metric, retrieved, judged, extras)
    return VALUES[type(metric)](metric, retrieved, judged)


def _is_relevant(grade: float | None, min_grade: float) -> bool:
    return grade is not None and grade >= min_grade


def _n_hits(metric, retrieved: Retrieved) -> int:
    n_hits = 0
    for rank, grade in enumerate(retrieved, start=1):
        if (metric.cutoff is None or rank <= metric.cutoff) and _is_relevant(grade, metric.min_grade):
            n_hits += 1
    return n_hits


def _n_relevant(metric, judged: Graded) -> int:
    n_relevant = 0
    for grade in judged:
        if _is_relevant(grade, metric.min_grade):
            n_relevant += 1
    return n_relevant


def _precision(metric: P, retrieved: Retrieved, judged: Graded) -> float:
    denominator = len(retrieved) if metric.cutoff is None else metric.cutoff
    return _n_hits(metric, retrieved) / denominator if denominator else 0.0


def _recall(metric: R, retrieved: Retrieved, judged: Graded) -> float:
    n_relevant = _n_relevant(metric, judged)
    return _n_hits(metric, retrieved) / n_relevant if n_relevant else NAN


def _f_measure(metric: F, retrieved: Retrieved, judged: Graded) -> float:
    recall = _recall(metric, retrieved, judged)
    precision = _precision(metric, retrieved, judged)
    if math.isnan(recall):
        return NAN
    if precision == 0 or recall == 0:
        return 0.0
    # the weighted harmonic mean, where recall weighs beta**2 times as much as precision
    return (1 + metric.beta**2) / (1 / precision + metric.beta**2 / recall)


def _success(metric: Success, retrieved: Retrieved, judged: Graded) -> float:
    return 1.0 if _n_hits(metric, retrieved) >= 1 else 0.0


def _r_precision(metric: Rprec, retrieved: Retrieved, judged: Graded) -> float:
    n_relevant = _n_relevant(metric, judged)
    if n_relevant == 0:
        return NAN
    n_hits = 0
    for grade in retrieved[:n_relevant]:
        if _is_relevant(grade, metric.min_grade):
            n_hits += 1
    return n_hits / n_relevant


def _reciprocal_rank(metric: RR, retrieved: Retrieved, judged: Graded) -> float:
    for rank, grade in enumerate(retrieved, start=1):
        if metric.cutoff is not None and rank > metric.cutoff:
            break
        if _is_relevant(grade, metric.min_grade):
            return 1 / rank
    return 0.0


def _average_precision(metric: AP, retrieved: Retrieved, judged: Graded) -> float:
    n_relevant = _n_relevant(metric, judged)
    if n_relevant == 0:
        return NAN
    total = 0.0
    n_hits = 0
    for rank, grade in enumerate(retrieved, start=1):
        if metric.cutoff is not None and rank > metric.cutoff:
            break
        if _is_relevant(grade, metric.min_grade):
            n_hits += 1
            total += n_hits / rank
    return total / n_relevant


def gain_of(metric, grade: float | None) -> float:
    """What a document of this grade is worth."""
    if grade is None:
        return 0.0
    for listed, gain in metric.gain.table:
        if grade == listed:
            return gain
    if metric.gain.name == "binary":
        return 1.0 if grade >= 1 else 0.0
    if metric.gain.name == "exp2":
        return 2.0**grade - 1 if grade > 0 else 0.0
    return max(grade, 0.0)


def _discount(name: str, rank: int) -> float:
    if name == "none":
        return 1.0
    base = math.e if name == "ln" else float(name.removeprefix("log"))
    return 1 / math.log(rank + 1, base)


def _discounted_sum(gains: Sequence[float], discount: str, cutoff: int | None) -> float:
    total = 0.0
    for rank, gain in enumerate(gains, start=1):
        if cutoff is None or rank <= cutoff:
            total += gain * _discount(discount, rank)
    return total


def _cumulative_gain(metric: CG, retrieved: Retrieved, judged: Graded) -> float:
    return _discounted_sum([gain_of(metric, grade) for grade in retrieved], "none", metric.cutoff)


def _dcg(metric: DCG | NDCG, retrieved: Retrieved, judged: Graded) -> float:
    return _discounted_sum([gain_of(metric, grade) for grade in retrieved], metric.discount.name, metric.cutoff)


def _ideal_dcg(metric: IDCG | NDCG, retrieved: Retrieved, judged: Graded) -> float:
    gains = sorted((gain_of(metric, grade) for grade in judged), reverse=True)
    return _discounted_sum(gains, metric.discount.name, metric.cutoff)


def _ndcg(metric: NDCG, retrieved: Retrieved, judged: Graded) -> float:
    best = _ideal_dcg(metric, retrieved, judged)
    return _dcg(metric, retrieved, judged) / best if best > 0 else NAN


def _judged_share(metric: Judged, retrieved: Retrieved, judged: Graded) -> float:
    seen = retrieved if metric.cutoff is None else retrieved[: metric.cutoff]
    n_judged = 0
    for grade in seen:
        if grade is not None:
            n_judged += 1
    return n_judged / len(seen) if seen else NAN


VALUES: dict[type, Callable[..., float]] = {
    AP: _average_precision,
    CG: _cumulative_gain,
    DCG: _dcg,
    F: _f_measure,
    IDCG: _ideal_dcg,
    Judged: _judged_share,
    NDCG: _ndcg,
    NumRel: lambda metric, retrieved, judged: float(_n_relevant(metric, judged)),
    NumRelRet: lambda metric, retrieved, judged: float(_n_hits(metric, retrieved)),
    NumRet: lambda metric, retrieved, judged: float(len(retrieved)),
    P: _precision,
    R: _recall,
    RR: _reciprocal_rank,
    Rprec: _r_precision,
    Success: _success,
}
for _family in families.modules():
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
