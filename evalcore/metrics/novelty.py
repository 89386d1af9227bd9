"""Gain where a repetition is worth less, when judgments name subtopics: as a share of an ideal.

All count a judgment of at least ``rel`` as relevant and nothing more, and all are undefined for a query
none of whose subtopics has a relevant document; a subtopic without one is not counted among the n.
The document at rank r gains

    g(r) = sum over subtopics that it is relevant to of (1 - alpha) ** relevant documents of that subtopic above r
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from evalcore.arrays import FloatArray
from evalcore.errors import MetricNameError
from evalcore.metrics.base import Facts, check_cutoff, check_grade
from evalcore.metrics.discounts import LOG2, Discount, powers
from evalcore.metrics.gained import no_more_than_one
from evalcore.metrics.subtopics import Weigh, greedy_gains, negligible_rank, novel_gains, relevant
from evalcore.metrics.top_k import ratio
from evalcore.rankings import JudgedRankings

OF_PERFECT = Facts(needs_relevant=True, needs=frozenset({"documents", "subtopics"}), binary=True)
OF_GREEDY = replace(OF_PERFECT, high=math.e / (math.e - 1))
"""The greedy ranking may fall short of the best one, but reaches 1 - 1/e of it: see `AlphaNDCG`."""
BY_RANK = Discount("zipf")


def _check(metric: AlphaDCG | AlphaNDCG | ErrIA | NErrIA | NRBP | NNRBP) -> None:
    """Raises MetricNameError unless all that its name can set is in range."""
    check_cutoff(metric.cutoff)
    check_grade(metric.min_grade)
    for name in ("alpha", "beta"):
        share = getattr(metric, name, 0.0)
        if not 0 <= share <= 1:
            raise MetricNameError(f"{name} is {share!r}; it must be from 0 to 1")


def _by_patience(beta: float) -> Weigh:
    return lambda ranks: powers(beta, int(ranks.max(initial=0)))[ranks - 1]


def _of_perfect(metric: AlphaDCG | ErrIA, rankings: JudgedRankings, weigh: Weigh) -> FloatArray:
    """The gains as a share of those of documents that are all relevant to everything.  (n_rankings,)"""
    above = novel_gains(rankings, metric.alpha, metric.min_grade).total(weigh, metric.cutoff)
    depths = rankings.retrieved.lengths if metric.cutoff is None else np.full(len(rankings), metric.cutoff)
    depths = np.minimum(depths, negligible_rank(metric.alpha)).astype(np.int64)
    deepest = int(depths.max(initial=0))
    perfect = np.zeros(deepest + 1)
    np.cumsum(powers(1 - metric.alpha, deepest) * weigh(np.arange(1, deepest + 1)), out=perfect[1:])
    n_subtopics = relevant(rankings, metric.min_grade).n_subtopics
    value = ratio(above, n_subtopics * perfect[depths], otherwise=0.0)
    value[n_subtopics == 0] = np.nan
    return no_more_than_one(value)


def _of_greedy(metric: AlphaNDCG | NErrIA | NNRBP, rankings: JudgedRankings, weigh: Weigh) -> FloatArray:
    """The gains as a share of those of the greedy ranking.  (n_rankings,)"""
    found = novel_gains(rankings, metric.alpha, metric.min_grade)
    best = greedy_gains(rankings, metric.alpha, metric.min_grade, metric.cutoff)
    return ratio(found.total(weigh, metric.cutoff), best.total(weigh, metric.cutoff), otherwise=np.nan)


@dataclass(frozen=True, slots=True, kw_only=True)
class AlphaDCG:
    """Discounted gain of the ranking with novelty, as a share of what any ranking could have.

        alpha_DCG@c = sum over ranks r <= c of g(r) / log2(r + 1)
                      / (n * sum over ranks r <= c of (1 - alpha)**(r - 1) / log2(r + 1))

    Range 0 to 1: 1 is a ranking whose every document is relevant to all n subtopics, whether or not there
    are such documents. ``alpha`` is the dislike of repetition: at 0 a subtopic counts each time, at 1 once.
    Without a cutoff c is the length of the ranking. g, n and when it is undefined: `evalcore.metrics.novelty`.

    Source: Clarke et al. 2008, doi:10.1145/1390334.1390446; ndeval ``alpha-DCG``, which does not divide at c = 1.

    >>> rankings = JudgedRankings.from_lists(
    ...     retrieved=[[1, 1]], judged=[[1, 1]], documents=[["a", "b"]], subtopics=[[("a", "s", 1), ("b", "t", 1)]])
    >>> AlphaDCG(cutoff=1).per_query(rankings)
    array([0.5])
    """

    FACTS: ClassVar[Facts] = OF_PERFECT
    alpha: float = 0.5
    min_grade: float = 1
    cutoff: int | None = None

    def __post_init__(self) -> None:
        _check(self)

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,), NaN where no subtopic has a relevant document."""
        return _of_perfect(self, rankings, LOG2)


