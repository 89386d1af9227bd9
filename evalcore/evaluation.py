"""Values of every metric for every query of runs that are mappings or tables, in one call."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from evalcore.arrays import BoolArray, FloatArray
from evalcore.conventions import Conventions
from evalcore.errors import ConventionError, DataError, MetricNameError
from evalcore.evaluated import Evaluation
from evalcore.given import by_text, few
from evalcore.ids import unified
from evalcore.judged import Judged, judged_rankings
from evalcore.listed import runs_of
from evalcore.metrics.base import Metric
from evalcore.metrics.names import column_name, name, parse_list
from evalcore.plain import Qrels, Run
from evalcore.presets import preset as preset_of
from evalcore.ranked import Ranked
from evalcore.rankings import JudgedRankings
from evalcore.reading import Answers, read_judgments, read_queries
from evalcore.scoring import Diagnostic, by_column, check, needs_of, score, takes_one_grade
from evalcore.statuses import NO_RELEVANT, OK, RELEVANT_GRADE, UNANSWERED, UNJUDGED
from evalcore.tables import Table, is_table


def evaluate(
    run: Run | Table,
    qrels: Qrels | Table,
    metrics: str | Sequence[str | Metric],
    *,
    preset: str = "default",
    conventions: Conventions | None = None,
    queries: Collection[Any] | Mapping[Any, float] | Table | None = None,
    diagnostics: Sequence[Diagnostic] = (),
    reference: Run | Table | None = None,
    propensities: Mapping[Any, Mapping[Any, float]] | Table | None = None,
) -> Evaluation:
    """Every metric for every query.

    run          query -> {document: score}; or [(document, score), ...]; or [document, ...], best first
                 whatever the tie rule. Under ``ties: rank_column`` documents rank in the order in which they are
                 given. Or a table with the columns query_id, doc_id, and score or rank or both.
    qrels        query -> {document: grade}; or {document: {subtopic: grade}}, for metrics of subtopics;
                 or the relevant documents. With no relevant documents a query is judged; with an empty
                 mapping it has no judgments. No query needs any where no metric reads judgments. Or a table with
                 the columns query_id, doc_id, relevance, and perhaps subtopic and propensity.
    metrics      names, or metrics; a preset's meanings are for names
    preset       whose conventions hold unless some are given
    queries      the universe; a mapping if they have weights, or a table with the column query_id and perhaps
                 weight. By default the queries of the judgments
    diagnostics  see `evalcore.scoring.SIDES`
    reference    the run of another system, for metrics that compare with it
    propensities query -> {document: probability that its logged impression was looked at}, for metrics of clicks;
                 by default the column of the judgments

    A table is a mapping of arrays, a DataFrame of pandas, or anything with `__arrow_c_stream__`: of pyarrow,
    polars, DuckDB and others. Nothing but numpy is needed for it. Ids are texts or whole numbers, and a number is the
    same id as its text. Nothing given is changed.
    Raises DataError for what cannot be an id, a score or a grade, for what the conventions refuse, and
    where no query of the run is judged.

    >>> found = evaluate({"q1": {"a": 0.9, "b": 0.1}}, {"q1": {"b": 1}, "q2": {"c": 1}}, "RR,nDCG@10")
    >>> found.statuses, found.per_query()["q1"]["RR"], found.mean()["RR"]
    (('ok', 'unanswered'), 0.5, 0.25)
    """
    asked = _Asked.of(metrics, preset, conventions, diagnostics)
    (found,) = _evaluated([Answers.of(run, "the run")], qrels, asked, queries, reference, propensities)
    return found


def evaluate_runs(
    runs: Mapping[Any, Run | Table] | Table,
    qrels: Qrels | Table,
    metrics: str | Sequence[str | Metric],
    *,
    preset: str = "default",
    conventions: Conventions | None = None,
    queries: Collection[Any] | Mapping[Any, float] | Table | None = None,
    diagnostics: Sequence[Diagnostic] = (),
    reference: Run | Table | None = None,
    propensities: Mapping[Any, Mapping[Any, float]] | Table | None = None,
) -> dict[str, Evaluation]:
    """Every metric for every query of every system: system -> its values, as `evaluate` gives them.

    runs   system -> run, none of which has a column ``system``; or a table with that column

    The judgments are read once.

    >>> runs = {"old": {"q1": ["b", "a"]}, "new": {"q1": ["a", "b"]}}
    >>> {system: found.mean() for system, found in evaluate_runs(runs, {"q1": ["a"]}, "RR").items()}
    {'old': {'RR': 0.5}, 'new': {'RR': 1.0}}
    """
    asked = _Asked.of(metrics, preset, conventions, diagnostics)
    if is_table(runs):
        by_system: dict[str, Any] = dict(runs_of(runs, whose=_run_of))
    else:
        by_system = by_text(runs, "of the runs", each="system")
    answers = [Answers.of(run, _run_of(system)) for system, run in by_system.items()]
    found = _evaluated(answers, qrels, asked, queries, reference, propensities)
    return dict(zip(by_system, found, strict=True))


def _run_of(system: str) -> str:
    return f"the run of {system}" if system else "the run"


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is to be computed, and how."""

    metrics: tuple[Metric, ...]
    conventions: Conventions
    diagnostics: Sequence[Diagnostic]

    @classmethod
    def of(
        cls,
        metrics: str | Sequence[str | Metric],
        preset: str,
        conventions: Conventions | None,
        diagnostics: Sequence[Diagnostic],
    ) -> _Asked:
        """Raises MetricNameError or ConventionError."""
        chosen = preset_of(preset)
        rules = conventions or chosen.conventions
        parts = [metrics] if isinstance(metrics, str) else metrics
        wanted = [
            metric
            for part in parts
            for metric in (parse_list(part, short=chosen.short) if isinstance(part, str) else [part])
        ]
        if not wanted:
            raise MetricNameError("no metric is named; for example: nDCG@10,AP,RR@10")
        twice = [column for column, times in Counter(map(column_name, wanted)).items() if times > 1]
        if twice:
            raise MetricNameError(f"a metric is named twice: {', '.join(twice)}")
        check(wanted, rules, diagnostics)
        return cls(tuple(wanted), rules, diagnostics)

    @property
    def needs(self) -> frozenset[str]:
        return needs_of(self.metrics, self.conventions, self.diagnostics)


