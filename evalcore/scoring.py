"""Metrics under conventions, and the sanity checks that stand beside a value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal, TypeAlias

import numpy as np

from evalcore.arrays import FloatArray
from evalcore.conventions import TIES_BY_SCORE, Conventions
from evalcore.errors import ConventionError, unknown
from evalcore.metrics.base import HasBounds, HasElements, HasExpectation, HasParts, Metric
from evalcore.metrics.names import column_name, name
from evalcore.ordering import order_by_grade, settled, tie_runs
from evalcore.rankings import JudgedRankings

Diagnostic: TypeAlias = Literal["ties", "unjudged", "random", "oracle"]
SIDES: dict[str, tuple[str, ...]] = {
    "ties": ("ties_low", "ties_high"),
    "unjudged": ("unjudged_low", "unjudged_high"),
    "random": ("random",),
    "oracle": ("oracle",),
}
"""The columns of each diagnostic, after the name of the metric's column."""
MEANINGS: dict[str, str] = {
    "ties": "the least and the greatest value over the orders of tied documents",
    "unjudged": "the least and the greatest value over the grades that unjudged documents could have",
    "random": "the mean over all orders of the returned documents",
    "oracle": "the value of the best ranking of all judged documents",
}
"""What the columns of each diagnostic tell."""


def check(metrics: Sequence[Metric], conventions: Conventions, diagnostics: Sequence[Diagnostic] = ()) -> None:
    """Whether all this can be had together.

    Raises ConventionError for a diagnostic that does not exist, for a metric that has no value under the tie rule,
    and where a depth would cut ties that are to be looked at whole.
    """
    for diagnostic in diagnostics:
        if diagnostic not in SIDES:
            raise ConventionError(unknown("diagnostic", diagnostic, SIDES))
    ties = conventions.ties
    if conventions.depth != "auto" and (ties == "average" or "ties" in diagnostics):
        what = "ties: average" if ties == "average" else "the diagnostic of ties"
        raise ConventionError(f"{what} looks at all tied documents; use depth: auto with it")
    without = [name(metric) for metric in metrics if not has_value(metric, ties)]
    if without:
        why = {
            "average": "no closed form of the mean over orders is known",
            "average_rank": "it counts in whole ranks, or reads the order",
            "optimistic": "it compares with a ranking whose ties are settled otherwise",
            "pessimistic": "it compares with a ranking whose ties are settled otherwise",
        }
        raise ConventionError(
            f"ties: {ties} is not defined for {', '.join(without)}: {why[ties]}; use another tie rule"
        )


def has_value(metric: Metric, ties: str) -> bool:
    """Whether the metric has a value under the tie rule."""
    if metric.FACTS.order_free:
        return True
    if ties == "average":
        return isinstance(metric, HasExpectation)
    if ties in ("optimistic", "pessimistic"):
        return "reference" not in metric.FACTS.needs
    return ties != "average_rank" or metric.FACTS.shared_ranks


def values(metric: Metric, rankings: JudgedRankings, conventions: Conventions) -> FloatArray:
    """The metric under the tie rule.  (n_rankings,), or (n_rankings, n_elements); NaN where undefined

    The rankings are those of `prepared`, and `check` has passed; nothing is rounded.
    """
    if conventions.ties == "average" and isinstance(metric, HasExpectation):
        return metric.expected(rankings)
    return metric.per_query(rankings)


def _rounded(values: FloatArray, decimals: int) -> FloatArray:
    """As printing and reading rounds: of the exact binary value.  np.round rounds a product with a power of ten."""
    return np.array([round(value, decimals) for value in values.ravel().tolist()]).reshape(values.shape)


def prepared(rankings: JudgedRankings, conventions: Conventions) -> JudgedRankings:
    """Rankings as metrics are to see them: documents removed, ties settled, an explicit depth kept."""
    if conventions.score_precision == "float32" and rankings.scores is not None:
        with np.errstate(over="ignore"):  # what is beyond 32 bits is infinite, and ties with what else is
            scores = rankings.scores.astype(np.float32).astype(np.float64)
        rankings = replace(rankings, scores=scores, _cache={})
    found = settled(rankings.under(conventions), conventions)
    if conventions.ties in ("optimistic", "pessimistic") and conventions.depth != "auto":
        return found.cut(conventions.depth)
    return found


def score(
    metrics: Mapping[str, Metric],
    rankings: JudgedRankings,
    conventions: Conventions,
    *,
    diagnostics: Sequence[Diagnostic] = (),
    best_grade: float = 1.0,
) -> dict[str, FloatArray]:
    """Every column of a score table, by its name.  (n_rankings,) each, (n_rankings, n_elements) of vectors

    metrics       by the name of their column: see `by_column`
    diagnostics   which columns of `SIDES` to add, for the metrics that can have them
    best_grade    the best grade that a document can have, for ``unjudged``

    Raises ConventionError as `check` does.
    """
    check(list(metrics.values()), conventions, diagnostics)
    ready = prepared(rankings, conventions)
    columns: dict[str, FloatArray] = {}
    for column, metric in metrics.items():
        # the reference keeps the documents that are removed here for want of a judgment
        seen = rankings if "reference" in metric.FACTS.needs else ready
        columns[column] = values(metric, seen, conventions)
        if isinstance(metric, HasParts):
            columns[f"{column}_above"], columns[f"{column}_below"] = metric.parts(ready)
    for diagnostic in diagnostics:
        columns |= _diagnosed(diagnostic, metrics, rankings, conventions, best_grade)
    if conventions.rounding == "none":
        return columns
    return {column: _rounded(found, conventions.rounding) for column, found in columns.items()}