@dataclass(frozen=True, slots=True, kw_only=True)
class AlphaNDCG:
    """Discounted gain of the ranking with novelty, as a share of a best possible ranking's.

        alpha_nDCG@c = sum over ranks r <= c of g(r) / log2(r + 1), over the same of the greedy ranking

    The greedy ranking takes at each rank the judged document that gains most, retrieved or not; of those
    that gain as much the one with the greatest id, as ndeval does. To find the best ranking itself is
    NP-complete: a ranking may be better than the greedy one and have a value above 1. Range 0 to e / (e - 1),
    about 1.58, since greedy choices reach 1 - 1/e of the best. ``alpha`` as in alpha_DCG. g and when it is
    undefined: `evalcore.metrics.novelty`.

    Source: Clarke et al. 2008, doi:10.1145/1390334.1390446; ndeval ``alpha-nDCG``. The bound: Nemhauser,
    Wolsey & Fisher 1978, doi:10.1007/BF01588971.

    >>> rankings = JudgedRankings.from_lists(
    ...     retrieved=[[1, 1, 1]], judged=[[1, 1, 1]], documents=[["a", "b", "c"]],
    ...     subtopics=[[("a", "s", 1), ("b", "s", 1), ("c", "t", 1)]])
    >>> AlphaNDCG(cutoff=2).per_query(rankings).round(4)  # (1 + 0.5 / log2(3)) / (1 + 1 / log2(3))
    array([0.8066])
    """

    FACTS: ClassVar[Facts] = OF_GREEDY
    alpha: float = 0.5
    min_grade: float = 1
    cutoff: int | None = None

    def __post_init__(self) -> None:
        _check(self)

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,), NaN where no subtopic has a relevant document."""
        return _of_greedy(self, rankings, LOG2)


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrIA:
    """Expected reciprocal rank for a user who may mean any subtopic, as a share of what any ranking could have.

        ERR_IA@c = sum over ranks r <= c of g(r) / r / (n * sum over ranks r <= c of (1 - alpha)**(r - 1) / r)

    Range 0 to 1: 1 is a ranking whose every document is relevant to all n subtopics. All subtopics are as
    likely, and a relevant document satisfies a user with probability ``alpha``; grades above ``rel`` do
    not weigh. Without a cutoff c is the length of the ranking. g, n and when it is undefined:
    `evalcore.metrics.novelty`.

    Source: Chapelle et al. 2009, doi:10.1145/1645953.1646033; Clarke et al. 2011,
    doi:10.1145/1935826.1935847; ndeval ``ERR-IA``, which does not divide at c = 1.

    >>> rankings = JudgedRankings.from_lists(
    ...     retrieved=[[0, 1]], judged=[[1]], documents=[["a", "b"]], subtopics=[[("b", "s", 1)]])
    >>> ErrIA(cutoff=2).per_query(rankings)  # (1 / 2) / (1 + 0.5 / 2)
    array([0.4])
    """

    FACTS: ClassVar[Facts] = OF_PERFECT
    alpha: float = 0.5
    min_grade: float = 1
    cutoff: int | None = None

    def __post_init__(self) -> None:
        _check(self)

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,), NaN where no subtopic has a relevant document."""
        return _of_perfect(self, rankings, BY_RANK)


