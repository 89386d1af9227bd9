"""SCORES -> what needs both systems of a query at once: wins, ties and losses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from jobs.measures import Measure
from jobs.unit_sums import factor

TIE = 1e-9
"""Values closer than this are a tie: equal up to the rounding of their sums."""


def pair_counts(
    counted: DataFrame, *, measures: Sequence[Measure], exponents: Mapping[str, int], baseline: str | None
) -> DataFrame:
    """Counted SCORES -> one row for each contrast, with <column>_wins, _ties and _losses of the candidate.

    <column>_products is the sum of the products of both values, as `evalcore.inference.UnitSums.products` has it.

    Against the baseline, or of all pairs, the candidate being the later system in order of names.
    A win is the better value, which of some metrics is the lower one. Compares the queries that both systems
    count and where both values are defined. Moves SCORES once.
    """
    columns = [measure.column for measure in measures]
    lower_wins = {measure.column for measure in measures if measure.higher_is_better is False}
    candidate = counted.select("query_id", F.col("system").alias("candidate"), *columns)
    renamed = [F.col(column).alias(f"{column}_baseline") for column in columns]
    against = counted.select("query_id", F.col("system").alias("baseline"), *renamed)
    if baseline is not None:
        against = against.where(F.col("baseline") == baseline)
        wanted = F.col("candidate") != F.col("baseline")
    else:
        wanted = F.col("candidate") > F.col("baseline")
    pairs = candidate.join(against, on="query_id", how="inner").where(wanted)
    counts = []
    for column in columns:
        delta = F.col(column) - F.col(f"{column}_baseline")
        delta = -delta if column in lower_wins else delta
        product = factor(F.col(column), exponent=exponents[column]) * factor(
            F.col(f"{column}_baseline"), exponent=exponents[column]
        )
        counts += [
            F.count_if(delta > TIE).alias(f"{column}_wins"),
            F.count_if(F.abs(delta) <= TIE).alias(f"{column}_ties"),
            F.count_if(delta < -TIE).alias(f"{column}_losses"),
            F.sum(product).alias(f"{column}_products"),
        ]
    return pairs.groupBy("candidate", "baseline").agg(*counts)
