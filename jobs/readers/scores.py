"""Values of queries that another tool computed: Parquet, CSV and other tables with a header, output of trec_eval -q.

Text is divided by commas, semicolons or tabs, whichever the first line has most of; gzip is known by the
name. Output of trec_eval (`metric query value`) or ir_measures (`query metric value`) has no header.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from jobs.errors import DataRefused, UsageError, address, number_of
from jobs.numbers import number
from jobs.readers.columns import NUMBER as NUMERIC
from jobs.readers.paths import is_parquet, located
from jobs.readers.places import first_flawed
from jobs.readers.queries import PERMISSIVE, UNREAD
from jobs.readers.score_columns import METRIC, QUERY, SYSTEM, VALUE, Columns

DIVIDERS = (",", ";", "\t")
SUMMARY = "all"
"""What trec_eval and ir_measures call the query of their means."""
RUN_NAME = "runid"
"""What trec_eval calls the first of its lines, whose value is the run's name."""
ENDINGS = r"(\.(txt|csv|tsv|parquet|eval|trec|run|res|results))+$"
MOST_METRICS = 1_000


@dataclass(frozen=True, slots=True)
class Table:
    """The rows of some files: columns c0, c1, … in the order of the header, and `file`.

    texts   whether each column is of text, numbers among it
    arrays  the columns that hold arrays of numbers
    unread  whether a row could not be divided into the columns
    flaws   finds the places of the first rows that could not
    """

    frame: DataFrame
    header: list[str]
    texts: bool
    numeric: frozenset[str]
    arrays: frozenset[str]
    unread: Column
    flaws: Callable[[], list[str]]

    def text(self, column: str) -> Column:
        """A column as text, null where there is nothing; without the spaces around it that a text file may have."""
        text = self.raw(column).cast("string")
        return F.when(F.trim(text) != "", F.trim(text) if self.texts else text)

    def raw(self, column: str) -> Column:
        """A column as it is."""
        return F.col(f"c{self.header.index(column)}")

    def number(self, column: str) -> Column:
        """A column as numbers, null where there is none."""
        if not self.texts:
            return self.raw(column) if column in self.arrays else self.raw(column).cast("double")
        return number(self.text(column))


Known: TypeAlias = Callable[[str], bool]
"""Whether a name is that of a metric."""


def table(spark: SparkSession, paths: Sequence[str], *, known: Known) -> Table:
    """The rows of some files.  Raises UsageError and DataRefused for files that hold no table, or different ones."""
    if is_parquet(paths, option="scores"):
        return _parquet(spark, paths)
    first = _first_lines(spark, paths)
    if not first:
        raise DataRefused(f"--scores: there is no row in {', '.join(paths)}")
    line = next(iter(first.values()))
    if all(map(_is_headless, first.values())):
        return _headless(spark, paths, line, known)
    if other := [file for file, its in first.items() if _cells(its) != _cells(line)]:
        raise UsageError(
            f"--scores: {address(other[0])} has other columns than {address(next(iter(first)))}; files of one table "
            "begin with the same header"
        )
    return _csv(spark, paths, line)


def _parquet(spark: SparkSession, paths: Sequence[str]) -> Table:
    frame = spark.read.option("mergeSchema", "true").parquet(*located(paths))
    header = frame.columns
    kinds = {field.name: field.dataType for field in frame.schema.fields}
    return Table(
        frame.select(
            *(F.col(f"`{column}`").alias(f"c{place}") for place, column in enumerate(header)),
            F.col("_metadata.file_path").alias("file"),
        ),
        header,
        texts=False,
        numeric=frozenset(column for column in header if isinstance(kinds[column], (*NUMERIC, T.BooleanType))),
        arrays=frozenset(column for column in header if isinstance(kinds[column], T.ArrayType)),
        unread=F.lit(False),
        flaws=list,
    )


def _csv(spark: SparkSession, paths: Sequence[str], line: str) -> Table:
    header = _cells(line)
    if any(_is_number(cell) for cell in header):
        raise UsageError(f"--scores {', '.join(paths)}: the first line holds values; give the table a header")
    schema = ", ".join(f"c{place} STRING" for place in range(len(header)))
    options = {**PERMISSIVE, "sep": _divider(line)}
    frame = spark.read.schema(f"{schema}, {UNREAD} STRING").csv(located(paths), header=True, **options)
    unread = F.col(UNREAD).isNotNull()

    def flaws() -> list[str]:
        lines = spark.read.text(located(paths)).select("value", "_metadata")
        told = F.from_csv("value", f"{schema}, {UNREAD} STRING", options)[UNREAD].isNotNull()
        found = first_flawed(lines, told & (F.trim("value") != ""))
        return [f"{place}: not the {number_of(len(header), 'column')} of the header" for place, _ in found]

    kept = frame.select("*", F.col("_metadata.file_path").alias("file"))
    return Table(kept, header, texts=True, numeric=frozenset(), arrays=frozenset(), unread=unread, flaws=flaws)


