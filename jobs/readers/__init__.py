"""Sources in, RUNS, QRELS and QUERIES out.

A *format* is how bytes become a table (`formats`, `svmlight`), a *layout* how its columns become rows of
documents (`layouts`, `nested`); TREC files (`trec`) are both at once. A reader loses no row: what it cannot read
becomes null, and the audit counts nulls and refuses.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

from pyspark.sql import DataFrame, SparkSession

from jobs.config import Inputs
from jobs.readers.paths import is_parquet, resolve
from jobs.readers.places import Wanted
from jobs.readers.queries import flaws_of_queries, queries
from jobs.readers.tables import TableReader, open_table
from jobs.readers.trec import TrecReader


class Reader(Protocol):
    """An input that is open."""

    @property
    def has_labels(self) -> bool:
        """Whether rows of runs hold judgments too."""
        ...

    @property
    def has_scores(self) -> bool:
        """Whether scores are what the systems gave, and not made of positions."""
        ...

    def gaps(self) -> list[str]:
        """The first rankings of a log whose positions are not 1, 2, 3 …"""
        ...

    def has(self, column: str) -> bool:
        """Whether there is this column of ours."""
        ...

    def arrays(self, *, ids: bool) -> DataFrame | None:
        """A row for each ranking, where the input has them with their grades.

        ids  whether to look at the documents
        """
        ...

    def runs(self, *, placed: bool) -> DataFrame:
        """RUNS, with the column `file` beside."""
        ...

    def labels(self, *, preferences: bool = False) -> DataFrame:
        """Judgments with their labels as they are: `jobs.judgments` makes grades of them."""
        ...

    def queries(self, names: Sequence[str]) -> DataFrame:
        """query_id, and further columns of runs as they are."""
        ...

    def files(self) -> list[str]:
        """The files of runs that must each hold a row."""
        ...

    def flaws(self, *, wanted: Wanted | None) -> list[str]:
        """Places and contents of the first rows that cannot be used.

        wanted  the number that a row must have; None looks at ids alone
        """
        ...


def open_input(
    spark: SparkSession, inputs: Inputs, option: Literal["runs", "qrels"], *, order: Literal["score", "rank"]
) -> Reader:
    """The reader of the runs or of the judgments.

    order   the number that a row of a run must have

    Raises UsageError for paths and columns that are not there, DataRefused where there is no table.
    """
    paths = inputs.runs if option == "runs" else inputs.qrels
    format = resolve(paths, option=option, format=inputs.format)
    by_file = option == "runs" and inputs.system_from == "file"
    if format == "trec":
        return TrecReader(spark, paths, option, inputs.system_from)
    return open_table(
        spark,
        paths,
        option=option,
        format=format,
        layout=inputs.layout if option == "runs" else "auto",
        given=inputs.columns,
        systems=inputs.systems if option == "runs" else (),
        closes_gaps=inputs.gaps == "close",
        by_file=by_file,
        order=order,
    )


__all__ = ["Reader", "TableReader", "flaws_of_queries", "is_parquet", "open_input", "queries", "resolve"]
