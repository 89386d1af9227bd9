"""Precision averaged over the relevant documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from evalcore.arrays import FloatArray, IntArray
from evalcore.conventions import GEOMETRIC_FLOOR
from evalcore.errors import MetricNameError
from evalcore.metrics.base import Facts, check_cutoff, check_grade
from evalcore.metrics.gain import check_parts
from evalcore.metrics.gains import LINEAR, Gain
from evalcore.metrics.ties import LastRun, expected_precisions, relevant_before
from evalcore.metrics.top_k import check_capped, ratio
from evalcore.rankings import Hits, JudgedRankings
from evalcore.segments import index_in_segment, running_count, segment_sum, sort_segments


def precisions(rankings: JudgedRankings, min_grade: float) -> FloatArray:
    """The precision at each relevant document, as `JudgedRankings.relevant` has them.  (n_hits,)"""

    def compute() -> FloatArray:
        hits = rankings.relevant(min_grade)
        return hits.numbers() / hits.ranks

    return rankings.once(("precisions", min_grade), compute)


@dataclass(frozen=True, slots=True, kw_only=True)
class AP:
    """Mean of the precision at each relevant document; its mean over queries is MAP.

        AP@c = sum over relevant documents at ranks r <= c of (relevant documents up to r / r)
               / relevant judged documents

    Range 0 to 1. Relevant is a grade of at least ``rel``. A relevant document that is not retrieved, or
    stands below the cutoff, adds 0 and still counts in the denominator. Undefined for a query
    without relevant judged documents.

    Programs differ in the ``denominator``; with R relevant judged documents, cutoff k and n documents retrieved:

        R            trec_eval, ranx
        min(R,k)     Spark MLlib, recommenders
        hits         torchmetrics: relevant documents in the first k ranks. One more of them can make it worse.
        min(R,k,n)   LightGBM

    0 where the denominator is 0 and something relevant was judged.

    Source: Buckley & Voorhees 2005, TREC, chapter 3; trec_eval ``map``, ``map_cut``.

    >>> AP().per_query(JudgedRankings.from_lists(retrieved=[[1, 0, 1]], judged=[[1, 1, 0]])).round(4)
    array([0.8333])
    """

    FACTS: ClassVar[Facts] = Facts(needs_relevant=True, monotone=True, binary=True)
    DENOMINATORS: ClassVar[tuple[str, ...]] = ("R", "min(R,k)", "hits", "min(R,k,n)")
    denominator: str = "R"
    min_grade: float = 1
    cutoff: int | None = None

    def __post_init__(self) -> None:
        check_cutoff(self.cutoff)
        check_grade(self.min_grade)
        check_capped("denominator", self.denominator, self.DENOMINATORS, self.cutoff)

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,), NaN where no judged document is relevant."""
        starts, n_hits = rankings.relevant(self.min_grade).offsets[:-1], rankings.n_hits(self.min_grade, self.cutoff)
        total = segment_sum(precisions(rankings, self.min_grade), starts, starts + n_hits)
        return self._of(rankings, total, n_hits)

    def expected(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,), NaN where no judged document is relevant."""
        documents, parts = rankings.once(
            ("expected precisions", self.min_grade), lambda: expected_precisions(rankings, self.min_grade)
        )
        starts = documents.offsets[:-1]
        last = LastRun.of(rankings, relevant_before(rankings, self.min_grade), self.cutoff)
        total = segment_sum(parts, starts, starts + documents.counts(self.cutoff))
        if self.denominator != "hits":
            return self._of(rankings, total, last.hits_seen())
        value = self._of(rankings, total, last.hits_above + np.where(last.seen == last.size, last.hits, 0))
        is_cut = last.is_cut()
        above = segment_sum(parts, starts, starts + documents.counts(last.above))[is_cut]
        value[is_cut] = _mean_over_hits(last.cut(), above, rankings.retrieved.offsets[:-1][is_cut], rankings)
        return np.where(rankings.n_relevant(self.min_grade) > 0, value, np.nan)

    def _of(self, rankings: JudgedRankings, total: FloatArray, hits: FloatArray | IntArray) -> FloatArray:
        n_relevant = rankings.n_relevant(self.min_grade)
        if self.denominator == "R":
            return ratio(total, n_relevant, otherwise=np.nan)
        below: FloatArray | IntArray = hits
        if self.denominator != "hits" and self.cutoff is not None:
            below = np.minimum(n_relevant, self.cutoff)
            if self.denominator == "min(R,k,n)":
                below = np.minimum(below, rankings.retrieved.lengths)
        return np.where(n_relevant > 0, ratio(total, below, otherwise=0.0), np.nan)


def _mean_over_hits(cut: LastRun, above: FloatArray, firsts: IntArray, rankings: JudgedRankings) -> FloatArray:
    """The mean of the sum of precisions over the hits, where the cutoff cuts through a run.  (n_cut,)

    above    (n_cut,) sum of precisions above the run
    firsts   (n_cut,) index of the first document of the ranking

    Of m hits among the v ranks seen, each rank holds one with probability m / v, and (m - 1) / (v - 1) of the
    ranks of the run above it do then.
    """
    reciprocal = 1 / (index_in_segment(rankings.retrieved.offsets) + 1)
    starts = firsts + cut.above
    once = segment_sum(reciprocal, starts, starts + cut.seen)
    places = cut.seen - (cut.above + 1) * once  # sum over the ranks r seen of (r - 1 - ranks above the run) / r

    def value(n_seen: IntArray) -> FloatArray:
        precise = (cut.hits_above + 1) * once + (n_seen - 1) / np.maximum(cut.seen - 1, 1) * places
        total = above + n_seen / cut.seen * precise
        quotient: FloatArray = total / np.maximum(cut.hits_above + n_seen, 1)
        return quotient

    return cut.mean(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class GMAP:
    """Average precision for a geometric mean over queries, where bad queries weigh most.

        GMAP of a query  = max(AP, floor)
        GMAP of a system = exp(mean over queries of ln(max(AP, floor)))

    Range ``floor`` to 1. Relevant is a grade of at least ``rel``. The floor keeps a query of 0 from making the
    mean 0. Undefined for a query without relevant judged documents.

    Source: Robertson 2006, On GMAP: and other transformations, CIKM; trec_eval ``gm_map``.

    >>> GMAP().per_query(JudgedRankings.from_lists(retrieved=[[0, 1], [0]], judged=[[1], [1]]))
    array([5.e-01, 1.e-05])
    """

    FACTS: ClassVar[Facts] = Facts(
        statistic="geometric", empty=GEOMETRIC_FLOOR, needs_relevant=True, monotone=True, binary=True
    )
    floor: float = GEOMETRIC_FLOOR
    min_grade: float = 1
    cutoff: int | None = None

    def __post_init__(self) -> None:
        check_cutoff(self.cutoff)
        check_grade(self.min_grade)
        if not 0 < self.floor < 1:
            raise MetricNameError(f"floor is {self.floor!r}; it must be above 0 and below 1")

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,), NaN where no judged document is relevant."""
        return np.maximum(AP(min_grade=self.min_grade, cutoff=self.cutoff).per_query(rankings), self.floor)


