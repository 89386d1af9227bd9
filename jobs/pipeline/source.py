"""The input of a scoring run as tables: which reader takes what, and what is refused of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from evalcore import Conventions, Metric, name
from evalcore.scoring import takes_one_grade
from jobs import audit, judgments, prepare, rankings, readers, refusals
from jobs.config import Config
from jobs.tables import QRELS_SCHEMA


class Source:
    """The input of a scoring run as tables."""

    def __init__(self, spark: SparkSession, config: Config, conventions: Conventions, *, needs: frozenset[str]) -> None:
        self._spark = spark
        self._inputs = inputs = config.inputs
        self._judgments = config.judgments
        self._prepare = config.prepare
        self._conventions = conventions
        self._needs = needs
        self._order = "rank" if conventions.ties == "rank_column" and "scores" not in needs else "score"
        self._readers = {
            option: readers.READERS[readers.resolve(paths, option=option, format=inputs.format)]
            for option, paths in (("runs", inputs.runs), ("qrels", inputs.qrels))
            if paths
        }
        self._all_runs: DataFrame = self._readers["runs"].runs(
            spark, inputs.runs, system_from=inputs.system_from, placed=rankings.looks_at_places(conventions)
        )
        self.runs = prepare.documents(self._all_runs, config.prepare)
        if inputs.qrels:
            labelled = self._readers["qrels"].qrels(spark, inputs.qrels, preferences="preferences" in needs)
            self._labelled = labelled.withColumnRenamed("relevance", "label")
            qrels = prepare.documents(judgments.graded(self._labelled, self._judgments), config.prepare)
            self.qrels: DataFrame = prepare.without_self(qrels, config.prepare)
        else:
            self.qrels = spark.createDataFrame([], QRELS_SCHEMA)

        self.needed_runs = rankings.needed(self.runs, conventions)

    def kept(self, runs: DataFrame) -> DataFrame:
        """RUNS without what is removed once it has been counted."""
        return prepare.without_self(runs, self._prepare)

    def runs_of(self, system: str | None) -> DataFrame:
        """The rows of RUNS of one system."""
        return self.kept(self.needed_runs.where(F.col("system") == F.lit(system)))

    def qrel_counts(self) -> audit.QrelCounts:
        """What one pass over QRELS tells.  Raises DataRefused for judgments that cannot be read."""
        counts = audit.count_qrels(self.qrels)
        paths = self._inputs.qrels
        if paths:
            sample = self._prepare.sample if self._prepare.sample < 1 else None
            refusals.of_qrels(
                counts, self.qrels, self._conventions, paths=paths, sample=sample, flaws=self._flaws_of_qrels
            )
        return counts

    def queries(self) -> DataFrame | None:
        """QUERIES, each query once."""
        path = self._inputs.queries
        if path is None:
            return None
        queries = readers.queries(self._spark, path)
        refusals.of_queries(queries, path, flaws=lambda: readers.flaws_of_queries(self._spark, path))
        return prepare.queries(queries, self._prepare)

    def systems(self) -> list[str]:
        """The names of all systems, in order."""
        return refusals.systems_of(
            self._all_runs,
            paths=self._inputs.runs,
            files=self._readers["runs"].files(self._spark, self._inputs.runs),
            by_tag=self._inputs.system_from == "tag",
            flaws=self._flaws("runs"),
        )

    def refuse(
        self, counts: Mapping[str, int], scores: DataFrame, metrics: Sequence[Metric], *, asked_for_all: bool
    ) -> None:
        """Raises DataRefused for what the scoring pass counted and the conventions do not allow.

        asked_for_all   whether the universe is all judged queries, and not a list of queries
        """
        refusals.of_runs(counts, self.runs, self._conventions, flaws=self._flaws("runs"))
        refusals.of_judgments(
            counts,
            self.qrels,
            repeated=self._judgments.repeated,
            by_subtopic=bool(self._needs & rankings.BY_SUBTOPIC),
            of_one_grade=[name(metric) for metric in metrics if takes_one_grade(metric)],
        )
        refusals.of_universe(counts, self.runs, self.qrels, scores, self._conventions, asked_for_all=asked_for_all)

    def _flaws_of_qrels(self) -> list[str]:
        return self._flaws("qrels")() or judgments.flaws(self._labelled, self._judgments)

    def _flaws(self, option: str) -> Callable[[], list[str]]:
        """What finds the first rows that cannot be read, for a message."""
        paths: list[str] = getattr(self._inputs, option)
        return lambda: list(self._readers[option].flaws(self._spark, paths, kind=option, order=self._order))
