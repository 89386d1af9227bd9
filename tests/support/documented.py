"""Values that tools state in their documentation or their own tests, for tools that are not installed here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Documented:
    """One value.

    metric    its name under the tool's preset
    decimals  to which the value is stated
    changed   conventions that differ from the preset's, as its limits say
    """

    preset: str
    measure: str
    metric: str
    run: Mapping[Any, Any]
    qrels: Mapping[Any, Any]
    value: float
    decimals: int
    source: str
    changed: Mapping[str, Any] = field(default_factory=dict)


def scored(scores: Sequence[float], grades: Sequence[float]) -> tuple[dict, dict]:
    """The run and the judgments of one query, from aligned lists."""
    return {"q": dict(enumerate(scores))}, {"q": dict(enumerate(grades))}


TORCHMETRICS = "torchmetrics documentation, functional interface"
THREE = scored([0.2, 0.3, 0.5], [1, 0, 1])
SECOND = scored([0.2, 0.3, 0.5], [0, 1, 0])
FIVE = scored([0.1, 0.2, 0.3, 4, 70], [10, 0, 0, 1, 5])

RECOMMENDERS = "recommenders' tests of python_evaluation"
TRUTH = {1: [1, 2, 3], 2: [1, 4, 5, 6, 7], 3: [2, 5, 6, *range(8, 15)]}
PREDICTED = {1: [3, 10, 12], 2: [10, 3, 5, 11, 13], 3: [4, 10, 7, 13, 1, 3, 5, 2, 11, 14]}
WIKIPEDIA = {0: list(range(6))}, {0: dict(enumerate([3, 2, 3, 0, 1, 2, 3, 2]))}

DOCUMENTED = [
    Documented("torchmetrics", "retrieval_average_precision", "AP", *THREE, 0.8333, 4, TORCHMETRICS),
    Documented("torchmetrics", "retrieval_precision", "P@2", *THREE, 0.5, 4, TORCHMETRICS),
    Documented("torchmetrics", "retrieval_recall", "R@2", *THREE, 0.5, 4, TORCHMETRICS),
    Documented("torchmetrics", "retrieval_hit_rate", "Success@2", *THREE, 1.0, 4, TORCHMETRICS),
    Documented("torchmetrics", "retrieval_r_precision", "Rprec", *THREE, 0.5, 4, TORCHMETRICS),
    Documented("torchmetrics", "retrieval_reciprocal_rank", "RR", *SECOND, 0.5, 4, TORCHMETRICS),
    Documented("torchmetrics", "retrieval_normalized_dcg", "nDCG", *FIVE, 0.6957, 4, TORCHMETRICS),
    Documented("recommenders", "precision_at_k", "P@10", PREDICTED, TRUTH, 0.26666, 4, RECOMMENDERS),
    Documented("recommenders", "recall_at_k", "R@10", PREDICTED, TRUTH, 0.37777, 4, RECOMMENDERS),
    Documented("recommenders", "ndcg_at_k", "nDCG(discount=ln)@10", PREDICTED, TRUTH, 0.38172, 5, RECOMMENDERS),
    Documented("recommenders", "map", "AP(denominator=R)@10", PREDICTED, TRUTH, 0.23613, 4, RECOMMENDERS),
    Documented("recommenders", "map_at_k", "AP@10", PREDICTED, TRUTH, 0.23613, 4, RECOMMENDERS),
    Documented("recommenders", "ndcg_at_k, raw", "nDCG(gain=linear)@6", *WIKIPEDIA, 0.785, 3, RECOMMENDERS),
]
