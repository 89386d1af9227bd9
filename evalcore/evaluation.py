"""Values from plain Python data: a run and its judgments as mappings, in one call."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from evalcore.arrays import BoolArray, FloatArray
from evalcore.conventions import Conventions
from evalcore.errors import ConventionError, DataError, MetricNameError
from evalcore.given import by_text, few, numbers
from evalcore.metrics.base import Metric, floor_of
from evalcore.metrics.names import column_name, name, parse_list
from evalcore.plain import Qrels, Ranked, Run, judged_of, judged_rankings
from evalcore.presets import preset as preset_of
from evalcore.rankings import JudgedRankings
from evalcore.scoring import Diagnostic, by_column, check, needs_of, score, takes_one_grade
from evalcore.statuses import NO_RELEVANT, OK, RELEVANT_GRADE, UNANSWERED, UNJUDGED, left_out
from evalcore.tables import Table, is_table, names_of, qrels_of, run_of


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Evaluation:
    """The values of one run.

    queries    (n_queries,)  of the universe, in its order
    statuses   (n_queries,)  ``ok``; ``unanswered``: judged, but the run returned nothing; ``no_relevant``: no
               judged document is relevant; ``unjudged``: no judgments, and so no value
    columns    column name -> (n_queries,), or (n_queries, n_elements) of a vector; NaN = undefined
    weights    (n_queries,)  for ``mean: weighted``; None where queries have none
    n_outside  queries of the run outside the universe, which are not evaluated
    """

    metrics: tuple[Metric, ...]
    conventions: Conventions
    queries: tuple[str, ...]
    statuses: tuple[str, ...]
    columns: dict[str, FloatArray]
    weights: FloatArray | None
    n_outside: int

    def values(self, metric: Metric) -> FloatArray:
        """(n_queries,), NaN where undefined."""
        return self.columns[column_name(metric)]

    def counted(self, metric: Metric) -> FloatArray:
        """Values as they enter the mean: NaN where a query does not count.  (n_queries,)"""
        found = self.values(metric).copy()
        if metric.FACTS.needs_relevant and self.conventions.fill is not None:
            found[np.isnan(found)] = self.conventions.fill
        found[~self._rows] = np.nan
        return found

    def per_query(self) -> dict[str, dict[str, Any]]:
        """{query: {name of the metric: value}}, NaN where undefined."""
        names = [name(metric) for metric in self.metrics]
        rows = zip(*(self.values(metric).tolist() for metric in self.metrics), strict=True)
        return {query: dict(zip(names, row, strict=True)) for query, row in zip(self.queries, rows, strict=True)}

    def mean(self) -> dict[str, Any]:
        """Name of the metric -> its mean over the queries that count, NaN if none does; of a vector, of each element.

        The mean is that of the conventions, except for metrics with one of their own: sums, ratios of sums,
        geometric means.
        """
        return {name(metric): self._mean(metric) for metric in self.metrics}

    def _mean(self, metric: Metric) -> Any:  # noqa: ANN401 (a float, or an array of them)
        statistic = metric.FACTS.statistic
        if statistic == "ratio":
            sides = (self.columns[f"{column_name(metric)}_{side}"][self._rows] for side in ("above", "below"))
            above, below = (math.fsum(side[~np.isnan(side)]) for side in sides)
            return above / below if below else math.nan
        how = self.conventions.mean if statistic == "mean" else statistic
        values = self.counted(metric)
        if how == "geometric":
            values = np.maximum(values, floor_of(metric))
        if values.ndim == 2:
            return np.array([_mean(element, how, self.weights) for element in values.T])
        return _mean(values, how, self.weights)

    @property
    def _rows(self) -> BoolArray:
        return ~np.isin(np.array(self.statuses, dtype=np.str_), left_out(self.conventions))


def evaluate(
    run: Run | Table,
    qrels: Qrels | Table,
    metrics: str | Sequence[str | Metric],
    *,
    preset: str = "default",
    conventions: Conventions | None = None,
    queries: Collection[Any] | Mapping[Any, float] | None = None,
    diagnostics: Sequence[Diagnostic] = (),
    reference: Run | Table | None = None,
    propensities: Mapping[Any, Mapping[Any, float]] | None = None,
) -> Evaluation:
    """Every metric for every query.

    run          query -> {document: score}; or [(document, score), ...]; or [document, ...], best first whatever
                 the tie rule. Under ``ties: rank_column`` documents rank in the order in which they are given.
    qrels        query -> {document: grade}; or {document: {subtopic: grade}}, for metrics of subtopics;
                 or the relevant documents. With no relevant documents a query is judged; with an empty
                 mapping it has no judgments. No query needs any where no metric reads judgments.
    metrics      names, or metrics; a preset's meanings are for names
    preset       whose conventions hold unless some are given
    queries      the universe, a mapping if they have weights; by default the queries of the judgments
    diagnostics  see `evalcore.scoring.SIDES`
    reference    the run of another system, for metrics that compare with it
    propensities query -> {document: probability that its logged impression was looked at}, for metrics of clicks

    Ids are texts or whole numbers, and a number is the same id as its text. Nothing given is changed.
    Raises DataError for what cannot be an id, a score or a grade, for what the conventions refuse, and
    where no query of the run is judged.

    >>> found = evaluate({"q1": {"a": 0.9, "b": 0.1}}, {"q1": {"b": 1}, "q2": {"c": 1}}, "RR,nDCG@10")
    >>> found.statuses, found.per_query()["q1"]["RR"], found.mean()["RR"]
    (('ok', 'unanswered'), 0.5, 0.25)
    """
    chosen = preset_of(preset)
    rules = conventions or chosen.conventions
    wanted = _metrics(metrics, short=chosen.short)
    check(wanted, rules, diagnostics)
    if propensities is None and is_table(qrels) and "propensity" in names_of(qrels):
        propensities = qrels_of(qrels, "propensity")
    run, reference = _one_run(run, "the run"), _one_run(reference, "the reference run")
    qrels = qrels_of(qrels) if is_table(qrels) else qrels
    answers, judgments = by_text(run, "of the run"), by_text(qrels, "of the judgments")
    unlabelled = not judgments and not any(metric.FACTS.judgments for metric in wanted)
    if unlabelled:
        judgments = dict.fromkeys(answers, ())
    asked: dict[str, Any] = judgments
    weights: FloatArray | None = None
    if queries is not None:
        asked = by_text(queries if isinstance(queries, Mapping) else dict.fromkeys(queries), "asked for")
    universe = list(asked)
    if isinstance(queries, Mapping):
        weights = numbers(list(asked.values()), lambda index: f"the weight of query {universe[index]}")
    _check_subtopics(wanted, judgments)
    judged = judged_of({q: given for q, given in judgments.items() if not isinstance(given, Mapping) or given})
    _check(rules, answers, judged, universe, weights)

    ranked = Ranked.of(universe, answers, rules)
    needs = needs_of(wanted, rules, diagnostics)
    unscored = [name(metric) for metric in wanted if "scores" in metric.FACTS.needs and not ranked.scored]
    if unscored:
        raise DataError(f"scores are needed for {', '.join(unscored)}, and the run gives documents alone")
    other = None
    if reference is not None:
        whose = "the reference run"
        other = Ranked.of(universe, by_text(reference, f"of {whose}"), rules, whose=whose)
    chances = None if propensities is None else judged_of(by_text(propensities, "of the propensities"))
    rankings = judged_rankings(
        universe, ranked, judged, qrels=judgments, needs=needs, reference=other, propensities=chances
    )
    best = float(rankings.judged.values.max(initial=RELEVANT_GRADE))
    columns = score(by_column(wanted), rankings, rules, diagnostics=diagnostics, best_grade=best)
    unjudged = np.array([query not in judged for query in universe], dtype=bool)
    found = Evaluation(
        metrics=tuple(wanted),
        conventions=rules,
        queries=tuple(universe),
        statuses=_statuses(rankings, unjudged, unlabelled=unlabelled),
        columns={column: _without(values, unjudged) for column, values in columns.items()},
        weights=weights,
        n_outside=len(answers.keys() - asked.keys()),
    )
    _refuse(found)
    return found


def _one_run(run: Run | Table | None, whose: str) -> Any:  # noqa: ANN401 (a Run)
    if not is_table(run):
        return run
    systems = run_of(run, whose=whose)
    if len(systems) > 1:
        raise DataError(f"{whose} has {len(systems)} systems, e.g. {few(list(systems))}; use evaluate_runs")
    return next(iter(systems.values()), {})


def evaluate_runs(
    runs: Mapping[Any, Run | Table] | Table,
    qrels: Qrels | Table,
    metrics: str | Sequence[str | Metric],
    *,
    preset: str = "default",
    conventions: Conventions | None = None,
    queries: Collection[Any] | Mapping[Any, float] | None = None,
    diagnostics: Sequence[Diagnostic] = (),
    reference: Run | Table | None = None,
    propensities: Mapping[Any, Mapping[Any, float]] | None = None,
) -> dict[str, Evaluation]:
    """Every metric for every query of every system: system -> its values, as `evaluate` gives them.

    runs   system -> run; or a table with a column ``system``

    >>> runs = {"old": {"q1": ["b", "a"]}, "new": {"q1": ["a", "b"]}}
    >>> {system: found.mean() for system, found in evaluate_runs(runs, {"q1": ["a"]}, "RR").items()}
    {'old': {'RR': 0.5}, 'new': {'RR': 1.0}}
    """
    by_system = run_of(runs, whose="the runs") if is_table(runs) else by_text(runs, "of the runs")
    return {
        system: evaluate(
            run,
            qrels,
            metrics,
            preset=preset,
            conventions=conventions,
            queries=queries,
            diagnostics=diagnostics,
            reference=reference,
            propensities=propensities,
        )
        for system, run in by_system.items()
    }


def _metrics(given: str | Sequence[str | Metric], *, short: Mapping[str, Mapping[str, str]]) -> list[Metric]:
    parts = [given] if isinstance(given, str) else given
    metrics = [
        metric for part in parts for metric in (parse_list(part, short=short) if isinstance(part, str) else [part])
    ]
    if not metrics:
        raise MetricNameError("no metric is named; for example: nDCG@10,AP,RR@10")
    twice = [column for column, times in Counter(map(column_name, metrics)).items() if times > 1]
    if twice:
        raise MetricNameError(f"a metric is named twice: {', '.join(twice)}")
    return metrics


def _check(
    conventions: Conventions,
    answers: Mapping[str, Any],
    judged: Mapping[str, Any],
    universe: Sequence[str],
    weights: FloatArray | None,
) -> None:
    """Raises ConventionError or DataError for what shows before anything is computed."""
    if conventions.mean == "units":
        raise ConventionError("mean: units needs the unit of each query, and there are no units here; use queries")
    if conventions.mean == "weighted" and weights is None:
        raise ConventionError("mean: weighted needs weights; give queries={query: weight}")
    if weights is not None and not ((weights >= 0) & (weights < np.inf)).all():
        raise DataError("a weight of a query is negative, NaN or infinite")
    if not any(query in answers and query in judged for query in universe):
        of_run, of_qrels = (", ".join(islice(each, 3)) or "none" for each in (answers, judged))
        raise DataError(f"no query of the run is judged; run e.g. {of_run}, qrels e.g. {of_qrels}")
    without = [query for query in dict.fromkeys([*universe, *answers]) if query not in judged]
    if conventions.unjudged_query == "error" and without:
        raise DataError(f"{len(without)} queries have no judgments, and unjudged_query is error: {few(without)}")


def _refuse(found: Evaluation) -> None:
    """Raises DataError for queries that the conventions do not let pass."""
    statuses = np.array(found.statuses, dtype=np.str_)
    lacking = np.zeros(len(statuses), dtype=bool)
    for metric in found.metrics:
        if metric.FACTS.needs_relevant:
            lacking |= np.isnan(found.values(metric).reshape(len(statuses), -1)).any(axis=1)
    for convention, rows in (("unanswered", statuses == UNANSWERED), ("no_relevant", lacking & (statuses != UNJUDGED))):
        if getattr(found.conventions, convention) == "error" and rows.any():
            examples = few([found.queries[index] for index in np.flatnonzero(rows)[:4].tolist()])
            raise DataError(f"{rows.sum()} queries are refused, because {convention} is error: {examples}")


def _check_subtopics(metrics: Sequence[Metric], judgments: Mapping[str, Any]) -> None:
    """Raises DataError for metrics of one grade where a document has a grade for each of several subtopics."""
    of_one_grade = [name(metric) for metric in metrics if takes_one_grade(metric)]
    graded = (grades.values() for grades in judgments.values() if isinstance(grades, Mapping))
    if of_one_grade and any(isinstance(grade, Mapping) and len(grade) > 1 for row in graded for grade in row):
        raise DataError(
            f"documents are judged for several subtopics or groups, and {', '.join(of_one_grade)} would need one grade "
            "for each document"
        )


def _statuses(rankings: JudgedRankings, unjudged: BoolArray, *, unlabelled: bool) -> tuple[str, ...]:
    nothing_relevant = (rankings.n_relevant(RELEVANT_GRADE) == 0) & (not unlabelled)
    rules = [unjudged, rankings.retrieved.lengths == 0, nothing_relevant]
    return tuple(np.select(rules, [UNJUDGED, UNANSWERED, NO_RELEVANT], OK).tolist())


def _without(values: FloatArray, rows: BoolArray) -> FloatArray:
    """The same with NaN in these rows."""
    values = values.astype(np.float64)
    values[rows] = np.nan
    return values


def _mean(values: FloatArray, how: str, weights: FloatArray | None) -> float:
    """Of what is not NaN.  Sums are exact before they are rounded once, whatever the order of the queries."""
    known = ~np.isnan(values)
    found = values[known]
    if not len(found):
        return math.nan
    if how == "median":
        return float(np.median(found))
    if how == "weighted" and weights is not None:
        total = math.fsum(weights[known])
        return math.fsum(weights[known] * found) / total if total else math.nan
    if how == "geometric":
        return math.exp(math.fsum(np.log(found)) / len(found))
    return math.fsum(found) / (1 if how == "sum" else len(found))
