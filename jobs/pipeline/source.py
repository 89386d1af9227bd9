"""The input of a scoring run as tables: which reader takes what, and what is refused of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from evalcore import Conventions, Metric, name
from evalcore.scoring import takes_one_grade
from jobs import audit, judgments, prepare, rankings, readers, refusals
from jobs import queries as query_facts
from jobs.checks import NO_QRELS
from jobs.config import Config
from jobs.errors import DataRefused, UsageError
from jobs.pipeline.whole import whole_rankings
from jobs.tables import QRELS_SCHEMA


class Source:
    """The input of a scoring run as tables.

    judged   whether there must be judgments

    `whole` are rankings that are rows of the input; then RUNS and QRELS are there for examples in messages alone.
    """

    def __init__(
        self,
        spark: SparkSession,
        config: Config,
        conventions: Conventions,
        *,
        needs: frozenset[str],
        judged: bool,
    ) -> None:
        self._spark = spark
        self._inputs = inputs = config.inputs
        self._judgments = config.judgments
        self._prepare = config.prepare
        self._queries = config.queries
        self._counts: dict[str, int] = {}
        self._sample = config.prepare.sample if config.prepare.sample < 1 else None
        self._grades = config.audit.grades
        self._conventions = conventions
        self._needs = needs
        self._order: Literal["score", "rank"] = (
            "rank" if conventions.ties == "rank_column" and "scores" not in needs else "score"
        )
        self._runs = readers.open_input(spark, inputs, "runs", order=self._order)
        if "scores" in needs and not self._runs.has_scores:
            raise UsageError(
                "--runs: a log or a nested table has the order of documents, and metrics, ties or diagnostics here "
                "read scores; leave them out, or give rows of documents with their scores"
            )
        if inputs.qrels:
            self._labels: readers.Reader | None = readers.open_input(spark, inputs, "qrels", order=self._order)
        else:
            self._labels = self._runs if self._runs.has_labels else None
        self.whole = whole_rankings(self._runs, config, needs=needs)
        if self.whole is not None:
            self.needed_runs, self.qrels = self.whole.runs(), self.whole.qrels()
            return
        self._all_runs = self._runs.runs(placed=rankings.looks_at_places(conventions))
        self.runs = prepare.documents(self._all_runs, config.prepare)
        if self._labels is not None:
            self._labelled = self._labels.labels(preferences="preferences" in needs)
            self.qrels = self._prepared(judgments.graded(self._labelled, self._judgments))
        elif judged:
            raise UsageError(f"{NO_QRELS}, or the column of runs that holds judgments with inputs.columns.relevance")
        else:
            self.qrels = spark.createDataFrame([], QRELS_SCHEMA)
        self.needed_runs = rankings.needed(self.runs, conventions)
        if conventions.ties == "rank_column" and "rank" not in self.needed_runs.columns:
            raise UsageError(
                "--runs: ties: rank_column needs the column rank, and there is none; name it with "
                "--set inputs.columns.rank=COLUMN, or rank by score with another rule"
            )

    @property
    def unlabelled(self) -> bool:
        """Whether there are no judgments at all."""
        return self._labels is None

    @property
    def counts(self) -> dict[str, int]:
        """Counts that were taken before anything is scored."""
        return self._counts if self.whole is None else self.whole.counts

    def _prepared(self, labels: DataFrame) -> DataFrame:
        """Judgments, graded or not, of the documents and queries that are looked at."""
        return prepare.without_self(prepare.documents(labels, self._prepare), self._prepare)

    def kept(self, runs: DataFrame) -> DataFrame:
        """RUNS without what is removed once it has been counted."""
        return prepare.without_self(runs, self._prepare)

    def runs_of(self, system: str | None) -> DataFrame:
        """The rows of RUNS of one system."""
        return self.kept(self.needed_runs.where(F.col("system") == F.lit(system)))

    def qrel_counts(self) -> audit.QrelCounts:
        """What one pass over QRELS tells.  Raises DataRefused for judgments that cannot be read."""
        if self.whole is not None:
            return self.whole.qrel_counts(sample=self._sample)
        counts = audit.count_qrels(self.qrels, expected=self._grades)
        if self._labels is not None and judgments.of_a_time(self._judgments):
            n_of_all_times = self._prepared(self._labelled).count()
            self._counts["n_judgments_of_other_times"] = n_of_all_times - counts.n_qrel_rows
        if self._labels is not None:
            paths = self._inputs.qrels or self._inputs.runs
            refusals.of_qrels(
                counts, self.qrels, self._conventions, paths=paths, sample=self._sample, flaws=self._flaws_of_qrels
            )
        return counts

    def queries(self) -> DataFrame | None:
        """QUERIES, each query once; None for every judged query."""
        path, settings = self._inputs.queries, self._queries
        if path is not None:
            where, found = f"--queries {path}", readers.queries(self._spark, path)
        elif names := [key for key in (*(settings.columns or []), settings.text, settings.weight) if key]:
            where, found = "the queries of --runs", query_facts.of_runs(self._runs.queries(names), settings)
        else:
            return None
        queries = query_facts.described(prepare.queries(found, self._prepare), settings, where=where)
        refusals.of_queries(
            queries,
            where,
            sample=self._sample,
            flaws=lambda: readers.flaws_of_queries(self._spark, path) if path is not None else [],
        )
        return queries

    def systems(self) -> list[str]:
        """The names of all systems, in order."""
        if self.whole is not None:
            return self.whole.systems()
        if gaps := self._runs.gaps():
            raise DataRefused(
                f"--runs: positions have gaps: {'; '.join(gaps)}; write every position of a ranking, or let what is "
                "below a gap move up with --set inputs.gaps=close"
            )
        return refusals.systems_of(
            self._all_runs,
            paths=self._inputs.runs,
            files=self._runs.files(),
            by_tag=self._inputs.system_from == "tag",
            flaws=self._flaws_of_runs,
        )

    def refuse(
        self, counts: Mapping[str, int], scores: DataFrame, metrics: Sequence[Metric], *, asked_for_all: bool
    ) -> None:
        """Raises DataRefused for what the scoring pass counted and the conventions do not allow.

        asked_for_all   whether the universe is all judged queries, and not a list of queries
        """
        for check in self._checks(counts, scores, metrics, asked_for_all=asked_for_all):
            check()

    def refusals(
        self, counts: Mapping[str, int], scores: DataFrame, metrics: Sequence[Metric], *, asked_for_all: bool
    ) -> list[str]:
        """All messages with which `refuse` would refuse."""
        found = []
        for check in self._checks(counts, scores, metrics, asked_for_all=asked_for_all):
            try:
                check()
            except DataRefused as refused:
                found.append(str(refused))
        return found

    def _checks(
        self, counts: Mapping[str, int], scores: DataFrame, metrics: Sequence[Metric], *, asked_for_all: bool
    ) -> list[Callable[[], None]]:
        if self.whole is not None:
            return self.whole.checks(counts, scores, asked_for_all=asked_for_all)
        of_one_grade = [name(metric) for metric in metrics if takes_one_grade(metric)]
        repeated, by_subtopic = self._judgments.repeated, bool(self._needs & rankings.BY_SUBTOPIC)
        conventions = self._conventions
        return [
            lambda: refusals.of_runs(counts, self.runs, conventions, flaws=self._flaws_of_runs),
            lambda: refusals.of_judgments(
                counts, self.qrels, repeated=repeated, by_subtopic=by_subtopic, of_one_grade=of_one_grade
            ),
            lambda: refusals.of_universe(
                counts, self.runs, self.qrels, scores, conventions, asked_for_all=asked_for_all
            ),
        ]

    def _flaws_of_qrels(self) -> list[str]:
        if self._labels is None:
            return []
        as_numbers = not self._judgments.grades
        found = self._labels.flaws(wanted="relevance" if as_numbers else None)
        return found or judgments.flaws(self._labelled, self._judgments)

    def _flaws_of_runs(self) -> list[str]:
        by_rank = self._conventions.ties == "rank_column" and self._order != "rank"
        return self._runs.flaws(wanted=self._order) or (self._runs.flaws(wanted="rank") if by_rank else [])
