"""RANKINGS -> SCORES: the values of every metric for every system and query."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from evalcore import Conventions, Metric, column_name, name
from evalcore.metrics.base import floor_of
from evalcore.scoring import SIDES, Diagnostic, can_have, deepest_rank
from jobs import udfs
from jobs.tables import SCORE_FACTS, SCORE_KEYS, UNANSWERED, UNJUDGED


def score(
    rankings: DataFrame,
    *,
    metrics: Sequence[Metric],
    conventions: Conventions,
    others: Sequence[str] = (),
    diagnostics: Sequence[Diagnostic] = (),
    best_grade: float = 1.0,
    how: udfs.How = "auto",
) -> DataFrame:
    """RANKINGS -> SCORES, one row per (system, query), the columns of `evalcore.scoring.score`.

    others       columns of QUERIES to carry along
    diagnostics  sanity checks to write beside the values; best_grade is the best that a document can have

    Builds a plan and runs nothing. Moves no rows: a ranking is one row, and only its arrays go through
    Python. A batch of rankings must fit in a worker's memory.
    """
    udf = udfs.metric_udf(metrics, conventions=conventions, diagnostics=diagnostics, best_grade=best_grade, how=how)
    values = udf(*udfs.inputs(metrics, conventions, diagnostics))
    judged_only = F.when(F.col("judged").isNotNull(), F.col("values"))
    return (
        rankings.withColumn("values", values)
        .withColumn("values", judged_only)
        .select(*SCORE_KEYS, *(f"`{key}`" for key in others), "values.*", *SCORE_FACTS)
    )


class Answers(TypedDict):
    """What one system returned: queries of the universe with an answer, and documents of its longest one."""

    system: str
    n_answered: int
    n_longest: int


def answers(scores: DataFrame) -> list[Answers]:
    """One for each system, in order of names.  Runs one job over three columns of SCORES."""
    rows = scores.groupBy("system").agg(
        F.count_if(F.col("n_retrieved") > 0).alias("n_answered"), F.max("n_retrieved").alias("n_longest")
    )
    return [
        {"system": row.system, "n_answered": row.n_answered, "n_longest": row.n_longest}
        for row in rows.orderBy("system").collect()
    ]


VALUE = "value"
"""The metric itself, beside its diagnostics."""


def diagnosed(
    scores: DataFrame, metrics: Sequence[Metric], diagnostics: Sequence[Diagnostic], conventions: Conventions
) -> dict[str, dict[str, dict[str, float | None]]]:
    """The mean of each diagnostic, by system, metric and side, over what counts in an estimate.

    Counts are summed. Runs one job over SCORES.
    """
    fill = {"zero": 0.0, "one": 1.0}.get(conventions.no_relevant)
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
        filled = F.coalesce(value, F.lit(fill)) if metric.FACTS.needs_relevant and fill is not None else value
        combined = F.sum(filled) if metric.FACTS.statistic == "sum" else F.avg(filled)
        if metric.FACTS.statistic == "geometric":
            combined = F.exp(F.avg(F.log(F.greatest(filled, F.lit(floor_of(metric))))))
        means.append(F.round(combined, 12).alias(f"{column}_{side}"))
    left_out = [UNJUDGED, *([UNANSWERED] if conventions.unanswered == "skip" else [])]
    rows = scores.where(~F.col("status").isin(left_out)).groupBy("system").agg(*means).collect()
    found: dict[str, dict[str, dict[str, float | None]]] = {}
    for row in sorted(rows, key=lambda row: row.system):
        for (column, side), metric in sides.items():
            found.setdefault(row.system, {}).setdefault(name(metric), {})[side] = row[f"{column}_{side}"]
    return found


def depth_of(metrics: Sequence[Metric], conventions: Conventions, diagnostics: Sequence[Diagnostic] = ()) -> int | None:
    """Ranks to keep of each ranking; None keeps all.

    ``depth: auto`` is the deepest rank that any metric reads where every metric has one, so that it changes no
    value. All are kept where documents are removed from a ranking, which moves those below up, and for
    diagnostics of other orders and other judgments.
    """
    if conventions.depth != "auto":
        return conventions.depth
    depths = [deepest_rank(metric) for metric in metrics]
    if conventions.removes_documents or None in depths or set(diagnostics) - {"oracle"}:
        return None
    return max(depth for depth in depths if depth is not None)
