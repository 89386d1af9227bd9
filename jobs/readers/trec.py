"""TREC files: runs of six columns, judgments of four, plain or gzip.

    run     query Q0 document rank score tag          qrels   query iteration document relevance
                                                      or      query subtopic document relevance
                                                      or      query group document relevance
                                                      or      query group subgroup document level

Columns are divided by spaces or tabs; empty lines and lines that start with # are passed over; lines
may end in CR LF, and the file may start with a byte order mark. What follows the tag of a run is passed
over, as trec_eval does. The metrics say what the second column of judgments means. Five columns are
preferences, as trec_eval's `prefs` has them; for metrics of anything else they are refused.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F

from jobs.errors import UsageError, number_of
from jobs.numbers import number, whole_number
from jobs.readers.paths import located
from jobs.readers.places import Wanted, first_flawed, place, stem

COLUMNS = {
    "runs": ("query", "Q0", "document", "rank", "score", "tag"),
    "qrels": ("query", "iteration", "document", "relevance"),
}
PREFERENCES = ("query", "group", "subgroup", "document", "level")
NUMBERS = {"score": "a number", "rank": "a whole number", "relevance": "a finite number"}


@dataclass(frozen=True, slots=True)
class TrecReader:
    """Some TREC files: runs, or judgments."""

    spark: SparkSession
    paths: Sequence[str]
    kind: Literal["runs", "qrels"]
    system_from: str = "tag"

    has_labels = False
    has_scores = True

    def gaps(self) -> list[str]:
        """None: ranks are beside scores."""
        return []

    def has(self, column: str) -> bool:
        """Whether there is this column of ours."""
        return column in ("system", "query_id", "doc_id", "score", "rank")

    def arrays(self, *, ids: bool) -> DataFrame | None:
        """None: a line is a document."""
        del ids
        return None

    def runs(self, *, placed: bool) -> DataFrame:
        """RUNS, with the column `file` beside.  A line that cannot be read has a null system, query and document."""
        field = self._fields()
        tag = field.items[5] if self.system_from == "tag" else stem(F.col("_metadata.file_path"))
        return field.frame.select(
            F.when(field.whole, tag).alias("system"),
            F.when(field.whole, field.items[0]).alias("query_id"),
            F.when(field.whole, field.items[2]).alias("doc_id"),
            F.when(field.whole, number(field.items[4])).alias("score"),
            F.when(field.whole, whole_number(field.items[3])).alias("rank"),
            place(wanted=placed),
            F.col("_metadata.file_path").alias("file"),
        )

    def labels(self, *, preferences: bool = False) -> DataFrame:
        """Judgments with their label as text.  A line that cannot be read has nulls.

        preferences   whether lines of five columns are preferences; a subgroup is "group<TAB>subgroup", for no word
                      of a line holds a tab
        """
        field = self._fields()
        items, whole, subtopic = list(field.items), field.whole, field.items[1]
        if preferences:
            fifth = F.get("words", F.lit(4))
            five = field.decoded & (field.n_items == len(PREFERENCES))
            whole = whole | five
            items[2], items[3] = F.when(five, items[3]).otherwise(items[2]), F.when(five, fifth).otherwise(items[3])
            subtopic = F.when(five, F.concat_ws("\t", items[1], field.items[2])).otherwise(items[1])
        return field.frame.select(
            F.when(whole, items[0]).alias("query_id"),
            F.when(whole, items[2]).alias("doc_id"),
            F.when(whole, items[3]).alias("label"),
            F.when(whole, subtopic).alias("subtopic"),
        )

    def queries(self, names: Sequence[str]) -> DataFrame:
        """Refused: raises UsageError."""
        raise UsageError(f"TREC runs have no column {', '.join(names)}; give --queries FILE, a table with query_id")

    def files(self) -> list[str]:
        """The files of these paths; each must hold a run."""
        return list(self.spark.read.text(located(self.paths)).inputFiles())

    def flaws(self, *, wanted: Wanted | None) -> list[str]:
        """`file line n: what is wrong` for the first three lines that cannot be used. Reads everything once more."""
        field = self._fields(keep_all=True)
        text = field.items[COLUMNS[self.kind].index(wanted or "document")]
        value = whole_number(text) if wanted == "rank" else number(text) if wanted else F.lit(0.0)
        usable = value.isNotNull() & (F.lit(wanted != "relevance") | (F.abs(value) < float("inf")))
        flawed = ~field.passed_over & (~field.whole | ~usable)
        shown = (
            field.n_items.alias("n_items"),
            field.decoded.alias("decoded"),
            text.alias("number"),
            field.items[3].alias("rank"),
        )
        found = first_flawed(field.frame, flawed, *shown)
        return [f"{where}: {_flaw(row, self.kind, wanted)}" for where, row in found]

    def _fields(self, *, keep_all: bool = False) -> _Fields:
        lines = self.spark.read.text(located(self.paths)).select("value", "_metadata")
        field = _Fields(lines, n_columns=len(COLUMNS[self.kind]), more=self.kind == "runs")
        if not keep_all:
            field.frame = field.frame.where(~field.passed_over)
        return field


def _flaw(row: Row, kind: str, wanted: str | None) -> str:
    columns = COLUMNS[kind]
    if not row.decoded:
        return "bytes that are not UTF-8"
    if re.fullmatch("[0-9]+:[^:]+", row["rank"] or ""):
        return f'"{row["rank"]}" looks like a feature of SVMlight; if it is, use --set inputs.format=svmlight'
    if row.n_items < len(columns) or (kind == "qrels" and row.n_items > len(columns)):
        return f'{number_of(row.n_items, "column")}, not the {len(columns)} of "{" ".join(columns)}"'
    if row.n_items > len(columns) and not (row["rank"] or "").lstrip("+-").isdigit():
        return f'{row.n_items} columns, and the rank is "{row["rank"]}"; is there a space in an id?'
    return f'{wanted} is "{row.number}", which is not {NUMBERS[wanted or ""]}'


class _Fields:
    """The lines of some files and expressions over them; the frame keeps the column `_metadata`."""

    def __init__(self, frame: DataFrame, *, n_columns: int, more: bool) -> None:
        line = F.btrim(F.col("value"), F.lit("\ufeff \t\r"))
        # without `line` as a column of its own, the test for comments would split every line once more
        self.frame = frame.withColumn("line", line).withColumn("words", F.split("line", "[ \t]+"))
        self.items = [F.get("words", F.lit(index)) for index in range(n_columns)]
        self.n_items = F.size("words")
        self.passed_over = F.col("line").startswith("#") | (F.col("line") == "")
        # splitting puts U+FFFD for bytes that are not UTF-8, and would make one id of several
        self.decoded = ~self.items[0].contains("\ufffd") & ~self.items[2].contains("\ufffd")
        # words after the tag are passed over, but a space inside a document's id would look like them
        exact = self.n_items == n_columns
        self.whole = self.decoded & (
            exact | ((self.n_items > n_columns) & whole_number(self.items[3]).isNotNull()) if more else exact
        )
