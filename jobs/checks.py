"""What configuration and manifest tell by themselves: what is wrong with them is refused before Spark starts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from evalcore import Conventions, EvalcoreError, Metric, name, parse_list, preset
from evalcore.errors import unknown
from evalcore.scoring import check, columns_of
from evalcore.statuses import UNANSWERED
from jobs import readers, store
from jobs.config import Config, Score
from jobs.custom import register_all
from jobs.errors import DataRefused, UsageError, number_of
from jobs.evaluations import LATE_CONVENTIONS, Evaluations
from jobs.evaluations import read as read_evaluations
from jobs.input_gates import earlier
from jobs.measures import WEIGHT, measures_of
from jobs.tables import RESERVED

T = TypeVar("T")
NO_UNIT = (
    "what resampling draws has no default, because it changes the claim: give --unit query_id if queries are "
    "independent, or the column of what they share"
)
NO_QRELS = "no qrels given; name files, folders or patterns with --qrels"


def check_score(config: Config) -> tuple[list[Metric], Path]:
    """The metrics and the output directory of a scoring run.  Raises UsageError with all that is wrong."""
    problems = list[str]()
    metrics = _input(config, problems)
    output = _found(lambda: _output(config), problems)
    if metrics is None or output is None or problems:
        raise UsageError("\n".join(problems))
    return metrics, output


def check_input(config: Config) -> list[Metric]:
    """The metrics of an audit.  Raises UsageError with all that is wrong."""
    problems = list[str]()
    metrics = _input(config, problems)
    if metrics is None or problems:
        raise UsageError("\n".join(problems))
    return metrics


def _input(config: Config, problems: list[str]) -> list[Metric] | None:
    """The metrics, if they can be told; what is wrong with them and with the paths of the input is added."""
    inputs = config.inputs
    _found(lambda: readers.resolve(inputs.runs, option="runs", format=inputs.format), problems)
    if inputs.queries is not None:
        _found(lambda: readers.is_parquet([str(inputs.queries)], option="queries"), problems)
    metrics = _found(lambda: _metrics(config.score), problems)
    _found(lambda: _check_judgments(config, metrics), problems)
    _found(lambda: earlier(config.audit), problems)
    return metrics


def _found(what: Callable[[], T], problems: list[str]) -> T | None:
    try:
        return what()
    except UsageError as error:
        problems.append(str(error))
        return None


def _metrics(chosen: Score) -> list[Metric]:
    """The metrics of the configuration, under its preset and conventions."""
    register_all(chosen.custom)
    try:
        metrics = parse_list(chosen.metrics, short=preset(chosen.preset).short)
        check(metrics, chosen.resolved_conventions, chosen.diagnostics)
    except EvalcoreError as error:
        raise UsageError(str(error)) from None
    comparing = [name(metric) for metric in metrics if "reference" in metric.FACTS.needs]
    if comparing and chosen.reference is None:
        raise UsageError(f"{', '.join(comparing)}: compared with which system? Give --set score.reference=SYSTEM")
    return metrics


def _check_judgments(config: Config, metrics: Sequence[Metric] | None) -> None:
    """Judgments may be left out where no metric reads them, or where the runs may hold them."""
    inputs = config.inputs
    if inputs.qrels:
        readers.resolve(inputs.qrels, option="qrels", format=inputs.format)
        return
    needed = metrics is None or any(metric.FACTS.judgments for metric in metrics)
    if needed and readers.resolve(inputs.runs, option="runs", format=inputs.format) == "trec":
        raise UsageError(NO_QRELS)
    if not needed and config.score.resolved_conventions.unjudged == "removed":
        raise UsageError("unjudged: removed takes every document out of rankings where there are no judgments")


def _output(config: Config) -> Path:
    if config.output.dir is None:
        raise UsageError("no output directory is given; name one with --output")
    output = store.local(config.output.dir)
    store.check_free(output, replace=config.output.force)
    return output


def check_columns(metrics: Sequence[Metric], query_columns: Sequence[str], chosen: Score) -> None:
    """Raises UsageError where two things would be one column of SCORES, or weights are wanted and not there.

    query_columns   of QUERIES, without query_id
    """
    conventions = chosen.resolved_conventions
    _check_weight(conventions, query_columns)
    columns = columns_of(metrics, chosen.diagnostics)
    elements = {measure.column for measure in measures_of(metrics, conventions) if measure.element is not None}
    if clashes := sorted(column for column in columns if column in RESERVED or column in elements):
        raise UsageError(
            f"a metric has a column called {', '.join(clashes)}, which stands for something else; rename it"
        )
    names = {key.casefold() for key in query_columns}
    if taken := [column for column in columns if column in names or f"{column}_undefined" in names]:
        raise UsageError(f"--queries: metrics have columns called {', '.join(taken)}; rename those of the queries")


def _check_weight(conventions: Conventions, query_columns: Sequence[str]) -> None:
    if conventions.mean == "weighted" and WEIGHT not in query_columns:
        raise UsageError(f'mean: weighted needs a column "{WEIGHT}" in --queries')


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a run of job 2 reads and writes.

    evaluations   None where `inputs.scores` is read
    unit          the column of what resampling draws
    replace       whether the target may be there
    """

    evaluations: Evaluations | None
    unit: str
    target: Path
    replace: bool


