"""SCORES -> UNIT SUMS: exact sums over the queries of each unit, for each system."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from evalcore import Conventions
from evalcore.inference.buckets import SALT
from evalcore.statuses import left_out
from jobs.columns import added_by, factor, limbs, values_of
from jobs.measures import WEIGHT, Measure
from jobs.tables import ALL, UNIT_SUMS

NONE = "(none)"
"""What the stratum of a query is called that says none."""


def counted(scores: DataFrame, *, measures: Sequence[Measure], conventions: Conventions) -> DataFrame:
    """SCORES as they enter estimates: the rows that count, and null values as the conventions say.

    Of the rows, those of unjudged queries go, and under ``unanswered: skip`` those of unanswered ones.
    A value stays null where its query does not count for that metric; `<column>_undefined` remembers
    what was null before. Moves nothing.
    """
    return scores.where(_counts(conventions)).withColumns(_filled(measures, conventions))


def values(scores: DataFrame, *, measures: Sequence[Measure], conventions: Conventions) -> DataFrame:
    """The values of counted SCORES with every row of SCORES: null in the rows that do not count.  Moves nothing."""
    filled, counts = _filled(measures, conventions), _counts(conventions)
    columns = [F.when(counts, filled[measure.column]).alias(measure.column) for measure in measures]
    return scores.select("query_id", "system", *columns)


def _counts(conventions: Conventions) -> Column:
    """Whether a row of SCORES counts for any metric."""
    return ~F.col("status").isin(*left_out(conventions))


def _filled(measures: Sequence[Measure], conventions: Conventions) -> dict[str, Column]:
    """What a measure's values are with null values as the conventions say, and whether they were null."""
    columns: dict[str, Column] = {}
    for measure in measures:
        (column, value), *parts = values_of(measure).items()
        columns[f"{column}_undefined"] = value.isNull()
        filled = measure.needs_relevant and conventions.fill is not None and not parts
        columns[column] = F.coalesce(value, F.lit(conventions.fill)) if filled else value
        columns |= dict(parts)
    return columns


def undefined(measures: Sequence[Measure]) -> Column:
    """Whether a row of counted SCORES lacks a value for want of a relevant document."""
    return _lacks(measure for measure in measures if measure.needs_relevant)


def negative_below(measures: Sequence[Measure]) -> Column:
    """Whether a row of counted SCORES has a denominator of a ratio below 0."""
    below = [F.col(f"{measure.column}_below") for measure in measures if measure.statistic == "ratio"]
    return reduce(Column.__or__, (F.coalesce(each < 0, F.lit(False)) for each in below), F.lit(False))


def _lacks(measures: Iterable[Measure]) -> Column:
    """Whether one of the measures had no value before conventions gave it one."""
    return reduce(Column.__or__, (F.col(f"{measure.column}_undefined") for measure in measures), F.lit(False))


@dataclass(frozen=True, slots=True)
class Facts:
    """What must be known of counted SCORES before they are summed.

    n_strata        strata, and n_crossing the units that are in more than one; 0 without strata
    n_undefined     rows that lack a value for want of a relevant document
    n_by_system     rows that lack a value for a reason that may be the system's
    n_bad_weights   rows whose weight is null, not a number or negative, where weights count
    n_negative_below   rows with a denominator of a ratio below 0
    largest         the largest magnitude of what each column of UNIT SUMS adds, which sets its scale
    """

    n_units: int
    n_without_unit: int
    n_strata: int
    n_crossing: int
    n_undefined: int
    n_by_system: int
    n_bad_weights: int
    n_negative_below: int
    largest: dict[str, float]


def _weighed(counted: DataFrame, measures: Sequence[Measure], unit: str) -> DataFrame:
    """With the weight of each query where each unit is to count once: one over the unit's queries with a value."""
    keys = [key for key in ("system", "given", "segment") if key in counted.columns]
    same_unit = Window.partitionBy(*keys, F.col(f"`{unit}`"))
    weights = {
        # a unit without any value has no weight, and needs none
        measure.unit_weight: F.lit(1.0) / F.nullif(F.count(measure.column).over(same_unit), F.lit(0))
        for measure in measures
        if measure.statistic == "units"
    }
    return counted.withColumns(weights) if weights else counted


