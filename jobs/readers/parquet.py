"""Long Parquet: one row per returned document, one row per judgment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from jobs.errors import DataRefused, UsageError, address
from jobs.readers.paths import located
from jobs.readers.places import place

ID = (T.StringType, T.IntegerType, T.LongType, T.ShortType, T.ByteType)
NUMBER = (T.DoubleType, T.FloatType, T.DecimalType, T.IntegerType, T.LongType, T.ShortType, T.ByteType)
RUNS: Mapping[str, tuple[type[T.DataType], ...]] = {"system": ID, "query_id": ID, "doc_id": ID, "score": NUMBER}
QRELS: Mapping[str, tuple[type[T.DataType], ...]] = {"query_id": ID, "doc_id": ID, "relevance": NUMBER}
MORE_OF_QRELS: Mapping[str, tuple[type[T.DataType], ...]] = {"subtopic": ID, "propensity": NUMBER}


def read(spark: SparkSession, paths: Sequence[str], *, option: str) -> DataFrame:
    """The columns as they are.  Raises DataRefused where there is no Parquet file, or an empty one."""
    try:
        return spark.read.parquet(*located(paths))
    except AnalysisException as error:
        if error.getCondition() != "UNABLE_TO_INFER_SCHEMA":
            raise
        raise DataRefused(f"--{option}: no Parquet file in {', '.join(paths)}, or an empty one") from None


def runs(spark: SparkSession, paths: Sequence[str], *, system_from: str, placed: bool) -> DataFrame:
    """RUNS, with a null column `file` beside: one system's rows may be spread over many files."""
    if system_from != "tag":
        raise UsageError("--system-from file is for TREC files; Parquet runs name their system in the column system")
    frame = read(spark, paths, option="runs")
    ranked = "rank" in frame.columns
    wanted = {**RUNS, "rank": NUMBER} if ranked else RUNS
    if ranked and "score" not in frame.columns:
        wanted = {key: types for key, types in wanted.items() if key != "score"}
    _check(frame, wanted, where=f"--runs {', '.join(paths)}")
    return frame.select(
        *(F.col(key).cast("string").alias(key) for key in ("system", "query_id", "doc_id")),
        (F.col("score").cast("double") if "score" in frame.columns else F.lit(None).cast("double")).alias("score"),
        (_rank() if ranked else F.lit(None)).alias("rank"),  # void: there are no ranks to disagree with scores
        place(wanted=placed),
        F.lit(None).cast("string").alias("file"),
    )


def qrels(spark: SparkSession, paths: Sequence[str], *, preferences: bool = False) -> DataFrame:
    """QRELS."""
    del preferences  # columns have names: a group is in the column subtopic
    frame = read(spark, paths, option="qrels")
    optional = {key: types for key, types in MORE_OF_QRELS.items() if key in frame.columns}
    _check(frame, {**QRELS, **optional}, where=f"--qrels {', '.join(paths)}")
    there = {key: F.col(key) if key in optional else F.lit(None) for key in MORE_OF_QRELS}
    return frame.select(
        F.col("query_id").cast("string").alias("query_id"),
        F.col("doc_id").cast("string").alias("doc_id"),
        F.col("relevance").cast("double").alias("relevance"),
        there["subtopic"].cast("string").alias("subtopic"),
        there["propensity"].cast("double").alias("propensity"),
    )


def files(spark: SparkSession, paths: Sequence[str]) -> list[str]:
    """None: a part file without rows is no fault."""
    del spark, paths
    return []


def flaws(
    spark: SparkSession, paths: Sequence[str], *, kind: Literal["runs", "qrels"], order: Literal["score", "rank"]
) -> list[str]:
    """The first three rows with a null or blank id, or without the number that counts.

    order   the column of runs that must be a number
    """
    frame = read(spark, paths, option=kind)
    number = order if kind == "runs" else "relevance"
    if number not in frame.columns:
        hint = "; rank by the column rank with --set score.conventions.ties=rank_column" if order == "score" else ""
        return [f'there is no column "{number}" (columns: {", ".join(frame.columns)}){hint}']
    ids = [key for key in ("system", "query_id", "doc_id") if key in frame.columns]
    value = _rank() if number == "rank" else F.col(number).cast("double")
    flawed = value.isNull()
    if number == "relevance":
        flawed = flawed | F.isnan(value) | (F.abs(value) == float("inf"))
    for key in ids:
        flawed = flawed | F.col(key).isNull() | (F.trim(F.col(key).cast("string")) == "")
    rows = frame.where(flawed).select(*ids, number, F.col("_metadata.file_path").alias("file")).limit(3).collect()
    return [f"{address(row.file)}: " + ", ".join(f"{key} {_shown(row[key])}" for key in (*ids, number)) for row in rows]


def _check(frame: DataFrame, wanted: Mapping[str, tuple[type[T.DataType], ...]], *, where: str) -> None:
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
        raise UsageError(f"{where}: " + "; ".join(problems))


def _shown(cell: object) -> str:
    return "null" if cell is None else f'"{cell}"' if isinstance(cell, str) else str(cell)


def _rank() -> Column:
    """The column rank, null where it is no whole number."""
    whole = F.expr("try_cast(rank AS int)")
    return F.when(F.col("rank") == whole, whole)
