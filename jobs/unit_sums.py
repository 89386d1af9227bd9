"""SCORES -> UNIT SUMS: exact sums over the queries of each unit, for each system."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from evalcore import Conventions, Metric, column_name
from evalcore.inference import LIMB_BITS
from jobs.tables import ALL, UNANSWERED, UNIT_SUMS, UNJUDGED

MOST_UNITS = 32_768
"""Above this many units, units share buckets, and a bucket is the unit."""
BUCKETS = 4_096
SALT = "evaljob"
"""Never change it: the same id must fall into the same bucket every night."""


def counted(scores: DataFrame, *, metrics: Sequence[Metric], conventions: Conventions) -> DataFrame:
    """SCORES as they enter estimates: the rows that count, and null values as the conventions say.

    Of the rows, those of unjudged queries go, and under ``unanswered: skip`` those of unanswered ones.
    A value stays null where its query does not count for that metric; `<column>_undefined` remembers
    what was null before. Moves nothing.
    """
    rows = scores.where(F.col("status") != UNJUDGED)
    if conventions.unanswered == "skip":
        rows = rows.where(F.col("status") != UNANSWERED)
    fill = {"zero": 0.0, "one": 1.0}.get(conventions.no_relevant)
    columns = {}
    for metric in metrics:
        column = column_name(metric)
        columns[f"{column}_undefined"] = F.col(column).isNull()
        if metric.FACTS.needs_relevant and fill is not None:
            columns[column] = F.coalesce(F.col(column), F.lit(fill))
    return rows.withColumns(columns)


def undefined(metrics: Sequence[Metric]) -> Column:
    """Whether a row of counted SCORES lacks a value for want of a relevant document."""
    lacks = F.lit(False)
    for metric in metrics:
        if metric.FACTS.needs_relevant:
            lacks = lacks | F.col(f"{column_name(metric)}_undefined")
    return lacks


@dataclass(frozen=True, slots=True)
class Facts:
    """What must be known of counted SCORES before they are summed.

    n_undefined   rows that lack a value for want of a relevant document
    largest       the largest magnitude of each metric, which sets its scale
    """

    n_units: int
    n_without_unit: int
    n_undefined: int
    largest: list[float]


def facts(counted: DataFrame, unit: str, metrics: Sequence[Metric]) -> Facts:
    """Runs one job over counted SCORES; a metric within [-1, 1] by definition is not looked at."""
    columns = [column_name(metric) for metric in metrics]
    unbounded = [column for column, metric in zip(columns, metrics, strict=True) if math.isinf(metric.FACTS.high)]
    row = counted.agg(
        F.count_distinct(F.col(f"`{unit}`")).alias("n_units"),
        F.count_if(F.col(f"`{unit}`").isNull()).alias("n_without_unit"),
        F.count_if(undefined(metrics)).alias("n_undefined"),
        *(F.max(F.abs(F.col(column))).alias(f"largest_{column}") for column in unbounded),
    ).collect()[0]
    largest = [float(row[f"largest_{column}"] or 0.0) if column in unbounded else 1.0 for column in columns]
    return Facts(row["n_units"], row["n_without_unit"], row["n_undefined"], largest)


def unit_of(column: str, *, bucketed: bool) -> Column:
    """The unit of a row: the value of a column as text, or the number of its bucket."""
    unit = F.col(f"`{column}`").cast("string")
    if not bucketed:
        return unit
    digits = F.substring(F.md5(F.concat(F.lit(f"{SALT}:"), unit)), 1, 8)
    return F.lpad((F.conv(digits, 16, 10).cast("long") % BUCKETS).cast("string"), 4, "0")


def unit_sums(
    counted: DataFrame, *, metrics: Sequence[Metric], exponents: Sequence[int], unit: Column, given: bool = False
) -> DataFrame:
    """UNIT SUMS of counted SCORES; `given` says whether the rows carry a system in the column given.

    Adds 64-bit integers, so that no partitioning, order or retry changes a bit. Moves one row for
    each unit and system from each task.
    """
    sums = [F.count("*").alias("n_queries")]
    for metric, exponent in zip(metrics, exponents, strict=True):
        column = column_name(metric)
        high, low = limbs(F.col(column), exponent=exponent)
        sums += [
            F.count(column).alias(f"{column}_n"),
            F.coalesce(F.sum(high), F.lit(0)).alias(f"{column}_hi"),
            F.coalesce(F.sum(low), F.lit(0)).alias(f"{column}_lo"),
            F.count_if(f"{column}_undefined").alias(f"{column}_undefined"),
        ]
    keyed = counted.withColumns(
        {"segment": F.lit(ALL), "unit": unit, **({} if given else {"given": F.lit(None).cast("string")})}
    )
    keys = [key for key in UNIT_SUMS if key != "n_queries"]
    return keyed.groupBy(*keys).agg(*sums)


def limbs(value: Column, *, exponent: int) -> tuple[Column, Column]:
    """A value as two integers, the arithmetic of evalcore.inference.to_limbs in SQL."""
    scaled = value * (2.0**LIMB_BITS / 2.0**exponent)
    high = F.floor(scaled)
    return high, F.rint((scaled - high) * 2.0**LIMB_BITS).cast("long")


def given_others(counted: DataFrame, *, metrics: Sequence[Metric], baseline: str | None) -> DataFrame:
    """Counted SCORES once for each other system that counts the query too, named in the column given.

    A value is null where the other system's is: for contrasts of systems that may count different queries.
    With a baseline only pairs with it. Moves SCORES twice.
    """
    columns = [column_name(metric) for metric in metrics]
    theirs = [F.col(column).alias(f"{column}_given") for column in columns]
    others = counted.select("query_id", F.col("system").alias("given"), *theirs)
    pairs = counted.join(others, on="query_id", how="inner").where(F.col("system") != F.col("given"))
    pairs = pairs.withColumns(
        {column: F.when(F.col(f"{column}_given").isNotNull(), F.col(column)) for column in columns}
    )
    if baseline is not None:
        pairs = pairs.where((F.col("system") == baseline) | (F.col("given") == baseline))
    return pairs
