"""Twins and examples of the metrics of pairs."""

from __future__ import annotations

import math

from evalcore.metrics import AUC, Accuracy, PairwiseAccuracy, PairwiseLogLoss
from tests.support.families.agreement import judged_scores
from tests.support.families.top_k import is_relevant

NAN = float("nan")


def pairs(scores, grades) -> list[tuple[float, float]]:
    """(score of the higher grade, score of the lower grade) of all pairs with different grades."""
    indices = range(len(grades))
    return [(scores[i], scores[j]) for i in indices for j in indices if grades[i] > grades[j]]


def _share(found, tied_worth: float) -> float:
    total = 0.0
    for better, worse in found:
        total += 1 if better > worse else tied_worth if better == worse else 0
    return total / len(found) if found else NAN


def _pairwise_accuracy(metric, retrieved, judged, extras) -> float:
    return _share(pairs(*judged_scores(retrieved, extras)), 0.5 if metric.ties == "half" else 0.0)


def _auc(metric, retrieved, judged, extras) -> float:
    scores, grades = judged_scores(retrieved, extras)
    return _share(pairs(scores, [is_relevant(metric, grade) for grade in grades]), 0.5)


def _accuracy(metric, retrieved, judged) -> float:
    relevant = [is_relevant(metric, grade) for grade in retrieved[: metric.cutoff]]
    return _share(pairs([-rank for rank in range(len(relevant))], relevant), 0.0)


def pair_log_losses(scores, grades) -> list[float]:
    """Of each pair."""
    return [math.log(1 + math.exp(worse - better)) for better, worse in pairs(scores, grades)]


def _pairwise_log_loss(metric, retrieved, judged, extras) -> float:
    losses = pair_log_losses(*judged_scores(retrieved, extras))
    return math.fsum(losses) / len(losses) if losses else NAN


VALUES = {
    AUC: _auc,
    Accuracy: _accuracy,
    PairwiseAccuracy: _pairwise_accuracy,
    PairwiseLogLoss: _pairwise_log_loss,
}
EXAMPLES = [
    PairwiseAccuracy(),
    PairwiseAccuracy(ties="wrong"),
    Accuracy(),
    Accuracy(cutoff=3),
    Accuracy(cutoff=5, min_grade=2),
    AUC(),
    AUC(min_grade=2),
    PairwiseLogLoss(),
]
