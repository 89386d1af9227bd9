"""How much of what a query may mean is covered, and how soon, when judgments name subtopics.

All count a judgment of at least ``rel`` as relevant and nothing more, and all are undefined for a query
none of whose subtopics has a relevant document; a subtopic without one is not counted among the n.

Where a document that repeats what stands above is worth less, the document at rank r gains

    g(r) = sum over subtopics that it is relevant to of (1 - alpha) ** relevant documents of that subtopic above r
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from evalcore.arrays import FloatArray, IntArray
from evalcore.errors import MetricNameError
from evalcore.metrics.base import Facts, check_cutoff, check_grade
from evalcore.metrics.discounts import LOG2, powers
from evalcore.metrics.gained import no_more_than_one
from evalcore.metrics.subtopics import Weigh, greedy_gains, negligible_rank, novel_gains, relevant
from evalcore.metrics.top_k import ratio
from evalcore.rankings import JudgedRankings

NEEDS = frozenset({"documents", "subtopics"})
SHARE = Facts(needs_relevant=True, needs=NEEDS, binary=True)
OF_GREEDY = Facts(high=math.e / (math.e - 1), needs_relevant=True, needs=NEEDS, binary=True)
"""The greedy ranking may fall short of the best one, but reaches 1 - 1/e of it: see `AlphaNDCG`."""


def check_share(name: str, value: float) -> None:
    """Raises MetricNameError unless it is from 0 to 1."""
    if not 0 <= value <= 1:
        raise MetricNameError(f"{name} is {value!r}; it must be from 0 to 1")


def _by_log(ranks: IntArray) -> FloatArray:
    return LOG2(ranks)


def _by_rank(ranks: IntArray) -> FloatArray:
    return 1 / ranks


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
    Without a cutoff c is the length of the ranking. g, n and when it is undefined: `evalcore.metrics.diversity`.

    Source: Clarke et al. 2008, doi:10.1145/1390334.1390446; ndeval ``alpha-DCG``, which does not divide at c = 1.

    >>> rankings = JudgedRankings.from_lists(
    ...     retrieved=[[1, 1]], judged=[[1, 1]], documents=[["a", "b"]], subtopics=[[("a", "s", 1), ("b", "t", 1)]])
    >>> AlphaDCG(cutoff=1).per_query(rankings)
    array([0.5])
    """

    FACTS: ClassVar[Facts] = SHARE
    alpha: float = 0.5
    min_grade: float = 1
    cutoff: int | None = None

    def __post_init__(self) -> None:
        check_cutoff(self.cutoff)
        check_grade(self.min_grade)
        check_share("alpha", self.alpha)

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,), NaN where no subtopic has a relevant document."""
        return _of_perfect(self, rankings, _by_log)


@dataclass(frozen=True, slots=True, kw_only=True)
class AlphaNDCG:
    """Discounted gain of the ranking with novelty, as a share of a best possible ranking's.

        alpha_nDCG@c = sum over ranks r <= c of g(r) / log2(r + 1), over the same of the greedy ranking

    The greedy ranking takes at each rank the judged document that gains most, retrieved or not; of those
    that gain as much the one with the greatest id, as ndeval does. To find the best ranking itself is
    NP-complete: a ranking may be better than the greedy one and have a value above 1. Range 0 to e / (e - 1),
    about 1.58, since greedy choices reach 1 - 1/e of the best. ``alpha`` as in alpha_DCG. g and when it is
    undefined: `evalcore.metrics.diversity`.

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
        check_cutoff(self.cutoff)
        check_grade(self.min_grade)
        check_share("alpha", self.alpha)

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,), NaN where no subtopic has a relevant document."""
        return _of_greedy(self, rankings, _by_log)


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrIA:
    """Expected reciprocal rank for a user who may mean any subtopic, as a share of what any ranking could have.

        ERR_IA@c = sum over ranks r <= c of g(r) / r / (n * sum over ranks r <= c of (1 - alpha)**(r - 1) / r)

    Range 0 to 1: 1 is a ranking whose every document is relevant to all n subtopics. All subtopics are as
    likely, and a relevant document satisfies a user with probability ``alpha``; grades above ``rel`` do
    not weigh. Without a cutoff c is the length of the ranking. g, n and when it is undefined:
    `evalcore.metrics.diversity`.

    Source: Chapelle et al. 2009, doi:10.1145/1645953.1646033; Clarke et al. 2011,
    doi:10.1145/1935826.1935847; ndeval ``ERR-IA``, which does not divide at c = 1.

    >>> rankings = JudgedRankings.from_lists(
    ...     retrieved=[[0, 1]], judged=[[1]], documents=[["a", "b"]], subtopics=[[("b", "s", 1)]])
    >>> ErrIA(cutoff=2).per_query(rankings)  # (1 / 2) / (1 + 0.5 / 2)
    array([0.4])
    """

    FACTS: ClassVar[Facts] = SHARE
    alpha: float = 0.5
    min_grade: float = 1
    cutoff: int | None = None

    def __post_init__(self) -> None:
        check_cutoff(self.cutoff)
        check_grade(self.min_grade)
        check_share("alpha", self.alpha)

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,), NaN where no subtopic has a relevant document."""
        return _of_perfect(self, rankings, _by_rank)


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
        check_cutoff(self.cutoff)
        check_grade(self.min_grade)
        check_share("alpha", self.alpha)

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,), NaN where no subtopic has a relevant document."""
        return _of_greedy(self, rankings, _by_rank)


def _by_patience(beta: float) -> Weigh:
    return lambda ranks: powers(beta, int(ranks.max(initial=0)))[ranks - 1]


def _check_patience(metric: NRBP | NNRBP) -> None:
    check_grade(metric.min_grade)
    check_share("alpha", metric.alpha)
    check_share("beta", metric.beta)


@dataclass(frozen=True, slots=True, kw_only=True)
class NRBP:
    """Rank-biased precision with novelty: what a user of some patience gains who may mean any subtopic.

        NRBP = (1 - (1 - alpha) * beta) / n * sum over ranks r of beta**(r - 1) * g(r)

    Range 0 to 1: 1 is an endless ranking whose every document is relevant to all n subtopics. ``beta`` is
    the probability of going on to the next document, ``alpha`` as in alpha_DCG. With alpha=0 and beta=1 both
    it is 0. g, n and when it is undefined: `evalcore.metrics.diversity`.

    Source: Clarke, Kolla & Vechtomova 2009, doi:10.1007/978-3-642-04417-5_17; ndeval ``NRBP``.

    >>> rankings = JudgedRankings.from_lists(
    ...     retrieved=[[0, 1]], judged=[[1]], documents=[["a", "b"]], subtopics=[[("b", "s", 1)]])
    >>> NRBP().per_query(rankings)
    array([0.375])
    """

    FACTS: ClassVar[Facts] = SHARE
    alpha: float = 0.5
    beta: float = 0.5
    min_grade: float = 1
    cutoff: ClassVar[None] = None

    def __post_init__(self) -> None:
        _check_patience(self)

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
        _check_patience(self)

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,), NaN where no subtopic has a relevant document."""
        return _of_greedy(self, rankings, _by_patience(self.beta))