def check_aggregate(directories: Path | Sequence[Path], config: Config) -> Plan:
    """What is read and written.  Raises UsageError, and DataRefused for damaged evaluations or different ones."""
    directories = [directories] if isinstance(directories, Path) else list(directories)
    chosen, scores = config.aggregate, config.inputs.scores
    if bool(directories) == bool(scores):
        what = "name an evaluation, or a table of values with --scores"
        raise UsageError(what if not scores else f"{what}, and not both")
    if scores:
        readers.is_parquet(scores, option="scores")
        if chosen.unit is None:
            raise UsageError(f"{NO_UNIT}.")
        target = store.free_for_aggregation(chosen.output, replace=config.output.force)
        return Plan(evaluations=None, unit=chosen.unit, target=target, replace=config.output.force)
    evaluations = read_evaluations(directories, config)
    manifest = evaluations.manifest
    unit = _unit_column(manifest, chosen.unit)
    if chosen.baseline is not None and chosen.baseline not in manifest["systems"]:
        raise UsageError(unknown("system", chosen.baseline, manifest["systems"]))
    for column in (*chosen.segments, chosen.strata, chosen.crossed):
        if column is not None and column not in manifest["query_columns"]:
            raise UsageError(unknown("column of queries", column, manifest["query_columns"]))
    if chosen.crossed is not None and (chosen.strata is not None or config.score.conventions.mean == "units"):
        raise UsageError(
            "aggregate.crossed allows for two kinds of units, and goes with neither aggregate.strata nor mean: units"
        )
    if chosen.output is None and len(directories) == 1:
        name_ = chosen.name or unit
        target, replace = directories[0] / "aggregates" / name_, True
        if target.parent != directories[0] / "aggregates" or target.name.startswith("."):
            raise UsageError(f'an aggregation cannot be called "{name_}"; give it a plain name with --name')
    else:
        target, replace = store.free_for_aggregation(chosen.output, replace=config.output.force), config.output.force
    conventions_of(manifest, config)
    metrics_of(manifest)
    return Plan(evaluations=evaluations, unit=unit, target=target, replace=replace)


def metrics_of(manifest: dict[str, Any]) -> list[Metric]:
    """The metrics of an evaluation, a user's own among them.  Raises UsageError."""
    register_all(manifest["config"]["score"]["custom"])
    return parse_list([metric["name"] for metric in manifest["metrics"]])


def conventions_of(manifest: dict[str, Any], config: Config) -> Conventions:
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
    _check_weight(conventions, manifest["query_columns"])
    if conventions.unanswered == "error" and (n_missing := manifest["counts"][f"n_{UNANSWERED}"]):
        raise DataRefused(f"{number_of(n_missing, 'ranking')} missing, and unanswered is error; use zero or skip")
    return conventions


def _unit_column(manifest: dict[str, Any], unit: str | None) -> str:
    known = ["query_id", *manifest["query_columns"]]
    if unit is None:
        raise UsageError(f"{NO_UNIT}. Known: {', '.join(known)}.")
    if unit not in known:
        if len(known) > 1:
            raise UsageError(unknown("unit", unit, known))
        raise UsageError(
            f'the evaluation knows no "{unit}" of its queries; score again with --queries FILE, a table with '
            f"query_id and {unit}, or, where the runs have that column, with --set queries.columns=[{unit}]"
        )
    return unit
