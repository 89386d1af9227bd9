"""A table in one of the layouts -> RUNS, judgments, and what is wrong with its rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from evalcore.errors import unknown
from jobs.errors import UsageError, address
from jobs.readers import layouts, nested
from jobs.readers.columns import Columns
from jobs.readers.formats import FILE, PLACE, Table, read
from jobs.readers.layouts import TORN, Layout
from jobs.readers.paths import Format
from jobs.readers.places import Wanted


@dataclass(frozen=True, slots=True, kw_only=True)
class TableReader:
    """A table whose columns are known.

    kind     what the input is given as
    order    the number that a row of a run must have
    by_file  whether a system's name is that of its file

    closes_gaps  whether positions of a log may lack some
    """

    table: Table
    given: Mapping[str, str]
    layout: Layout
    kind: Literal["runs", "qrels"]
    systems: Sequence[str] = ()
    closes_gaps: bool = False
    by_file: bool = False
    order: Literal["score", "rank"] = "score"

    @property
    def columns(self) -> Columns:
        """What the columns are."""
        return Columns(self.table, self.given)

    @property
    def has_labels(self) -> bool:
        """Whether rows of runs hold judgments too."""
        return self.columns.has("relevance")

    def has(self, column: str) -> bool:
        """Whether there is this column of ours."""
        return self.columns.has(column)

    def arrays(self, *, ids: bool) -> DataFrame | None:
        """A row for each ranking where rows hold rankings and their grades, else None: `nested.rankings`.

        ids  whether to look at the documents, if there are any
        """
        if self.layout != "nested" or not nested.is_graded(self.columns):
            return None
        return nested.rankings(self.columns, by_file=self.by_file, ids=ids)

    def runs(self, *, placed: bool) -> DataFrame:
        """RUNS, with a null column `file` beside: one system's rows may be spread over many files."""
        rows = self._run_rows(Columns(self.table.placed() if placed else self.table, self.given))
        there = set(rows.columns)
        ranked = "rank" in there and (self.layout == "long" or self.order == "rank")
        return rows.select(
            # a file names the system of every row, and Spark reads UNREAD only beside other columns
            (F.col("system") if self.by_file else _unless_torn(F.col("system"))).alias("system"),
            *(_unless_torn(F.col(key)).alias(key) for key in ("query_id", "doc_id")),
            (F.col("score") if "score" in there else F.lit(None).cast("double")).alias("score"),
            # void: there are no ranks to disagree with scores
            (whole(F.col("rank")) if ranked else F.lit(None)).alias("rank"),
            (F.col(PLACE) if placed else F.lit(None)).alias("place"),
            F.lit(None).cast("string").alias("file"),
        )

    def labels(self, *, preferences: bool = False) -> DataFrame:
        """Judgments with their label as it is; `position` and `time` where the input has them."""
        del preferences  # columns have names: a group is in the column subtopic
        rows = self._judgment_rows()
        more = [key for key in ("subtopic", "propensity", "position", "time") if key in rows.columns]
        ids = (_unless_torn(F.col(key)).alias(key) for key in ("query_id", "doc_id"))
        return rows.select(*ids, F.col("raw_relevance").alias("label"), *more)

    def queries(self, names: Sequence[str]) -> DataFrame:
        """query_id, and further columns of runs as they are.  Raises UsageError for one that is not there."""
        if absent := [name for name in names if name not in self.table.columns]:
            raise UsageError(f"{self.table.where}: {unknown('column', absent[0], self.table.columns)}")
        self.columns.check("query_id")
        query_id = self.columns.value("query_id").alias("query_id")
        return self.table.frame.select(query_id, *(f"`{name}`" for name in names if name != "query_id"))

    @property
    def has_scores(self) -> bool:
        """Whether scores are what the systems gave, and not made of positions."""
        return self.layout in ("long", "wide")

    def gaps(self) -> list[str]:
        """The first three rankings of a log whose positions are not 1, 2, 3 …, unless they may.  Moves positions."""
        if self.layout != "log" or self.closes_gaps:
            return []
        position = F.col("position")
        each = (
            self._run_rows(self.columns)
            .groupBy("system", "query_id")
            .agg(F.min(position).alias("least"), F.max(position).alias("most"), F.count_distinct(position).alias("n"))
        )
        found = each.where("least != 1 or most != n").orderBy("system", "query_id").limit(3).collect()
        return [
            f'system "{row.system}", query "{row.query_id}": {row.n} positions from {row.least:g} to {row.most:g}'
            for row in found
        ]

    def files(self) -> list[str]:
        """None: a part file without rows is no fault."""
        return []

    def flaws(self, *, wanted: Wanted | None) -> list[str]:
        """The first three rows that could not be divided, have a null or blank id, or lack the number that counts."""
        if broken := self.table.broken():
            return broken
        if self.layout == "nested" and (torn := nested.flaws(self.columns).limit(3).collect()):
            return [_told_lengths(row.asDict()) for row in torn]
        runs = wanted in ("score", "rank")
        rows = self._run_rows(self.columns) if runs else self._judgment_rows()
        ids = [key for key in ("system", "query_id", "doc_id") if key in rows.columns]
        flawed = F.lit(False)
        for key in ids:
            flawed = flawed | F.col(key).isNull() | (F.trim(key) == "")
        if wanted:
            value = whole(F.col("rank")) if wanted == "rank" else F.col(wanted)
            flawed = flawed | value.isNull()
            if wanted == "relevance":
                flawed = flawed | F.isnan(value) | (F.abs(value) == float("inf"))
        name = "position" if self.layout == "log" and runs else wanted  # scores of a log are its positions
        number = [F.col(f"raw_{wanted}").alias(str(name))] if wanted else []
        shown = rows.where(flawed).select(*ids, *number, F.col(FILE).alias("file"))
        return [_told(row.asDict(), shown.columns[:-1]) for row in shown.limit(3).collect()]

    def _run_rows(self, columns: Columns) -> DataFrame:
        if self.layout == "wide":
            return layouts.wide(columns, systems=self.systems)
        if self.layout == "nested":
            return nested.documents(columns, by_file=self.by_file)
        if self.layout == "log":
            return layouts.log(columns, by_file=self.by_file)
        return layouts.long(columns, by_file=self.by_file, by_rank=self.order == "rank")

    def _judgment_rows(self) -> DataFrame:
        """Where runs hold the judgments too, a document without one is no judgment."""
        rows = nested.judgments(self.columns) if self.layout == "nested" else layouts.judgments(self.columns)
        return rows.where(F.col("raw_relevance").isNotNull() | F.col(TORN)) if self.kind == "runs" else rows


