"""The choices that change a number and belong to no single metric, and named sets of them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal, get_args, get_type_hints

from evalcore.errors import ConventionError, unknown

Ties = Literal["doc_id_desc", "doc_id_asc", "rank_column", "input_order"]
ScorePrecision = Literal["float64", "float32"]
Unanswered = Literal["zero", "skip", "error"]
UnjudgedQuery = Literal["skip", "error"]
NoRelevant = Literal["zero", "skip", "one", "error"]
Unjudged = Literal["not_relevant", "removed"]
NegativeGrade = Literal["not_relevant", "removed", "error"]
Duplicates = Literal["error", "first", "best_score", "last"]
NonFiniteScore = Literal["error", "last"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Conventions:
    """How everything is treated that a metric's name leaves open.

    ties              which of two documents with the same score ranks first. ``doc_id_desc`` is
                      trec_eval's rule (ids compared as UTF-8 bytes); ``rank_column`` ignores scores and
                      follows the run's rank column; ``input_order`` keeps the order of the file.
    score_precision   ``float32`` makes scores equal that agree to about 7 digits, as trec_eval 9 does.
    unanswered        a judged query for which a system returned nothing: ``zero`` gives it each metric's
                      value for an empty ranking, ``skip`` leaves it out of that system's estimates.
    unjudged_query    a query of the universe without any judgment: ``skip`` counts it and leaves it out.
    no_relevant       a metric that is undefined because no judged document is relevant.
    unjudged          a returned document without a judgment: ``removed`` takes it out of the ranking
                      (a condensed list, trec_eval -J).
    negative_grade    a grade below 0: ``not_relevant`` gains 0; ``removed`` takes the document out of
                      ranking and judgments.
    duplicates        a document that a system returned twice for a query: keep the ``first`` or the
                      ``last`` in input order, the one with the ``best_score``, or refuse.
    non_finite_score  NaN or infinite: refuse, or rank it ``last``.
    depth             ranks kept of each ranking. ``auto`` is the deepest cutoff if every metric has one
                      and no document is removed, else all: it changes no value.

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

    def __post_init__(self) -> None:
        hints = get_type_hints(type(self))
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name == "depth":
                if value != "auto" and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
                    raise ConventionError(f'depth is {value!r}; it must be "auto" or a whole number from 1')
            elif value not in get_args(hints[field.name]):
                raise ConventionError(unknown(f"value of {field.name}", str(value), get_args(hints[field.name])))

    @property
    def removes_documents(self) -> bool:
        """Whether documents leave a ranking after it is ordered, so that ranks shift."""
        return self.unjudged == "removed" or self.negative_grade == "removed"


PRESETS: dict[str, Conventions] = {
    "default": Conventions(),
    # trec_eval 9.0.8 without flags: 32-bit scores, means over the queries that the run answered
    "trec_eval": Conventions(score_precision="float32", unanswered="skip"),
}


def preset(name: str) -> Conventions:
    """The named set of conventions.  Raises ConventionError with the known names."""
    if name not in PRESETS:
        raise ConventionError(unknown("preset", name, PRESETS))
    return PRESETS[name]
