"""RANKINGS -> SCORES: the values of every metric for every system and query."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from evalcore import Conventions, Metric
from jobs import udfs
from jobs.tables import SCORE_FACTS, SCORE_KEYS


def score(
    rankings: DataFrame,
    *,
    metrics: Sequence[Metric],
    conventions: Conventions,
    others: Sequence[str] = (),
    how: udfs.How = "auto",
) -> DataFrame:
    """RANKINGS -> SCORES, one row per (system, query), one column per metric.

    others   columns of QUERIES to carry along

    Builds a plan and runs nothing. Moves no rows: a ranking is one row, and only its arrays go through
    Python. A batch of rankings must fit in a worker's memory.
    """
    values = udfs.metric_udf(metrics, conventions=conventions, how=how)("grades", "judged")
    judged_only = F.when(F.col("judged").isNotNull(), F.col("values"))
    return (
        rankings.withColumn("values", values)
        .withColumn("values", judged_only)
        .select(*SCORE_KEYS, *(f"`{key}`" for key in others), "values.*", *SCORE_FACTS)
    )


def depth_of(metrics: Sequence[Metric], conventions: Conventions) -> int | None:
    """Ranks to keep of each ranking; None keeps all.

    ``depth: auto`` is the deepest cutoff where every metric has one and no document is removed from a
    ranking, so that it changes no value.
    """
    if conventions.depth != "auto":
        return conventions.depth
    cutoffs = [metric.cutoff for metric in metrics]
    if conventions.removes_documents or None in cutoffs:
        return None
    return max(cutoff for cutoff in cutoffs if cutoff is not None)
