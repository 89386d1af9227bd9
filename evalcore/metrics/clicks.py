"""What a ranking would have earned in clicks, from the clicks that another ranking was given.

Grades are clicks of a log: a document with a grade of at least ``rel`` was clicked. Under a position-based
model a click needs a look, and a document was looked at with the probability `propensities` gives it, whatever
it is; so a click on a document that is seldom looked at stands for many. The weight of a click is

    w = min(1 / propensity, clip)

A clicked document whose propensity is missing, or not above 0 and up to 1, is refused: all raise DataError.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

import numpy as np

from evalcore.arrays import BoolArray, FloatArray
from evalcore.errors import DataError, MetricNameError
from evalcore.metrics.base import UNBOUNDED, Facts, check_cutoff, check_grade
from evalcore.metrics.discounts import LOG2, Discount
from evalcore.metrics.numbers import number
from evalcore.metrics.top_k import ratio
from evalcore.rankings import Hits, JudgedRankings
from evalcore.segments import segment_sum

Clip: TypeAlias = float | Literal["none"]
NEEDS = frozenset({"propensities"})


def read_clip(text: str) -> Clip:
    """The clip of this text.  Raises MetricNameError."""
    return "none" if text == "none" else number(text)


def _check(metric: IPS | SNIPS | ClickWeights) -> None:
    check_cutoff(metric.cutoff)
    check_grade(metric.min_grade)
    if metric.clip != "none" and not 1 <= metric.clip < math.inf:
        raise MetricNameError(f'clip is {metric.clip!r}; it must be a number from 1, or "none"')


def _check_discount(metric: IPS | SNIPS) -> None:
    if not isinstance(metric.discount, Discount):
        raise MetricNameError(f"discount is {metric.discount!r}; write Discount.parse(...)")


def _inverse(propensities: FloatArray, clicked: BoolArray) -> FloatArray:
    """One over the propensity of each click.  (n_clicks,)  Raises DataError."""
    found = propensities[clicked]
    wrong = ~((found > 0) & (found <= 1))
    if wrong.any():
        raise DataError(
            f"{int(wrong.sum())} clicked documents have no propensity above 0 and up to 1;"
            f" that of the first is {found[wrong.argmax()]}"
        )
    return 1 / found


def _clipped(inverse: FloatArray, clip: Clip) -> FloatArray:
    return inverse if clip == "none" else np.minimum(inverse, clip)


def _clicks_found(metric: IPS | SNIPS | ClickWeights, rankings: JudgedRankings) -> tuple[Hits, FloatArray]:
    """The clicked documents of each ranking, and one over their propensities."""
    clicked = rankings.retrieved.values >= metric.min_grade
    propensities = rankings.need("propensities")
    inverse = rankings.once(("inverse propensities", metric.min_grade), lambda: _inverse(propensities, clicked))
    return rankings.relevant(metric.min_grade), inverse


def _earned(metric: IPS | SNIPS, rankings: JudgedRankings) -> FloatArray:
    """Sum of weight times discount over the clicks up to the cutoff.  (n_rankings,)"""
    hits, inverse = _clicks_found(metric, rankings)
    worth = _clipped(inverse, metric.clip) * metric.discount(hits.ranks)
    starts = hits.offsets[:-1]
    return segment_sum(worth, starts, starts + rankings.n_hits(metric.min_grade, metric.cutoff))


@dataclass(frozen=True, slots=True, kw_only=True)
class IPS:
    """Inverse propensity scoring: the DCG or the precision that looks at every document would have shown.

        IPS@c = sum over clicked documents at ranks r <= c of w * discount(r)

    Range from 0. With discount=log2 its mean estimates that of DCG with a gain of 1 for each document that
    would be clicked if looked at; with discount=none and divided by c, that of P@c. Without bias if the
    propensities are right, all above 0, and ``clip`` is none; a clip lowers variance and value. A grade
    above ``rel`` counts as one click. Defined for every query. Clicks, w: `evalcore.metrics.clicks`.

    Source: Joachims, Swaminathan & Schnabel 2017, doi:10.1145/3018661.3018699.

    >>> clicks = JudgedRankings.from_lists(
    ...     retrieved=[[1, 0, 1]], judged=[[1, 1, 0]], propensities=[[0.5, 1, 0.25]],
    ...     judged_propensities=[[0.5, 0.25, 1]])
    >>> IPS().per_query(clicks)  # 2 * 1 + 4 / 2
    array([4.])
    """

    FACTS: ClassVar[Facts] = Facts(high=UNBOUNDED, needs=NEEDS, linear=True, binary=True, shared_ranks=True)
    discount: Discount = LOG2
    clip: Clip = "none"
    min_grade: float = 1
    cutoff: int | None = None

    def __post_init__(self) -> None:
        _check(self)
        _check_discount(self)

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,)."""
        return _earned(self, rankings)


