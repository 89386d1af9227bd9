"""Scores that say how likely a document is relevant: how well they foretold what was judged."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from evalcore.arrays import FloatArray
from evalcore.errors import DataError
from evalcore.metrics.base import UNBOUNDED, Facts, check_grade
from evalcore.metrics.scored import Scored, total
from evalcore.metrics.top_k import ratio
from evalcore.rankings import JudgedRankings

SMALLEST = float(np.finfo(np.float64).eps)
"""The least probability that is believed, as in scikit-learn."""


def predicted(rankings: JudgedRankings, min_grade: float) -> tuple[Scored, FloatArray]:
    """The judged documents with scores that are probabilities, and whether each is relevant: 0 or 1.

    Raises DataError for a score outside [0, 1].
    """
    scored = Scored.of(rankings)
    wrong = scored.scores[~((scored.scores >= 0) & (scored.scores <= 1))]
    if len(wrong):
        raise DataError(
            f"{len(wrong)} scores of judged documents are no probabilities from 0 to 1, such as {wrong[0]:g}; "
            "give calibrated scores, or leave out LogLoss, Brier, PCOC, ECE, MCE and Reliability"
        )
    return scored, (scored.grades >= min_grade).astype(np.float64)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogLoss:
    """How surprising the judgments are to the scores, per document.

        LogLoss = mean of -ln(score) over relevant documents and of -ln(1 - score) over the others

    Range 0 to 36.04, lower is better. Relevant is a grade of at least ``rel``. Scores must be probabilities;
    one below 2.2e-16 counts as that. Over the judged documents of the ranking; unjudged ones are left out.
    Undefined without judged documents.

    Source: Good 1952, doi:10.1111/j.2517-6161.1952.tb00104.x; scikit-learn ``log_loss``.

    >>> rankings = JudgedRankings.from_lists(retrieved=[[1, 0]], judged=[[1, 0]], scores=[[0.5, 0.5]])
    >>> LogLoss().per_query(rankings).round(4)
    array([0.6931])
    """

    FACTS: ClassVar[Facts] = Facts(
        high=-math.log(SMALLEST),
        empty=math.nan,
        needs=frozenset({"scores"}),
        higher_is_better=False,
        binary=True,
        order_free=True,
    )
    min_grade: float = 1
    cutoff: ClassVar[None] = None

    def __post_init__(self) -> None:
        check_grade(self.min_grade)

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,), NaN without judged documents."""
        scored, relevant = predicted(rankings, self.min_grade)
        said = np.where(relevant == 1, scored.scores, 1 - scored.scores)
        losses = -np.log(np.clip(said, SMALLEST, 1 - SMALLEST))
        return ratio(total(losses, scored.offsets), scored.lengths, otherwise=np.nan)


@dataclass(frozen=True, slots=True, kw_only=True)
class Brier:
    """Mean squared distance of the scores from what they predict.

        Brier = mean of (score - relevant)^2,  relevant = 1 or 0

    Range 0 to 1, lower is better. Relevant is a grade of at least ``rel``. Scores must be probabilities. Over
    the judged documents of the ranking; unjudged ones are left out. Undefined without judged documents.

    Source: Brier 1950, doi:10.1175/1520-0493(1950)078<0001:VOFEIT>2.0.CO;2; scikit-learn ``brier_score_loss``.

    >>> rankings = JudgedRankings.from_lists(retrieved=[[1, 0]], judged=[[1, 0]], scores=[[0.5, 0.5]])
    >>> Brier().per_query(rankings)
    array([0.25])
    """

    FACTS: ClassVar[Facts] = Facts(
        empty=math.nan, needs=frozenset({"scores"}), higher_is_better=False, binary=True, order_free=True
    )
    min_grade: float = 1
    cutoff: ClassVar[None] = None

    def __post_init__(self) -> None:
        check_grade(self.min_grade)

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,), NaN without judged documents."""
        scored, relevant = predicted(rankings, self.min_grade)
        return ratio(total((scored.scores - relevant) ** 2, scored.offsets), scored.lengths, otherwise=np.nan)


@dataclass(frozen=True, slots=True, kw_only=True)
class PCOC:
    """Predicted clicks over clicks: whether scores promise too much or too little.

        PCOC = sum of scores / relevant documents

    Range from 0; 1 is right, above it too much is promised. Relevant, or clicked, is a grade of at least
    ``rel``. Scores must be probabilities. Over the judged documents of the ranking; unjudged ones are left
    out. Over queries it is the ratio of the two sums, to which a query without a relevant document adds its
    scores; its own value is undefined.

    Source: He et al. 2014, doi:10.1145/2648584.2648589 (there called calibration).

    >>> rankings = JudgedRankings.from_lists(retrieved=[[1, 0]], judged=[[1, 0]], scores=[[0.75, 0.5]])
    >>> PCOC().per_query(rankings)
    array([1.25])
    """

    FACTS: ClassVar[Facts] = Facts(
        high=UNBOUNDED,
        statistic="ratio",
        empty=math.nan,
        needs=frozenset({"scores"}),
        higher_is_better=None,
        binary=True,
        order_free=True,
    )
    min_grade: float = 1
    cutoff: ClassVar[None] = None

    def __post_init__(self) -> None:
        check_grade(self.min_grade)

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,), NaN without a relevant document."""
        return ratio(*self.parts(rankings), otherwise=np.nan)

    def parts(self, rankings: JudgedRankings) -> tuple[FloatArray, FloatArray]:
        """The sum of scores, and the relevant documents.  (n_rankings,) each"""
        scored, relevant = predicted(rankings, self.min_grade)
        return total(scored.scores, scored.offsets), total(relevant, scored.offsets)
