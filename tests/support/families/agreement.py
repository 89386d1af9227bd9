"""Twins and examples of the metrics that compare two orders."""

from __future__ import annotations

import math

from evalcore.metrics import RBO, KendallTau, RefKendallTau, RefSpearman, Spearman, TauAP, WeightedTau

NAN = float("nan")
DEEP = 500
"""Depths that the weights of RBO are summed over where the definition goes on for ever."""


def judged_scores(retrieved, extras) -> tuple[list[float], list[float]]:
    """The scores and the grades of the judged documents."""
    pairs = [(score, grade) for score, grade in zip(extras.scores, retrieved, strict=True) if grade is not None]
    return [score for score, _ in pairs], [grade for _, grade in pairs]


def _mean_ranks(values) -> list[float]:
    """Ranks from 1 for the greatest; tied values have the mean of theirs."""
    greater = {value: sum(other > value for other in values) for value in set(values)}
    equal = {value: values.count(value) for value in set(values)}
    return [greater[value] + (1 + equal[value]) / 2 for value in values]


def _pearson(x, y) -> float:
    n = len(x)
    if n < 2:
        return NAN
    mean_x, mean_y = sum(x) / n, sum(y) / n
    above = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    below = sum((a - mean_x) ** 2 for a in x) * sum((b - mean_y) ** 2 for b in y)
    return above / math.sqrt(below) if below else NAN


def _spearman(metric, retrieved, judged, extras) -> float:
    scores, grades = judged_scores(retrieved, extras)
    return _pearson(_mean_ranks(scores), _mean_ranks(grades))


def _sign(x: float) -> int:
    return (x > 0) - (x < 0)


def _weighted(x, y, weights) -> float:
    """Sum over pairs of the product of signs, times the weights of both."""
    total = 0.0
    for i in range(len(x)):
        for j in range(i):
            total += _sign(x[i] - x[j]) * _sign(y[i] - y[j]) * (weights[i] + weights[j])
    return total


def _kendall(metric, retrieved, judged, extras) -> float:
    scores, grades = judged_scores(retrieved, extras)
    halves = [0.5] * len(grades)
    by_grade = _weighted(grades, grades, halves)
    below = math.sqrt(by_grade * _weighted(scores, scores, halves))
    if metric.variant == "a":
        below = math.comb(len(grades), 2) if by_grade else 0
    return _weighted(scores, grades, halves) / below if below else NAN


def _weighted_tau(metric, retrieved, judged, extras) -> float:
    scores, grades = judged_scores(retrieved, extras)
    indices = range(len(grades))
    values = []
    for first, second in ((scores, grades), (grades, scores)):
        order = sorted(indices, key=lambda i: (-first[i], -second[i]))
        weights = [1 / (1 + order.index(i)) for i in indices]
        below = math.sqrt(_weighted(scores, scores, weights) * _weighted(grades, grades, weights))
        values.append(_weighted(scores, grades, weights) / below if below else NAN)
    return sum(values) / 2


def _tau_ap(metric, retrieved, judged, extras) -> float:
    """With the chance of each document of a run of ties to stand at each rank of the run, above each other one."""
    scores, grades = judged_scores(retrieved, extras)
    n = len(grades)
    if len(set(grades)) < 2:
        return NAN
    total = 0.0
    for i in range(n):
        above = [j for j in range(n) if scores[j] > scores[i]]
        tied = [j for j in range(n) if scores[j] == scores[i] and j != i]
        right_above, right_tied = (
            sum((1 + _sign(grades[j] - grades[i])) / 2 for j in others) for others in (above, tied)
        )
        for above_in_run in range(len(tied) + 1):
            n_above = len(above) + above_in_run
            if n_above:
                of_tied = right_tied * above_in_run / len(tied) if tied else 0.0
                total += (right_above + of_tied) / n_above / (len(tied) + 1)
    return 2 * total / (n - 1) - 1


def _shared_ranks(extras) -> tuple[list[int], list[int]]:
    """Ranks among themselves of the documents that both systems returned, in either ranking."""
    both = [doc for doc in extras.documents if doc in extras.reference]
    in_reference = [doc for doc in extras.reference if doc in extras.documents]
    return list(range(len(both))), [in_reference.index(doc) for doc in both]


def _ref_spearman(metric, retrieved, judged, extras) -> float:
    x, y = _shared_ranks(extras)
    n = len(x)
    if n < 2:
        return NAN
    return 1 - 6 * sum((a - b) ** 2 for a, b in zip(x, y, strict=True)) / (n * (n * n - 1))


def _ref_kendall(metric, retrieved, judged, extras) -> float:
    x, y = _shared_ranks(extras)
    return _weighted(x, y, [0.5] * len(x)) / math.comb(len(x), 2) if len(x) > 1 else NAN


def _rbo(metric, retrieved, judged, extras) -> float:
    """Depth by depth, far beyond the last ranks, with the overlap that each form supposes there."""
    cutoff = metric.cutoff if metric.cutoff is not None else DEEP
    short, long = sorted([extras.documents[:cutoff], extras.reference[:cutoff]], key=len)
    if not extras.reference:
        return NAN
    if not short:
        return 0.0
    p, total = metric.persistence, 0.0
    overlap = 0
    seen_short, seen_long = set(), set()
    for depth in range(1, DEEP):
        for ranking, seen in ((short, seen_short), (long, seen_long)):
            if depth <= len(ranking):
                seen.add(ranking[depth - 1])
        if depth <= len(long):
            overlap = len(seen_short & seen_long)
        if depth == len(short):
            agreement_of_short = overlap / depth
        if metric.form == "min" or depth <= len(short):
            supposed = overlap / depth
        elif depth <= len(long):  # the shorter one goes on with documents that agree as often as those before did
            supposed = (overlap + agreement_of_short * (depth - len(short))) / depth
            last = supposed
        elif len(short) == len(long):
            supposed = agreement_of_short
        else:
            supposed = last
        total += (1 - p) * p ** (depth - 1) * supposed
    return total


VALUES = {
    KendallTau: _kendall,
    RBO: _rbo,
    RefKendallTau: _ref_kendall,
    RefSpearman: _ref_spearman,
    Spearman: _spearman,
    TauAP: _tau_ap,
    WeightedTau: _weighted_tau,
}
EXAMPLES = [
    Spearman(),
    KendallTau(),
    KendallTau(variant="a"),
    TauAP(),
    WeightedTau(),
    RefSpearman(),
    RefKendallTau(),
    RBO(),
    RBO(persistence=0.5, form="min"),
    RBO(cutoff=3),
]
