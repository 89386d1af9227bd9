"""How far the rankings of two systems agree in their order: no judgments needed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import numpy as np

from evalcore.arrays import FloatArray, IntArray, Offsets
from evalcore.errors import MetricNameError, unknown
from evalcore.metrics.agreement import centred_ranks, correlation
from evalcore.metrics.base import Facts, check_cutoff
from evalcore.metrics.discounts import powers
from evalcore.metrics.scored import each, out_of_order, total
from evalcore.metrics.top_k import ratio
from evalcore.rankings import JudgedRankings
from evalcore.segments import running_count, sort_segments

Form = Literal["ext", "min"]

OF_RANKS = Facts(
    low=-1.0, empty=math.nan, higher_is_better=None, needs=frozenset({"documents", "reference"}), judgments=False
)


def _shared(rankings: JudgedRankings) -> tuple[IntArray, Offsets]:
    """The ranks in the ranking of what both systems returned, in the order of the reference.  (n_shared,)"""
    ranks = rankings.ranks_of("reference")
    return ranks[ranks > 0], running_count(ranks > 0)[rankings.need("reference").offsets]


@dataclass(frozen=True, slots=True, kw_only=True)
class RefSpearman:
    """Rank correlation with the ranking of the reference system.

        RefSpearman = 1 - 6 * sum of squared differences of the two ranks / (n * (n^2 - 1))

    Range -1 to 1. Of the n documents that both returned, ranked among themselves; judgments are not read.
    Undefined for fewer than two such documents.

    Source: Spearman 1904, doi:10.2307/1412159.

    >>> rankings = JudgedRankings.from_lists(
    ...     retrieved=[[0, 0, 0]], judged=[[0]], documents=[["a", "b", "c"]], reference=[["b", "a", "c", "d"]]
    ... )
    >>> RefSpearman().per_query(rankings)
    array([0.5])
    """

    FACTS: ClassVar[Facts] = OF_RANKS
    cutoff: ClassVar[None] = None

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,), NaN where fewer than two documents are shared."""
        ranks, offsets = _shared(rankings)
        centred = centred_ranks(np.arange(len(ranks) + 1), offsets)
        of_ranking = np.empty(len(ranks))
        of_ranking[sort_segments(ranks, offsets)] = centred
        return correlation(centred, of_ranking, offsets)


@dataclass(frozen=True, slots=True, kw_only=True)
class RefKendallTau:
    """Kendall's tau with the ranking of the reference system.

        RefKendallTau = (pairs in the same order in both rankings - pairs in different orders) / all pairs

    Range -1 to 1. Of the documents that both returned; judgments are not read. Undefined for fewer than two
    such documents.

    Source: Kendall 1938, doi:10.1093/biomet/30.1-2.81.

    >>> rankings = JudgedRankings.from_lists(
    ...     retrieved=[[0, 0, 0]], judged=[[0]], documents=[["a", "b", "c"]], reference=[["b", "a", "c", "d"]]
    ... )
    >>> RefKendallTau().per_query(rankings).round(4)
    array([0.3333])
    """

    FACTS: ClassVar[Facts] = OF_RANKS
    cutoff: ClassVar[None] = None

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,), NaN where fewer than two documents are shared."""
        ranks, offsets = _shared(rankings)
        same = total(out_of_order(ranks, offsets)[0], offsets)  # ranks rise where falling values are out of order
        pairs = np.diff(offsets) * (np.diff(offsets) - 1) / 2
        return ratio(2 * same - pairs, pairs, otherwise=np.nan)


@dataclass(frozen=True, slots=True, kw_only=True)
class RBO:
    """Rank-biased overlap with the ranking of the reference system.

        RBO = (1 - p) * sum over depths d = 1, 2 … of p^(d - 1) * documents in both first d ranks / d

    Range 0 to 1; 1 for two rankings that are the same. ``p`` is how likely a reader goes on from each rank:
    the first 10 ranks have 86 % of the weight at 0.9. Below the last rank, ``form=ext`` goes on with the
    agreement seen so far, as the shorter ranking's had it continued, and ``form=min`` adds only what must be
    there, so that it is the least that any continuation could give. With a cutoff both rankings are cut.
    Judgments are not read. Undefined where the reference returned nothing; an empty ranking has 0.

    Source: Webber, Moffat & Zobel 2010, doi:10.1145/1852102.1852106 (RBO_EXT for uneven lists, RBO_MIN).

    >>> rankings = JudgedRankings.from_lists(
    ...     retrieved=[[0, 0]], judged=[[0]], documents=[["a", "b"]], reference=[["b", "a"]]
    ... )
    >>> RBO(persistence=0.5).per_query(rankings)
    array([0.5])
    """

    FACTS: ClassVar[Facts] = Facts(
        empty=None, higher_is_better=None, needs=frozenset({"documents", "reference"}), judgments=False
    )
    persistence: float = 0.9
    form: Form = "ext"
    cutoff: int | None = None

    def __post_init__(self) -> None:
        check_cutoff(self.cutoff)
        if not 0 < self.persistence < 1:
            raise MetricNameError(f"p is {self.persistence!r}; it must be above 0 and below 1")
        if self.form not in get_args(Form):
            raise MetricNameError(unknown("form", str(self.form), get_args(Form)))

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,), NaN where the reference is empty."""
        reference, ranks = rankings.need("reference"), rankings.ranks_of("reference")
        lengths = np.stack([rankings.retrieved.lengths, np.diff(reference.offsets)])
        if self.cutoff is not None:
            lengths = np.minimum(lengths, self.cutoff)
        short, long = lengths.min(axis=0), lengths.max(axis=0)
        # a document counts at every depth from the deeper of its two ranks on
        depths = np.maximum(ranks, reference.values.astype(np.int64))
        counted = (ranks > 0) & (depths <= each(long, reference.offsets))
        depths, offsets = depths[counted], running_count(counted)[reference.offsets]
        table, sums = self._tables(int(long.max(initial=0)))
        rest = (1 - self.persistence) / self.persistence
        if self.form == "min":
            beyond = rest * (-math.log1p(-self.persistence) - sums[depths - 1])
            worth = np.clip(beyond, 0, table[depths - 1] / depths)  # what is left far down is not mere rounding
        else:  # at each depth to the end of the shorter ranking, or if it came later to that of the longer one
            ends = np.where(depths <= each(short, offsets), each(short, offsets), each(long, offsets))
            worth = rest * (sums[ends] - sums[depths - 1]) + table[ends] / ends
        return np.where(np.diff(reference.offsets) > 0, np.clip(total(worth, offsets), 0, 1), np.nan)

    def _tables(self, deepest: int) -> tuple[FloatArray, FloatArray]:
        """p^d, and the sum of p^i / i over i = 1 … d, at each depth d from 0: the same however long the table is."""
        table = powers(self.persistence, deepest + 1)
        terms = table / np.maximum(np.arange(deepest + 1), 1)
        terms[0] = 0
        return table, np.add.accumulate(terms)
