"""Where in a file a row is."""

from __future__ import annotations

from typing import Literal

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F

from jobs.errors import address

Wanted = Literal["score", "rank", "relevance"]
"""The number that a row must have."""
ENDINGS = "txt|run|trec|res|results|csv|tsv|jsonl|ndjson|json|parquet|orc"


def stem(path: Column) -> Column:
    """The name of a file as that of a system: without .gz and one further ending; of part files their folder's."""
    parts = F.split(path, "/")
    last = F.element_at(parts, -1)
    name = F.url_decode(
        F.regexp_replace(
            F.when(last.startswith("part-"), F.get(parts, F.size(parts) - 2)).otherwise(last), r"\+", "%2B"
        )
    )
    return F.regexp_replace(F.regexp_replace(name, r"\.gz$", ""), rf"\.({ENDINGS})$", "")


def place(*, wanted: bool) -> Column:
    """The column `place` of RUNS, which orders the rows of the input; null if not wanted, since it costs."""
    where = F.struct("_metadata.file_path", "_metadata.file_block_start", F.monotonically_increasing_id())
    return (where if wanted else F.lit(None)).alias("place")


def first_flawed(lines: DataFrame, flawed: Column, *columns: Column) -> list[tuple[str, Row]]:
    """The first three flawed lines: each one's place, `file line n`, and some columns.  Reads everything.

    lines   a row for every line of some text files, with the column `_metadata`

    Spark numbers the rows of a partition one after the other, and a partition holds whole blocks of
    files: a line's number is its distance from the first row of its block, and the lines of the blocks above.
    """
    rows = lines.select(
        F.col("_metadata.file_path").alias("file"),
        F.col("_metadata.file_block_start").alias("block"),
        F.monotonically_increasing_id().alias("id"),
        flawed.alias("flawed"),
        *columns,
    )
    blocks = rows.groupBy("file", "block").agg(F.min("id").alias("first"), F.count("*").alias("n")).collect()
    first = {(row.file, row.block): row.first for row in blocks}
    found = []
    for row in rows.where("flawed").orderBy("file", "block", "id").limit(3).collect():
        above = sum(block.n for block in blocks if block.file == row.file and block.block < row.block)
        found.append((f"{address(row.file)} line {above + row.id - first[row.file, row.block] + 1}", row))
    return found