def _headless(spark: SparkSession, paths: Sequence[str], line: str, known: Known) -> Table:
    first, second, _ = line.split()
    of_trec_eval = known(first) or first == RUN_NAME
    if of_trec_eval == known(second):
        raise UsageError(
            f'--scores {", ".join(paths)}: there is no header, and which of "{first}" and "{second}" is the metric '
            "cannot be told; write a first line such as: metric,query_id,value"
        )
    header = [METRIC, QUERY, VALUE] if of_trec_eval else [QUERY, METRIC, VALUE]
    lines = spark.read.text(located(paths)).select("value", "_metadata").where(F.trim("value") != "")
    cells = F.split(F.trim("value"), r"\s+")
    unread = F.size("cells") != len(header)

    def flaws() -> list[str]:
        found = first_flawed(lines, F.size(cells) != len(header))
        return [f"{place}: not 3 columns" for place, _ in found]

    frame = lines.select(cells.alias("cells"), F.col("_metadata.file_path").alias("file"))
    frame = frame.select("*", *(F.get("cells", F.lit(place)).alias(f"c{place}") for place in range(len(header))))
    return Table(frame, header, texts=True, numeric=frozenset(), arrays=frozenset(), unread=unread, flaws=flaws)


def _first_lines(spark: SparkSession, paths: Sequence[str]) -> dict[str, str]:
    """The first line of each file that has one.  Reads everything, unless there is one file."""
    lines = spark.read.text(located(paths))
    if len(files := lines.inputFiles()) == 1:
        line = lines.head()
        return {files[0]: line[0]} if line is not None else {}
    place = F.struct(F.col("_metadata.file_block_start"), F.monotonically_increasing_id())
    rows = lines.select("value", F.col("_metadata.file_path").alias("file"), place.alias("place"))
    first = rows.groupBy("file").agg(F.min_by("value", "place").alias("line")).orderBy("file").collect()
    return {row.file: row.line for row in first}


def _divider(line: str) -> str:
    return max(DIVIDERS, key=line.count)


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in next(csv.reader([line.lstrip("\ufeff")], delimiter=_divider(line)))]


def _is_headless(line: str) -> bool:
    """Whether a line is one of trec_eval or ir_measures: three words, of which the last is a number or of a summary."""
    words = line.split()
    return len(words) == 3 and "," not in line and (_is_number(words[2]) or words[1] == SUMMARY)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text.strip().casefold() not in ("nan", "inf", "infinity")


# names of systems, queries and metrics


def system_of(table: Table, columns: Columns) -> Column:
    """The system of a row: its column, or the name of its file without endings."""
    if SYSTEM in columns.roles:
        return table.text(columns.roles[SYSTEM])
    path = F.split(F.url_decode(F.regexp_replace("file", r"\+", "%2B")), "/")
    name = F.regexp_replace(F.element_at(path, -1), r"\.gz$", "")
    return F.regexp_replace(F.when(name.startswith("part-"), F.element_at(path, -2)).otherwise(name), ENDINGS, "")


def metrics_of(table: Table, columns: Columns) -> list[str]:
    """The names in the column metric of a long table, in order of names, without those of summaries alone."""
    metric, query = table.text(columns.roles[METRIC]), table.text(columns.roles[QUERY])
    named = table.frame.where(metric.isNotNull() & (query != SUMMARY)).select(metric.alias("metric")).distinct()
    found = sorted(row.metric for row in named.limit(MOST_METRICS + 1).collect())
    if len(found) > MOST_METRICS:
        raise UsageError(
            f'--scores: column "{columns.roles[METRIC]}" holds more than {MOST_METRICS:,} different names, such as '
            f"{', '.join(found[:3])}; say which column holds the metric with --set aggregate.columns.metric=COLUMN"
        )
    return found


def numeric_of(table: Table, candidates: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Of some columns those that hold numbers alone, and those that hold other text too, with the first of it."""
    if not table.texts:
        return [column for column in candidates if column in table.numeric], {}
    counts = []
    for column in candidates:
        number, text = table.number(column), table.text(column)
        counts += [F.count(number), F.min(F.when(number.isNull(), text))]
    row = table.frame.where(~table.unread).agg(*counts).collect()[0] if candidates else ()
    numbers = dict(zip(candidates, row[::2], strict=True))
    texts = dict(zip(candidates, row[1::2], strict=True))
    numeric = [column for column in candidates if numbers[column]]
    whole = [column for column in numeric if texts[column] is None]
    return whole, {column: texts[column] for column in numeric if texts[column] is not None}
