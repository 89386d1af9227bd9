"""The choices that change a number and belong to no single metric, and named sets of them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cache
from typing import Any, Literal, get_args, get_type_hints

from evalcore.errors import ConventionError, unknown

Ties = Literal[
    "doc_id_desc",
    "doc_id_asc",
    "rank_column",
    "input_order",
    "average",
    "average_rank",
    "optimistic",
    "pessimistic",
    "random",
]
ScorePrecision = Literal["float64", "float32"]
Unanswered = Literal["zero", "skip", "error"]
UnjudgedQuery = Literal["skip", "error"]
NoRelevant = Literal["zero", "skip", "one", "error"]
Unjudged = Literal["not_relevant", "removed"]
NegativeGrade = Literal["not_relevant", "removed", "error"]
Duplicates = Literal["error", "first", "best_score", "last", "counted"]
NonFiniteScore = Literal["error", "last"]
Mean = Literal["queries", "weighted", "geometric", "median", "sum", "units"]

TIES_BY_SCORE = ("average", "average_rank", "optimistic", "pessimistic")
"""Tie rules that look at which documents are tied, and so need the scores."""
GEOMETRIC_FLOOR = 1e-5
"""What a value of less counts as in a geometric mean, so that one query of 0 does not make it 0 (trec_eval gm_map)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conventions:
    """How everything is treated that a metric's name leaves open.

    ties              which of two documents with the same score ranks first. ``doc_id_desc`` is
                      trec_eval's rule (ids compared as UTF-8 bytes); ``rank_column`` ignores scores and
                      follows the run's rank column; ``input_order`` keeps the order of the file;
                      ``random`` is an order that depends on query and document alone; ``optimistic`` and
                      ``pessimistic`` put the best or the worst grade first. ``average`` is the mean of
                      the metric over all orders of the tied documents; under ``average_rank`` tied
                      documents share the mean of their ranks.
    score_precision   ``float32`` makes scores equal that agree to about 7 digits, as trec_eval 9 does, for the order
                      and for metrics that read scores.
    unanswered        a judged query for which a system returned nothing: ``zero`` gives it each metric's
                      value for an empty ranking, ``skip`` leaves it out of that system's estimates.
    unjudged_query    a query of the universe without any judgment: ``skip`` counts it and leaves it out.
    no_relevant       a metric that is undefined because no judged document is relevant.
    unjudged          a returned document without a judgment: ``removed`` takes it out of the ranking
                      (a condensed list, trec_eval -J).
    negative_grade    a grade below 0: ``not_relevant`` gains 0; ``removed`` takes the document out of
                      ranking and judgments. Levels of preferences are no grades, and stay.
    duplicates        a document that a system returned twice for a query: keep the ``first`` or the
                      ``last`` in input order, the one with the ``best_score``, or refuse; a copy below the
                      depth goes unnoticed. ``counted`` keeps
                      all copies and counts each, as MLlib does: values above a metric's range come of it.
    non_finite_score  NaN or infinite: refuse, or rank it ``last``.
    depth             ranks kept of each ranking. ``auto`` is the deepest cutoff if every metric has one
                      and no document is removed, else all: it changes no value. Under a tie rule that
                      looks at scores a group of tied documents that the depth cuts through is kept whole.
    mean              how values of queries become one number. ``queries``: each counts once; ``weighted``: by
                      the weight column of the queries; ``geometric``, with values below 1e-5 raised to it;
                      ``median``; ``sum``; ``units``: the mean of each unit first, then each unit once, so that users
                      or data sets count the same whatever queries they have.
                      A metric with a mean of its own (counts, ratios, geometric means) keeps it.
    rounding          decimals of the values of queries, as tools that print and read them again have it;
                      ``none`` rounds nothing.

    Raises ConventionError for a value that is not listed.

    >>> Conventions(ties="doc_id_asc").ties
    'doc_id_asc'
    """

    ties: Ties = "doc_id_desc"
    score_precision: ScorePrecision = "float64"
    unanswered: Unanswered = "zero"
    unjudged_query: UnjudgedQuery = "skip"
    no_relevant: NoRelevant = "zero"
    unjudged: Unjudged = "not_relevant"
    negative_grade: NegativeGrade = "not_relevant"
    duplicates: Duplicates = "error"
    non_finite_score: NonFiniteScore = "error"
    depth: int | Literal["auto"] = "auto"
    mean: Mean = "queries"
    rounding: int | Literal["none"] = "none"

    def __post_init__(self) -> None:
        hints = _types()
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name == "depth":
                if value != "auto" and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
                    raise ConventionError(f'depth is {value!r}; it must be "auto" or a whole number from 1')
            elif field.name == "rounding":
                if value != "none" and (isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= 15):
                    raise ConventionError(f'rounding is {value!r}; it must be "none" or decimals from 0 to 15')
            elif value not in get_args(hints[field.name]):
                raise ConventionError(unknown(f"value of {field.name}", str(value), get_args(hints[field.name])))

    @property
    def fill(self) -> float | None:
        """What a value counts as that is undefined for want of a relevant document; None if it does not count."""
        return {"zero": 0.0, "one": 1.0}.get(self.no_relevant)

    @property
    def removes_documents(self) -> bool:
        """Whether documents leave a ranking after it is ordered, so that ranks shift."""
        return self.unjudged == "removed" or self.negative_grade == "removed"


@cache
def _types() -> dict[str, Any]:
    """The type of each convention: reading them takes longer than checking a value."""
    return get_type_hints(Conventions)
