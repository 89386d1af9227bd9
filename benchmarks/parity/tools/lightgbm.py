"""LightGBM against its preset."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks.parity.cases import Case, returned_only
from benchmarks.parity.tools.tool import Tool, Values, under

METRICS = {
    f"{measure}@{k}": f"{metric}@{k}" for measure, metric in {"ndcg": "nDCG", "map": "AP"}.items() for k in (1, 5, 10)
}


def theirs(given: Case, measures: Sequence[str]) -> Values:
    """Of the metrics of a model without trees, whose scores are those it starts with."""
    import lightgbm

    settings = {"objective": "lambdarank", "metric": ["ndcg", "map"], "eval_at": [1, 5, 10], "verbose": -1}
    found: Values = {measure: {} for measure in measures}
    for query, scores in given.run.items():
        labels = [given.qrels[query][document] for document in scores]
        columns = np.arange(len(labels), dtype=float)[:, None]
        data = lightgbm.Dataset(columns, label=labels, group=[len(labels)], init_score=list(scores.values()))
        values = {row[1]: row[2] for row in lightgbm.Booster(settings, data).eval_train()}
        for measure in measures:
            found[measure][query] = values[measure]
    return found


TOOL = Tool(
    "LightGBM",
    "lightgbm",
    list(METRICS),
    theirs,
    under("lightgbm", METRICS),
    "Preset `lightgbm`. Labels are those of returned documents, unjudged ones with label 0.",
    returned_only,
)
