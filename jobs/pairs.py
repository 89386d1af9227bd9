"""SCORES -> what needs both systems of a query at once: wins, ties and losses, the queries that moved most."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from jobs.columns import factor
from jobs.measures import TIE, Measure
from jobs.tables import MOVERS

KEYS = ("segment", "candidate", "baseline")
"""Of pair counts, the segment where there are some."""


def paired(
    counted: DataFrame, *, measures: Sequence[Measure], baseline: str | None, others: Sequence[str] = ()
) -> DataFrame:
    """Counted SCORES -> one row for each contrast and query that both systems count, with <column>, <column>_baseline.

    Against the baseline, or all pairs, the candidate being the later system in order of names.

    others   columns of queries to keep

    Moves SCORES once.
    """
    columns = [measure.column for measure in measures]
    candidate = counted.select("query_id", F.col("system").alias("candidate"), *columns, *map(quoted, others))
    renamed = [F.col(column).alias(f"{column}_baseline") for column in columns]
    against = counted.select("query_id", F.col("system").alias("baseline"), *renamed)
    if baseline is not None:
        against = against.where(F.col("baseline") == baseline)
        wanted = F.col("candidate") != F.col("baseline")
    else:
        wanted = F.col("candidate") > F.col("baseline")
    return candidate.join(against, on="query_id", how="inner").where(wanted)


def quoted(column: str) -> str:
    """A column's name as Spark takes it where it has a dot."""
    return f"`{column}`"


def pair_counts(paired: DataFrame, *, measures: Sequence[Measure], exponents: Mapping[str, int]) -> DataFrame:
    """One row for each contrast, with <column>_wins, _ties and _losses of the candidate; by segment if rows have one.

    A win is the better value, which of some metrics is the lower one; what is null on either side counts nowhere.
    <column>_products is, of a mean, the sum of the products of both values: `evalcore.inference.UnitSums.products`.
    """
    counts = []
    for measure in measures:
        column = measure.column
        theirs = F.col(f"{column}_baseline")
        delta = F.col(column) - theirs
        delta = -delta if measure.higher_is_better is False else delta
        product = F.lit(None).cast("long")
        if measure.kind == "mean":  # the values are what is summed, so they fit the scale
            product = factor(F.col(column), exponent=exponents[column]) * factor(theirs, exponent=exponents[column])
        counts += [
            F.count_if(delta > TIE).alias(f"{column}_wins"),
            F.count_if(F.abs(delta) <= TIE).alias(f"{column}_ties"),
            F.count_if(delta < -TIE).alias(f"{column}_losses"),
            F.sum(product).alias(f"{column}_products"),
        ]
    keys = [key for key in KEYS if key in paired.columns]
    return paired.groupBy(*keys).agg(*counts)


def added(counts: DataFrame) -> DataFrame:
    """Pair counts of parts of the queries, put together."""
    keys = [key for key in KEYS if key in counts.columns]
    return counts.groupBy(*keys).agg(*(F.sum(name).alias(name) for name in counts.columns if name not in keys))


def moved(paired: DataFrame, *, measures: Sequence[Measure]) -> DataFrame:
    """A row for each contrast, metric and query: candidate, baseline, metric, query_id and both values."""
    metric = F.explode(
        F.array(
            *(
                F.struct(
                    F.lit(measure.name).alias("metric"),
                    F.col(measure.column).cast("double").alias("candidate_value"),
                    F.col(f"{measure.column}_baseline").cast("double").alias("baseline_value"),
                )
                for measure in measures
            )
        )
    )
    rows = paired.select("candidate", "baseline", metric.alias("of"), "query_id")
    return rows.select("candidate", "baseline", "of.metric", "query_id", "of.candidate_value", "of.baseline_value")


def movers(moved: DataFrame, *, most: int) -> DataFrame:
    """MOVERS: the queries whose value differs most between the two systems, up to `most` each way.

    Of equal deltas the query whose id comes first. Moves the pairs' values once.
    """
    values = moved.withColumn("delta", F.col("candidate_value") - F.col("baseline_value"))
    moved = values.where(F.abs("delta") > TIE).withColumn("rises", F.col("delta") > 0)
    most_first = Window.partitionBy("candidate", "baseline", "metric", "rises").orderBy(
        F.abs("delta").desc(), "query_id"
    )
    return moved.withColumn("place", F.row_number().over(most_first)).where(F.col("place") <= most).select(*MOVERS)
