"""The input of a scoring run whose rows are rankings with their grades: nothing is brought together, nothing moves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from evalcore import Conventions
from jobs import audit, nested, prepare, readers, refusals
from jobs.config import Config, Inputs
from jobs.config_input import Judgments, Levels
from jobs.errors import UsageError


@dataclass(frozen=True, slots=True)
class Whole:
    """Rankings that are rows of the input.

    rows   what `jobs.nested.judged` gives
    """

    reader: readers.Reader
    inputs: Inputs
    conventions: Conventions
    rows: DataFrame
    facts: nested.Facts

    def systems(self) -> list[str]:
        """The names of all systems, in order.  Raises DataRefused for rows that cannot be used."""
        facts = self.facts
        bad = self.rows.where(nested.unusable(self.rows))
        if not facts.systems and not facts.n_unusable:
            raise refusals.nothing_in(self.inputs.runs)
        refusals.of_runs(
            {**self.counts, "n_duplicates": 0}, bad, self.conventions, flaws=lambda: self.reader.flaws(wanted="score")
        )
        refusals.of_whole_rankings(facts, self.rows)
        return facts.systems

    @property
    def counts(self) -> dict[str, int]:
        """What the audit counts of documents, and of queries with judgments."""
        found = self.facts
        return {
            "n_run_rows": found.n_documents,
            "n_unusable_run_rows": found.n_unusable,
            "n_non_finite_scores": 0,
            "n_judged_queries": found.n_judged_queries,
        }

    def qrel_counts(self, *, sample: float | None) -> audit.QrelCounts:
        """What the audit counts of judgments.  Raises DataRefused for judgments that cannot be used."""
        named: dict[str, Any] = {field.name: getattr(self.facts, field.name, 0) for field in fields(audit.QrelCounts)}
        counts = audit.QrelCounts(**named)
        refusals.of_qrels(
            counts,
            self.qrels(),
            self.conventions,
            paths=self.inputs.runs,
            sample=sample,
            flaws=self._infinite,
        )
        return counts

    def _infinite(self) -> list[str]:
        """The first queries with a grade that is no number, as a message has them."""
        rows = self.rows.where(nested.infinite()).select("query_id").distinct().orderBy("query_id").limit(3)
        return [f'query "{row.query_id}" has a grade that is NaN or infinite' for row in rows.collect()]

    def rankings(
        self, watched: audit.Audit, queries: DataFrame | None, *, depth: int | None
    ) -> tuple[DataFrame, DataFrame]:
        """Those of all rows, and RANKINGS; the former are watched on the way to the latter."""
        ranked, systems = nested.rankings(self.rows, depth=depth), self.facts.systems
        absent = self.facts.n_absent > 0
        return ranked, nested.complete(watched.ranked(ranked, systems), queries, systems=systems, absent=absent)

    def checks(self, counts: Mapping[str, int], scores: DataFrame, *, asked_for_all: bool) -> list[Callable[[], None]]:
        """What raises DataRefused for what the scoring pass counted and the conventions do not allow."""
        runs, qrels = self.runs(), self.qrels()
        return [
            lambda: refusals.of_runs(counts, runs, self.conventions, flaws=list),
            lambda: refusals.of_universe(counts, runs, qrels, scores, self.conventions, asked_for_all=asked_for_all),
        ]

    def runs(self) -> DataFrame:
        """RUNS, for examples in messages; without documents where rows name none."""
        if self.reader.has("doc_id"):
            return self.reader.runs(placed=False)
        nothing = {"doc_id": F.lit(None).cast("string"), "score": F.lit(None).cast("double")}
        return self.rows.select("system", "query_id").withColumns(nothing)

    def qrels(self) -> DataFrame:
        """The judgments of each query, for examples in messages: without the names of documents."""
        nothing = {key: F.lit(None).cast("string") for key in ("doc_id", "subtopic")}
        return self.rows.select("query_id", F.explode("judged").alias("relevance")).withColumns(nothing)


def whole_rankings(reader: readers.Reader, config: Config, *, needs: frozenset[str]) -> Whole | None:
    """Rankings as they are, if the input holds them with their grades and nothing asks for single documents.

    Raises UsageError where rows of several systems cannot tell all judgments of a query.
    """
    conventions, prepared = config.score.resolved_conventions, config.prepare
    by_document = (
        needs
        or config.inputs.qrels
        or config.score.spread_at
        or config.judgments != Judgments()
        or config.audit.ties != Levels()
        or prepared.separator is not None
        or prepared.self_retrieval == "remove"
        or conventions.duplicates not in ("error", "counted")
    )
    arrays = None if by_document else reader.arrays(ids=conventions.duplicates == "error")
    if arrays is None:
        return None
    rows = nested.judged(prepare.queries(arrays, prepared))
    facts = nested.facts(rows, expected=config.audit.grades)
    if "judged" in arrays.columns or len(facts.systems) < 2:
        return Whole(reader, config.inputs, conventions, rows, facts)
    if reader.has("doc_id"):
        return None
    raise UsageError(
        f"--runs {', '.join(config.inputs.runs)}: rows of several systems, without documents, do not tell all "
        "judgments of a query; name an array of the grades of all its judged documents with --set "
        "inputs.columns.judged=COLUMN, or the documents with inputs.columns.doc_id"
    )
