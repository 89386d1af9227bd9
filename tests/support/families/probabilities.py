"""Twins and examples of the metrics that read scores as probabilities."""

from __future__ import annotations

import math
import sys

from evalcore.metrics import ECE, MCE, PCOC, Brier, LogLoss, Reliability
from tests.support.families.agreement import judged_scores
from tests.support.families.top_k import is_relevant

NAN = float("nan")


def predicted(metric, retrieved, extras) -> list[tuple[float, int]]:
    """(probability, 1 if relevant) of the judged documents."""
    scores, grades = judged_scores(retrieved, extras)
    return [(score, int(is_relevant(metric, grade))) for score, grade in zip(scores, grades, strict=True)]


def _log_loss(metric, retrieved, judged, extras) -> float:
    losses = []
    for score, label in predicted(metric, retrieved, extras):
        believed = min(max(score if label else 1 - score, sys.float_info.epsilon), 1 - sys.float_info.epsilon)
        losses.append(-math.log(believed))
    return math.fsum(losses) / len(losses) if losses else NAN


def _brier(metric, retrieved, judged, extras) -> float:
    squares = [(score - label) ** 2 for score, label in predicted(metric, retrieved, extras)]
    return math.fsum(squares) / len(squares) if squares else NAN


def _pcoc(metric, retrieved, judged, extras) -> float:
    documents = predicted(metric, retrieved, extras)
    clicks = sum(label for _, label in documents)
    return math.fsum(score for score, _ in documents) / clicks if clicks else NAN


def table(metric, retrieved, extras) -> list[tuple[int, float, int]]:
    """Of each bin: documents, sum of scores, relevant documents."""
    found = []
    for number in range(metric.bins):
        low, high = number / metric.bins, (number + 1) / metric.bins
        documents = [
            (score, label)
            for score, label in predicted(metric, retrieved, extras)
            if low < score <= high or (number == 0 and score == 0)
        ]
        found.append((len(documents), math.fsum(s for s, _ in documents), sum(label for _, label in documents)))
    return found


def _ece(metric, retrieved, judged, extras) -> float:
    bins = [each for each in table(metric, retrieved, extras) if each[0]]
    total = sum(count for count, _, _ in bins)
    return math.fsum(count / total * abs(scores / count - labels / count) for count, scores, labels in bins) or (
        0.0 if bins else NAN
    )


def _mce(metric, retrieved, judged, extras) -> float:
    bins = [each for each in table(metric, retrieved, extras) if each[0]]
    return max((abs(scores / count - labels / count) for count, scores, labels in bins), default=NAN)


def _reliability(metric, retrieved, judged, extras) -> list[float]:
    found = table(metric, retrieved, extras)
    return [each[column] for column in range(3) for each in found]


VALUES = {
    Brier: _brier,
    ECE: _ece,
    LogLoss: _log_loss,
    MCE: _mce,
    PCOC: _pcoc,
    Reliability: _reliability,
}
EXAMPLES = [
    LogLoss(),
    LogLoss(min_grade=2),
    Brier(),
    Brier(min_grade=2),
    PCOC(),
    PCOC(min_grade=2),
    ECE(),
    ECE(bins=3, min_grade=2),
    MCE(),
    MCE(bins=3, min_grade=2),
]
