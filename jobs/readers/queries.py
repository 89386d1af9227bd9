"""QUERIES from Parquet or CSV: the query ids, and what else is known of a query."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from jobs.errors import UsageError
from jobs.readers.columns import ID
from jobs.readers.formats import columnar
from jobs.readers.paths import is_parquet, located
from jobs.readers.places import first_flawed
from jobs.tables import RESERVED

UNREAD = "_unread"
"""Spark's copy of a row of a CSV file that has more or fewer cells than the header."""
PERMISSIVE = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": UNREAD}


def queries(spark: SparkSession, path: str) -> DataFrame:
    """QUERIES: query_id as text, the other columns as they are, of a CSV file as text.

    A row of a CSV file that has more or fewer cells than the header has a null query_id.

    Raises UsageError where query_id is missing or holds no ids, a column is there twice, or one has a name
    that scoring needs itself.
    """
    if is_parquet([path], option="queries"):
        frame = columnar(spark, [path], format="parquet", option="queries")
        _check(frame.columns, path)
        if not isinstance(frame.schema["query_id"].dataType, ID):
            found = frame.schema["query_id"].dataType.simpleString()
            raise UsageError(f'--queries {path}: column "query_id" is {found}; it must be text or whole numbers')
        query_id = F.col("query_id").cast("string")
    else:
        header = _header(spark, path)
        _check(header, path)
        schema = ", ".join(f"`{key}` STRING" for key in (*header, UNREAD))
        # enforceSchema: every file of a folder must have this header
        frame = spark.read.schema(schema).csv(located([path]), header=True, enforceSchema=False, **PERMISSIVE)
        query_id = F.when(F.col(UNREAD).isNull(), F.col("query_id"))
    others = [F.col(f"`{key}`") for key in frame.columns if key not in ("query_id", UNREAD)]
    return frame.select(query_id.alias("query_id"), *others)


def flaws_of_queries(spark: SparkSession, path: str) -> list[str]:
    """`file line n: what is wrong` for the first three rows of CSV files that cannot be read."""
    if is_parquet([path], option="queries"):
        return []
    header = _header(spark, path)
    schema = ", ".join(f"`{key}` STRING" for key in (*header, UNREAD))
    lines = spark.read.text(located([path])).select("value", "_metadata")
    unread = F.from_csv("value", schema, PERMISSIVE)[UNREAD].isNotNull() & (F.trim("value") != "")
    return [f"{place}: not the {len(header)} columns of the header" for place, _ in first_flawed(lines, unread)]


def _header(spark: SparkSession, path: str) -> list[str]:
    first = spark.read.csv(located([path]), header=False).head()
    return [cell or "" for cell in first] if first is not None else []


def _check(columns: Sequence[str], path: str) -> None:
    """Raises UsageError.  Names that differ in case alone are one name to Spark."""
    folded = Counter(key.casefold() for key in columns)
    problems = []
    if "query_id" not in columns:
        problems.append(f'there is no column "query_id" (columns: {", ".join(columns) or "none"})')
    if any(key == "" or "`" in key for key in columns):
        problems.append("there is a column without a name, or with a backtick in it")
    if twice := [key for key, number in folded.items() if number > 1 and key]:
        problems.append(f"there is more than one column called {', '.join(twice)}")
    if taken := sorted((folded.keys() & RESERVED) - {"query_id"}):
        problems.append(f"scoring has columns of its own called {', '.join(taken)}; rename them")
    if problems:
        raise UsageError(f"--queries {path}: {'; '.join(problems)}")