@dataclass(frozen=True, slots=True, kw_only=True)
class StRecall:
    """Subtopic recall: the share of the subtopics that is covered.

        StRecall@c = subtopics with a relevant document in the first c ranks / n

    Range 0 to 1. n and when it is undefined: `evalcore.metrics.diversity`.

    Source: Zhai, Cohen & Lafferty 2003, doi:10.1145/860435.860440; ndeval ``strec``.

    >>> rankings = JudgedRankings.from_lists(
    ...     retrieved=[[1, 1]], judged=[[1, 1]], documents=[["a", "b"]], subtopics=[[("a", "s", 1), ("b", "t", 1)]])
    >>> StRecall(cutoff=1).per_query(rankings)
    array([0.5])
    """

    FACTS: ClassVar[Facts] = SHARE
    min_grade: float = 1
    cutoff: int | None = None

    def __post_init__(self) -> None:
        check_cutoff(self.cutoff)
        check_grade(self.min_grade)

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,), NaN where no subtopic has a relevant document."""
        entries = relevant(rankings, self.min_grade)
        found = entries.found(self.cutoff)
        first = found[entries.above[found] == 0]
        covered = np.bincount(entries.rankings[first], minlength=len(rankings))
        return ratio(covered, entries.n_subtopics, otherwise=np.nan)


@dataclass(frozen=True, slots=True, kw_only=True)
class PIA:
    """Precision for a user who may mean any subtopic: the mean of the subtopics' P.

        P_IA@c = sum over subtopics of relevant documents in the first c ranks / c / n

    Range 0 to 1. All subtopics are as likely. Without a cutoff c is the length of the ranking, and an empty
    ranking has 0. n and when it is undefined: `evalcore.metrics.diversity`.

    Source: Agrawal et al. 2009, doi:10.1145/1498759.1498766; ndeval ``P-IA``.

    >>> rankings = JudgedRankings.from_lists(
    ...     retrieved=[[1, 1]], judged=[[1, 1]], documents=[["a", "b"]], subtopics=[[("a", "s", 1), ("b", "t", 1)]])
    >>> PIA(cutoff=1).per_query(rankings)
    array([0.5])
    """

    FACTS: ClassVar[Facts] = Facts(needs_relevant=True, needs=NEEDS, binary=True, linear=True)
    min_grade: float = 1
    cutoff: int | None = None

    def __post_init__(self) -> None:
        check_cutoff(self.cutoff)
        check_grade(self.min_grade)

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,), NaN where no subtopic has a relevant document."""
        entries = relevant(rankings, self.min_grade)
        n_found = np.bincount(entries.rankings[entries.found(self.cutoff)], minlength=len(rankings))
        depths = rankings.retrieved.lengths if self.cutoff is None else self.cutoff
        value = ratio(n_found, depths * entries.n_subtopics, otherwise=0.0)
        value[entries.n_subtopics == 0] = np.nan
        return value


