"""What rankers are trained on, as diagnostics beside the metrics they stand for."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from evalcore.arrays import FloatArray, IntArray, Offsets
from evalcore.errors import MetricNameError
from evalcore.metrics.base import UNBOUNDED, Facts
from evalcore.metrics.discounts import LOG2
from evalcore.metrics.gain import IDCG
from evalcore.metrics.gains import EXP2
from evalcore.metrics.pairwise import pair_log_losses
from evalcore.metrics.scored import Scored, each, softplus, sums_over_pairs, total
from evalcore.metrics.top_k import ratio
from evalcore.rankings import JudgedRankings
from evalcore.segments import index_in_segment, sort_segments

FACTS_OF_LOSSES = Facts(
    high=UNBOUNDED, empty=math.nan, needs=frozenset({"scores"}), higher_is_better=False, order_free=True
)


def _less_the_greatest(values: FloatArray, offsets: Offsets) -> FloatArray:
    """Each value less the greatest of its segment, so that none is too large to take exp of.  (n_items,)"""
    filled = np.diff(offsets) > 0
    greatest = np.maximum.reduceat(values, offsets[:-1][filled]) if len(values) else values
    less: FloatArray = values - np.repeat(greatest, np.diff(offsets)[filled])
    return less


@dataclass(frozen=True, slots=True, kw_only=True)
class ListNetLoss:
    """Cross entropy of two guesses at the best document: that of the grades and that of the scores.

        ListNetLoss = - sum over documents i of P_grade(i) * ln P_score(i),  P_x(i) = exp(x_i) / sum of exp(x_j)

    Range from 0, lower is better; never below the entropy of P_grade. Over the judged documents of the
    ranking; unjudged ones are left out. Undefined without judged documents, and where the score of one is
    not finite.

    Source: Cao et al. 2007, doi:10.1145/1273496.1273513 (top one).

    >>> rankings = JudgedRankings.from_lists(retrieved=[[1, 0]], judged=[[1, 0]], scores=[[0.5, 0.5]])
    >>> ListNetLoss().per_query(rankings).round(4)
    array([0.6931])
    """

    FACTS: ClassVar[Facts] = FACTS_OF_LOSSES
    cutoff: ClassVar[None] = None

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,), NaN without judged documents."""
        scored = Scored.of(rankings)
        offsets = scored.offsets
        scores = _less_the_greatest(scored.numbers, offsets)
        likely = np.exp(_less_the_greatest(scored.grades, offsets))
        in_all = np.log(np.where(scored.lengths > 0, total(np.exp(scores), offsets), 1.0))
        losses = likely * (each(in_all, offsets) - scores)
        return ratio(total(losses, offsets), total(likely, offsets), otherwise=np.nan)


@dataclass(frozen=True, slots=True, kw_only=True)
class RankNetLoss:
    """What the pairs in the wrong order cost, and those that are nearly.

        RankNetLoss = sum of ln(1 + exp(-(s_i - s_j))) over pairs with grade_i > grade_j

    Range from 0, lower is better. The sum that training minimises, with sigma = 1 and no pairs of equal
    grades: a query with many pairs has a large one; `PairwiseLogLoss` is the mean over the pairs. Pairs are
    of judged documents of the ranking; unjudged ones are left out. Undefined where no two documents differ in
    grade, and where a judged document's score is not finite.

    Source: Burges et al. 2005, doi:10.1145/1102351.1102363.

    >>> rankings = JudgedRankings.from_lists(retrieved=[[1, 0, 0]], judged=[[1, 0, 0]], scores=[[0.5, 0.5, 0.5]])
    >>> RankNetLoss().per_query(rankings).round(4)
    array([1.3863])
    """

    FACTS: ClassVar[Facts] = FACTS_OF_LOSSES
    cutoff: ClassVar[None] = None

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,), NaN without a pair."""
        losses, pairs = pair_log_losses(rankings)
        return np.where(pairs > 0, losses, np.nan)


@dataclass(frozen=True, slots=True, kw_only=True)
class LambdaLoss:
    """The loss of pairs, each weighed by what it means for nDCG: NDCG-Loss2++.

        LambdaLoss = sum over pairs with gain_i > gain_j of weight * log2(1 + exp(-(s_i - s_j)))
        weight     = (gain_i - gain_j) / IDCG * (|d(r_i) - d(r_j)| + mu * (d(|r_i - r_j|) - d(|r_i - r_j| + 1)))

    where gain = 2^grade - 1, d(r) = 1 / log2(r + 1), and IDCG is that of all judged documents of the query.
    Range from 0, lower is better. ``mu=0`` leaves LambdaRank's weight, the change of nDCG(gain=exp2) if the two
    documents changed places. Pairs are of judged documents of the ranking, with ranks by score among them,
    tied ones best grade first; unjudged ones are left out. Undefined where no two documents differ in gain,
    and where a judged document's score is not finite.

    Source: Wang et al. 2018, doi:10.1145/3269206.3271784.

    >>> rankings = JudgedRankings.from_lists(retrieved=[[1, 0]], judged=[[1, 0]], scores=[[0.5, 0.5]])
    >>> LambdaLoss(mu=0).per_query(rankings).round(4)
    array([0.3691])
    """

    FACTS: ClassVar[Facts] = FACTS_OF_LOSSES
    mu: float = 10
    cutoff: ClassVar[None] = None

    def __post_init__(self) -> None:
        if not 0 <= self.mu < math.inf:
            raise MetricNameError(f"mu is {self.mu!r}; it must be a finite number from 0")

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,), NaN without a pair."""
        scored = Scored.of(rankings)
        by_grade = sort_segments(-scored.grades, scored.offsets)
        scores, ranks = scored.numbers[by_grade], index_in_segment(scored.offsets)[by_grade] + 1
        gains = EXP2(scored.grades[by_grade])
        discounts = np.append(0.0, LOG2(np.arange(1, ranks.max(initial=0) + 2)))
        drops = discounts - np.append(discounts[1:], 0.0)

        def loss(better: IntArray, worse: IntArray) -> FloatArray:
            apart = np.abs(ranks[better] - ranks[worse])
            moved = np.abs(discounts[ranks[better]] - discounts[ranks[worse]]) + self.mu * drops[apart]
            found: FloatArray = (gains[better] - gains[worse]) * moved * softplus(scores[worse] - scores[better])
            return found

        losses, pairs = sums_over_pairs(gains, scored.offsets, loss)
        best = IDCG(gain=EXP2).per_query(rankings) * math.log(2)  # the loss is in bits
        return ratio(losses, np.where(pairs > 0, best, 0.0), otherwise=np.nan)