def _evaluated(
    answers: Sequence[Answers],
    qrels: Qrels | Table,
    asked: _Asked,
    queries: Collection[Any] | Mapping[Any, float] | Table | None,
    reference: Run | Table | None,
    propensities: Mapping[Any, Mapping[Any, float]] | Table | None,
) -> list[Evaluation]:
    rules = asked.conventions
    judgments, labelled, chances = read_judgments(qrels, propensities, needed="propensities" in asked.needs)
    names = judgments.queries
    unlabelled = not names and not any(metric.FACTS.judgments for metric in asked.metrics)
    if unlabelled:
        names = list(dict.fromkeys(query for run in answers for query in run.queries))
        labelled = dict.fromkeys(names)
    universe, weights = (names, None) if queries is None else read_queries(queries)
    for run in answers:
        _check(rules, run, labelled, universe, weights)

    other = None if reference is None else Answers.of(reference, "the reference run").among(universe)
    listed = [run.among(universe) for run in answers]
    others = [each.of(universe) for each in (judgments, other, chances) if each is not None]
    texts, codes = unified([each.documents for each in (*others, *listed)])
    of_others = iter(zip(others, codes, strict=False))
    judged = Judged.of(*next(of_others), what="grade")
    _check_subtopics(asked.metrics, judged)
    theirs = None if other is None else Ranked.of(*next(of_others), texts, rules)
    looked_at = None if chances is None else Judged.of(*next(of_others), what="propensity")
    unjudged = np.array([query not in labelled for query in universe], dtype=bool)
    known = set(universe)
    found = []
    for run, rows, documents in zip(answers, listed, codes[len(others) :], strict=True):
        ranked = Ranked.of(rows, documents, texts, rules)
        _check_scores(asked.metrics, ranked, run.whose)
        rankings = judged_rankings(ranked, judged, texts, needs=asked.needs, reference=theirs, propensities=looked_at)
        best = float(rankings.judged.values.max(initial=RELEVANT_GRADE))
        columns = score(by_column(asked.metrics), rankings, rules, diagnostics=asked.diagnostics, best_grade=best)
        found.append(
            Evaluation(
                metrics=asked.metrics,
                conventions=rules,
                queries=tuple(universe),
                statuses=_statuses(rankings, unjudged, unlabelled=unlabelled),
                columns={column: _without(values, unjudged) for column, values in columns.items()},
                weights=weights,
                n_outside=len(run.queries) - len(known.intersection(run.queries)),
            )
        )
        _refuse(found[-1])
    return found


def _check(
    conventions: Conventions,
    run: Answers,
    judged: Collection[str],
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
    answered = set(run.queries)
    if not any(query in answered and query in judged for query in universe):
        of_run, of_qrels = (", ".join(islice(each, 3)) or "none" for each in (run.queries, judged))
        raise DataError(f"no query of {run.whose} is judged; run e.g. {of_run}, qrels e.g. {of_qrels}")
    without = [query for query in dict.fromkeys([*universe, *run.queries]) if query not in judged]
    if conventions.unjudged_query == "error" and without:
        raise DataError(f"{len(without)} queries have no judgments, and unjudged_query is error: {few(without)}")


def _check_scores(metrics: Sequence[Metric], ranked: Ranked, whose: str) -> None:
    """Raises DataError for metrics of scores where there are none."""
    unscored = [name(metric) for metric in metrics if "scores" in metric.FACTS.needs and not ranked.scored]
    if unscored:
        raise DataError(f"scores are needed for {', '.join(unscored)}, and {whose} gives documents alone")


def _check_subtopics(metrics: Sequence[Metric], judged: Judged) -> None:
    """Raises DataError for metrics of one grade where a document has a grade for each of several subtopics."""
    of_one_grade = [name(metric) for metric in metrics if takes_one_grade(metric)]
    if of_one_grade and judged.several:
        raise DataError(
            f"documents are judged for several subtopics or groups, and {', '.join(of_one_grade)} would need one grade "
            "for each document"
        )


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


def _statuses(rankings: JudgedRankings, unjudged: BoolArray, *, unlabelled: bool) -> tuple[str, ...]:
    nothing_relevant = (rankings.n_relevant(RELEVANT_GRADE) == 0) & (not unlabelled)
    rules = [unjudged, rankings.retrieved.lengths == 0, nothing_relevant]
    return tuple(np.select(rules, [UNJUDGED, UNANSWERED, NO_RELEVANT], OK).tolist())


def _without(values: FloatArray, rows: BoolArray) -> FloatArray:
    """The same with NaN in these rows."""
    values = values.astype(np.float64)
    values[rows] = np.nan
    return values
