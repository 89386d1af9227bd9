"""ranx against `evalcore.compat.ranx`."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.parity.cases import Case
from benchmarks.parity.tools.tool import Tool, Values
from evalcore.compat import ranx

MEASURES = [
    *("hits@10", "hit_rate@5", "precision@10", "recall@100", "f1@10", "r-precision", "mrr", "mrr@10", "map", "map@100"),
    *("dcg@10", "dcg_burges@10", "ndcg", "ndcg@10", "ndcg_burges@10", "ndcg-l2@10", "bpref", "rbp.80", "rbp.95"),
]


def theirs(given: Case, measures: Sequence[str]) -> Values:
    """Of compiled code."""
    import ranx as package

    asked = spelled(measures)
    qrels, run = package.Qrels(given.qrels), package.Run(given.run)
    found = package.evaluate(qrels, run, asked, return_mean=False)
    found = found if len(asked) > 1 else {asked[0]: found}
    queries = list(run.keys())
    return {
        measure: dict(zip(queries, found[each].tolist(), strict=True))
        for measure, each in zip(measures, asked, strict=True)
    }


def ours(given: Case, measures: Sequence[str]) -> Values:
    """Of the stand-in."""
    asked = spelled(measures)
    kept = ranx.Run(given.run)
    ranx.evaluate(given.qrels, kept, asked)
    return {measure: kept.scores[each] for measure, each in zip(measures, asked, strict=True)}


def spelled(measures: Sequence[str]) -> list[str]:
    """As ranx spells them."""
    return [measure.replace("-l2@10", "@10-l2") for measure in measures]


TOOL = Tool("ranx", "ranx", MEASURES, theirs, ours, "Against `evalcore.compat.ranx`, preset `ranx`.")
