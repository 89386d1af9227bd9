"""RANKINGS -> SCORES: the values of every metric for every system and query."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from evalcore import Conventions, Metric
from evalcore.scoring import Diagnostic, deepest_rank
from jobs import udfs
from jobs.tables import SCORE_FACTS, SCORE_KEYS


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
