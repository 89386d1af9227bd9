"""SCORES -> what is said of each system beside its estimates: how much it answered, and its sanity checks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from evalcore import Conventions, Metric, column_name, name
from evalcore.metrics.base import floor_of
from evalcore.scoring import SIDES, Diagnostic, can_have
from evalcore.statuses import UNANSWERED, UNJUDGED, left_out


class Answers(TypedDict):
    """What one system returned for the queries of the universe.

    n_answered           queries with an answer, of which
    n_answered_unjudged  have no judgment
    n_judged             judged queries, of which
    n_unanswered         have no answer
    n_longest            documents of the longest answer
    """

    system: str
    n_answered: int
    n_answered_unjudged: int
    n_judged: int
    n_unanswered: int
    n_longest: int


def answers(scores: DataFrame) -> list[Answers]:
    """One for each system, in order of names.  Runs one job over three columns of SCORES, or of RANKINGS."""
    answered, judged = F.col("n_retrieved") > 0, F.col("status") != UNJUDGED
    rows = scores.groupBy("system").agg(
        F.count_if(answered).alias("n_answered"),
        F.count_if(answered & ~judged).alias("n_answered_unjudged"),
        F.count_if(judged).alias("n_judged"),
        F.count_if(F.col("status") == UNANSWERED).alias("n_unanswered"),
        F.max("n_retrieved").alias("n_longest"),
    )
    return [
        {
            "system": row.system,
            "n_answered": row.n_answered,
            "n_answered_unjudged": row.n_answered_unjudged,
            "n_judged": row.n_judged,
            "n_unanswered": row.n_unanswered,
            "n_longest": row.n_longest,
        }
        for row in sorted(rows.collect(), key=lambda row: str(row.system))
    ]


VALUE = "value"
"""The metric itself, beside its diagnostics."""


def diagnosed(
    scores: DataFrame, metrics: Sequence[Metric], diagnostics: Sequence[Diagnostic], conventions: Conventions
) -> dict[str, dict[str, dict[str, float | None]]]:
    """The mean of each diagnostic, by system, metric and side, over what counts in an estimate.

    Counts are summed. Runs one job over SCORES.
    """
    told = [metric for metric in metrics if any(can_have(metric, diagnostic) for diagnostic in diagnostics)]
    sides = {(column_name(metric), VALUE): metric for metric in told} | {
        (column_name(metric), side): metric
        for diagnostic in diagnostics
        for metric in told
        if can_have(metric, diagnostic)
        for side in SIDES[diagnostic]
    }
    if not sides:
        return {}
    means = []
    for (column, side), metric in sides.items():
        value = F.col(column if side == VALUE else f"{column}_{side}")
        counts = metric.FACTS.needs_relevant and conventions.fill is not None
        filled = F.coalesce(value, F.lit(conventions.fill)) if counts else value
        combined = F.sum(filled) if metric.FACTS.statistic == "sum" else F.avg(filled)
        if metric.FACTS.statistic == "geometric":
            combined = F.exp(F.avg(F.log(F.greatest(filled, F.lit(floor_of(metric))))))
        means.append(F.round(combined, 12).alias(f"{column}_{side}"))
    rows = scores.where(~F.col("status").isin(*left_out(conventions))).groupBy("system").agg(*means).collect()
    found: dict[str, dict[str, dict[str, float | None]]] = {}
    for row in sorted(rows, key=lambda row: row.system):
        for (column, side), metric in sides.items():
            found.setdefault(row.system, {}).setdefault(name(metric), {})[side] = row[f"{column}_{side}"]
    return found
