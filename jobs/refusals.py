"""Input that is refused: the message for each count that the conventions do not allow.

A message names the place or up to three examples, which a second look at the input finds, and the
next step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from evalcore import Conventions
from evalcore.statuses import NO_RELEVANT, OK, UNANSWERED, UNJUDGED
from jobs.errors import DataRefused, address, number_of
from jobs.examples import first_ids, listed, not_finite, shown

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


def of_queries(queries: DataFrame, where: str, *, sample: float | None, flaws: Flaws) -> None:
    """Raises DataRefused where there is no query, or an id is blank or there twice.  Runs one job over QUERIES.

    where    the source, such as `--queries FILE`
    sample   the share of queries that is looked at, None for all
    """
    each = queries.groupBy("query_id").count()
    wrong = (F.col("count") > 1) | F.coalesce(F.trim("query_id") == "", F.lit(True))
    rows = each.orderBy(F.when(wrong, 0).otherwise(1), "query_id").withColumn("wrong", wrong).limit(3).collect()
    if not rows and sample is not None:
        raise DataRefused(f"{where}: a sample of {sample:g} has no query; take a larger share with --sample")
    if not rows:
        raise DataRefused(f"{where}: there is no query; leave --queries out to score every judged query")
    examples = [f"{shown(row.query_id)} in {number_of(row['count'], 'row')}" for row in rows if row.wrong]
    if examples:
        found = flaws() or [f"found {', '.join(examples)}"]
        raise DataRefused(f"{where}: every query must be one whole row with an id of its own; {_list(found)}")


def systems_of(runs: DataFrame, *, paths: Sequence[str], files: Sequence[str], by_tag: bool, flaws: Flaws) -> list[str]:
    """The names of all systems, in order.  Runs one job over RUNS, which reads system and file alone.

    files    the files of the runs where each must hold rows, else empty
    by_tag   whether a file's rows name their system, and not the file's own name

    Raises DataRefused where no system can be told, a file has no row, or one name is in two files.
    """
    named = F.coalesce(F.trim("system") != "", F.lit(False)).alias("named")
    seen = runs.select("system", "file").distinct().select("system", "file", named).collect()
    places: dict[str, list[str]] = {}
    for row in seen:
        if row.named:
            places.setdefault(row.system, []).append(address(row.file or ""))
    if not places:
        found = _list(flaws() or [f"there is none in {', '.join(paths)}"])
        raise DataRefused(f"--runs: no row can be used: {found}")
    hint = (
        "if each file is a system of its own, use --system-from file; if they are parts of one run, join them into one"
        if by_tag
        else "give each file a name of its own"
    )
    for system, found_in in sorted(places.items()):
        if len(found_in) > 1:
            listed = ", ".join(sorted(found_in)[:3])
            raise DataRefused(f'--runs: {len(found_in)} files have a system "{system}": {listed}; {hint}')
    empty = {address(file) for file in files} - {address(row.file or "") for row in seen}
    if empty:
        raise DataRefused(
            f"--runs: no row in {', '.join(sorted(empty)[:3])}; write empty files again or leave them out"
        )
    return sorted(places)


def of_qrels(
    counts: QrelCounts,
    qrels: DataFrame,
    conventions: Conventions,
    *,
    paths: Sequence[str],
    sample: float | None,
    flaws: Flaws,
) -> None:
    """Raises DataRefused for judgments that cannot be read, or negative ones where the convention forbids.

    sample   the share of queries that is looked at, None for all
    """
    if counts.n_qrel_rows == 0 and sample is not None:
        raise DataRefused(
            f"--qrels: a sample of {sample:g} of the queries has no judgment in {', '.join(paths)}; take a larger "
            "share with --sample"
        )
    if counts.n_qrel_rows == 0:
        raise DataRefused(f"--qrels: there is no judgment in {', '.join(paths)}")
    if counts.n_unusable_qrel_rows:
        rows = number_of(counts.n_unusable_qrel_rows, "row")
        raise DataRefused(f"--qrels: {rows} cannot be used: {_list(flaws())}; mend them or leave them out")
    if conventions.negative_grade == "error" and counts.n_negative_grades:
        examples = _examples(qrels.where("relevance < 0"), query="query_id", document="doc_id", grade="relevance")
        raise DataRefused(
            f"--qrels: {number_of(counts.n_negative_grades, 'negative grade')}, and negative_grade is error: "
            f"{examples}; mend them, or use --set score.conventions.negative_grade=not_relevant (or removed)"
        )


def of_runs(counts: Mapping[str, int], runs: DataFrame, conventions: Conventions, *, flaws: Flaws) -> None:
    """Raises DataRefused for rows of RUNS that the scoring pass counted and the conventions do not allow."""
    document = {"system": "system", "query": "query_id", "document": "doc_id"}
    if n_rows := counts["n_unusable_run_rows"]:
        raise DataRefused(
            f"--runs: {number_of(n_rows, 'row')} cannot be used: {_list(flaws())}; mend them or leave them out"
        )
    if (n_scores := counts["n_non_finite_scores"]) and conventions.non_finite_score == "error":
        raise DataRefused(
            f"--runs: {number_of(n_scores, 'NaN or infinite score')}: "
            f"{_examples(runs.where(not_finite()), **document, score='score')}; mend the runs, or rank such documents "
            "last with --set score.conventions.non_finite_score=last"
        )
    if (n_documents := counts["n_duplicates"]) and conventions.duplicates == "error":
        repeated = runs.groupBy(*document.values()).count().where("count > 1")
        raise DataRefused(
            f"--runs: {number_of(n_documents, 'document')} returned more than once for a query: "
            f"{_examples(repeated, **document)}; mend the runs, or keep one of each with "
            "--set score.conventions.duplicates=first (or best_score, last)"
        )


class WholeFacts(Protocol):
    """What `jobs.nested.facts` counts."""

    @property
    def n_repeated(self) -> int: ...  # noqa: D102
    @property
    def n_contradictory(self) -> int: ...  # noqa: D102


def nothing_in(paths: Sequence[str]) -> DataRefused:
    """What is said of runs without a row."""
    return DataRefused(f"--runs: no row can be used: there is none in {', '.join(paths)}")


def of_whole_rankings(facts: WholeFacts, rows: DataFrame) -> None:
    """Raises DataRefused for rankings that are there twice, and for queries whose judgments are not the same in all."""
    if facts.n_repeated:
        twice = rows.groupBy("system", "query_id").count().where("count > 1")
        raise DataRefused(
            f"--runs: {number_of(facts.n_repeated, 'ranking')} more than one of a system and query: "
            f"{_examples(twice, system='system', query='query_id')}; keep one row of each"
        )
    if facts.n_contradictory:
        hashed = F.xxhash64("judged")
        differ = rows.groupBy("query_id").agg(F.min(hashed).alias("one"), F.max(hashed).alias("other"))
        raise DataRefused(
            f"--runs: judgments of {number_of(facts.n_contradictory, 'query')} differ between its rows: queries "
            f"{first_ids(differ.where('one < other'))}; every row must hold the grades of all judged documents of its "
            "query"
        )


def of_judgments(
    counts: Mapping[str, int], qrels: DataFrame, *, repeated: str, by_subtopic: bool, of_one_grade: Sequence[str]
) -> None:
    """Raises DataRefused for several judgments of one document.

    repeated        what becomes of those with different grades
    by_subtopic     whether a document may have a judgment for each subtopic
    of_one_grade    the metrics that take one grade for each document
    """
    if of_one_grade and (n_documents := counts["n_subtopics"]):
        several = F.sort_array(F.collect_set(F.coalesce("subtopic", F.lit("")))).alias("subtopics")
        judged = qrels.groupBy("query_id", "doc_id").agg(several).where(F.size("subtopics") > 1)
        raise DataRefused(
            f"--qrels: {number_of(n_documents, 'document')} judged for several subtopics or groups: "
            f"{_examples(judged, query='query_id', document='doc_id', subtopics='subtopics')}; {_list(of_one_grade)} "
            "would need one grade for each document. Use metrics of subtopics (such as alpha_nDCG@20) or of "
            "preferences, or judgments with one grade for each document"
        )
    if repeated == "error" and (n_documents := counts["n_contradictory"]):
        grades = F.sort_array(F.collect_set("relevance"))
        propensities = F.sort_array(F.collect_set("propensity"))
        keys = ["query_id", "doc_id", *(["subtopic"] if by_subtopic else [])]
        judged = qrels.groupBy(*keys).agg(grades.alias("grades"), propensities.alias("propensities"))
        what = "grades" if (judged.where(F.size("grades") > 1).limit(1).count()) else "propensities"
        judged = judged.where(F.size(what) > 1)
        raise DataRefused(
            f"--qrels: {number_of(n_documents, 'document')} judged more than once with different {what}: "
            f"{_examples(judged, query='query_id', document='doc_id', **{what: what})}; keep one judgment of "
            "each, or choose a rule with --set judgments.repeated=max (or mean, latest, majority)"
        )


def of_universe(
    counts: Mapping[str, int],
    runs: DataFrame,
    qrels: DataFrame,
    scores: DataFrame,
    conventions: Conventions,
    *,
    asked_for_all: bool,
) -> None:
    """Raises DataRefused where runs, judgments and QUERIES speak of other queries than the conventions allow.

    asked_for_all   whether the universe is all judged queries, and not a list of queries
    """
    if counts[f"n_{OK}"] + counts[f"n_{NO_RELEVANT}"] == 0 and counts["n_qrel_rows"]:
        raise DataRefused(
            f"runs and judgments have no query in common: the runs have {first_ids(runs)}, the judgments "
            f"{first_ids(qrels)}, to be scored are {first_ids(scores)}; do all use the same ids?"
        )
    answer = {"system": "system", "query": "query_id"}
    if conventions.unanswered == "error" and (n_rankings := counts[f"n_{UNANSWERED}"]):
        raise DataRefused(
            f"--runs: {number_of(n_rankings, 'ranking')} missing, and unanswered is error: "
            f"{_examples(scores.where(F.col('status') == UNANSWERED), **answer)}; complete the runs, or use "
            "--set score.conventions.unanswered=zero (or skip)"
        )
    if conventions.unjudged_query == "error" and asked_for_all and counts["n_rankings_outside_universe"]:
        others = runs.join(scores, on="query_id", how="left_anti")
        raise DataRefused(
            f"--runs: {number_of(counts['n_rankings_outside_universe'], 'ranking')} of queries without judgments, and "
            f"unjudged_query is error: {first_ids(others)}; judge them or leave them out, or use "
            "--set score.conventions.unjudged_query=skip"
        )
    if conventions.unjudged_query == "error" and counts[f"n_{UNJUDGED}"]:
        raise DataRefused(
            f"--queries: there are queries without judgments, and unjudged_query is error: "
            f"{first_ids(scores.where(F.col('status') == UNJUDGED))}; leave them out, or use "
            "--set score.conventions.unjudged_query=skip"
        )


def _examples(rows: DataFrame, **columns: str) -> str:
    """The first three rows: words, and the columns that they stand for."""
    return _list(listed(rows, **columns))


def _list(found: Sequence[str]) -> str:
    return "; ".join(found)
