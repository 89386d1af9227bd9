"""The two jobs, from configuration to published tables: the only place where stages meet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from evalcore import Conventions, EvalcoreError, Metric, column_name, name, parse_list, preset
from evalcore.errors import unknown
from evalcore.inference import scale_exponent
from evalcore.scoring import check_ties, columns_of, needs_of, takes_one_grade
from jobs import aggregate as inference
from jobs import audit, notes, pairs, rankings, readers, refusals, store, unit_sums
from jobs import score as scoring
from jobs import spread as spreading
from jobs.config import Config, Inputs, Score, config_hash, dump
from jobs.custom import register_all
from jobs.errors import DataRefused, JobError, UsageError, number_of
from jobs.measures import WEIGHT, Measure, measures_of
from jobs.progress import Progress
from jobs.spark_errors import told
from jobs.tables import QRELS_SCHEMA, RESERVED, UNANSWERED

LATE_CONVENTIONS = ("unanswered", "no_relevant", "mean")
"""Conventions that act when SCORES become sums: one score table serves all their values."""


def metrics_of(chosen: Score) -> list[Metric]:
    """The metrics of the configuration, under its preset and conventions.  Raises UsageError."""
    register_all(chosen.custom)
    try:
        metrics = parse_list(chosen.metrics, short=preset(chosen.preset).short)
        check_ties(metrics, chosen.resolved_conventions, chosen.diagnostics)
    except EvalcoreError as error:
        raise UsageError(str(error)) from None
    _check_reference(metrics, chosen.reference)
    return metrics


def _check_reference(metrics: Sequence[Metric], reference: str | None) -> None:
    wanting = [name(metric) for metric in metrics if "reference" in metric.FACTS.needs]
    if wanting and reference is None:
        raise UsageError(f"{', '.join(wanting)}: compared with which system? Give --set score.reference=SYSTEM")


def check_score(config: Config) -> tuple[list[Metric], Path]:
    """The metrics and the output of a scoring run; what is known to be wrong before Spark starts is refused here.

    Raises UsageError.
    """
    inputs, queries = config.inputs, config.inputs.queries
    checks: list[Callable[[], object]] = [
        lambda: readers.resolve(inputs.runs, option="runs", format=inputs.format),
        lambda: _check_judgments(config),
        lambda: queries is None or readers.resolve([queries], option="queries", format="auto"),
        lambda: metrics_of(config.score),
        lambda: store.check_free(_output(config), replace=config.output.force),
    ]
    problems = []
    for check in checks:
        try:
            check()
        except UsageError as error:
            problems.append(str(error))
    if problems:
        raise UsageError("\n".join(dict.fromkeys(problems)))
    return metrics_of(config.score), _output(config)


def _check_judgments(config: Config) -> None:
    """Judgments may be left out where no metric reads them."""
    inputs = config.inputs
    if not inputs.qrels and all(not metric.FACTS.judgments for metric in metrics_of(config.score)):
        if config.score.resolved_conventions.unjudged == "removed":
            raise UsageError("unjudged: removed takes every document out of rankings where there are no judgments")
        return
    readers.resolve(inputs.qrels, option="qrels", format=inputs.format)


def _output(config: Config) -> Path:
    if config.output.dir is None:
        raise UsageError("no output directory is given; name one with --output")
    return store.local(config.output.dir)


def score(spark: SparkSession, config: Config, progress: Progress) -> dict[str, Any]:
    """Job 1: read, rank, score, check, publish.  Returns the manifest of the new evaluation."""
    metrics, output = check_score(config)
    conventions = config.score.resolved_conventions
    with store.publish(output, replace=config.output.force) as staging, told():
        with progress.stage("looking at the input"):
            needs = needs_of(metrics, conventions, config.score.diagnostics)
            source = _Source(spark, config.inputs, conventions, needs=needs)
            systems = source.systems()
            if config.score.reference not in (None, *systems):
                raise UsageError(unknown("system", str(config.score.reference), systems))
            qrel_counts = audit.count_qrels(source.qrels)
            if config.inputs.qrels:
                refusals.of_qrels(
                    qrel_counts, source.qrels, conventions, paths=config.inputs.qrels, flaws=source.flaws("qrels")
                )
        queries = source.queries()
        others = [key for key in queries.columns if key != "query_id"] if queries is not None else []
        _check_columns(metrics, others, config.score, conventions)
        depth = scoring.depth_of(metrics, conventions, config.score.diagnostics)
        watched = audit.Audit(conventions, needs)
        judgments = rankings.judgments(source.qrels, needs=needs)
        runs = watched.runs(rankings.needed(source.runs, conventions))
        ranked = rankings.ranked(runs, judgments, conventions=conventions, depth=depth, needs=needs)
        answers = rankings.complete(
            watched.ranked(ranked),
            judgments,
            queries,
            systems=systems,
            needs=needs,
            reference=config.score.reference,
            unlabelled=not config.inputs.qrels,
        )
        answers = watched.rankings(answers, n_systems=len(systems))
        scores = scoring.score(
            answers,
            metrics=metrics,
            conventions=conventions,
            others=others,
            diagnostics=config.score.diagnostics,
            best_grade=max(1.0, qrel_counts.best_grade or 1.0),
            how=config.score.udf,
        )
        what = f"scoring {number_of(len(systems), 'system')} with {number_of(len(metrics), 'metric')}"
        with progress.stage(what):
            scores.write.parquet(store.uri(staging / "scores"))
        counts = {**asdict(qrel_counts), **watched.counts()}
        written = spark.read.parquet(store.uri(staging / "scores"))
        refusals.of_runs(
            counts,
            source.runs,
            source.qrels,
            written,
            conventions,
            by_subtopic=bool(needs & rankings.BY_SUBTOPIC),
            of_one_grade=[name(metric) for metric in metrics if takes_one_grade(metric)],
            asked_for_all=queries is None,
            flaws=source.flaws("runs"),
        )
        files = store.part_files(staging / "scores", under=staging)
        n_rows = sum(file["rows"] for file in files)
        if n_rows != counts[audit.N_SCORES]:
            raise JobError(
                f"{counts[audit.N_SCORES]} rows were written and {n_rows} are in {staging / 'scores'}: --output must "
                "be a folder that the driver and every executor see under the same path"
            )
        answered = scoring.answers(written)
        manifest = {
            "kind": "evaluation",
            "systems": systems,
            "metrics": [{"name": name(metric), "column": column_name(metric)} for metric in metrics],
            "query_columns": others,
            "conventions": asdict(conventions),
            "depth": depth,
            "config": dump(config),
            "config_hash": config_hash(config),
            "inputs": {
                "runs": store.fingerprint(config.inputs.runs),
                "qrels": store.fingerprint(config.inputs.qrels),
                "queries": store.fingerprint([config.inputs.queries] if config.inputs.queries else []),
            },
            "n_queries": n_rows // len(systems),
            "counts": counts,
            "answers": answered,
            "notes": [
                *notes.of_scores(metrics, counts, by_rank=conventions.ties == "rank_column"),
                *notes.of_answers(answered),
            ],
            "spread": _spread(source, judgments, conventions, config.score.spread_at),
            "diagnostics": scoring.diagnosed(written, metrics, config.score.diagnostics, conventions),
            "files": files,
        }
        store.write_manifest(staging, manifest)
    return manifest


def _spread(
    source: _Source, judgments: DataFrame, conventions: Conventions, cutoff: int | None
) -> list[spreading.Spread]:
    if cutoff is None:
        return []
    runs = rankings.needed(source.runs, conventions)
    needs = frozenset({"documents"})
    ranked = rankings.ranked(runs, judgments, conventions=conventions, depth=cutoff, needs=needs)
    return spreading.spread(ranked, cutoff=cutoff)


def _check_columns(metrics: Sequence[Metric], others: Sequence[str], chosen: Score, conventions: Conventions) -> None:
    if conventions.mean == "weighted":
        _check_weight(others)
    names = {key.casefold() for key in others}
    columns = columns_of(metrics, chosen.diagnostics)
    reserved = [column for column in columns if column in RESERVED]
    elements = [measure.column for measure in measures_of(metrics, conventions) if measure.element is not None]
    if clashes := sorted({*reserved, *(set(elements) & set(columns))}):
        raise UsageError(
            f"a metric has a column called {', '.join(clashes)}, which stands for something else; rename it"
        )
    taken = [column for column in columns if column in names or f"{column}_undefined" in names]
    if taken:
        raise UsageError(f"--queries: metrics have columns called {', '.join(taken)}; rename those of the queries")


def _check_weight(query_columns: Sequence[str]) -> None:
    if WEIGHT not in query_columns:
        raise UsageError(f'mean: weighted needs a column "{WEIGHT}" in --queries')


class _Source:
    """The input of a scoring run as tables."""

    def __init__(self, spark: SparkSession, inputs: Inputs, conventions: Conventions, *, needs: frozenset[str]) -> None:
        self._spark = spark
        self._inputs = inputs
        self._order = "rank" if conventions.ties == "rank_column" and "scores" not in needs else "score"
        self._readers = {
            option: readers.READERS[readers.resolve(paths, option=option, format=inputs.format)]
            for option, paths in (("runs", inputs.runs), ("qrels", inputs.qrels))
            if paths
        }
        self.runs: DataFrame = self._readers["runs"].runs(
            spark, inputs.runs, system_from=inputs.system_from, placed=rankings.looks_at_places(conventions)
        )
        if inputs.qrels:
            self.qrels: DataFrame = self._readers["qrels"].qrels(
                spark, inputs.qrels, preferences="preferences" in needs
            )
        else:
            self.qrels = spark.createDataFrame([], QRELS_SCHEMA)

    def queries(self) -> DataFrame | None:
        """QUERIES, each query once."""
        path = self._inputs.queries
        if path is None:
            return None
        queries = readers.queries(self._spark, path)
        refusals.of_queries(queries, path, flaws=lambda: readers.flaws_of_queries(self._spark, path))
        return queries

    def systems(self) -> list[str]:
        """The names of all systems, in order."""
        return refusals.systems_of(
            self.runs,
            paths=self._inputs.runs,
            files=self._readers["runs"].files(self._spark, self._inputs.runs),
            by_tag=self._inputs.system_from == "tag",
            flaws=self.flaws("runs"),
        )

    def flaws(self, option: str) -> Callable[[], list[str]]:
        """What finds the first rows that cannot be read, for a message."""
        paths: list[str] = getattr(self._inputs, option)
        return lambda: list(self._readers[option].flaws(self._spark, paths, kind=option, order=self._order))


def check_aggregate(directory: Path, config: Config) -> tuple[dict[str, Any], str, Path]:
    """The manifest, the unit's column and the directory to write; what is wrong is refused before Spark starts.

    Raises UsageError, or DataRefused for a damaged evaluation.
    """
    manifest = store.read_evaluation(directory)
    chosen = config.aggregate
    unit = _unit_column(manifest, chosen.unit)
    if chosen.baseline is not None and chosen.baseline not in manifest["systems"]:
        raise UsageError(unknown("system", chosen.baseline, manifest["systems"]))
    name_ = chosen.name or unit
    target = directory / "aggregates" / name_
    if target.parent != directory / "aggregates" or target.name.startswith("."):
        raise UsageError(f'an aggregation cannot be called "{name_}"; give it a plain name with --name')
    _conventions(manifest, config)
    _metrics_of(manifest)
    return manifest, unit, target


def aggregate(
    spark: SparkSession, directory: Path, config: Config, progress: Progress
) -> tuple[dict[str, Any], pa.Table, pa.Table]:
    """Job 2: sums by unit in Spark, then estimates and contrasts.  Returns (manifest, ESTIMATES, CONTRASTS)."""
    manifest, unit, target = check_aggregate(directory, config)
    chosen = config.aggregate
    conventions = _conventions(manifest, config)
    metrics = _metrics_of(manifest)
    measures = measures_of(metrics, conventions)
    with store.publish(target, replace=True) as staging, told():
        scores = spark.read.parquet(*store.score_files(directory, manifest))
        counted = unit_sums.counted(scores, measures=measures, conventions=conventions)
        with progress.stage(f"summing by {unit}"):
            undefined = unit_sums.undefined(measures)
            facts = unit_sums.facts(counted, unit, measures)
            refusals.of_sums(facts, counted, unit, conventions, undefined=undefined)
            exponents = {column: scale_exponent(largest) for column, largest in facts.largest.items()}
            bucketed = facts.n_units > unit_sums.MOST_UNITS
            summing: dict[str, Any] = {
                "measures": measures, "exponents": exponents, "unit_name": unit, "bucketed": bucketed
            }  # fmt: skip
            sums = unit_sums.unit_sums(counted, **summing)
            n_unanswered = manifest["counts"][f"n_{UNANSWERED}"]
            # where two systems may count different queries, contrasts need sums over those that both count
            restricted = facts.n_by_system > 0 or (conventions.unanswered == "skip" and n_unanswered > 0)
            if restricted:
                shared = unit_sums.given_others(counted, measures=measures, baseline=chosen.baseline)
                sums = sums.unionByName(unit_sums.unit_sums(shared, **summing, given=True))
            sums.write.parquet(store.uri(staging / "unit_sums"))
            outcomes = pairs.pair_counts(counted, measures=measures, baseline=chosen.baseline)
            outcomes.write.parquet(store.uri(staging / "pairs"))
            medians = unit_sums.medians(counted, measures)
        settings = inference.Settings(
            methods=chosen.methods,
            confidence=chosen.confidence,
            replicates=chosen.replicates,
            seed=chosen.seed,
            baseline=chosen.baseline,
            bucketed=bucketed,
            restricted=restricted,
            medians=medians,
        )
        with progress.stage(f"{chosen.replicates:,} bootstrap replicates"):
            files = {part: store.part_files(staging / part, under=staging) for part in ("unit_sums", "pairs")}
            tables = {part: pq.read_table(staging / part) for part in files}
            estimates, contrasts = inference.aggregate(
                tables["unit_sums"],
                tables["pairs"],
                systems=manifest["systems"],
                measures=measures,
                exponents=exponents,
                settings=settings,
            )
        pq.write_table(estimates, staging / "estimates.parquet")
        pq.write_table(contrasts, staging / "contrasts.parquet")
        described = {
            "kind": "aggregate",
            "unit": unit,
            "n_units": facts.n_units,
            "bucketed": bucketed,
            "exponents": exponents,
            "notes": _notes(estimates, contrasts, measures, chosen.methods[0]),
            "conventions": asdict(conventions),
            "config": dump(config)["aggregate"],
            "files": files,
        }
        store.write_manifest(staging, described)
    return {**described, "directory": str(target)}, estimates, contrasts


def _metrics_of(manifest: dict[str, Any]) -> list[Metric]:
    """The metrics of an evaluation, a user's own among them.  Raises UsageError."""
    register_all(manifest["config"]["score"]["custom"])
    return parse_list([metric["name"] for metric in manifest["metrics"]])


