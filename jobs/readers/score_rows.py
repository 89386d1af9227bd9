"""The rows of a table of scores, whichever way it is laid out, as one row for each system and query."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from jobs.measures import WEIGHT
from jobs.readers.score_columns import METRIC, QUERY, VALUE, Columns
from jobs.readers.scores import Table, system_of
from jobs.tables import SCORE_FACTS

UNREAD = "not the columns of the header"


def gathered(table: Table, columns: Columns, slots: Mapping[str, str], *, ours: bool) -> DataFrame:
    """One row for each system and query, and what is wrong with its rows.  Moves every row once.

        system, query_id, file
        kept       struct k0, k1, … of the columns of queries that are asked for
        s0, s1, …  values, null where there is none
        flaw       the first thing wrong with one of the rows; n_flaws, how many rows have one
        repeated   a value that is there more than once
        apart      whether the rows disagree on `kept`

    slots   the values: our name, and the column or metric that holds them; of a matrix one, whatever it says
    ours    whether the table has the columns that `evaljob score` writes beside values, which are carried along
    """
    rows = _of_matrix(table, columns, slots) if columns.kind == "matrix" else _of_rows(table, columns, slots, ours=ours)
    lacking = {"system": "without a system", "query_id": "without a query"}
    flaw = F.coalesce("flaw", *(F.when(F.col(key).isNull(), told) for key, told in lacking.items()))
    repeated = [F.when(F.sum(f"h{place}") > 1, F.lit(slot)) for place, slot in enumerate(slots)]
    return (
        rows.withColumn("flaw", flaw)
        .groupBy("system", "query_id")
        .agg(
            F.min("file").alias("file"),
            F.min("kept").alias("kept"),
            (F.min("kept") != F.max("kept")).alias("apart"),
            F.min("flaw").alias("flaw"),
            F.count("flaw").alias("n_flaws"),
            F.coalesce(*repeated).alias("repeated"),
            *(F.max(f"s{place}").alias(f"s{place}") for place in range(len(slots))),
            *(F.max(fact).alias(fact) for fact in (SCORE_FACTS if ours else ())),
        )
    )


def _of_rows(table: Table, columns: Columns, slots: Mapping[str, str], *, ours: bool) -> DataFrame:
    metric = table.text(columns.roles[METRIC]) if METRIC in columns.roles else None
    values, here, flaws = [], [], []
    for slot, theirs in slots.items():
        column = theirs if metric is None else columns.roles[VALUE]
        there = F.lit(True) if metric is None else F.coalesce(metric == theirs, F.lit(False))
        values.append(F.when(there, table.number(column)))
        here.append(there.cast("int"))
        flaws.append(F.when(there, _flaw(table, column, slot)))
    if metric is not None:
        flaws.append(F.when(metric.isNull(), "without a metric"))
    return table.frame.select(
        system_of(table, columns).alias("system"),
        table.text(columns.roles[QUERY]).alias("query_id"),
        *_shared(table, columns),
        F.when(table.unread, UNREAD).otherwise(F.coalesce(*flaws)).alias("flaw"),
        *(value.alias(f"s{place}") for place, value in enumerate(values)),
        *(there.alias(f"h{place}") for place, there in enumerate(here)),
        *(table.raw(fact).alias(fact) for fact in (SCORE_FACTS if ours else ())),
    )


def _of_matrix(table: Table, columns: Columns, slots: Mapping[str, str]) -> DataFrame:
    """The rows of a matrix, each once for each system; a row without a query's name is called by its number."""
    (slot,) = slots
    cells = [
        F.struct(
            F.lit(system).alias("system"), table.number(column).alias("s0"), _flaw(table, column, slot).alias("flaw")
        )
        for system, column in columns.values.items()
    ]
    rows = table.frame.withColumn("place", F.struct("file", F.monotonically_increasing_id()))
    number = F.row_number().over(Window.orderBy("place")).cast("string")
    query = table.text(columns.roles[QUERY]) if QUERY in columns.roles else number
    each = rows.withColumn("query", query).select(  # numbered before there is a row for each system
        F.col("query").alias("query_id"),
        *_shared(table, columns),
        table.unread.alias("unread"),
        F.explode(F.array(*cells)).alias("cell"),
    )
    flaw = F.when(F.col("unread"), UNREAD).otherwise(F.col("cell.flaw"))
    return each.select("query_id", "file", "kept", "cell.system", "cell.s0", flaw.alias("flaw"), F.lit(1).alias("h0"))


def _shared(table: Table, columns: Columns) -> list[Column]:
    kept = [
        (table.number(theirs) if ours == WEIGHT else table.text(theirs)).alias(f"k{place}")
        for place, (ours, theirs) in enumerate(columns.kept.items())
    ]
    return [F.col("file"), F.struct(*(kept or [F.lit(0).alias("k")])).alias("kept")]


def _flaw(table: Table, column: str, slot: str) -> Column:
    """What is wrong with a value, if anything: it is no number, or not a finite one."""
    value = table.number(column)
    if column in table.arrays:
        wrong = F.exists(value, lambda each: F.isnan(each) | (F.abs(each) == float("inf")))
        return F.when(wrong, F.lit(f"{slot} has an element that is not a finite number"))
    text = table.text(column)
    wrong = F.isnan(value) | (F.abs(value) == float("inf")) | (text.isNotNull() & value.isNull())
    return F.when(wrong, F.concat(F.lit(f'{slot} is "'), text, F.lit('"')))
