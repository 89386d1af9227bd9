"""pytrec_eval's RelevanceEvaluator: trec_eval's measures of dictionaries, by trec_eval's names."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from evalcore.compat.trec_eval import MEASURES, NICKNAMES, rows
from evalcore.errors import DataError
from evalcore.evaluation import evaluate
from evalcore.given import by_text
from evalcore.presets import preset

__all__ = [
    "MEASURES", "RelevanceEvaluator", "compute_aggregated_measure", "parse_qrel", "parse_run", "supported_measures",
    "supported_nicknames",
]  # fmt: skip

supported_measures = set(MEASURES)
supported_nicknames = {name: set(measures) for name, measures in NICKNAMES.items()}


class RelevanceEvaluator:
    """Values of trec_eval's measures for the queries of a run.

    query_relevance         query -> {document: grade}
    measures                names: "map", "P_10", "ndcg_cut.5,10", "recall" (its usual cutoffs), "official"
    relevance_level         from which grade a document is relevant
    judged_docs_only_flag   take unjudged documents out of the rankings first

    The values are those of trec_eval 9.0.8: scores are compared as 32-bit floats, ties by descending document
    id, and a query without relevant documents has 0. The values of gm_map and gm_bpref are logarithms.
    Unlike pytrec_eval it takes grades that are fractions and ids that are whole numbers (their texts are in the
    answer), and refuses scores that are NaN or infinite, and parameters that a measure does not have.

    Raises MetricNameError or DataError, which are ValueErrors.

    >>> evaluator = RelevanceEvaluator({"q1": {"a": 1, "b": 0}}, {"map", "P_1,2"})
    >>> evaluator.evaluate({"q1": {"a": 0.1, "b": 0.2}, "q2": {"a": 0.5}})
    {'q1': {'map': 0.5, 'P_1': 0.0, 'P_2': 0.5}}
    """

    def __init__(
        self,
        query_relevance: Mapping[Any, Mapping[Any, float]],
        measures: Iterable[str],
        relevance_level: int = 1,
        judged_docs_only_flag: bool = False,  # noqa: FBT001, FBT002 (pytrec_eval's signature)
    ) -> None:
        if relevance_level < 1:
            raise DataError(f"relevance_level is {relevance_level}; it must be 1 or more")
        asked = [measures] if isinstance(measures, str) else list(measures)
        self._rows = list(rows(asked, relevance_level))
        self._qrels = {
            query: judged for query, judged in by_text(query_relevance, "of the judgments").items() if judged
        }
        conventions = preset("trec_eval").conventions
        if judged_docs_only_flag:
            conventions = replace(conventions, unjudged="removed", negative_grade="removed")
        self._conventions = conventions

    def evaluate(self, scores: Mapping[Any, Mapping[Any, float]]) -> dict[str, dict[str, float]]:
        """{query: {measure: value}} of the queries that are judged."""
        run = {query: answer for query, answer in by_text(scores, "of the run").items() if query in self._qrels}
        if not run:
            return {}
        metrics = list(dict.fromkeys(metric for row in self._rows for metric in row.metrics))
        if not metrics:
            return {query: {} for query in run}
        found = evaluate(run, self._qrels, metrics, conventions=self._conventions, queries=run.keys())
        columns = [row.values(*(np.nan_to_num(found.values(metric)) for metric in row.metrics)) for row in self._rows]
        names = [row.name for row in self._rows]
        by_query = zip(*(column.tolist() for column in columns), strict=True)
        return {query: dict(zip(names, values, strict=True)) for query, values in zip(run, by_query, strict=True)}


def compute_aggregated_measure(measure: str, values: Sequence[float]) -> float:
    """The value of all queries: the sum of num_, the geometric mean of gm_, else the mean.

    >>> compute_aggregated_measure("num_ret", [1, 2]), compute_aggregated_measure("map", [0.5, 1.0])
    (3.0, 0.75)
    """
    total = math.fsum(values)
    if measure.startswith("num_"):
        return total
    if not len(values):
        return math.nan
    return math.exp(total / len(values)) if measure.startswith("gm_") else total / len(values)


def parse_run(lines: Iterable[str]) -> dict[str, dict[str, float]]:
    """{query: {document: score}} from lines of query, Q0, document, rank, score, tag.

    Raises DataError for a line of another form and a document returned twice.

    >>> parse_run(["q1 Q0 a 1 0.5 tag"])
    {'q1': {'a': 0.5}}
    """
    return _parsed(lines, fields=6, value=lambda row: float(row[4]))


def parse_qrel(lines: Iterable[str]) -> dict[str, dict[str, int]]:
    """{query: {document: grade}} from lines of query, iteration, document, grade.

    Raises DataError for a line of another form and a document judged twice.

    >>> parse_qrel(["q1 0 a 2"])
    {'q1': {'a': 2}}
    """
    return _parsed(lines, fields=4, value=lambda row: int(row[3]))


N = TypeVar("N", int, float)


def _parsed(lines: Iterable[str], *, fields: int, value: Callable[[list[str]], N]) -> dict[str, dict[str, N]]:
    found: dict[str, dict[str, N]] = {}
    for number, line in enumerate(lines, start=1):
        row = line.split()
        try:
            if len(row) != fields:
                raise ValueError(f"{len(row)} fields")  # noqa: TRY301 (one message for all that is wrong with a line)
            read = value(row)
        except ValueError as error:
            raise DataError(f"line {number} is not {fields} fields with a number: {error}: {line.strip()}") from None
        if row[2] in found.setdefault(row[0], {}):
            raise DataError(f"line {number}: query {row[0]} has document {row[2]} already")
        found[row[0]][row[2]] = read
    return found
