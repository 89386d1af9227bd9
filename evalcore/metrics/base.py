"""What every metric is, and how a class says what is true of all its instances."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral
from typing import ClassVar, Literal, Protocol, runtime_checkable

from evalcore.arrays import FloatArray
from evalcore.conventions import GEOMETRIC_FLOOR
from evalcore.errors import MetricNameError
from evalcore.rankings import JudgedRankings


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is true of a metric whatever its parameters.

    low, high          range of a query's value; high may be infinite
    statistic          how queries combine: ``mean``, or ``sum`` for counts
    needs_relevant     undefined (NaN) exactly where the judgments hold nothing that counts: no relevant
                       document, or for nDCG none that gains
    empty              value for a ranking that holds nothing: NaN if undefined, None if the judgments decide
    higher_is_better   which direction is an improvement; None where neither is
    needs              what it reads beside grades, by the fields of JudgedRankings: "scores", "documents",
                       "propensities", "subtopics", "preferences", "reference"
    linear             a sum of what each document contributes at its rank, over a norm that the ranking
                       does not change
    monotone           exchanging two neighbours so that the higher grade stands first never makes it worse
    binary             tells relevant from not relevant and no more: grades above the bar are alike
    judgments          whether it reads judgments at all
    order_free         the same for every order of the documents it is given
    shared_ranks       has a value within its range where tied documents share the mean of their ranks; it reads
                       ranks through `JudgedRankings.hits` alone

    Documents that are tied count together where they share a rank: two of them at rank 1.5 are both within the first
    two, so a share of the first ranks, such as P, has no value then.

    A metric that is a ratio of sums over queries has statistic ``ratio`` and a method `parts`; one with
    statistic ``geometric`` has values above 0, whose logarithms are averaged.
    """

    high: float = 1.0
    low: float = 0.0
    statistic: Literal["mean", "sum", "ratio", "geometric"] = "mean"
    needs_relevant: bool = False
    empty: float | None = 0.0
    higher_is_better: bool | None = True
    needs: frozenset[str] = frozenset()
    linear: bool = False
    monotone: bool = False
    binary: bool = False
    judgments: bool = True
    order_free: bool = False
    shared_ranks: bool = False

    @property
    def undefined_by_system(self) -> bool:
        """Whether a value can be undefined for one system and not for another of the same query."""
        return "reference" in self.needs if self.empty is None else math.isnan(self.empty)


class Metric(Protocol):
    """A value for each ranking.  Metrics are frozen dataclasses: equal if their parameters are."""

    FACTS: ClassVar[Facts]

    @property
    def cutoff(self) -> int | None:
        """Deepest rank counted; None counts all."""

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,), NaN where undefined; of a metric that `HasElements`, (n_rankings, n_elements)."""


@runtime_checkable
class HasExpectation(Protocol):
    """A metric with a closed form of its mean over all orders of tied documents."""

    def expected(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,), NaN where undefined; reads ``rankings.tie_runs``."""


@runtime_checkable
class HasBounds(Protocol):
    """A metric that knows how far unjudged documents could move it."""

    def bounds(self, rankings: JudgedRankings, *, best_grade: float) -> tuple[FloatArray, FloatArray]:
        """The least and the greatest value, (n_rankings,) each.

        Over all grades from 0 to best_grade that the unjudged documents of the ranking could turn out to have.
        """


@runtime_checkable
class HasParts(Protocol):
    """A ratio of sums over queries: its estimate is the sum of what is above over the sum of what is below."""

    def parts(self, rankings: JudgedRankings) -> tuple[FloatArray, FloatArray]:
        """What each query adds above and below, (n_rankings,) each; `per_query` is their quotient."""


@runtime_checkable
class HasElements(Protocol):
    """A metric whose value is a vector."""

    @property
    def elements(self) -> tuple[str, ...]:
        """What each element is called."""


UNBOUNDED = math.inf


def floor_of(metric: Metric) -> float:
    """What a value of less counts as in a geometric mean: the metric's own floor, if it has one."""
    return float(getattr(metric, "floor", GEOMETRIC_FLOOR))


DEEPEST_CUTOFF = 2**31 - 1


def check_cutoff(cutoff: int | None) -> None:
    """Raises MetricNameError unless the cutoff is None or a whole number from 1 to 2**31 - 1."""
    if cutoff is None:
        return
    whole = isinstance(cutoff, Integral) and not isinstance(cutoff, bool)
    if not whole or not 1 <= cutoff <= DEEPEST_CUTOFF:
        raise MetricNameError(f"cutoff is {cutoff!r}; it must be a whole number from 1")


def check_grade(min_grade: float) -> None:
    """Raises MetricNameError unless the lowest relevant grade is a finite number."""
    if not math.isfinite(min_grade):
        raise MetricNameError(f"rel is {min_grade!r}; it must be a finite number")
