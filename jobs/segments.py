"""Counted SCORES -> ESTIMATES and CONTRASTS of every segment, inferred on the executors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from jobs import aggregate as inference
from jobs.inferred import Settings
from jobs.measures import Measure
from jobs.tables import CONTRASTS, ESTIMATES

NONE = "(none)"
"""What the segment of a query is called that says none."""
MOST_SEGMENTS = 100_000
MOST_ROWS = 10_000_000
"""Of the sums of all segments: beyond it units share buckets."""
FEWEST_BUCKETS, MOST_BUCKETS = 64, 4_096
FOUND = pa.schema(
    [("estimates", pa.list_(pa.struct(list(ESTIMATES)))), ("contrasts", pa.list_(pa.struct(list(CONTRASTS))))]
)
"""What is found of a segment."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """Segments with enough units, how many have too few, and the buckets that the units of a large one share."""

    n_shown: int
    n_small: int
    buckets: int


def named(columns: Sequence[str]) -> Column:
    """The segments that a row belongs to: one for each column, called column=value."""
    return F.array(
        *(
            F.concat(F.lit(f"{column}="), F.coalesce(F.col(f"`{column}`").cast("string"), F.lit(NONE)))
            for column in columns
        )
    )


def exploded(rows: DataFrame, columns: Sequence[str], shown: DataFrame) -> DataFrame:
    """Each row once for each of its segments that are shown, with the columns of `shown`."""
    return rows.withColumn("segment", F.explode(named(columns))).join(F.broadcast(shown), on="segment")


def units_of(counted: DataFrame, columns: Sequence[str], unit: str) -> DataFrame:
    """How many units each segment has.  (segment, n_units)"""
    each = counted.select(F.explode(named(columns)).alias("segment"), F.col(f"`{unit}`").alias("unit"))
    return each.groupBy("segment").agg(F.count_distinct("unit").alias("n_units"))


def sizes(units: DataFrame, *, fewest_units: int, n_systems: int) -> Sizes:
    """Runs one job over the segments' numbers of units."""
    enough = F.col("n_units") >= fewest_units
    row = units.agg(F.count_if(enough).alias("shown"), F.count_if(~enough).alias("small")).collect()[0]
    each = MOST_ROWS // max(1, row.shown * n_systems)
    buckets = min(MOST_BUCKETS, max(FEWEST_BUCKETS, 2 ** (max(1, each).bit_length() - 1)))
    return Sizes(row.shown, row.small, buckets)


def inferred(
    sums: DataFrame,
    pair_counts: DataFrame,
    shown: DataFrame,
    *,
    systems: Sequence[str],
    measures: Sequence[Measure],
    exponents: dict[str, int],
    settings: Settings,
) -> DataFrame:
    """UNIT SUMS and pair counts by segment -> one row for each segment, with arrays of ESTIMATES and CONTRASTS.

    shown   segment and buckets, 0 where each unit has a row of its own

    A segment is one row on its way, so that no plan can part it; its sums must fit in a worker's memory. Moves the
    sums twice.
    """
    rows_of, counts_of = ([column for column in table.columns if column != "segment"] for table in (sums, pair_counts))
    whole = sums.groupBy("segment").agg(F.collect_list(F.struct(*rows_of)).alias("sums"))
    counts = pair_counts.groupBy("segment").agg(F.collect_list(F.struct(*counts_of)).alias("counts"))
    joined = whole.join(counts, on="segment", how="left").join(F.broadcast(shown), on="segment")
    joined = joined.select("segment", "sums", "counts", "buckets")
    # a number keeps adaptive execution from joining small partitions: bytes are few, and the work on them is not
    tasks = int(joined.sparkSession.conf.get("spark.sql.shuffle.partitions") or 200)
    joined = joined.repartition(tasks, "segment")

    def infer(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            found: list[dict[str, Any]] = []
            for row in range(batch.num_rows):
                segment = batch.column(0)[row].as_py()
                tables = (pa.Table.from_struct_array(_cells(batch.column(place), row)) for place in (1, 2))
                estimates, contrasts = inference.aggregate(
                    *tables,
                    systems=systems,
                    measures=measures,
                    exponents=exponents,
                    settings=replace(settings, bucketed=batch.column(3)[row].as_py() > 0),
                    segment=segment,
                )
                found.append({"estimates": estimates.to_pylist(), "contrasts": contrasts.to_pylist()})
            yield pa.RecordBatch.from_pylist(found, FOUND)

    return joined.mapInArrow(infer, from_arrow_schema(FOUND))


def _cells(lists: pa.ListArray, row: int) -> pa.StructArray:
    """The structs of one row; none where it is null."""
    cell = lists[row]
    return cell.values if cell.is_valid else lists.values.slice(0, 0)


def estimates(found: DataFrame) -> DataFrame:
    """ESTIMATES of all segments."""
    return found.select(F.explode("estimates").alias("row")).select("row.*")


def contrasts(found: DataFrame) -> DataFrame:
    """CONTRASTS of all segments; p_adjusted is Benjamini and Hochberg's over all segments of a column.

    Moves the contrasts once.
    """
    rows = found.select(F.explode("contrasts").alias("row")).select("row.*")
    column = F.substring_index("segment", "=", 1)
    family = Window.partitionBy(column, "candidate", "baseline", "metric", "method")
    ascending = family.orderBy(F.col("p_value").asc_nulls_last(), "segment")
    reverse = family.orderBy(F.col("p_value").desc_nulls_first(), F.col("segment").desc())
    share = F.col("p_value") * F.count("p_value").over(family) / F.row_number().over(ascending)
    least = F.min("share").over(reverse.rowsBetween(Window.unboundedPreceding, Window.currentRow))
    adjusted = rows.withColumn("share", share).withColumn(
        "p_adjusted", F.when(F.col("p_value").isNotNull(), F.least(F.lit(1.0), least))
    )
    return adjusted.select(*CONTRASTS.names)
