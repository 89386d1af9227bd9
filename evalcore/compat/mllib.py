"""MLlib's RankingMetrics over a list of pairs, without Spark."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace

from evalcore.evaluation import evaluate
from evalcore.presets import preset

PRESET = "spark_mllib"
RULES = replace(preset(PRESET).conventions, unanswered="zero")
"""A row with an empty list counts as 0 in every mean."""


class RankingMetrics:
    """Means over pairs of (predicted documents, best first; relevant documents).

    The numbers are those of ``pyspark.mllib.evaluation.RankingMetrics``: a document that is predicted
    twice counts twice, so that values above 1 are possible; relevance is binary; the average precision of
    the first k ranks is divided by min(relevant, k). What stands third in a row is not read, as there.
    NaN for no pairs.

    >>> metrics = RankingMetrics([(["a", "b", "c"], ["a", "c", "d"])])
    >>> metrics.precisionAt(2), round(metrics.meanAveragePrecision, 4)
    (0.5, 0.5556)
    """

    def __init__(self, pairs: Iterable[Sequence[Iterable[Hashable]]]) -> None:
        codes: dict[Hashable, int] = {}
        self._run: dict[int, list[int]] = {}
        self._relevant: dict[int, set[int]] = {}
        for row, (predicted, relevant, *_) in enumerate(pairs):
            self._run[row] = [codes.setdefault(document, len(codes)) for document in predicted]
            self._relevant[row] = {codes.setdefault(document, len(codes)) for document in relevant}

    def _mean(self, metric: str) -> float:
        if not self._run:
            return float("nan")
        (mean,) = evaluate(self._run, self._relevant, metric, preset=PRESET, conventions=RULES).mean().values()
        return float(mean)

    @property
    def meanAveragePrecision(self) -> float:
        """Over all ranks."""
        return self._mean("AP")

    def meanAveragePrecisionAt(self, k: int) -> float:
        """Over the first k ranks, of min(relevant, k) documents.  Raises MetricNameError unless k is 1 or more."""
        return self._mean(f"AP@{k}")

    def precisionAt(self, k: int) -> float:
        """Of k ranks, also where fewer are predicted.  Raises MetricNameError unless k is 1 or more."""
        return self._mean(f"P@{k}")

    def recallAt(self, k: int) -> float:
        """Of all relevant documents.  Raises MetricNameError unless k is 1 or more."""
        return self._mean(f"R@{k}")

    def ndcgAt(self, k: int) -> float:
        """With binary gains.  Raises MetricNameError unless k is 1 or more."""
        return self._mean(f"nDCG@{k}")
