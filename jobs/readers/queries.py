"""QUERIES from Parquet or CSV: the query ids, and what else is known of a query."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from jobs.errors import UsageError
from jobs.readers.paths import resolve
from jobs.tables import RESERVED


def queries(spark: SparkSession, path: str) -> DataFrame:
    """QUERIES: query_id as text, the other columns as they are, of a CSV file as text.

    Raises UsageError where query_id is missing or a column has a name that SCORES needs itself.
    """
    if resolve([path], option="queries", format="auto") == "parquet":
        frame = spark.read.parquet(path)
    else:
        frame = spark.read.csv(path, header=True, mode="FAILFAST", enforceSchema=False)
    if "query_id" not in frame.columns:
        raise UsageError(f'--queries {path}: there is no column "query_id" (columns: {", ".join(frame.columns)})')
    taken = [key for key in frame.columns if key in RESERVED and key != "query_id"]
    if taken:
        raise UsageError(
            f"--queries {path}: the score table has columns of its own called {', '.join(taken)}; rename them"
        )
    others = [F.col(f"`{key}`") for key in frame.columns if key != "query_id"]
    return frame.select(F.col("query_id").cast("string").alias("query_id"), *others)
