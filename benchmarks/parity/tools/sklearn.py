"""scikit-learn against its preset."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks.parity.cases import Case, returned_only
from benchmarks.parity.tools.tool import Tool, Values, under

METRICS = {"ndcg_score": "nDCG", "ndcg_score, k=10": "nDCG@10", "dcg_score": "DCG", "dcg_score, k=10": "DCG@10"}
METRICS |= {"roc_auc_score": "AUC"}


def theirs(given: Case, measures: Sequence[str]) -> Values:
    """Query by query, in arrays."""
    from sklearn import metrics

    found: Values = {measure: {} for measure in measures}
    for query, scores in given.run.items():
        labels = np.array([given.qrels[query][document] for document in scores], dtype=float)
        values = np.array(list(scores.values()))
        for measure in measures:
            function, _, k = measure.partition(", k=")
            if len(scores) < 2 and function != "roc_auc_score":
                continue  # it refuses a single document
            if function == "roc_auc_score":
                found[measure][query] = float(metrics.roc_auc_score(labels > 0, values))
            else:
                settings = {"k": int(k)} if k else {}
                found[measure][query] = float(getattr(metrics, function)(labels[None], values[None], **settings))
    return found


TOOL = Tool(
    "scikit-learn",
    "scikit-learn",
    list(METRICS),
    theirs,
    under("sklearn", METRICS),
    "Preset `sklearn`. Judgments are those of returned documents, unjudged ones with grade 0.",
    returned_only,
)
