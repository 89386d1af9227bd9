"""From files to estimates and contrasts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evalcore import Conventions, EvalcoreError, Evaluation, Metric, name, parse_list, preset
from evalcore.arrays import FloatArray
from evalcore.errors import unknown
from evalcore.evaluation import evaluate_runs
from evalcore.scoring import check, needs_of, takes_one_grade
from evalcore.statuses import UNANSWERED
from jobs.config import Config, Score
from jobs.custom import register_all
from jobs.direct import checks, rows
from jobs.direct.parts import numbers
from jobs.direct.quantiles import quantiles
from jobs.direct.sums import Counted, Summed, summed
from jobs.errors import DataRefused, UsageError, number_of
from jobs.infer import inferred_rows, pairs_of
from jobs.inferred import Settings
from jobs.measures import WEIGHT, Measure, measures_of
from jobs.named import check_margins
from jobs.notes import of_calibration, of_contrasts, of_left_out
from jobs.sums import Sums

ALL = "all"
"""The segment that holds every query, as `jobs.tables` has it."""

BY_SUBTOPIC = frozenset({"subtopics", "preferences"})
"""Needs for which a document may have several judgments."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Values:
    """The values of every system for every query.

    found     system -> its values, all over the same queries
    queries   QUERIES, or the ids of the universe alone
    counts    what was counted of the input
    order     the systems as their files were given
    tags      system -> run tag, where the input has tags
    """

    metrics: list[Metric]
    conventions: Conventions
    found: dict[str, Evaluation]
    queries: dict[str, list[Any]]
    counts: dict[str, Any]
    order: list[str]
    tags: dict[str, str]

    @property
    def asked(self) -> list[str]:
        """(n_queries,) the universe."""
        return self.queries["query_id"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Inferred:
    """ESTIMATES and CONTRASTS of some values, and what they were made with."""

    values: Values
    measures: list[Measure]
    summed: Summed
    settings: Settings
    unit: str
    estimates: list[dict[str, Any]]
    contrasts: list[dict[str, Any]]
    notes: list[str]


def metrics_of(chosen: Score) -> list[Metric]:
    """The metrics of the configuration, under its preset and conventions.  Raises UsageError."""
    register_all(chosen.custom)
    try:
        metrics = parse_list(chosen.metrics, short=preset(chosen.preset).short)
        check(metrics, chosen.resolved_conventions)
    except EvalcoreError as error:
        raise UsageError(str(error)) from None
    comparing = [name(metric) for metric in metrics if "reference" in metric.FACTS.needs]
    if comparing and chosen.reference is None:
        raise UsageError(f"{', '.join(comparing)}: compared with which system? Give --set score.reference=SYSTEM")
    return metrics


def values(config: Config, metrics: Sequence[Metric]) -> Values:
    """Read, check and score.  Raises UsageError for what cannot be asked, DataRefused for what cannot be used."""
    _check_settings(config)
    chosen, inputs = config.score, config.inputs
    conventions = chosen.resolved_conventions
    needs = needs_of(metrics, conventions)
    follows_ranks = conventions.ties == "rank_column"
    by_rank = follows_ranks and "scores" not in needs
    needed = [*(["rank"] if follows_ranks else []), *([] if by_rank else ["score"])]
    queries = rows.queries(inputs.queries) if inputs.queries is not None else None
    runs = rows.runs(inputs.runs, config, numbers=needed)
    if chosen.reference not in (None, *runs.rows):
        raise UsageError(unknown("system", str(chosen.reference), list(runs.rows)))
    judged = checks.judgments(
        rows.qrels(inputs.qrels, config, preferences="preferences" in needs),
        conventions,
        by_subtopic=bool(needs & BY_SUBTOPIC),
        by_propensity="propensities" in needs,
        of_one_grade=[name(metric) for metric in metrics if takes_one_grade(metric)],
    )
    answers = checks.answers(runs, conventions, by_rank=by_rank)
    if queries is None:
        known = [judged.rows] if judged.rows else answers.rows.values()
        queries = {"query_id": sorted({query for columns in known for query in checks.queries_of(columns)})}
    found = _evaluated(answers, judged, queries["query_id"], metrics, conventions, reference=chosen.reference)
    counts = checks.universe(
        {system: each.statuses for system, each in found.items()},
        queries["query_id"],
        answers,
        judged,
        conventions,
        asked_for_all=inputs.queries is None,
    )
    return Values(
        metrics=list(metrics),
        conventions=conventions,
        found=found,
        queries=queries,
        counts={**judged.counts, **answers.counts, **counts},
        order=runs.order,
        tags=runs.tags,
    )


def _evaluated(
    answers: checks.Answers,
    judged: checks.Judgments,
    asked: Sequence[str],
    metrics: Sequence[Metric],
    conventions: Conventions,
    *,
    reference: str | None,
) -> dict[str, Evaluation]:
    """The values of each system; what conventions refuse is not looked at here."""
    known = set(checks.queries_of(judged.rows) if judged.rows else asked).intersection(asked)
    if not known:
        checks.universe({}, asked, answers, judged, conventions, asked_for_all=True)
    # evaluate refuses a run without a judged query; beside other runs it is one that did not answer
    silent: dict[str, Any] = {next(iter(known)): {}}
    runs = {
        system: columns if known.intersection(checks.queries_of(columns)) else silent
        for system, columns in answers.rows.items()
    }
    if all(run is silent for run in runs.values()):
        checks.universe({}, asked, answers, judged, conventions, asked_for_all=True)
    lenient = replace(conventions, mean="queries", unanswered="skip", unjudged_query="skip", no_relevant="skip")
    return evaluate_runs(
        runs,
        judged.rows or {},
        metrics,
        conventions=lenient,
        queries=asked,
        reference=None if reference is None else runs[reference],
    )


def inferred(found: Values, config: Config) -> Inferred:
    """Intervals and contrasts.  Raises UsageError and DataRefused as job 2 does."""
    chosen, conventions = config.aggregate, found.conventions
    _check(config, found)
    unit = chosen.unit or "query_id"
    measures = measures_of(found.metrics, conventions)
    named = [measure.name for measure in measures]
    check_margins(chosen.margins, named)
    counted = Counted.of(
        found.found, measures, conventions, units=_units(found.queries, unit), weights=_weights(found, conventions)
    )
    apart = conventions.unanswered == "skip" and any(UNANSWERED in each.statuses for each in found.found.values())
    sums = summed(counted, conventions, baseline=chosen.baseline, apart=apart)
    settings = Settings.of(
        chosen,
        bucketed=sums.buckets > 0,
        restricted=sums.restricted,
        quantiles=quantiles(counted, chosen.quantiles, units=sums.units, confidence=chosen.confidence),
    )
    pairs = pairs_of(counted.systems, chosen.baseline) if sums.restricted else []
    known = Sums.of_columns(
        sums.sums, sums.pairs, systems=counted.systems, pairs=pairs, measures=measures, exponents=sums.exponents
    )
    estimates, contrasts = inferred_rows(
        known, sums.pairs, systems=counted.systems, measures=measures, settings=settings, segment=ALL
    )
    return Inferred(
        values=found,
        measures=measures,
        summed=sums,
        settings=settings,
        unit=unit,
        estimates=estimates,
        contrasts=contrasts,
        notes=_notes(found, estimates, contrasts, settings),
    )


ELSEWHERE = (
    *("judgments", "prepare", "queries", "audit", "inputs.layout", "inputs.systems"),
    *("score.diagnostics", "score.spread_at"),
    *(f"aggregate.{key}" for key in ("segments", "crossed", "strata", "systems", "metrics")),
)
"""Settings of what only the two jobs do."""


def _check_settings(config: Config) -> None:
    """Raises UsageError for a setting that would change the numbers and is not looked at here."""
    given, usual = config.model_dump(), Config().model_dump()
    found = []
    for key in ELSEWHERE:
        section, _, setting = key.partition(".")
        mine, theirs = (each.get(section, {}) for each in (given, usual))
        if (mine.get(setting) != theirs.get(setting)) if setting else mine != theirs:
            changed = [] if setting else [name for name in mine if mine[name] != theirs[name]]
            found += [f"{key}.{name}" for name in changed] or [key]
    found += [f"inputs.columns.{key}" for key in config.inputs.columns if key not in rows.COLUMNS]
    found += ["inputs.format: svmlight"] if config.inputs.format == "svmlight" else []
    if found:
        raise UsageError(f"{', '.join(found)}: evaljob eval does not do that; use evaljob score and evaljob aggregate")


def _check(config: Config, found: Values) -> None:
    """Raises UsageError for names that are not there."""
    chosen, columns = config.aggregate, [key for key in found.queries if key != "query_id"]
    if chosen.baseline not in (None, *found.found):
        raise UsageError(unknown("system", str(chosen.baseline), list(found.found)))
    if chosen.unit not in (None, "query_id", *columns):
        if not columns:
            raise UsageError(
                f'nothing is known of the queries, and no "{chosen.unit}"; give --queries FILE, a table with query_id '
                f"and {chosen.unit}"
            )
        raise UsageError(unknown("unit", str(chosen.unit), ["query_id", *columns]))
    if found.conventions.mean == "weighted" and WEIGHT not in columns:
        raise UsageError(f'mean: weighted needs a column "{WEIGHT}" in --queries')


def _units(queries: Mapping[str, list[Any]], unit: str) -> list[str]:
    cells = queries[unit]
    lacking = [query for query, cell in zip(queries["query_id"], cells, strict=True) if cell is None]
    if lacking:
        raise DataRefused(
            f"{number_of(len(lacking), 'query')} without a value of {unit}, the unit: {checks.first(lacking)}; fill "
            "that column in --queries or leave these queries out"
        )
    # as Spark writes them: draws are of units in the order of their names
    return [str(cell).lower() if isinstance(cell, bool) else str(cell) for cell in cells]


def _weights(found: Values, conventions: Conventions) -> FloatArray | None:
    """(n_queries,) of the column weight, where weights count."""
    if conventions.mean != "weighted":
        return None
    cells = numbers([str(cell).strip() for cell in found.queries[WEIGHT]])
    weights = np.array([math.nan if cell is None else cell for cell in cells])
    bad = [query for query, weight in zip(found.asked, weights.tolist(), strict=True) if not 0 <= weight < math.inf]
    if bad:
        raise DataRefused(
            f"{number_of(len(bad), 'query')} without a weight that is a number from 0: {checks.first(bad)}; fill the "
            "column weight of --queries"
        )
    return weights


def _notes(
    found: Values, estimates: Sequence[dict[str, Any]], contrasts: Sequence[dict[str, Any]], settings: Settings
) -> list[str]:
    by_name = {measure.name: metric for metric in found.metrics for measure in measures_of([metric], found.conventions)}
    of_method = [[row for row in rows if row["method"] == settings.methods[0]] for rows in (estimates, contrasts)]
    return [
        *of_left_out(found.counts, found.conventions, n_systems=len(found.found)),
        *of_calibration(of_method[0], by_name),
        *of_contrasts(of_method[1], by_name),
    ]
