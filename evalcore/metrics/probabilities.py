"""Scores that say how likely a document is relevant: how likely what was judged is, and how honest they are."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import ClassVar

import numpy as np

from evalcore.arrays import FloatArray
from evalcore.errors import DataError, MetricNameError
from evalcore.metrics.base import UNBOUNDED, Facts, check_grade
from evalcore.metrics.scored import Scored, each, total
from evalcore.metrics.top_k import ratio
from evalcore.rankings import JudgedRankings

SMALLEST = float(np.finfo(np.float64).eps)
"""The least probability that is believed, as in scikit-learn."""
MOST_BINS = 1_000


def _predicted(rankings: JudgedRankings, min_grade: float) -> tuple[Scored, FloatArray]:
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
        scored, relevant = _predicted(rankings, self.min_grade)
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
        scored, relevant = _predicted(rankings, self.min_grade)
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
        scored, relevant = _predicted(rankings, self.min_grade)
        return total(scored.scores, scored.offsets), total(relevant, scored.offsets)


def expected_calibration_error(counts: FloatArray, predictions: FloatArray, labels: FloatArray) -> FloatArray:
    """How far the mean score of a bin is from its share of relevant documents, in the mean over documents.

    counts, predictions, labels   (..., n_bins) documents of each bin, the sum of their scores, and how many
                                  are relevant: of one query, or summed over queries

    Returns (...), NaN where no bin holds a document.

    >>> expected_calibration_error(np.array([2.0, 2.0]), np.array([0.5, 1.5]), np.array([1.0, 2.0]))
    array(0.25)
    """
    return _quotient(np.abs(predictions - labels).sum(axis=-1), counts.sum(axis=-1))


def maximum_calibration_error(counts: FloatArray, predictions: FloatArray, labels: FloatArray) -> FloatArray:
    """How far the mean score of a bin is from its share of relevant documents, in the worst bin.

    Of the sums that `expected_calibration_error` takes.  Returns (...), NaN where no bin holds a document.
    """
    return np.asarray(np.fmax.reduce(_quotient(np.abs(predictions - labels), counts), axis=-1))


def _quotient(above: FloatArray, below: FloatArray) -> FloatArray:
    return np.asarray(np.divide(above, below, out=np.full_like(above, np.nan), where=below > 0))


def _check(metric: ECE | MCE | Reliability) -> None:
    check_grade(metric.min_grade)
    if not (isinstance(metric.bins, Real) and 1 <= metric.bins <= MOST_BINS and metric.bins == int(metric.bins)):
        raise MetricNameError(f"bins is {metric.bins!r}; it must be a whole number from 1 to {MOST_BINS}")


def _sums_by_bin(rankings: JudgedRankings, metric: ECE | MCE | Reliability) -> list[FloatArray]:
    """Documents, sum of scores, and relevant documents of each bin.  (n_rankings, n_bins) each"""
    bins = int(metric.bins)

    def summed() -> list[FloatArray]:
        scored, relevant = _predicted(rankings, metric.min_grade)
        edges = np.arange(1, bins) / bins
        cell = each(np.arange(len(rankings)) * bins, scored.offsets) + np.searchsorted(edges, scored.scores)
        columns = (np.ones(len(cell)), scored.scores, relevant)
        sums = [np.bincount(cell, column, len(rankings) * bins) for column in columns]
        return [each_sum.astype(np.float64, copy=False).reshape(-1, bins) for each_sum in sums]  # whole if all empty

    return rankings.once(("sums by bin", bins, metric.min_grade), summed)


@dataclass(frozen=True, slots=True, kw_only=True)
class ECE:
    """Expected calibration error: how far scores are from the shares of relevant documents they predict.

        ECE = sum over bins of documents in the bin / documents * |mean score - share of relevant documents|

    Range 0 to 1, lower is better. Of ``bins`` equal bins the i-th holds the scores above (i - 1) / bins and up
    to i / bins; 0 is in the first. Relevant is a grade of at least ``rel``. Scores must be probabilities. Over
    the judged documents of the ranking; unjudged ones are left out. Undefined without judged documents. Few
    documents in a bin make it large by chance alone, even where every score is honest: the mean over queries
    is too high, and the error of all documents together follows from `Reliability`.

    Source: Naeini, Cooper & Hauskrecht 2015, AAAI.

    >>> rankings = JudgedRankings.from_lists(retrieved=[[1, 0]], judged=[[1, 0]], scores=[[0.75, 0.5]])
    >>> ECE().per_query(rankings)
    array([0.375])
    """

    FACTS: ClassVar[Facts] = Facts(
        empty=math.nan, needs=frozenset({"scores"}), higher_is_better=False, binary=True, order_free=True
    )
    bins: int = 10
    min_grade: float = 1
    cutoff: ClassVar[None] = None

    def __post_init__(self) -> None:
        _check(self)

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,), NaN without judged documents."""
        return expected_calibration_error(*_sums_by_bin(rankings, self))


