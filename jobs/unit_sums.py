"""SCORES -> UNIT SUMS: exact sums over the queries of each unit, for each system."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from evalcore import Conventions
from evalcore.inference import LIMB_BITS, PRODUCT_BITS
from evalcore.statuses import left_out
from jobs.measures import WEIGHT, Measure
from jobs.tables import ALL, UNIT_SUMS

MOST_UNITS = 32_768
"""Above this many units, units share buckets, and a bucket is the unit."""
BUCKETS = 4_096
SALT = "evaljob"
"""Never change it: the same id must fall into the same bucket every night."""


def counted(scores: DataFrame, *, measures: Sequence[Measure], conventions: Conventions) -> DataFrame:
    """SCORES as they enter estimates: the rows that count, and null values as the conventions say.

    Of the rows, those of unjudged queries go, and under ``unanswered: skip`` those of unanswered ones.
    A value stays null where its query does not count for that metric; `<column>_undefined` remembers
    what was null before. Moves nothing.
    """
    rows = scores.where(~F.col("status").isin(*left_out(conventions)))
    columns = {}
    for measure in measures:
        (column, value), *parts = values_of(measure).items()
        columns[f"{column}_undefined"] = value.isNull()
        filled = measure.needs_relevant and conventions.fill is not None and not parts
        columns[column] = F.coalesce(value, F.lit(conventions.fill)) if filled else value
        columns |= dict(parts)
    return rows.withColumns(columns)


def values_of(measure: Measure) -> dict[str, Column]:
    """The columns of counted SCORES, from those of SCORES: the query's value first."""
    whole = F.col(measure.source)
    value = whole if measure.element is None else F.get(whole, F.lit(measure.element))
    parts = ("above", "below") if measure.statistic == "ratio" else ()
    return {measure.column: value, **{f"{measure.column}_{part}": F.col(f"{measure.source}_{part}") for part in parts}}


def added_by(measure: Measure) -> dict[str, Column]:
    """The columns of UNIT SUMS, each with what a row of counted SCORES adds to it."""
    value = F.col(measure.column)
    match measure.statistic:
        case "ratio":
            added = [F.col(f"{measure.column}_above"), F.col(f"{measure.column}_below")]
        case "weighted" | "units":
            weight = F.col(WEIGHT if measure.statistic == "weighted" else measure.unit_weight).cast("double")
            added = [value * weight, F.when(value.isNotNull(), weight)]
        case "geometric":
            added = [F.log(F.when(value.isNotNull(), F.greatest(value, F.lit(measure.floor))))]
        case _:
            added = [value]
    return dict(zip(measure.sums, added, strict=True))


def undefined(measures: Sequence[Measure]) -> Column:
    """Whether a row of counted SCORES lacks a value for want of a relevant document."""
    return _lacks(measure for measure in measures if measure.needs_relevant)


def _lacks(measures: Iterable[Measure]) -> Column:
    """Whether one of the measures had no value before conventions gave it one."""
    return reduce(Column.__or__, (F.col(f"{measure.column}_undefined") for measure in measures), F.lit(False))


@dataclass(frozen=True, slots=True)
class Facts:
    """What must be known of counted SCORES before they are summed.

    n_undefined     rows that lack a value for want of a relevant document
    n_by_system     rows that lack a value for a reason that may be the system's
    n_bad_weights   rows whose weight is null, not a number or negative, where weights count
    largest         the largest magnitude of what each column of UNIT SUMS adds, which sets its scale
    """

    n_units: int
    n_without_unit: int
    n_undefined: int
    n_by_system: int
    n_bad_weights: int
    largest: dict[str, float]


def _weighed(counted: DataFrame, measures: Sequence[Measure], unit: str, *, given: bool) -> DataFrame:
    """With the weight of each query where each unit is to count once: one over the unit's queries with a value."""
    same_unit = Window.partitionBy("system", *(["given"] if given else []), F.col(f"`{unit}`"))
    weights = {
        measure.unit_weight: F.lit(1.0) / F.count(measure.column).over(same_unit)
        for measure in measures
        if measure.statistic == "units"
    }
    return counted.withColumns(weights) if weights else counted


