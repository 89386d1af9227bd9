"""Input that is refused: the message for each count that the conventions do not allow.

A message names the place or up to three examples, which a second look at the input finds, and the
next step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol
from urllib.parse import unquote

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from evalcore import Conventions
from jobs.errors import DataRefused
from jobs.tables import UNANSWERED, UNJUDGED

Flaws = Callable[[], list[str]]
"""Finds places and contents of the first rows that cannot be read."""


class QrelCounts(Protocol):
    """What `jobs.audit.count_qrels` counts."""

    @property
    def n_qrel_rows(self) -> int: ...  # noqa: D102
    @property
    def n_unusable_qrel_rows(self) -> int: ...  # noqa: D102
    @property
    def n_negative_grades(self) -> int: ...  # noqa: D102


def of_queries(queries: DataFrame, path: str) -> None:
    """Raises DataRefused for ids that are blank or there twice.  Runs one job over QUERIES."""
    blank = F.coalesce(F.trim("query_id") == "", F.lit(True))
    wrong = queries.groupBy("query_id").count().where((F.col("count") > 1) | blank).orderBy("query_id").limit(3)
    examples = [f'"{row.query_id}" in {row["count"]} rows' for row in wrong.collect()]
    if examples:
        raise DataRefused(f"--queries {path}: every query must be one row with an id; found {', '.join(examples)}")


def systems_of(runs: DataFrame, *, files: Sequence[str], flaws: Flaws) -> list[str]:
    """The names of all systems, in order.  Runs one job over RUNS, which reads system and file alone.

    files   the files of the runs where each must hold rows, else empty

    Raises DataRefused where no system can be told, a file has no row, or one tag is in two files.
    """
    seen = runs.select("system", "file").distinct().collect()
    places: dict[str, list[str]] = {}
    for row in seen:
        if row.system is not None and row.system.strip():
            places.setdefault(row.system, []).append(_address(row.file or ""))
    if not places:
        raise DataRefused("--runs: no row can be read: " + ("; ".join(flaws()) or "there is none"))
    for system, found in sorted(places.items()):
        if len(found) > 1:
            raise DataRefused(
                f'the tag "{system}" is in {len(found)} files: {", ".join(sorted(found)[:3])}; if each file is a '
                "system of its own, use --system-from file; if they are parts of one run, join them into one file"
            )
    empty = {_address(file) for file in files} - {_address(row.file or "") for row in seen}
    if empty:
        raise DataRefused(
            f"--runs: no row in {', '.join(sorted(empty)[:3])}; leave empty files out, or write them again"
        )
    return sorted(places)


def of_qrels(counts: QrelCounts, conventions: Conventions, *, flaws: Flaws) -> None:
    """Raises DataRefused for judgments that cannot be read, or negative ones where the convention forbids."""
    if counts.n_qrel_rows == 0:
        raise DataRefused("--qrels: there is no judgment in these files")
    if counts.n_unusable_qrel_rows:
        raise DataRefused(f"--qrels: {counts.n_unusable_qrel_rows} rows cannot be used: {'; '.join(flaws())}")
    if conventions.negative_grade == "error" and counts.n_negative_grades:
        raise DataRefused(
            f"{counts.n_negative_grades} judgments are negative, and negative_grade is error; "
            "the other choices are not_relevant and removed"
        )


def of_runs(
    counts: Mapping[str, int], runs: DataFrame, qrels: DataFrame, conventions: Conventions, *, flaws: Flaws
) -> None:
    """Raises DataRefused for what the scoring pass counted and the conventions do not allow."""
    if counts["n_unusable_run_rows"]:
        raise DataRefused(f"--runs: {counts['n_unusable_run_rows']} rows cannot be used: {'; '.join(flaws())}")
    if counts["n_non_finite_scores"] and conventions.non_finite_score == "error":
        examples = _documents(runs, F.isnan("score") | (F.abs("score") == float("inf")))
        raise DataRefused(
            f"{counts['n_non_finite_scores']} scores are NaN or infinite: {examples}; mend the runs, or rank such "
            "documents last with --set score.conventions.non_finite_score=last"
        )
    if counts["n_duplicates"] and conventions.duplicates == "error":
        keys = ("system", "query_id", "doc_id")
        rows = runs.groupBy(*keys).count().where("count > 1").orderBy(*keys).limit(3).collect()
        examples = ", ".join(f"{row.system} query {row.query_id} document {row.doc_id}" for row in rows)
        raise DataRefused(
            f"{counts['n_duplicates']} documents are returned more than once for a query: {examples}; mend the runs, "
            "or keep one of each with --set score.conventions.duplicates=first (or best_score, last)"
        )
    if counts["n_contradictory"]:
        raise DataRefused(
            f"{counts['n_contradictory']} documents are judged more than once with different grades: "
            f"{_contradictions(qrels)}; keep one judgment of each (qrels of subtopics are not for these metrics)"
        )
    if counts["n_answered"] == 0:
        raise DataRefused(
            f"runs and judgments have no query in common: the runs have {_first_ids(runs)}, the judgments "
            f"{_first_ids(qrels)}; do both use the same ids?"
        )
    if conventions.unanswered == "error" and counts[f"n_{UNANSWERED}"]:
        raise DataRefused(f"{counts[f'n_{UNANSWERED}']} rankings are missing, and unanswered is error")
    if conventions.unjudged_query == "error" and counts[f"n_{UNJUDGED}"]:
        raise DataRefused(f"{counts[f'n_{UNJUDGED}']} rows are of queries without judgments; unjudged_query is error")


def _documents(runs: DataFrame, wrong: Column) -> str:
    keys = ("system", "query_id", "doc_id", "score")
    rows = runs.where(wrong).select(*keys).orderBy(*keys[:3]).limit(3).collect()
    return ", ".join(f"{row.system} query {row.query_id} document {row.doc_id} ({row.score})" for row in rows)


def _contradictions(qrels: DataFrame) -> str:
    grades = F.sort_array(F.collect_set("relevance")).alias("grades")
    rows = qrels.groupBy("query_id", "doc_id").agg(grades).where(F.size("grades") > 1)
    found = rows.orderBy("query_id", "doc_id").limit(3).collect()
    return ", ".join(f"query {row.query_id} document {row.doc_id} ({', '.join(map(str, row.grades))})" for row in found)


def _first_ids(table: DataFrame) -> str:
    rows = table.select("query_id").distinct().orderBy("query_id").limit(3).collect()
    return ", ".join(f'"{row.query_id}"' for row in rows)


def _address(uri: str) -> str:
    """A file's address as a person would write it."""
    return unquote(uri.removeprefix("file://") if uri.startswith("file:///") else uri.removeprefix("file:"))