@dataclass(frozen=True, slots=True, kw_only=True)
class SNIPS:
    """Self-normalised IPS: what a ranking earns as a share of the weight of all clicks.

        SNIPS@c = IPS@c / sum over clicked judged documents of w, retrieved or not

    Range from 0; to 1 with discount=log2 or none. Over queries it is the ratio of the sums, and not the mean
    of the ratios. A little biased, and of less variance than IPS, where the sum below varies much. Undefined
    for a query without a click. Clicks, w: `evalcore.metrics.clicks`.

    Source: Swaminathan & Joachims 2015, The self-normalized estimator for counterfactual learning, NeurIPS 28.

    >>> clicks = JudgedRankings.from_lists(
    ...     retrieved=[[1, 0]], judged=[[1, 1, 0]], propensities=[[0.5, 1]], judged_propensities=[[0.5, 0.25, 1]])
    >>> SNIPS().per_query(clicks).round(4)  # 2 / (2 + 4)
    array([0.3333])
    """

    FACTS: ClassVar[Facts] = Facts(
        high=UNBOUNDED, statistic="ratio", needs_relevant=True, needs=NEEDS, linear=True, binary=True, shared_ranks=True
    )
    discount: Discount = LOG2
    clip: Clip = "none"
    min_grade: float = 1
    cutoff: int | None = None

    def __post_init__(self) -> None:
        _check(self)
        _check_discount(self)

    def parts(self, rankings: JudgedRankings) -> tuple[FloatArray, FloatArray]:
        """What the ranking earns, and the weight of all clicks.  (n_rankings,) each"""
        judged = rankings.judged
        clicked = judged.values >= self.min_grade
        inverse = _inverse(rankings.need("judged_propensities"), clicked)
        offsets = Hits.among(judged, clicked).offsets
        return _earned(self, rankings), segment_sum(_clipped(inverse, self.clip), offsets[:-1], offsets[1:])

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,), NaN where nothing was clicked."""
        above, below = self.parts(rankings)
        return ratio(above, below, otherwise=np.nan)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClickWeights:
    """How much of an estimate from clicks hangs on few of them: sums of the weights that IPS adds.

        weights    sum of w over the clicked documents at ranks r <= c
        squares    sum of w**2
        clicks     how many they are
        clipped    how many of them have 1 / propensity above clip

    Range from 0; summed over queries. `effective_sample_size` of the first two is the number of clicks with
    equal weights that would tell as much; clipped / clicks is the share that the clip biases. Defined for
    every query. Clicks, w: `evalcore.metrics.clicks`.

    Source: Kish 1965, Survey sampling (effective sample size).

    >>> clicks = JudgedRankings.from_lists(
    ...     retrieved=[[1, 0, 1]], judged=[[1, 1, 0]], propensities=[[0.5, 1, 0.25]],
    ...     judged_propensities=[[0.5, 0.25, 1]])
    >>> ClickWeights(clip=3).per_query(clicks)
    array([[ 5., 13.,  2.,  1.]])
    """

    FACTS: ClassVar[Facts] = Facts(
        high=UNBOUNDED, statistic="sum", higher_is_better=None, needs=NEEDS, linear=True, binary=True, shared_ranks=True
    )
    elements: ClassVar[tuple[str, ...]] = ("weights", "squares", "clicks", "clipped")
    clip: Clip = "none"
    min_grade: float = 1
    cutoff: int | None = None

    def __post_init__(self) -> None:
        _check(self)

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings, 4)."""
        hits, inverse = _clicks_found(self, rankings)
        weights = _clipped(inverse, self.clip)
        starts = hits.offsets[:-1]
        stops = starts + rankings.n_hits(self.min_grade, self.cutoff)
        columns = (weights, weights**2, np.ones(len(weights)), (weights < inverse).astype(np.float64))
        return np.column_stack([segment_sum(column, starts, stops) for column in columns])


def effective_sample_size(weights: float, squares: float) -> float:
    """The number of equal weights that tell as much as weights of this sum and sum of squares; NaN for none.

        sum(w)**2 / sum(w**2)

    >>> effective_sample_size(2 + 4, 2**2 + 4**2)
    1.8
    """
    return weights**2 / squares if squares > 0 else math.nan
