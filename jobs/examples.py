"""Up to three examples of rows, as a message shows them: ids and numbers, and never the text of a query."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F

from evalcore.statuses import NO_RELEVANT, UNANSWERED, UNJUDGED

SYSTEM, QUERY, DOC = "system", "query_id", "doc_id"
WORDS = {SYSTEM: "system", QUERY: "query", DOC: "document", "score": "score", "relevance": "grade", "grades": "grades"}
"""The columns that examples have, and what a message calls them."""
STATUSES = {"unanswered": UNANSWERED, "unjudged": UNJUDGED, "no_relevant": NO_RELEVANT}


def not_finite() -> Column:
    """Whether a score is NaN or infinite."""
    return F.isnan("score") | (F.abs("score") == float("inf"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """Where examples are looked for.

    ranked     the rankings of all queries
    scores     SCORES or RANKINGS
    universe   the queries that are to be scored
    grades     the lowest and the highest that there should be
    """

    runs: DataFrame
    ranked: DataFrame
    qrels: DataFrame
    scores: DataFrame
    universe: DataFrame
    grades: Sequence[float]

    def rows(self, gate: str, where: str | None) -> tuple[DataFrame, list[str]] | None:
        """The rows that a gate of `jobs.input_gates` counts, and the columns to show; None where it counts no rows."""
        answer, document, judgment = [SYSTEM, QUERY], [SYSTEM, QUERY, DOC], [QUERY, DOC]
        if gate in STATUSES:
            rows = self.scores.where(F.col("status") == STATUSES[gate])
            return (rows if where is None else rows.where(F.col(SYSTEM) == where)), answer
        found: dict[str, Callable[[], tuple[DataFrame, list[str]]]] = {
            "ties": lambda: (self.ranked.where("n_tied > 0"), answer),
            "misordered": lambda: (self.ranked.where("n_misordered > 0"), answer),
            "non_finite": lambda: (self.runs.where(not_finite()), [*document, "score"]),
            "duplicates": lambda: (self.runs.groupBy(document).count().where("count > 1"), document),
            "outside": lambda: (self._others(self.runs).select(answer).distinct(), answer),
            "unasked": lambda: (self._others(self.qrels).select(QUERY).distinct(), [QUERY]),
            "repeated": lambda: (self._repeated().where("n > 1"), judgment),
            "contradictory": lambda: (self._repeated().where("size(grades) > 1"), [*judgment, "grades"]),
            "negative": lambda: (self.qrels.where("relevance < 0"), [*judgment, "relevance"]),
            "odd_grades": lambda: (
                self.qrels.where(~F.col("relevance").between(*self.grades)),
                [*judgment, "relevance"],
            ),
        }
        return found[gate]() if gate in found else None

    def _others(self, table: DataFrame) -> DataFrame:
        return table.join(self.universe, on=QUERY, how="left_anti")

    def _repeated(self) -> DataFrame:
        grades = F.sort_array(F.collect_set("relevance")).alias("grades")
        asked = self.qrels.join(self.universe, on=QUERY, how="left_semi")
        return asked.groupBy(QUERY, DOC, "subtopic").agg(F.count("*").alias("n"), grades)


def of_gates(gates: Sequence[tuple[str, str | None]], looked: Looked) -> list[list[str]]:
    """Up to three examples for each gate and the system that it is about.  Runs one job for all."""
    columns, parts = dict[int, list[str]](), list[DataFrame]()
    for index, (gate, where) in enumerate(gates):
        if (found := looked.rows(gate, where)) is not None:
            rows, columns[index] = found
            first = rows.select(columns[index]).orderBy(columns[index]).limit(3)
            blank = {key: F.lit(None).cast(kind) for key, kind in KINDS.items() if key not in first.columns}
            parts.append(first.withColumns({"part": F.lit(index), **blank}).select("part", *KINDS))
    rows_of: defaultdict[int, list[Row]] = defaultdict(list)
    for row in functools.reduce(DataFrame.unionAll, parts).orderBy("part", *KINDS).collect() if parts else []:
        rows_of[row.part].append(row)
    return [[_words(row, columns[index]) for row in rows_of[index]] for index in range(len(gates))]


KINDS = {
    **dict.fromkeys((SYSTEM, QUERY, DOC), "string"),
    **{"score": "double", "relevance": "double", "grades": "array<double>"},
}


def _words(row: Row, columns: Sequence[str]) -> str:
    return ", ".join(f"{WORDS[key]} {shown(row[key])}" for key in columns)


def listed(rows: DataFrame, **columns: str) -> list[str]:
    """The first three rows, each as `system "a", query "q1"`: words, and the columns that they stand for."""
    first = rows.select(*columns.values()).orderBy(*columns.values()).limit(3).collect()
    return [", ".join(f"{word} {shown(row[key])}" for word, key in columns.items()) for row in first]


def first_ids(rows: DataFrame) -> str:
    """The first three ids of queries."""
    first = rows.select("query_id").distinct().orderBy("query_id").limit(3).collect()
    return ", ".join(shown(row.query_id) for row in first)


def shown(cell: object) -> str:
    """A cell: text in quotes, so that spaces show."""
    if isinstance(cell, list):
        return " and ".join(map(shown, cell))
    return "null" if cell is None else f"{cell:g}" if isinstance(cell, float) else f'"{cell}"'