def facts(counted: DataFrame, unit: str, measures: Sequence[Measure]) -> Facts:
    """Runs one job over counted SCORES; a value within [-1, 1] by definition is not looked at."""
    columns = {column: added for measure in measures for column, added in added_by(measure).items()}
    unbounded = {column for measure in measures if not measure.bounded for column in measure.sums}
    by_system = [measure for measure in measures if measure.undefined_by_system]
    weight = F.col(WEIGHT).cast("double") if any(each.statistic == "weighted" for each in measures) else F.lit(1.0)
    row = (
        _weighed(counted, measures, unit, given=False)
        .agg(
            F.count_distinct(F.col(f"`{unit}`")).alias("n_units"),
            F.count_if(F.col(f"`{unit}`").isNull()).alias("n_without_unit"),
            F.count_if(undefined(measures)).alias("n_undefined"),
            F.count_if(_lacks(by_system)).alias("n_by_system"),
            F.count_if(~F.coalesce((weight >= 0) & (weight < float("inf")), F.lit(False))).alias("n_bad_weights"),
            *(F.max(F.abs(columns[column])).alias(f"largest_{column}") for column in unbounded),
        )
        .collect()[0]
    )
    largest = {column: float(row[f"largest_{column}"] or 0.0) if column in unbounded else 1.0 for column in columns}
    return Facts(
        row["n_units"], row["n_without_unit"], row["n_undefined"], row["n_by_system"], row["n_bad_weights"], largest
    )


def unit_of(column: str, *, bucketed: bool) -> Column:
    """The unit of a row: the value of a column as text, or the number of its bucket."""
    unit = F.col(f"`{column}`").cast("string")
    if not bucketed:
        return unit
    digits = F.substring(F.md5(F.concat(F.lit(f"{SALT}:"), unit)), 1, 8)
    return F.lpad((F.conv(digits, 16, 10).cast("long") % BUCKETS).cast("string"), 4, "0")


def unit_sums(
    counted: DataFrame,
    *,
    measures: Sequence[Measure],
    exponents: Mapping[str, int],
    unit_name: str,
    bucketed: bool,
    given: bool = False,
) -> DataFrame:
    """UNIT SUMS of counted SCORES; `given` says whether the rows carry a system in the column given.

    Adds 64-bit integers, so that no partitioning, order or retry changes a bit. Moves one row for
    each unit and system from each task.
    """
    sums = [F.count("*").alias("n_queries")]
    for measure in measures:
        for column, added in added_by(measure).items():
            high, low = limbs(added, exponent=exponents[column])
            square = factor(added, exponent=exponents[column]) * factor(added, exponent=exponents[column])
            sums += [
                F.count(added).alias(f"{column}_n"),
                F.coalesce(F.sum(high), F.lit(0)).alias(f"{column}_hi"),
                F.coalesce(F.sum(low), F.lit(0)).alias(f"{column}_lo"),
                F.count_if(f"{measure.column}_undefined").alias(f"{column}_undefined"),
                F.coalesce(F.sum(square), F.lit(0)).alias(f"{column}_squares"),
            ]
    weighed = _weighed(counted, measures, unit_name, given=given)
    keyed = weighed.withColumns(
        {
            "segment": F.lit(ALL),
            "stratum": F.lit(None).cast("string"),
            "unit": unit_of(unit_name, bucketed=bucketed),
            **({} if given else {"given": F.lit(None).cast("string")}),
        }
    )
    keys = [key for key in UNIT_SUMS if key != "n_queries"]
    return keyed.groupBy(*keys).agg(*sums)


def medians(counted: DataFrame, measures: Sequence[Measure]) -> dict[tuple[str, str], float]:
    """The median of each system's values, by (system, column), for the measures that are medians.  Runs one job."""
    columns = [measure.column for measure in measures if measure.statistic == "median"]
    if not columns:
        return {}
    rows = counted.groupBy("system").agg(*(F.median(column).alias(column) for column in columns)).collect()
    return {(row.system, column): row[column] for row in rows for column in columns if row[column] is not None}


def limbs(value: Column, *, exponent: int) -> tuple[Column, Column]:
    """A value as two integers, the arithmetic of evalcore.inference.to_limbs in SQL."""
    scaled = value * (2.0**LIMB_BITS / 2.0**exponent)
    high = F.floor(scaled)
    return high, F.rint((scaled - high) * 2.0**LIMB_BITS).cast("long")


def factor(value: Column, *, exponent: int) -> Column:
    """What stands for a value in sums of products, the arithmetic of evalcore.inference.product_factor in SQL."""
    return F.rint(value * (2.0**PRODUCT_BITS / 2.0**exponent)).cast("long")


def given_others(counted: DataFrame, *, measures: Sequence[Measure], baseline: str | None) -> DataFrame:
    """Counted SCORES once for each other system that counts the query too, named in the column given.

    A value is null where the other system's is: for contrasts of systems that may count different queries.
    With a baseline only pairs with it. Moves SCORES twice.
    """
    columns = [column for measure in measures for column in values_of(measure)]
    theirs = [F.col(column).alias(f"{column}_given") for column in columns]
    others = counted.select("query_id", F.col("system").alias("given"), *theirs)
    pairs = counted.join(others, on="query_id", how="inner").where(F.col("system") != F.col("given"))
    pairs = pairs.withColumns(
        {column: F.when(F.col(f"{column}_given").isNotNull(), F.col(column)) for column in columns}
    )
    if baseline is not None:
        pairs = pairs.where((F.col("system") == baseline) | (F.col("given") == baseline))
    return pairs
