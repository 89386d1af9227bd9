"""Calibration: whether 3 in 10 documents are relevant where scores say 0.3, bin by bin of scores."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import ClassVar

import numpy as np

from evalcore.arrays import FloatArray
from evalcore.errors import MetricNameError
from evalcore.metrics.base import UNBOUNDED, Facts, check_grade
from evalcore.metrics.probabilities import predicted
from evalcore.metrics.scored import each
from evalcore.rankings import JudgedRankings

MOST_BINS = 1_000


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
        scored, relevant = predicted(rankings, metric.min_grade)
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

        from evalcore.metrics.calibration import expected_calibration_error
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
