"""What is wrong with values that another tool computed: found in the gathered rows, refused before they are summed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F

from jobs.errors import DataRefused, UsageError, address, number_of
from jobs.measures import WEIGHT
from jobs.readers.score_rows import UNREAD
from jobs.readers.scores import SUMMARY

EXAMPLES = 3
MOST_SYSTEMS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """The table of `jobs.readers.score_rows.gathered`.

    slots   the names of its values s0, s1, …
    kept    the columns of queries in its struct `kept`
    unit    one of them, or query_id
    where   how messages name the table
    unread  finds the places of rows that could not be divided into columns
    """

    rows: DataFrame
    slots: Sequence[str]
    kept: Sequence[str]
    unit: str
    where: str
    unread: Callable[[], list[str]]

    @property
    def values(self) -> DataFrame:
        """The rows that are of a query, and not of a mean over queries."""
        return self.rows.where(F.coalesce(F.col("query_id") != SUMMARY, F.lit(True)))

    @property
    def n_summaries(self) -> int:
        """How many rows are means."""
        return self.rows.where(F.col("query_id") == SUMMARY).count()

    def is_any(self, status: str) -> bool:
        """Whether a row has this status."""
        return bool(self.rows.where(F.col("status") == status).head(1))

    def column(self, kept: str) -> Column:
        """A column of queries."""
        return F.col(f"kept.k{self.kept.index(kept)}")

    def by_system(self, *, complete: bool) -> dict[str, Row]:
        """For each system, in order: n rows, n_values of each slot, and the lows and highs of their values.

        complete   whether every system must have a value in every slot

        Runs one job. Raises DataRefused for rows that cannot be used, UsageError where the column holds no systems.
        """
        wrong = self._wrong()
        places = range(len(self.slots))
        scalars = [place for place in places if self.rows.schema[f"s{place}"].dataType.simpleString() == "double"]
        rows = (
            self.values.groupBy("system")
            .agg(
                F.count("*").alias("n"),
                F.array(*(F.count(f"s{place}") for place in places)).alias("n_values"),
                F.array(*(F.min(f"s{place}") if place in scalars else F.lit(None) for place in places)).alias("lows"),
                F.array(*(F.max(f"s{place}") if place in scalars else F.lit(None) for place in places)).alias("highs"),
                *(F.count_if(each.rows).alias(key) for key, each in wrong.items()),
            )
            .limit(MOST_SYSTEMS + 1)
            .collect()
        )
        for key, each in wrong.items():
            if n_wrong := sum(row[key] for row in rows):
                raise DataRefused(
                    f"{self.where}: {number_of(n_wrong, 'answer')} {each.what}: {self._examples(each)}; {each.do}"
                )
        found = {row.system: row for row in sorted(rows, key=lambda row: str(row.system))}
        if not found:
            raise DataRefused(f"{self.where}: there is no row of a query")
        if len(found) > MOST_SYSTEMS:
            raise UsageError(
                f"{self.where}: more than {MOST_SYSTEMS:,} systems, such as {', '.join(list(found)[:EXAMPLES])}; say "
                "which column holds the system with --set aggregate.columns.system=COLUMN"
            )
        if complete:
            self._refuse_absent(found)
        return found

    def _wrong(self) -> dict[str, _Wrong]:
        none = F.lit(False)
        unit = self.column(self.unit).isNull() if self.unit in self.kept else none
        weight = self.column(WEIGHT) if WEIGHT in self.kept else F.lit(1.0)
        return {
            "flawed": _Wrong(
                F.col("n_flaws") > 0,
                "that cannot be used",
                "mend them, or leave a cell empty where a metric has no value",
                "flaw",
            ),
            "repeated": _Wrong(
                F.col("repeated").isNotNull(), "there more than once", "keep one row of each", "repeated"
            ),
            "apart": _Wrong(
                F.coalesce("apart", none),
                f"whose rows disagree on {', '.join(self.kept)}",
                "a query has one value of each",
            ),
            "without_unit": _Wrong(
                unit,
                f"without a value of {self.unit}, the unit",
                "fill that column, or leave these queries out",
            ),
            "without_weight": _Wrong(
                ~F.coalesce((weight >= 0) & (weight < float("inf")), none),
                "without a weight that is a number from 0",
                f"fill the column {WEIGHT}, or leave these queries out",
            ),
        }

    def _examples(self, wrong: _Wrong) -> str:
        rows = self.values.where(wrong.rows).orderBy("system", "query_id", "file").limit(EXAMPLES).collect()
        if any(row.flaw == UNREAD for row in rows):
            return "; ".join(self.unread())
        return "; ".join(_told(row) + (f", {row[wrong.detail]}" if wrong.detail else "") for row in rows)

    def _refuse_absent(self, found: Mapping[str, Row]) -> None:
        for place, slot in enumerate(self.slots):
            without = [system for system, row in found.items() if not row.n_values[place]]
            if len(without) == len(found):
                raise DataRefused(f"{self.where}: there is no value of {slot}; choose others with --metrics")
            if without:
                raise DataRefused(
                    f"{self.where}: no value of {slot} for {', '.join(without[:EXAMPLES])}, and others have some; add "
                    "them, or leave out the metric (--metrics) or the system (--systems)"
                )

    def n_crossing(self, systems: Sequence[str]) -> int:
        """How many units have queries of several systems.  Runs one job."""
        unit = F.col("query_id") if self.unit == "query_id" else self.column(self.unit)
        held = self.values.where(F.col("system").isin(list(systems))).groupBy(unit.alias("unit"))
        return held.agg(F.count_distinct("system").alias("n")).where("n > 1").count()

    def by_query(self, systems: Sequence[str]) -> tuple[int, int]:
        """How many queries these systems have, and in how many rows.

        Runs one job. Raises DataRefused where two systems disagree on what is kept of a query.
        """
        queries = self.values.where(F.col("system").isin(list(systems))).groupBy("query_id")
        # Spark sorts all rows for the least of a struct, which takes twice as long as counting
        apart = F.min("kept") != F.max("kept") if self.kept else F.lit(False)
        each = queries.agg(F.count("*").alias("n"), apart.alias("apart"))
        counted = (F.count("*").alias("queries"), F.sum("n").alias("rows"), F.count_if("apart").alias("apart"))
        counts = each.agg(*counted).collect()[0]
        if counts.apart:
            first = each.where("apart").orderBy("query_id").limit(EXAMPLES).collect()
            raise DataRefused(
                f"{self.where}: systems disagree on {', '.join(self.kept)} of {number_of(counts.apart, 'query')}: "
                + ", ".join(f'"{row.query_id}"' for row in first)
                + "; a query has one value of each"
            )
        return counts.queries, counts.rows


@dataclass(frozen=True, slots=True)
class _Wrong:
    """Rows that are refused, what is told of them, and the column that says more."""

    rows: Column
    what: str
    do: str
    detail: str | None = None


def _told(row: Row) -> str:
    named = (("system", row.system), ("query", row.query_id))
    return ", ".join([address(row.file), *(f'{word} "{value}"' for word, value in named if value)])
