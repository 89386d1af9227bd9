"""ranx's Qrels, Run and evaluate, without compilation."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from evalcore import evaluation
from evalcore.arrays import FloatArray
from evalcore.errors import DataError, MetricNameError, unknown
from evalcore.metrics.base import Metric
from evalcore.metrics.names import parse

Scores: TypeAlias = FloatArray | float | dict[str, float]
NAMES = {
    "hits": "NumRelRet(rel={rel}){at}",
    "hit_rate": "Success(rel={rel}){at}",
    "precision": "P(rel={rel}){at}",
    "recall": "R(rel={rel}){at}",
    "f1": "F(rel={rel}){at}",
    "r-precision": "Rprec(rel={rel})",
    "mrr": "RR(rel={rel}){at}",
    "map": "AP(rel={rel}){at}",
    "dcg": "DCG(rel={rel}){at}",
    "dcg_burges": "DCG(gain=exp2,rel={rel}){at}",
    "ndcg": "nDCG(rel={rel}){at}",
    "ndcg_burges": "nDCG(gain=exp2,rel={rel}){at}",
    "bpref": "Bpref(negative=not_relevant,rel={rel})",
}
"""What ranx calls a metric, and its name here; rbp.95 is made in `_metric`."""


class _Mapping(dict[str, Any]):
    """A dictionary with a name."""

    def __init__(self, rows: Mapping[str, Any] | None = None, name: str | None = None) -> None:
        super().__init__(rows or {})
        self.name = name

    @classmethod
    def from_dict(cls, rows: Mapping[str, Any], name: str | None = None) -> Any:  # noqa: ANN401 (of the subclass)
        """The same as the constructor."""
        return cls(rows, name)

    def to_dict(self) -> dict[str, Any]:
        """A plain dictionary."""
        return dict(self)


class Qrels(_Mapping):
    """{query: {document: grade}}."""


class Run(_Mapping):
    """{query: {document: score}}.

    mean_scores   {metric: mean}, std_scores likewise, and scores {metric: {query: value}}: what `evaluate` found
    """

    def __init__(self, rows: Mapping[str, Any] | None = None, name: str | None = None) -> None:
        super().__init__(rows, name)
        self.mean_scores: dict[str, float] = {}
        self.std_scores: dict[str, float] = {}
        self.scores: dict[str, dict[str, float]] = {}


def evaluate(
    qrels: Mapping[Any, Mapping[Any, float]],
    run: Mapping[Any, Any],
    metrics: str | Sequence[str],
    return_mean: bool = True,  # noqa: FBT001, FBT002 (ranx's signature, as are the next)
    return_std: bool = False,  # noqa: FBT001, FBT002
    threads: int = 0,
    save_results_in_run: bool = True,  # noqa: FBT001, FBT002
    make_comparable: bool = False,  # noqa: FBT001, FBT002
) -> Scores | dict[str, Scores]:
    """The mean of a metric, or of several by their names; without ``return_mean`` the values, by sorted query id.

    A metric is written as ranx writes it: ``ndcg@10``, ``map-l2``, ``rbp.95``. The numbers are ranx's where no
    scores are tied; ties keep the order in which the run is given, where ranx has no rule. Queries are paired
    by their ids, also of plain dictionaries. bpref is 1 for each hit of a query without judged documents that
    are not relevant, where ranx has NaN. ``threads`` has no effect.

    Raises DataError where the queries of run and judgments differ, unless ``make_comparable``; MetricNameError.

    >>> evaluate({"q1": {"a": 1, "b": 2}}, {"q1": {"a": 0.9, "c": 0.5, "b": 0.1}}, ["map", "recall@2"])
    {'map': 0.8333333333333333, 'recall@2': 0.5}
    """
    names = [metrics] if isinstance(metrics, str) else list(metrics)
    if not make_comparable and set(map(str, qrels)) != set(map(str, run)):
        raise DataError("the queries of qrels and run differ; make_comparable=True counts missing ones as 0")
    best = max((grade for judged in qrels.values() for grade in judged.values()), default=1)
    chosen = {each: _metric(each, best=max(best, 1)) for each in names}
    wanted = list(dict.fromkeys(metric for metric, _ in chosen.values()))
    found = evaluation.evaluate(run, qrels, wanted, preset="ranx", queries=sorted(qrels, key=str))
    answer: dict[str, Scores] = {}
    for each, (metric, factor) in chosen.items():
        values = found.counted(metric) * factor
        mean, deviation = float(np.mean(values)), float(np.std(values))
        if isinstance(run, Run) and save_results_in_run:
            run.mean_scores[each] = mean
            run.scores[each] = dict(zip(found.queries, values.tolist(), strict=True))
            if return_std:
                run.std_scores[each] = deviation
        if not return_mean:
            answer[each] = values
        else:
            answer[each] = {"mean": mean, "std": deviation} if return_std else mean
    return answer[names[0]] if len(names) == 1 else answer


def _metric(text: str, *, best: float) -> tuple[Metric, float]:
    """The metric of a name of ranx, and what its values are multiplied with.

    best   the best grade: in rbp ranx counts grades as they are, and not as shares of the best
    """
    form = re.fullmatch(r"([a-z][a-z0-9_-]*?)(?:@([0-9]+))?(?:-l([0-9]+))?", text)
    persistence = re.fullmatch(r"rbp[.@]([0-9]+)(?:-l([0-9]+))?", text)
    if persistence:
        return parse(f"RBP(p=0.{persistence[1]},rel={persistence[2] or 1},max={best})"), float(best)
    if form is None or form[1] not in NAMES:
        raise MetricNameError(unknown("metric", text, [*NAMES, "rbp.95"]))
    at = f"@{form[2]}" if form[2] else ""
    return parse(NAMES[form[1]].format(rel=form[3] or 1, at=at)), 1.0
