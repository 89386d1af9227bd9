"""Spark MLlib against `evalcore.compat.mllib`."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.parity.cases import Case, untied
from benchmarks.parity.tools.tool import Tool, Values
from evalcore.compat import mllib

MEASURES = ["meanAveragePrecision", "meanAveragePrecisionAt(10)", "precisionAt(5)", "recallAt(20)", "ndcgAt(10)"]


def pairs(given: Case) -> list[tuple[list[str], list[str]]]:
    """(documents in order, relevant documents) of each query."""
    ordered = untied(given).run
    return [
        (list(scores), [document for document, grade in given.qrels[query].items() if grade >= 1])
        for query, scores in ordered.items()
    ]


def mean_of(metrics: object, measure: str) -> float:
    """A property, or a method with its k."""
    method, _, k = measure.rstrip(")").partition("(")
    found = getattr(metrics, method)
    return found(int(k)) if k else found


def theirs(given: Case, measures: Sequence[str]) -> Values:
    """In a local Spark session."""
    from pyspark.mllib.evaluation import RankingMetrics

    from jobs.session import session

    spark = session(master="local[1]", app_name="evaljob parity")
    metrics = RankingMetrics(spark.sparkContext.parallelize(pairs(given), 1))
    return {measure: {"mean": mean_of(metrics, measure)} for measure in measures}


def ours(given: Case, measures: Sequence[str]) -> Values:
    """Of the stand-in."""
    metrics = mllib.RankingMetrics(pairs(given))
    return {measure: {"mean": mean_of(metrics, measure)} for measure in measures}


TOOL = Tool(
    "Spark MLlib",
    "pyspark",
    MEASURES,
    theirs,
    ours,
    "Against `evalcore.compat.mllib`. RankingMetrics gives means alone, and takes documents already in order.",
)