def by_column(metrics: Sequence[Metric]) -> dict[str, Metric]:
    """Metrics by the name of their column."""
    return {column_name(metric): metric for metric in metrics}


def columns_of(metrics: Sequence[Metric], diagnostics: Sequence[Diagnostic] = ()) -> dict[str, bool]:
    """The columns that `score` returns, in its order, and whether each is a vector.

    >>> from evalcore.metrics import parse_list
    >>> list(columns_of(parse_list("RR@10,NumRet"), ["oracle"]))
    ['rr_at_10', 'numret', 'rr_at_10_oracle']
    """
    columns: dict[str, bool] = {}
    for metric in metrics:
        columns[column_name(metric)] = isinstance(metric, HasElements)
        if isinstance(metric, HasParts):
            columns |= {f"{column_name(metric)}_{part}": False for part in ("above", "below")}
    for diagnostic in diagnostics:
        for metric in metrics:
            if can_have(metric, diagnostic):
                columns |= {f"{column_name(metric)}_{side}": False for side in SIDES[diagnostic]}
    return columns


def can_have(metric: Metric, diagnostic: Diagnostic) -> bool:
    """Whether the diagnostic says anything of the metric."""
    if isinstance(metric, HasElements):
        return False
    table = getattr(getattr(metric, "gain", None), "table", ())
    bar = getattr(metric, "min_grade", None)
    by_grade = metric.FACTS.monotone and not table and getattr(metric, "denominator", "") != "hits"
    by_grade = by_grade and (bar is None or bar > 0)  # a higher grade is better, and unjudged is worst
    match diagnostic:
        case "ties":
            return by_grade and not metric.FACTS.order_free
        case "unjudged":
            return isinstance(metric, HasBounds)
        case "random":
            return isinstance(metric, HasExpectation) and not metric.FACTS.order_free
        case "oracle":
            return by_grade and not metric.FACTS.needs


def takes_one_grade(metric: Metric) -> bool:
    """Whether the metric has no value where a document has a grade for each of several subtopics or groups."""
    return metric.FACTS.judgments and not metric.FACTS.needs & {"subtopics", "preferences"}


def deepest_rank(metric: Metric) -> int | None:
    """The deepest rank that can change the value: the cutoff, except for an ideal that is made of all retrieved."""
    if getattr(metric, "ideal", None) == "retrieved":
        return None
    inner: Metric | None = getattr(metric, "of", None)
    return metric.cutoff if inner is None else deepest_rank(inner)


def needs_of(
    metrics: Sequence[Metric], conventions: Conventions, diagnostics: Sequence[Diagnostic] = ()
) -> frozenset[str]:
    """What has to be gathered beside grades: fields of JudgedRankings."""
    needs = frozenset().union(*(metric.FACTS.needs for metric in metrics))
    if needs & {"subtopics", "preferences", "reference"}:
        needs |= {"documents"}
    if conventions.ties in TIES_BY_SCORE or "ties" in diagnostics:
        needs |= {"scores"}
    return needs


def _diagnosed(
    diagnostic: Diagnostic,
    asked: Mapping[str, Metric],
    rankings: JudgedRankings,
    conventions: Conventions,
    best_grade: float,
) -> dict[str, FloatArray]:
    named = {column: metric for column, metric in asked.items() if can_have(metric, diagnostic)}
    metrics = list(named.values())
    if not metrics:
        return {}
    sides: list[tuple[FloatArray, ...]] = []
    if diagnostic == "unjudged":
        ready = prepared(rankings, conventions)
        sides = [metric.bounds(ready, best_grade=best_grade) for metric in metrics if isinstance(metric, HasBounds)]
    elif diagnostic == "ties":
        kept = rankings.under(conventions)
        runs = tie_runs(kept.need("scores"), kept.retrieved.offsets, conventions)
        tied = replace(kept, tie_runs=runs, _cache={})
        worst, best = (tied.reordered(order_by_grade(tied, best_first=best_first)) for best_first in (False, True))
        for metric in metrics:
            ends = metric.per_query(worst), metric.per_query(best)
            sides.append((np.fmin(*ends), np.fmax(*ends)))
    elif diagnostic == "random":
        kept = rankings.under(conventions)
        one_run = replace(kept, tie_runs=np.unique(kept.retrieved.offsets), _cache={})
        sides = [(metric.expected(one_run),) for metric in metrics if isinstance(metric, HasExpectation)]
    else:
        judged = rankings.under(conventions).judged
        best = JudgedRankings(retrieved=judged, judged=judged)
        sides = [(metric.per_query(best),) for metric in metrics]
    return {
        f"{column}_{side}": found
        for column, ends in zip(named, sides, strict=True)
        for side, found in zip(SIDES[diagnostic], ends, strict=True)
    }
