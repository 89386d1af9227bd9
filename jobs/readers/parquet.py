"""Long Parquet: one row per returned document, one row per judgment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from jobs.errors import UsageError

ID = (T.StringType, T.IntegerType, T.LongType, T.ShortType, T.ByteType)
NUMBER = (T.DoubleType, T.FloatType, T.DecimalType, T.IntegerType, T.LongType, T.ShortType, T.ByteType)
RUNS: Mapping[str, tuple[type[T.DataType], ...]] = {"system": ID, "query_id": ID, "doc_id": ID, "score": NUMBER}
QRELS: Mapping[str, tuple[type[T.DataType], ...]] = {"query_id": ID, "doc_id": ID, "relevance": NUMBER}


def runs(spark: SparkSession, paths: Sequence[str], *, system_from: str) -> DataFrame:
    """RUNS, with a null column `file` beside: one system's rows may be spread over many files."""
    if system_from != "tag":
        raise UsageError("--system-from file is for TREC files; Parquet runs name their system in the column system")
    frame = spark.read.parquet(*paths)
    ranked = "rank" in frame.columns
    wanted = {**RUNS, "rank": NUMBER} if ranked else RUNS
    if ranked and "score" not in frame.columns:
        wanted = {key: types for key, types in wanted.items() if key != "score"}
    _check(frame, wanted, table="runs")
    return frame.select(
        *(F.col(key).cast("string").alias(key) for key in ("system", "query_id", "doc_id")),
        _or_null(frame, "score", "double"),
        _or_null(frame, "rank", "int"),
        F.struct("_metadata.file_path", "_metadata.file_block_start", F.monotonically_increasing_id()).alias("place"),
        F.lit(None).cast("string").alias("file"),
    )


def qrels(spark: SparkSession, paths: Sequence[str]) -> DataFrame:
    """QRELS."""
    frame = spark.read.parquet(*paths)
    _check(frame, QRELS, table="qrels")
    return frame.select(
        F.col("query_id").cast("string").alias("query_id"),
        F.col("doc_id").cast("string").alias("doc_id"),
        F.col("relevance").cast("double").alias("relevance"),
    )


def files(spark: SparkSession, paths: Sequence[str]) -> list[str]:
    """None: a part file without rows is no fault."""
    del spark, paths
    return []


def flaws(spark: SparkSession, paths: Sequence[str], *, kind: Literal["runs", "qrels"]) -> list[str]:
    """The first three rows with a null or blank cell, or a relevance that is no number."""
    frame = spark.read.parquet(*paths)
    ids = [key for key in ("system", "query_id", "doc_id") if key in frame.columns]
    number = "score" if kind == "runs" else "relevance"
    flawed = F.lit(False)
    for key in ids:
        flawed = flawed | F.col(key).isNull() | (F.trim(F.col(key).cast("string")) == "")
    if number in frame.columns:
        value = F.col(number).cast("double")
        flawed = flawed | value.isNull() | (F.isnan(value) if kind == "qrels" else F.lit(False))
    shown = [*ids, *([number] if number in frame.columns else [])]
    rows = frame.where(flawed).select(*shown, F.col("_metadata.file_name").alias("file")).limit(3).collect()
    return [f"{row.file}: " + ", ".join(f"{key} = {row[key]!r}" for key in shown) for row in rows]


def _check(frame: DataFrame, wanted: Mapping[str, tuple[type[T.DataType], ...]], *, table: str) -> None:
    problems = []
    for key, types in wanted.items():
        if key not in frame.columns:
            problems.append(f'there is no column "{key}" (columns: {", ".join(frame.columns)})')
        elif not isinstance(frame.schema[key].dataType, types):
            found = frame.schema[key].dataType.simpleString()
            problems.append(
                f'column "{key}" is {found}; it must be {"text or whole numbers" if types is ID else "numbers"}'
            )
    if problems:
        raise UsageError(f"{table}: " + "; ".join(problems))


def _or_null(frame: DataFrame, key: str, kind: str) -> Column:
    return (F.col(key) if key in frame.columns else F.lit(None)).cast(kind).alias(key)