def open_table(
    spark: SparkSession,
    paths: Sequence[str],
    *,
    option: Literal["runs", "qrels"],
    format: Format,
    layout: Literal["auto"] | Layout,
    given: Mapping[str, str],
    systems: Sequence[str],
    closes_gaps: bool,
    by_file: bool,
    order: Literal["score", "rank"],
) -> TableReader:
    """The reader of some files or catalog tables.

    layout   auto guesses it from the columns
    """
    table = read(spark, paths, format=format, option=option)
    if by_file and not table.in_files:
        raise UsageError(f"{table.where}: --system-from file is for files; name the system in a column")
    found = layouts.guessed(Columns(table, given), systems=systems) if layout == "auto" else layout
    return TableReader(
        table=table,
        given=given,
        layout=found,
        kind=option,
        systems=systems,
        closes_gaps=closes_gaps,
        by_file=by_file,
        order=order,
    )


def whole(rank: Column) -> Column:
    """A rank, null where it is no whole number."""
    found = rank.try_cast("int")
    return F.when(rank == found, found)


def _unless_torn(column: Column) -> Column:
    return F.when(~F.col(TORN), column)


def _told(row: Mapping[str, object], keys: Sequence[str]) -> str:
    cells = ", ".join(f"{key} {_shown(row[key])}" for key in keys)
    file = row["file"]
    return f"{address(file)}: {cells}" if isinstance(file, str) else cells


def _told_lengths(row: dict[str, object]) -> str:
    file, query = row.pop("file"), row.pop("query_id")
    lengths = ", ".join(f"{name} {'null' if size is None else f'of {size}'}" for name, size in row.items())
    where = f"{address(file)}: " if isinstance(file, str) else ""
    return f"{where}query_id {_shown(query)}: arrays must be of one length, and are {lengths}"


def _shown(cell: object) -> str:
    return "null" if cell is None else f'"{cell}"' if isinstance(cell, str) else str(cell)