@dataclass(frozen=True, slots=True, kw_only=True)
class GAP:
    """Graded average precision: the mean over users who call different grades relevant.

        GAP@c = sum over ranks r <= c of (sum over ranks s <= r of min(g_r, g_s)) / r
                / sum over judged documents of g

    with g the probability that a user counts a document of this grade as relevant, which is the ``gain`` of
    the grade: only its ratios matter. So linear makes every grade from 1 to the best one as likely to be the lowest
    that a user accepts, binary gives AP, and {1:0.2,2:0.5,3:1} says that a fifth of the users accept grade 1,
    three tenths more accept grade 2 and the others grade 3 alone.

    Range 0 to 1. An unjudged document gains 0. Undefined for a query where no judged document gains.

    Source: Robertson, Kanoulas & Yilmaz 2010, doi:10.1145/1835449.1835550.

    >>> GAP().per_query(JudgedRankings.from_lists(retrieved=[[1, 2]], judged=[[2, 1]])).round(4)
    array([0.8333])
    """

    FACTS: ClassVar[Facts] = Facts(needs_relevant=True, monotone=True)
    gain: Gain = LINEAR
    cutoff: int | None = None

    def __post_init__(self) -> None:
        check_parts(self)

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,), NaN where no judged document gains."""
        hits, parts = rankings.once(("graded precisions", self.gain), lambda: self._parts(rankings))
        starts = hits.offsets[:-1]
        judged = rankings.judged
        best = segment_sum(self.gain(judged.values), judged.offsets[:-1], judged.offsets[1:])
        return ratio(segment_sum(parts, starts, starts + hits.counts(self.cutoff)), best, otherwise=np.nan)

    def _parts(self, rankings: JudgedRankings) -> tuple[Hits, FloatArray]:
        """The documents that gain, and what each adds: the mean over the ranks to its own of the smaller gain."""
        grades = rankings.retrieved.values
        is_judged = ~np.isnan(grades)
        gains = np.zeros(len(grades))
        gains[is_judged] = self.gain(grades[is_judged])
        hits = rankings.hits(gains > 0)
        gains = gains[gains > 0]
        firsts = np.repeat(hits.offsets[:-1], np.diff(hits.offsets))
        ends = firsts + hits.numbers()
        total = np.zeros(len(gains))
        level, values = _levels(gains, hits.offsets)
        for number, worth in enumerate(values):
            before = running_count(level == number)
            total += np.minimum(worth, gains) * (before[ends] - before[firsts])
        return hits, np.minimum(total / hits.ranks, gains)  # rounding may leave it above


def _levels(gains: FloatArray, offsets: IntArray) -> tuple[IntArray, list[FloatArray]]:
    """The different gains of each ranking, numbered from 0 upwards.

    Gives the number of each document's gain, and for each number the gain that has it in the document's ranking, 0
    where none has; (n_hits,) each.
    """
    order = sort_segments(gains, offsets)
    risen = gains[order]
    new = np.append(False, risen[1:] != risen[:-1])[: len(risen)]
    new[offsets[:-1][np.diff(offsets) > 0]] = False
    climbed = running_count(new)[1:]
    ranking = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    level = np.empty(len(gains), dtype=np.int64)
    level[order] = climbed - climbed[offsets[:-1][ranking]]
    values = []
    for number in range(level.max(initial=-1) + 1):
        worth = np.zeros(len(offsets) - 1)
        worth[ranking[level == number]] = gains[level == number]
        values.append(worth[ranking])
    return level, values
