"""Layouts: how the columns of a table become one row for each document that a system returned.

    long     system  query_id  doc_id  score          a row for each document and system, and perhaps rank, relevance
    wide     query_id  doc_id  relevance  bm25  dense  a row for each document, a column of scores for each system
    log      query_id  doc_id  position  relevance    a row for each item shown; system is the variant that showed it
    nested   query_id  doc_id[]  relevance[]          a row for each ranking: `jobs.readers.nested`

A layout gives a frame with those of `jobs.config.INPUT_COLUMNS` that the input has, numbers also with their cell as it
was (`raw_score` …) for messages, `torn` where a row must not be used, and FILE.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from evalcore.errors import unknown
from jobs.config import INPUT_COLUMNS
from jobs.errors import UsageError
from jobs.readers.columns import NUMBER, Columns
from jobs.readers.formats import FILE, PLACE, UNREAD
from jobs.readers.places import stem

Layout = Literal["long", "nested", "wide", "log"]
LABELS = ("relevance", "subtopic", "propensity")
TORN = "torn"
"""Whether a row must not be used, since it could not be divided into columns."""
COUNTED = ("score", "rank", "relevance", "position")
"""Numbers that a message may have to show as they are written."""


def guessed(columns: Columns, *, systems: Sequence[str]) -> Layout:
    """The layout that the columns have."""
    if any(isinstance(columns.type_of(ours), T.ArrayType) for ours in ("doc_id", "relevance", "score")):
        return "nested"
    if systems:
        return "wide"
    if columns.has("position") and not columns.has("score") and not columns.has("rank"):
        return "log"
    return "long"


def long(columns: Columns, *, by_file: bool, by_rank: bool) -> DataFrame:
    """A row as it is.

    by_rank  whether a rank will do in place of a score
    """
    needed = [*([] if by_file else ["system"]), "query_id", "doc_id"]
    if not (by_rank and columns.has("rank")):
        needed.append("score")
    columns.check(*needed, optional=("score", "rank"))
    return selected(columns, ("query_id", "doc_id", "score", "rank"), system=system_of(columns, by_file=by_file))


def judgments(columns: Columns) -> DataFrame:
    """Judgments, whatever else is in their rows."""
    columns.check("query_id", "doc_id", "relevance", optional=("subtopic", "propensity"))
    return selected(columns, ("query_id", "doc_id", *LABELS, "position", "time"))


def log(columns: Columns, *, by_file: bool) -> DataFrame:
    """A row is an item at its position: the first has the highest score."""
    columns.check(*([] if by_file else ["system"]), "query_id", "doc_id", "position")
    rows = selected(columns, ("query_id", "doc_id", "position"), system=system_of(columns, by_file=by_file))
    return rows.withColumns(
        {"score": -F.col("position"), "rank": F.col("position"), "raw_score": F.col("raw_position")}
    )


def wide(columns: Columns, *, systems: Sequence[str]) -> DataFrame:
    """A row becomes one for each system that has a score in it; no score means that the system did not return it."""
    chosen = list(systems) or numeric(columns)
    if absent := [name for name in chosen if name not in columns.table.columns]:
        raise UsageError(f"{columns.table.where}: {unknown('column', absent[0], columns.table.columns)}")
    if not chosen:
        raise UsageError(
            f"{columns.table.where}: no column of scores (columns: {', '.join(columns.table.columns)}); name those of "
            "the systems with --set inputs.systems=[...]"
        )
    columns.check("query_id", "doc_id")
    scores = Columns(columns.table, {})
    scores.check(*chosen)
    cells = F.array(
        *(
            F.struct(
                F.lit(name).alias("system"),
                scores.value(name).alias("score"),
                scores.raw(name).cast("string").alias("raw"),
            )
            for name in chosen
        )
    )
    rows = columns.table.frame.withColumn("_cell", F.explode(F.filter(cells, lambda cell: cell["raw"].isNotNull())))
    score = {"score": F.col("_cell.score"), "raw_score": F.col("_cell.raw")}
    return selected(columns, ("query_id", "doc_id"), rows=rows, system=F.col("_cell.system"), **score)


def numeric(columns: Columns) -> list[str]:
    """The columns of numbers that stand for nothing else; of text all that do, for any may be written numbers."""
    table = columns.table
    named = {columns.theirs(ours) for ours in INPUT_COLUMNS}
    kinds = (T.StringType,) if table.texts else NUMBER
    free = [name for name in table.columns if name not in named]
    return [name for name in free if isinstance(table.frame.schema[name].dataType, kinds)]


def system_of(columns: Columns, *, by_file: bool) -> Column:
    """The system of a row: its column, or the name of its file."""
    return stem(F.col(FILE)) if by_file else columns.value("system")


def selected(columns: Columns, wanted: Sequence[str], *, rows: DataFrame | None = None, **more: Column) -> DataFrame:
    """Of the rows of the table, or of `rows` that were made of them, those columns of `wanted` that there are.

    more  further columns
    """
    there = [ours for ours in wanted if columns.has(ours)]
    made = {ours: columns.raw(ours) if ours == "time" else columns.value(ours) for ours in there}
    raw = {f"raw_{ours}": columns.raw(ours) for ours in COUNTED if ours in there}
    kept = [name for name in (FILE, PLACE) if name in columns.table.frame.columns]
    torn = F.col(UNREAD).isNotNull().alias(TORN)
    named = [column.alias(name) for name, column in {**made, **raw, **more}.items()]
    return (columns.table.frame if rows is None else rows).select(*named, torn, *kept)