def facts(counted: DataFrame, unit: str, measures: Sequence[Measure], *, stratum: str | None = None) -> Facts:
    """Runs one job over counted SCORES; a value within [-1, 1] by definition is not looked at."""
    columns = {column: added for measure in measures for column, added in added_by(measure).items()}
    # in a segment, or over the queries of two systems, a unit may have one query alone, whose weight is then 1
    columns |= {measure.column: F.col(measure.column) for measure in measures if measure.statistic == "units"}
    unbounded = {column for measure in measures if not measure.bounded for column in measure.sums}
    by_system = [measure for measure in measures if measure.undefined_by_system]
    weight = F.col(WEIGHT).cast("double") if any(each.statistic == "weighted" for each in measures) else F.lit(1.0)
    strata = {}
    if stratum is not None:
        in_stratum = stratum_of(stratum)
        strata = {
            "n_strata": F.count_distinct(in_stratum),
            "n_apart": F.count_distinct(F.col(f"`{unit}`"), in_stratum),
        }
    row = (
        _weighed(counted, measures, unit)
        .agg(
            F.count_distinct(F.col(f"`{unit}`")).alias("n_units"),
            *(count.alias(name) for name, count in strata.items()),
            F.count_if(F.col(f"`{unit}`").isNull()).alias("n_without_unit"),
            F.count_if(undefined(measures)).alias("n_undefined"),
            F.count_if(_lacks(by_system)).alias("n_by_system"),
            F.count_if(~F.coalesce((weight >= 0) & (weight < float("inf")), F.lit(False))).alias("n_bad_weights"),
            F.count_if(negative_below(measures)).alias("n_negative_below"),
            *(F.max(F.abs(columns[column])).alias(f"largest_{column}") for column in unbounded),
        )
        .collect()[0]
    )
    largest = {column: float(row[f"largest_{column}"] or 0.0) if column in unbounded else 1.0 for column in columns}
    return Facts(
        n_units=row["n_units"],
        n_without_unit=row["n_without_unit"],
        n_strata=row["n_strata"] if strata else 0,
        n_crossing=row["n_apart"] - row["n_units"] if strata else 0,
        n_undefined=row["n_undefined"],
        n_by_system=row["n_by_system"],
        n_bad_weights=row["n_bad_weights"],
        n_negative_below=row["n_negative_below"],
        largest=largest,
    )


def stratum_of(column: str | None) -> Column:
    """The stratum of a row, null without strata; a query that says none is in one of its own."""
    if column is None:
        return F.lit(None).cast("string")
    return F.coalesce(F.col(f"`{column}`").cast("string"), F.lit(NONE))


def unit_of(column: str, *, buckets: Column) -> Column:
    """The unit of a row: the value of a column as text, or the number of one of so many buckets (0: none).

    The number is of the id alone, so a number of buckets that divides another folds its buckets.
    """
    unit = F.col(f"`{column}`").cast("string")
    # the last three of the eight digits tell the same: buckets are a power of 2, and at most 16**3
    digits = F.substring(F.md5(F.concat(F.lit(f"{SALT}:"), unit)), 6, 3)
    bucket = F.conv(digits, 16, 10).cast("long") % F.greatest(buckets, F.lit(1))
    return F.when(buckets > 0, F.lpad(bucket.cast("string"), 4, "0")).otherwise(unit)


def unit_sums(
    counted: DataFrame,
    *,
    measures: Sequence[Measure],
    exponents: Mapping[str, int],
    unit_name: str,
    buckets: Column | int = 0,
    stratum: str | None = None,
) -> DataFrame:
    """UNIT SUMS of counted SCORES, by the columns segment and given where the rows have them.

    buckets   how many the units of a row share, see `unit_of`

    Adds 64-bit integers, so that no partitioning, order or retry changes a bit. Moves one row for
    each unit and system from each task.
    """
    sums = [F.count("*").alias("n_queries")]
    for measure in measures:
        for column, added in added_by(measure).items():
            high, low = limbs(added, exponent=exponents[column])
            whole = factor(added, exponent=exponents[column])
            sums += [
                F.count(added).alias(f"{column}_n"),
                F.coalesce(F.sum(high), F.lit(0)).alias(f"{column}_hi"),
                F.coalesce(F.sum(low), F.lit(0)).alias(f"{column}_lo"),
                F.count_if(f"{measure.column}_undefined").alias(f"{column}_undefined"),
                F.coalesce(F.sum(whole * whole), F.lit(0)).alias(f"{column}_squares"),
            ]
    shared = buckets if isinstance(buckets, Column) else F.lit(buckets)
    unit, within = unit_of(unit_name, buckets=shared), stratum_of(stratum)
    if stratum is not None:  # the same bucket of two strata is two units
        unit = F.when(shared > 0, F.concat_ws("/", within, unit)).otherwise(unit)
    keyed = _weighed(counted, measures, unit_name).withColumns({"stratum": within, "unit": unit})
    # the same in every row, so they need not be compared in each
    same = {"segment": F.lit(ALL), "given": F.lit(None).cast("string")}
    same = {key: value for key, value in same.items() if key not in counted.columns}
    if stratum is None:
        same["stratum"] = within
    summed = keyed.groupBy(*(key for key in UNIT_SUMS if key != "n_queries" and key not in same)).agg(*sums)
    names = [name for name in summed.columns if name not in UNIT_SUMS]
    return summed.withColumns(same).select(*UNIT_SUMS, *names)


def given_others(counted: DataFrame, *, measures: Sequence[Measure], baseline: str | None) -> DataFrame:
    """Counted SCORES once for each other system that counts the query too, named in the column given.

    A value is null where the other system's is: for contrasts of systems that may count different queries.
    With a baseline only pairs with it. Moves SCORES twice.
    """
    columns = [column for measure in measures for column in values_of(measure)]
    theirs = [F.col(column).alias(f"{column}_given") for column in columns]
    keys: list[str] = [key for key in ("query_id", "segment") if key in counted.columns]
    others = counted.select(*keys, F.col("system").alias("given"), *theirs)
    pairs = counted.join(others, on=keys, how="inner").where(F.col("system") != F.col("given"))
    pairs = pairs.withColumns(
        {column: F.when(F.col(f"{column}_given").isNotNull(), F.col(column)) for column in columns}
    )
    if baseline is not None:
        pairs = pairs.where((F.col("system") == baseline) | (F.col("given") == baseline))
    return pairs
