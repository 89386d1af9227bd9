"""The values of one run, query by query and in the mean."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from evalcore.arrays import BoolArray, FloatArray
from evalcore.conventions import Conventions
from evalcore.metrics.base import Metric, floor_of
from evalcore.metrics.names import column_name, name
from evalcore.statuses import left_out


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Evaluation:
    """The values of one run.

    queries    (n_queries,)  of the universe, in its order
    statuses   (n_queries,)  ``ok``; ``unanswered``: judged, but the run returned nothing; ``no_relevant``: no
               judged document is relevant; ``unjudged``: no judgments, and so no value
    columns    column name -> (n_queries,), or (n_queries, n_elements) of a vector; NaN = undefined
    weights    (n_queries,)  for ``mean: weighted``; None where queries have none
    n_outside  queries of the run outside the universe, which are not evaluated
    """

    metrics: tuple[Metric, ...]
    conventions: Conventions
    queries: tuple[str, ...]
    statuses: tuple[str, ...]
    columns: dict[str, FloatArray]
    weights: FloatArray | None
    n_outside: int

    def values(self, metric: Metric) -> FloatArray:
        """(n_queries,), NaN where undefined."""
        return self.columns[column_name(metric)]

    def counted(self, metric: Metric) -> FloatArray:
        """Values as they enter the mean: NaN where a query does not count.  (n_queries,)"""
        found = self.values(metric).copy()
        if metric.FACTS.needs_relevant and self.conventions.fill is not None:
            found[np.isnan(found)] = self.conventions.fill
        found[~self._rows] = np.nan
        return found

    def per_query(self) -> dict[str, dict[str, Any]]:
        """{query: {name of the metric: value}}, NaN where undefined."""
        names = [name(metric) for metric in self.metrics]
        rows = zip(*(self.values(metric).tolist() for metric in self.metrics), strict=True)
        return {query: dict(zip(names, row, strict=True)) for query, row in zip(self.queries, rows, strict=True)}

    def mean(self) -> dict[str, Any]:
        """Name of the metric -> its mean over the queries that count, NaN if none does; of a vector, of each element.

        The mean is that of the conventions, except for metrics with one of their own: sums, ratios of sums,
        geometric means.
        """
        return {name(metric): self._mean(metric) for metric in self.metrics}

    def _mean(self, metric: Metric) -> Any:  # noqa: ANN401 (a float, or an array of them)
        statistic = metric.FACTS.statistic
        if statistic == "ratio":
            sides = (self.columns[f"{column_name(metric)}_{side}"][self._rows] for side in ("above", "below"))
            above, below = (math.fsum(side[~np.isnan(side)]) for side in sides)
            return above / below if below else math.nan
        how = self.conventions.mean if statistic == "mean" else statistic
        values = self.counted(metric)
        if how == "geometric":
            values = np.maximum(values, floor_of(metric))
        if values.ndim == 2:
            return np.array([_mean(element, how, self.weights) for element in values.T])
        return _mean(values, how, self.weights)

    @property
    def _rows(self) -> BoolArray:
        return ~np.isin(np.array(self.statuses, dtype=np.str_), left_out(self.conventions))


def _mean(values: FloatArray, how: str, weights: FloatArray | None) -> float:
    """Of what is not NaN.  Sums are exact before they are rounded once, whatever the order of the queries."""
    known = ~np.isnan(values)
    found = values[known]
    if not len(found):
        return math.nan
    if how == "median":
        return float(np.median(found))
    if how == "weighted" and weights is not None:
        total = math.fsum(weights[known])
        return math.fsum(weights[known] * found) / total if total else math.nan
    if how == "geometric":
        return math.exp(math.fsum(np.log(found)) / len(found))
    return math.fsum(found) / (1 if how == "sum" else len(found))