def _notes(estimates: pa.Table, contrasts: pa.Table, measures: Sequence[Measure], method: str) -> list[str]:
    metrics = {measure.name: measure.metric for measure in measures}
    of_method = [[row for row in table.to_pylist() if row["method"] == method] for table in (estimates, contrasts)]
    return [*notes.of_calibration(of_method[0], metrics), *notes.of_contrasts(of_method[1], metrics)]


def _conventions(manifest: dict[str, Any], config: Config) -> Conventions:
    """The conventions of the evaluation, with those that act on its values as the configuration chooses them.

    Raises UsageError where it chooses others than the values were computed with, and DataRefused for missing
    rankings under ``unanswered: error``.
    """
    chosen = config.score.conventions.model_dump(exclude_none=True)
    computed = manifest["conventions"]
    other = [key for key, value in chosen.items() if key not in LATE_CONVENTIONS and computed[key] != value]
    if other:
        raise UsageError(
            f"the evaluation was scored with {', '.join(f'{key}: {computed[key]}' for key in other)}; "
            f"to have {', '.join(f'{key}: {chosen[key]}' for key in other)}, score again"
        )
    conventions = Conventions(**(computed | chosen))
    if conventions.mean == "weighted":
        _check_weight(manifest["query_columns"])
    if conventions.unanswered == "error" and (n_missing := manifest["counts"][f"n_{UNANSWERED}"]):
        raise DataRefused(f"{number_of(n_missing, 'ranking')} missing, and unanswered is error; use zero or skip")
    return conventions


def _unit_column(manifest: dict[str, Any], unit: str | None) -> str:
    known = ["query_id", *manifest["query_columns"]]
    if unit is None:
        raise UsageError(
            "what resampling draws has no default, because it changes the claim: give --unit query_id if queries are "
            f"independent, or the column of what they share. Known: {', '.join(known)}."
        )
    if unit not in known:
        if len(known) > 1:
            raise UsageError(unknown("unit", unit, known))
        raise UsageError(
            f'the evaluation knows no "{unit}" of its queries; score again with --queries FILE, a table with '
            f"query_id and {unit}"
        )
    return unit