@dataclass(frozen=True, slots=True, kw_only=True)
class MapIA:
    """Average precision for a user who may mean any subtopic: the mean of the subtopics' AP.

        MAP_IA = sum over subtopics of AP of the ranking judged by this subtopic alone / n

    Range 0 to 1. All subtopics are as likely. n and when it is undefined: `evalcore.metrics.diversity`.

    Source: Agrawal et al. 2009, doi:10.1145/1498759.1498766; ndeval ``MAP-IA``.

    >>> rankings = JudgedRankings.from_lists(
    ...     retrieved=[[1, 1]], judged=[[1, 1]], documents=[["a", "b"]], subtopics=[[("a", "s", 1), ("b", "t", 1)]])
    >>> MapIA().per_query(rankings)
    array([0.75])
    """

    FACTS: ClassVar[Facts] = SHARE
    min_grade: float = 1
    cutoff: ClassVar[None] = None

    def __post_init__(self) -> None:
        check_grade(self.min_grade)

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,), NaN where no subtopic has a relevant document."""
        entries = relevant(rankings, self.min_grade)
        found = entries.found(None)
        n_relevant = np.bincount(entries.subtopics)
        precisions = (entries.above[found] + 1) / entries.ranks[found]
        values = np.bincount(entries.subtopics[found], weights=precisions, minlength=len(n_relevant)) / n_relevant
        owners = np.empty(len(n_relevant), dtype=np.int64)
        owners[entries.subtopics] = entries.rankings
        total = np.bincount(owners, weights=values, minlength=len(rankings))
        return ratio(total, entries.n_subtopics, otherwise=np.nan)
