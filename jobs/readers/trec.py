"""TREC files: runs of six columns, judgments of four, plain or gzip.

    run     query Q0 document rank score tag          qrels   query iteration document relevance

Columns are divided by spaces or tabs; empty lines and lines that start with # are passed over; lines
may end in CR LF, and the file may start with a byte order mark.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from jobs.readers.paths import readable

NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
NOT_FINITE = r"(?i)^[+-]?(nan|inf|infinity)$"
WANTED = {
    "runs": (6, 4, "score", "query Q0 document rank score tag"),
    "qrels": (4, 3, "relevance", "query iteration document relevance"),
}
"""How many columns, which one is a number, its name, and all names."""


def runs(spark: SparkSession, paths: Sequence[str], *, system_from: str) -> DataFrame:
    """RUNS, with the column `file` beside.  A line that cannot be read has a null system, query and document."""
    field = _fields(spark, paths, kind="runs")
    tag = field.items[5] if system_from == "tag" else _stem(F.col("_metadata.file_path"))
    return field.frame.select(
        F.when(field.whole, tag).alias("system"),
        F.when(field.whole, field.items[0]).alias("query_id"),
        F.when(field.whole, field.items[2]).alias("doc_id"),
        F.when(field.whole, _number(field.items[4])).alias("score"),
        F.when(field.whole & field.items[3].rlike("^[+-]?[0-9]{1,9}$"), field.items[3].cast("int")).alias("rank"),
        F.struct("_metadata.file_path", "_metadata.file_block_start", F.monotonically_increasing_id()).alias("place"),
        F.col("_metadata.file_path").alias("file"),
    )


def qrels(spark: SparkSession, paths: Sequence[str]) -> DataFrame:
    """QRELS.  A line that cannot be read has nulls."""
    field = _fields(spark, paths, kind="qrels")
    return field.frame.select(
        F.when(field.whole, field.items[0]).alias("query_id"),
        F.when(field.whole, field.items[2]).alias("doc_id"),
        F.when(field.whole, _number(field.items[3])).alias("relevance"),
    )


def files(spark: SparkSession, paths: Sequence[str]) -> list[str]:
    """The files of these paths; each must hold a run."""
    return list(spark.read.text(list(paths)).inputFiles())


def flaws(spark: SparkSession, paths: Sequence[str], *, kind: Literal["runs", "qrels"]) -> list[str]:
    """`file line n: what is wrong` for the first three lines that cannot be read. Reads everything once more."""
    n_columns, number, name, form = WANTED[kind]
    field = _fields(spark, paths, kind=kind, keep_all=True)
    lines = field.frame.select(
        F.col("_metadata.file_path").alias("file"),
        F.col("_metadata.file_block_start").alias("block"),
        F.monotonically_increasing_id().alias("id"),
        field.passed_over.alias("passed_over"),
        field.n_items.alias("n_items"),
        field.items[number].alias("number"),
    )
    blocks = lines.groupBy("file", "block").agg(F.min("id").alias("first"), F.count("*").alias("n")).collect()
    first = {(row.file, row.block): row.first for row in blocks}
    flawed = ~F.col("passed_over") & (
        (F.col("n_items") != n_columns) | _number(F.col("number")).isNull() | F.isnan(_number(F.col("number")))
    )
    found = []
    for row in lines.where(flawed).orderBy("file", "block", "id").limit(3).collect():
        above = sum(block.n for block in blocks if block.file == row.file and block.block < row.block)
        place = f"{readable(row.file)} line {above + row.id - first[row.file, row.block] + 1}"
        if row.n_items != n_columns:
            found.append(f'{place}: {row.n_items} columns where there must be {n_columns} ("{form}")')
        else:
            found.append(f'{place}: {name} is "{row.number}", which is not a number')
    return found


class _Fields:
    """The lines of some files and expressions over them; the frame keeps the column `_metadata`."""

    def __init__(self, frame: DataFrame, *, n_columns: int) -> None:
        line = F.btrim(F.col("value"), F.lit("\ufeff \t\r"))
        # without `line` as a column of its own, the test for comments would split every line once more
        self.frame = frame.withColumn("line", line).withColumn("words", F.split("line", "[ \t]+"))
        self.items = [F.get("words", F.lit(index)) for index in range(n_columns)]
        self.n_items = F.size("words")
        self.passed_over = F.col("line").startswith("#") | (F.col("line") == "")
        self.whole = self.n_items == n_columns


def _fields(spark: SparkSession, paths: Sequence[str], *, kind: str, keep_all: bool = False) -> _Fields:
    field = _Fields(spark.read.text(list(paths)).select("value", "_metadata"), n_columns=WANTED[kind][0])
    if not keep_all:
        field.frame = field.frame.where(~field.passed_over)
    return field


def _number(text: Column) -> Column:
    """The number that a text is, null if it is none. Spark alone would also take `1.0d` and `1f`."""
    return F.when(text.rlike(NUMBER) | text.rlike(NOT_FINITE), text.cast("double"))


def _stem(path: Column) -> Column:
    """The name of a file without folder, .gz and one further ending for a run."""
    name = F.url_decode(F.element_at(F.split(path, "/"), -1))
    return F.regexp_replace(F.regexp_replace(name, r"\.gz$", ""), r"\.(txt|run|trec|res|results)$", "")
