"""Gain and precision in one: each document that gains, seen beside the best ranking up to its rank."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from evalcore.arrays import FloatArray
from evalcore.errors import MetricNameError
from evalcore.metrics.base import Facts, check_cutoff, check_grade
from evalcore.metrics.gain import check_parts
from evalcore.metrics.gained import gainers
from evalcore.metrics.gains import LINEAR, Gain
from evalcore.metrics.top_k import LARGEST_BETA, ratio
from evalcore.rankings import Hits, JudgedRankings
from evalcore.segments import accumulate, segment_sum


def _up_to(hits: Hits, best: Hits, running: FloatArray) -> FloatArray:
    """A running sum over the best ranking, at the rank of each hit; 0 where there is no best.  (n_hits,)"""
    n_hits = np.diff(hits.offsets)
    depths = np.minimum(hits.ranks, np.repeat(np.diff(best.offsets), n_hits))
    places = np.repeat(best.offsets[:-1], n_hits) + depths - 1
    return np.where(depths > 0, np.append(running, 0.0)[places], 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Q:
    """Q-measure: average precision that grades count in.

        Q@c = sum over documents that gain, at ranks r <= c, of
              (n(r) + beta * CG@r) / (r + beta * ICG@r)  /  judged documents that gain

    n(r) documents up to r gain something, CG is cumulative gain and ICG that of the best ranking. Range
    0 to 1. ``beta`` is how much grades count: with 0 it is average precision. An unjudged document and a
    negative grade gain 0. Undefined for a query where no judged document gains anything.

    Source: Sakai 2007, doi:10.1016/j.ipm.2006.07.020.

    >>> Q().per_query(JudgedRankings.from_lists(retrieved=[[0, 2]], judged=[[2, 0]]))
    array([0.75])
    """

    FACTS: ClassVar[Facts] = Facts(needs_relevant=True, monotone=True)
    beta: float = 1
    gain: Gain = LINEAR
    cutoff: int | None = None

    def __post_init__(self) -> None:
        check_cutoff(self.cutoff)
        check_parts(self)
        if not 0 <= self.beta <= LARGEST_BETA:
            raise MetricNameError(f"beta is {self.beta!r}; it must be at least 0 and at most {LARGEST_BETA}")

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,), NaN where nothing can be gained."""
        hits, best = (gainers(rankings, side, self.gain) for side in ("retrieved", "judged"))
        found, ideal = (accumulate(np.add, each.grades, each.offsets) for each in (hits, best))
        above, below = hits.numbers() + self.beta * found, hits.ranks + self.beta * _up_to(hits, best, ideal)
        starts = hits.offsets[:-1]
        total = segment_sum(above / below, starts, starts + hits.counts(self.cutoff))
        return ratio(total, np.diff(best.offsets), otherwise=np.nan)


@dataclass(frozen=True, slots=True, kw_only=True)
class G:
    """Gain, each the less the more gain should have been found up to its rank.

        G = sum over documents that gain, at ranks r, of gain / log2(2 + C(r) - CG@r)  /  all judged gain

    CG is cumulative gain, C that of the best ranking with at least 1 for each rank. So a document low in
    the ranking keeps its gain if those above it gained as much as they could. Range 0 to 1, and 1 only if
    gains are 1 or more. An unjudged document and a negative grade gain 0. Undefined for a query where no
    judged document gains anything.

    Source: trec_eval ``G``.

    >>> G().per_query(JudgedRankings.from_lists(retrieved=[[0, 2]], judged=[[2, 0]])).round(4)
    array([0.6309])
    """

    FACTS: ClassVar[Facts] = Facts(needs_relevant=True)
    gain: Gain = LINEAR
    cutoff: ClassVar[None] = None

    def __post_init__(self) -> None:
        check_parts(self)

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,), NaN where nothing can be gained."""
        hits, best = (gainers(rankings, side, self.gain) for side in ("retrieved", "judged"))
        found = accumulate(np.add, hits.grades, hits.offsets)
        due = _up_to(hits, best, accumulate(np.add, np.maximum(best.grades, 1), best.offsets))
        due += np.maximum(hits.ranks - np.repeat(np.diff(best.offsets), np.diff(hits.offsets)), 0)
        late = np.maximum(due - found, 0)  # below 0 by rounding only, where judgments hold what was retrieved
        total, most = (
            segment_sum(gains, each.offsets[:-1], each.offsets[1:])
            for gains, each in ((hits.grades / np.log2(2 + late), hits), (best.grades, best))
        )
        return ratio(total, most, otherwise=np.nan)


@dataclass(frozen=True, slots=True, kw_only=True)
class BinG:
    """Relevant documents, each the less the more others stand above it.

        binG = sum over relevant documents of 1 / log2(2 + documents above it that are not relevant)
               / relevant judged documents

    Range 0 to 1. Relevant is a grade of at least ``rel``. Undefined for a query without relevant judged
    documents.

    Source: trec_eval ``binG``.

    >>> BinG().per_query(JudgedRankings.from_lists(retrieved=[[0, 1, 1]], judged=[[1, 1, 0]])).round(4)
    array([0.6309])
    """

    FACTS: ClassVar[Facts] = Facts(needs_relevant=True, monotone=True, binary=True)
    min_grade: float = 1
    cutoff: ClassVar[None] = None

    def __post_init__(self) -> None:
        check_grade(self.min_grade)

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,), NaN where no judged document is relevant."""
        hits = rankings.relevant(self.min_grade)
        worth = 1 / np.log2(2 + hits.ranks - hits.numbers())
        total = segment_sum(worth, hits.offsets[:-1], hits.offsets[1:])
        return ratio(total, rankings.n_relevant(self.min_grade), otherwise=np.nan)