@dataclass(frozen=True, slots=True, kw_only=True)
class MCE:
    """Maximum calibration error: the distance of `ECE` in the bin where it is greatest.

        MCE = greatest over bins of |mean score - share of relevant documents|

    Range 0 to 1, lower is better. Bins that hold no document do not count; all else as for `ECE`.

    Source: Naeini, Cooper & Hauskrecht 2015, AAAI.

    >>> rankings = JudgedRankings.from_lists(retrieved=[[1, 0]], judged=[[1, 0]], scores=[[0.75, 0.5]])
    >>> MCE().per_query(rankings)
    array([0.5])
    """

    FACTS: ClassVar[Facts] = ECE.FACTS
    bins: int = 10
    min_grade: float = 1
    cutoff: ClassVar[None] = None

    def __post_init__(self) -> None:
        _check(self)

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,), NaN without judged documents."""
        return maximum_calibration_error(*_sums_by_bin(rankings, self))


@dataclass(frozen=True, slots=True, kw_only=True)
class Reliability:
    """The reliability table: what each bin of scores holds; summed over queries.

        of each bin   documents, sum of their scores, relevant documents

    First the documents of every bin, then the sums of scores, then the relevant documents. Summed over queries
    they say all that a reliability diagram shows, and give the error of all documents together, which
    `evaljob aggregate` prints as a note:

        from evalcore.metrics.probabilities import expected_calibration_error
        expected_calibration_error(*np.split(table, 3, axis=-1))

    Range from 0. Bins, ``rel`` and scores as for `ECE`. Over the judged documents of the ranking; unjudged ones
    are left out. Defined for every query.

    Source: Murphy & Winkler 1977, Applied Statistics 26 (reliability diagrams).

    >>> rankings = JudgedRankings.from_lists(retrieved=[[1, 0]], judged=[[1, 0]], scores=[[0.75, 0.5]])
    >>> Reliability(bins=2).per_query(rankings)
    array([[1.  , 1.  , 0.5 , 0.75, 0.  , 1.  ]])
    """

    FACTS: ClassVar[Facts] = Facts(
        high=UNBOUNDED,
        statistic="sum",
        needs=frozenset({"scores"}),
        higher_is_better=None,
        binary=True,
        order_free=True,
    )
    bins: int = 10
    min_grade: float = 1
    cutoff: ClassVar[None] = None

    def __post_init__(self) -> None:
        _check(self)

    @property
    def elements(self) -> tuple[str, ...]:
        """documents_1 … scores_1 … relevant_1 …, of each bin in turn."""
        bins = range(1, int(self.bins) + 1)
        return tuple(f"{column}_{bin_}" for column in ("documents", "scores", "relevant") for bin_ in bins)

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings, 3 * n_bins)."""
        return np.hstack(_sums_by_bin(rankings, self))
