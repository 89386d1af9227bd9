"""Pairs of documents of one query: how often the better one has the higher score or rank."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import numpy as np

from evalcore.arrays import FloatArray
from evalcore.errors import MetricNameError, unknown
from evalcore.metrics.base import UNBOUNDED, Facts, check_cutoff, check_grade
from evalcore.metrics.scored import PairCounts, Scored, softplus, sums_over_pairs, total
from evalcore.metrics.top_k import ratio
from evalcore.rankings import JudgedRankings
from evalcore.segments import sort_segments

Ties = Literal["half", "wrong"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairwiseAccuracy:
    """The share of pairs of documents with different grades where the higher grade has the higher score.

        PairwiseAccuracy              = (right pairs + tied pairs / 2) / pairs with different grades
        PairwiseAccuracy(ties=wrong)  = right pairs / pairs with different grades

    Range 0 to 1. Tied is a pair with one score. Pairs are of judged documents of the ranking; unjudged ones
    are left out. Undefined where no two of them differ in grade.

    Source: rax ``opa_metric`` (ties=wrong).

    >>> rankings = JudgedRankings.from_lists(retrieved=[[1, 0, 0]], judged=[[1, 0, 0]], scores=[[0.9, 0.9, 0.1]])
    >>> PairwiseAccuracy().per_query(rankings)
    array([0.75])
    """

    FACTS: ClassVar[Facts] = Facts(empty=math.nan, needs=frozenset({"scores"}), order_free=True)
    ties: Ties = "half"
    cutoff: ClassVar[None] = None

    def __post_init__(self) -> None:
        if self.ties not in get_args(Ties):
            raise MetricNameError(unknown("ties", str(self.ties), get_args(Ties)))

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,), NaN without a pair."""
        pairs = PairCounts.of(rankings)
        right = pairs.right + pairs.tied / 2 if self.ties == "half" else pairs.right
        return ratio(right, pairs.right + pairs.wrong + pairs.tied, otherwise=np.nan)


@dataclass(frozen=True, slots=True, kw_only=True)
class AUC:
    """The area under the ROC curve: how likely a relevant document has a higher score than another one.

        AUC = (right pairs + tied pairs / 2) / (relevant documents * other documents)

    Range 0 to 1. Relevant is a grade of at least ``rel``; the others are judged documents below it. Of the
    documents of the ranking; unjudged ones are left out. Undefined without a relevant one or without another.

    Source: Hanley & McNeil 1982, doi:10.1148/radiology.143.1.7063747; scikit-learn ``roc_auc_score``.

    >>> rankings = JudgedRankings.from_lists(retrieved=[[2, 0, 1]], judged=[[2, 1, 0]], scores=[[0.9, 0.5, 0.1]])
    >>> AUC().per_query(rankings)
    array([0.5])
    """

    FACTS: ClassVar[Facts] = Facts(empty=math.nan, needs=frozenset({"scores"}), binary=True, order_free=True)
    min_grade: float = 1
    cutoff: ClassVar[None] = None

    def __post_init__(self) -> None:
        check_grade(self.min_grade)

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,), NaN where all are relevant or none is."""
        pairs = PairCounts.of(rankings, self.min_grade)
        return ratio(pairs.right + pairs.tied / 2, pairs.right + pairs.wrong + pairs.tied, otherwise=np.nan)


@dataclass(frozen=True, slots=True, kw_only=True)
class Accuracy:
    """How likely a relevant document of the ranking stands above one that is not relevant.

        Accuracy@c = pairs with the relevant document above / (relevant documents * other documents)

    both within the first c ranks. Range 0 to 1. Relevant is a grade of at least ``rel``; an unjudged document
    is not relevant. Reads ranks and no scores. What was not retrieved plays no part: this tells how a system
    orders what it returns. Undefined where all documents are relevant or none is.

    Source: ir_measures ``Accuracy``.

    >>> Accuracy().per_query(JudgedRankings.from_lists(retrieved=[[1, 0, 1]], judged=[[1, 1, 0]]))
    array([0.5])
    """

    FACTS: ClassVar[Facts] = Facts(empty=math.nan, binary=True, shared_ranks=True)
    min_grade: float = 1
    cutoff: int | None = None

    def __post_init__(self) -> None:
        check_cutoff(self.cutoff)
        check_grade(self.min_grade)

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,), NaN where all are relevant or none is."""
        hits = rankings.relevant(self.min_grade)
        n_hits = rankings.n_hits(self.min_grade, self.cutoff)
        everything = rankings.once("all hits", lambda: rankings.hits(np.ones(len(rankings.retrieved.values), bool)))
        others = everything.counts(self.cutoff) - n_hits
        within = hits.ranks if self.cutoff is None else np.where(hits.ranks <= self.cutoff, hits.ranks, 0)
        wrong = total(within, hits.offsets) - n_hits * (n_hits + 1) / 2  # 1 + 2 + ... with no other one above
        return 1 - ratio(wrong, n_hits * others, otherwise=np.nan)


def pair_log_losses(rankings: JudgedRankings) -> tuple[FloatArray, FloatArray]:
    """The sum of log(1 + exp(-(s_i - s_j))) over pairs with grade_i > grade_j, and how many.  (n_rankings,) each"""

    def summed() -> tuple[FloatArray, FloatArray]:
        scored = Scored.of(rankings)
        by_grade = sort_segments(-scored.grades, scored.offsets)
        scores = scored.numbers[by_grade]
        return sums_over_pairs(
            scored.grades[by_grade], scored.offsets, lambda better, worse: softplus(scores[worse] - scores[better])
        )

    return rankings.once("pair log losses", summed)


@dataclass(frozen=True, slots=True, kw_only=True)
class PairwiseLogLoss:
    """How surprising the order of the grades is to the scores, per pair of documents with different grades.

        PairwiseLogLoss = mean of ln(1 + exp(-(s_i - s_j))) over pairs with grade_i > grade_j

    Range from 0, lower is better; ln 2 where all scores are the same. Pairs are of judged documents of the
    ranking; unjudged ones are left out. Its work grows with the number of pairs. Undefined where no two
    documents differ in grade, and where a judged document's score is not finite.

    Source: Burges et al. 2005, doi:10.1145/1102351.1102363.

    >>> rankings = JudgedRankings.from_lists(retrieved=[[1, 0]], judged=[[1, 0]], scores=[[0.5, 0.5]])
    >>> PairwiseLogLoss().per_query(rankings).round(4)
    array([0.6931])
    """

    FACTS: ClassVar[Facts] = Facts(
        high=UNBOUNDED, empty=math.nan, needs=frozenset({"scores"}), higher_is_better=False, order_free=True
    )
    cutoff: ClassVar[None] = None

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,), NaN without a pair."""
        losses, pairs = pair_log_losses(rankings)
        return ratio(losses, pairs, otherwise=np.nan)
