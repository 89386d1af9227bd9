"""How files and catalog tables become a table: Parquet, ORC, CSV, TSV, JSON lines, SVMlight, `table:NAME`.

Of CSV, TSV, JSON lines and SVMlight every cell is text as it was written, so that no id is changed on the way: 007,
9007199254740993 and " x" stay what they are. Text is UTF-8, divided by the comma, semicolon, bar or tab that the first
line has most of; quotes inside quotes are doubled.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from jobs.errors import DataRefused, UsageError, number_of
from jobs.readers import svmlight
from jobs.readers.paths import CATALOG, Format, located
from jobs.readers.places import first_flawed, place

UNREAD, FILE, PLACE = "_unread", "_file", "_place"
"""Columns of our own: a row of text that could not be divided, the file of a row, and what orders rows."""
DIVIDERS = (",", ";", "|", "\t")
NAMES = {"parquet": "Parquet", "orc": "ORC"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """The rows of an input, as they are.

    frame   its columns, and UNREAD (null but for rows of text that could not be divided) and FILE (null for catalogs)
    texts   whether every cell is text
    where   how a message calls it: `--runs a.csv`
    broken  finds the places of the first rows that could not be divided

    `placed` adds PLACE where it is not there yet, which costs.
    """

    frame: DataFrame
    texts: bool
    where: str
    broken: Callable[[], list[str]] = list
    in_files: bool = True

    def placed(self) -> Table:
        """With PLACE.  Raises UsageError for tables of a catalog, whose rows have no order."""
        if not self.in_files:
            raise UsageError(
                f"{self.where}: rows of a table have no order that could decide; choose another convention"
            )
        there = PLACE in self.frame.columns
        return self if there else replace(self, frame=self.frame.withColumn(PLACE, place(wanted=True)))

    @property
    def rows(self) -> DataFrame:
        """The columns of the input."""
        return self.frame.drop(UNREAD, FILE, PLACE)

    @property
    def columns(self) -> list[str]:
        """Their names."""
        return [name for name in self.frame.columns if name not in (UNREAD, FILE, PLACE)]


def read(spark: SparkSession, paths: Sequence[str], *, format: Format, option: str) -> Table:
    """The rows of some files of one format.

    Raises UsageError for columns that cannot be told apart, DataRefused where there is no table.
    """
    where = f"--{option} {', '.join(paths)}"
    if format == "table":
        table = _catalog(spark, paths, where)
    elif format in ("csv", "tsv"):
        table = _divided(spark, paths, where, tabs=format == "tsv", option=option)
    elif format == "jsonl":
        table = _json(spark, paths, where, option=option)
    elif format == "svmlight":
        frame = svmlight.rows(spark, paths, option=option, file=FILE, place=PLACE)
        table = Table(frame=frame.withColumn(UNREAD, F.lit(None).cast("string")), texts=True, where=where)
    else:
        table = Table(frame=_placed(columnar(spark, paths, format=format, option=option)), texts=False, where=where)
    _check_names(table.columns, table.where)
    return table


def columnar(spark: SparkSession, paths: Sequence[str], *, format: str, option: str) -> DataFrame:
    """The columns of Parquet or ORC files as they are.  Raises DataRefused where there is none, or an empty one."""
    try:
        return spark.read.parquet(*located(paths)) if format == "parquet" else spark.read.orc(located(paths))
    except AnalysisException as error:
        if error.getCondition() != "UNABLE_TO_INFER_SCHEMA":
            raise
        raise DataRefused(f"--{option}: no {NAMES[format]} file in {', '.join(paths)}, or an empty one") from None


def _catalog(spark: SparkSession, paths: Sequence[str], where: str) -> Table:
    try:
        frames = [spark.table(path.removeprefix(CATALOG)) for path in paths]
        frame = frames[0]
        for other in frames[1:]:
            frame = frame.unionByName(other)
    except AnalysisException as error:
        if error.getCondition() == "TABLE_OR_VIEW_NOT_FOUND":
            raise UsageError(f"{where}: the catalog has no such table or view") from None
        if error.getCondition() in ("NUM_COLUMNS_MISMATCH", "UNRESOLVED_COLUMN_AMONG_FIELD_NAMES"):
            raise UsageError(f"{where}: these tables have different columns; name one of them") from None
        raise
    nothing = F.lit(None).cast("string")
    return Table(frame=frame.withColumns({UNREAD: nothing, FILE: nothing}), texts=False, where=where, in_files=False)


def _divided(spark: SparkSession, paths: Sequence[str], where: str, *, tabs: bool, option: str) -> Table:
    line = spark.read.text(located(paths)).head()
    if line is None:
        raise DataRefused(f"--{option}: there is no line in {', '.join(paths)}")
    text = line[0].lstrip("\ufeff")
    divider = "\t" if tabs else max(DIVIDERS, key=text.count)
    cells = next(csv.reader([text], delimiter=divider))
    header = [name or f"_c{place}" for place, name in enumerate(cells)]
    if len(header) == 1:
        wanted = "a tab" if tabs else "a comma, semicolon, bar or tab"
        raise UsageError(
            f'{where}: the first line, "{text[:60]}", is not divided by {wanted}; it must name the columns'
        )
    _check_names(header, where)
    if any("`" in name for name in header):
        raise UsageError(f"{where}: a column has a backtick in its name; rename it")
    if numbers := [name for name in header if name.replace(".", "", 1).isdigit()]:
        raise UsageError(
            f'{where}: the first line must name the columns, and holds "{numbers[0]}"; write a line with names above it'
        )
    schema = ", ".join(f"`{name}` STRING" for name in (*header, UNREAD))
    options = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": UNREAD, "sep": divider, "escape": '"'}
    named = T.StructType([T.StructField(name, T.StringType()) for name in (*cells, UNREAD)])
    # enforceSchema: every file must begin with this header
    frame = spark.read.schema(named).csv(located(paths), header=True, enforceSchema=False, **options)
    if header != cells:  # a column without a name, as pandas writes the numbers of rows
        frame = frame.toDF(*header, UNREAD)

    def broken() -> list[str]:
        lines = spark.read.text(located(paths)).select("value", "_metadata")
        torn = F.from_csv("value", schema, options)[UNREAD].isNotNull() & (F.trim("value") != "")
        return [
            f"{line}: not the {number_of(len(header), 'column')} of the header" for line, _ in first_flawed(lines, torn)
        ]

    return Table(frame=_placed(frame), texts=True, where=where, broken=broken)


def _json(spark: SparkSession, paths: Sequence[str], where: str, *, option: str) -> Table:
    options = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": UNREAD}
    frame = spark.read.json(located(paths), primitivesAsString=True, **options)
    names = [name for name in frame.columns if name != UNREAD]
    if not names:
        raise DataRefused(f'--{option}: no line of {", ".join(paths)} is an object of JSON, such as {{"query_id": …}}')
    schema = frame.schema if UNREAD in frame.columns else frame.schema.add(UNREAD, "string")
    frame = spark.read.schema(schema).json(located(paths), **options)

    def broken() -> list[str]:
        lines = spark.read.text(located(paths)).select("value", "_metadata")
        torn = F.from_json("value", schema, options)[UNREAD].isNotNull() & (F.trim("value") != "")
        return [f"{line}: not an object of JSON on one line" for line, _ in first_flawed(lines, torn)]

    return Table(frame=_placed(frame), texts=True, where=where, broken=broken)


def _placed(frame: DataFrame) -> DataFrame:
    """The frame with FILE, and with UNREAD where it has none; `_metadata` can still be asked for."""
    more = {} if UNREAD in frame.columns else {UNREAD: F.lit(None).cast("string")}
    return frame.withColumns({**more, FILE: F.col("_metadata.file_path")})


def _check_names(names: Sequence[str], where: str) -> None:
    """Names that differ in case alone are one name to Spark."""
    folded = Counter(name.casefold() for name in names)
    if twice := [name for name, number in folded.items() if number > 1]:
        raise UsageError(f"{where}: there is more than one column called {', '.join(twice)}; rename them")