@dataclass(frozen=True, slots=True, kw_only=True)
class NErrIA:
    """ERR_IA as a share of a best possible ranking's.

        nERR_IA@c = sum over ranks r <= c of g(r) / r, over the same of the greedy ranking

    The greedy ranking, and the range of 0 to e / (e - 1), as in alpha_nDCG; the rest as in ERR_IA.

    Source: Clarke et al. 2011, doi:10.1145/1935826.1935847; ndeval ``nERR-IA``.

    >>> rankings = JudgedRankings.from_lists(
    ...     retrieved=[[0, 1]], judged=[[1]], documents=[["a", "b"]], subtopics=[[("b", "s", 1)]])
    >>> NErrIA(cutoff=2).per_query(rankings)
    array([0.5])
    """

    FACTS: ClassVar[Facts] = OF_GREEDY
    alpha: float = 0.5
    min_grade: float = 1
    cutoff: int | None = None

    def __post_init__(self) -> None:
        _check(self)

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,), NaN where no subtopic has a relevant document."""
        return _of_greedy(self, rankings, BY_RANK)


@dataclass(frozen=True, slots=True, kw_only=True)
class NRBP:
    """Rank-biased precision with novelty: what a user of some patience gains who may mean any subtopic.

        NRBP = (1 - (1 - alpha) * beta) / n * sum over ranks r of beta**(r - 1) * g(r)

    Range 0 to 1: 1 is an endless ranking whose every document is relevant to all n subtopics. ``beta`` is
    the probability of going on to the next document, ``alpha`` as in alpha_DCG. With alpha=0 and beta=1 both
    it is 0. g, n and when it is undefined: `evalcore.metrics.novelty`.

    Source: Clarke, Kolla & Vechtomova 2009, doi:10.1007/978-3-642-04417-5_17; ndeval ``NRBP``.

    >>> rankings = JudgedRankings.from_lists(
    ...     retrieved=[[0, 1]], judged=[[1]], documents=[["a", "b"]], subtopics=[[("b", "s", 1)]])
    >>> NRBP().per_query(rankings)
    array([0.375])
    """

    FACTS: ClassVar[Facts] = OF_PERFECT
    alpha: float = 0.5
    beta: float = 0.5
    min_grade: float = 1
    cutoff: ClassVar[None] = None

    def __post_init__(self) -> None:
        _check(self)

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,), NaN where no subtopic has a relevant document."""
        total = novel_gains(rankings, self.alpha, self.min_grade).total(_by_patience(self.beta), None)
        n_subtopics = relevant(rankings, self.min_grade).n_subtopics
        return no_more_than_one(ratio((1 - (1 - self.alpha) * self.beta) * total, n_subtopics, otherwise=np.nan))


@dataclass(frozen=True, slots=True, kw_only=True)
class NNRBP:
    """NRBP as a share of a best possible ranking's.

        nNRBP = NRBP / NRBP of the greedy ranking

    The greedy ranking, and the range of 0 to e / (e - 1), as in alpha_nDCG; the rest as in NRBP.

    Source: Clarke, Kolla & Vechtomova 2009, doi:10.1007/978-3-642-04417-5_17; ndeval ``nNRBP``.

    >>> rankings = JudgedRankings.from_lists(
    ...     retrieved=[[0, 1]], judged=[[1]], documents=[["a", "b"]], subtopics=[[("b", "s", 1)]])
    >>> NNRBP().per_query(rankings)
    array([0.5])
    """

    FACTS: ClassVar[Facts] = OF_GREEDY
    alpha: float = 0.5
    beta: float = 0.5
    min_grade: float = 1
    cutoff: ClassVar[None] = None

    def __post_init__(self) -> None:
        _check(self)

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,), NaN where no subtopic has a relevant document."""
        return _of_greedy(self, rankings, _by_patience(self.beta))
