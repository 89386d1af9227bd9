"""What the documents found are worth: cumulative gain, discounted by rank, normalised."""

from __future__ import annotations

from dataclasses import dataclass
from types import NoneType
from typing import ClassVar, Literal

import numpy as np

from evalcore.arrays import FloatArray
from evalcore.errors import MetricNameError
from evalcore.metrics.base import UNBOUNDED, Facts, check_cutoff
from evalcore.metrics.discounts import LOG2, Discount
from evalcore.metrics.gains import LINEAR, Gain
from evalcore.metrics.top_k import ratio
from evalcore.rankings import Hits, JudgedRankings
from evalcore.segments import segment_sum, sort_segments

NO_DISCOUNT = Discount("none")
ROUNDING = 1e-12


def _discounted_gain(
    rankings: JudgedRankings, side: Literal["retrieved", "judged"], gain: Gain, discount: Discount, cutoff: int | None
) -> FloatArray:
    """Sum of gain * discount over the first ranks of the rankings, or of the best rankings.  (n_rankings,)"""
    hits = rankings.once(("gainful", side, bool(gain.table)), lambda: _gainful(rankings, side, gain))
    counts = rankings.once(("n_gainful", side, bool(gain.table), cutoff), lambda: hits.counts(cutoff))

    def worth() -> FloatArray:
        gains = gain(hits.grades)
        if side == "judged" and gain.table:  # best grade first need not be best gain first
            gains = gains[sort_segments(-gains, hits.offsets)]
        return gains * discount(hits.ranks)

    starts = hits.offsets[:-1]
    return segment_sum(rankings.once(("worth", side, gain, discount), worth), starts, starts + counts)


def check_parts(metric: CG | DCG | IDCG | NDCG) -> None:
    """Raises MetricNameError unless gain and discount are what they must be, and not their names."""
    for part, kind in (("gain", Gain), ("discount", Discount)):
        if not isinstance(getattr(metric, part, None), (kind, NoneType)):
            raise MetricNameError(f"{part} is {getattr(metric, part)!r}; write {kind.__name__}.parse(...)")


def _gainful(rankings: JudgedRankings, side: Literal["retrieved", "judged"], gain: Gain) -> Hits:
    """The documents that can gain anything: a table may reward any judged one, the others a grade above 0."""
    grades = rankings.retrieved if side == "retrieved" else rankings.judged
    wanted = ~np.isnan(grades.values) if gain.table else grades.values > 0
    return rankings.hits(wanted) if side == "retrieved" else Hits.among(grades, wanted)


@dataclass(frozen=True, slots=True, kw_only=True)
class CG:
    """Cumulative gain: what the first documents are worth, whatever their order.

        CG@c = sum over ranks r <= c of gain(grade at r)

    Range from 0, in units of gain. An unjudged document and a negative grade gain 0. Defined for
    every query.

    Source: Järvelin & Kekäläinen 2002, doi:10.1145/582415.582418.

    >>> CG(cutoff=2).per_query(JudgedRankings.from_lists(retrieved=[[1, 2, 2]], judged=[[2, 2, 1]]))
    array([3.])
    """

    FACTS: ClassVar[Facts] = Facts(high=UNBOUNDED, linear=True, monotone=True, shared_ranks=True)
    gain: Gain = LINEAR
    cutoff: int | None = None

    def __post_init__(self) -> None:
        check_cutoff(self.cutoff)
        check_parts(self)

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,)."""
        return _discounted_gain(rankings, "retrieved", self.gain, NO_DISCOUNT, self.cutoff)


@dataclass(frozen=True, slots=True, kw_only=True)
class DCG:
    """Discounted cumulative gain: what the first documents are worth, less the lower they stand.

        DCG@c = sum over ranks r <= c of gain(grade at r) * discount(r)

    Range from 0, in units of gain. An unjudged document and a negative grade gain 0. Defined for
    every query.

    Source: Järvelin & Kekäläinen 2002, doi:10.1145/582415.582418; Burges et al. 2005,
    doi:10.1145/1102351.1102363 (gain=exp2).

    >>> DCG().per_query(JudgedRankings.from_lists(retrieved=[[0, 0, 2]], judged=[[2, 0, 0]]))
    array([1.])
    """

    FACTS: ClassVar[Facts] = Facts(high=UNBOUNDED, linear=True, monotone=True, shared_ranks=True)
    gain: Gain = LINEAR
    discount: Discount = LOG2
    cutoff: int | None = None

    def __post_init__(self) -> None:
        check_cutoff(self.cutoff)
        check_parts(self)

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,)."""
        return _discounted_gain(rankings, "retrieved", self.gain, self.discount, self.cutoff)


@dataclass(frozen=True, slots=True, kw_only=True)
class IDCG:
    """DCG of the best possible ranking: all judged documents, best gain first.

        IDCG@c = sum over ranks r <= c of gain(r-th best judged document) * discount(r)

    Range from 0, in units of gain. Depends on the judgments and not on the system. Defined for
    every query.

    Source: Järvelin & Kekäläinen 2002, doi:10.1145/582415.582418.

    >>> IDCG(cutoff=1).per_query(JudgedRankings.from_lists(retrieved=[[]], judged=[[1, 2]]))
    array([2.])
    """

    FACTS: ClassVar[Facts] = Facts(high=UNBOUNDED, empty=None, higher_is_better=None, order_free=True)
    gain: Gain = LINEAR
    discount: Discount = LOG2
    cutoff: int | None = None

    def __post_init__(self) -> None:
        check_cutoff(self.cutoff)
        check_parts(self)

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,)."""
        return _discounted_gain(rankings, "judged", self.gain, self.discount, self.cutoff)


@dataclass(frozen=True, slots=True, kw_only=True)
class NDCG:
    """Discounted gain of the ranking, as a share of the best possible ranking's.

        nDCG@c = DCG@c / IDCG@c

    Range 0 to 1. The best ranking draws on every judged document, retrieved or not, and is cut at
    the same c. An unjudged document and a negative grade gain 0. Undefined for a query where no
    judged document gains anything.

    Source: Järvelin & Kekäläinen 2002, doi:10.1145/582415.582418 (gain=linear); Burges et al. 2005,
    doi:10.1145/1102351.1102363 (gain=exp2); trec_eval ``ndcg``, ``ndcg_cut``.

    >>> NDCG(cutoff=10).per_query(JudgedRankings.from_lists(retrieved=[[0, 2]], judged=[[2, 0]])).round(4)
    array([0.6309])
    """

    FACTS: ClassVar[Facts] = Facts(needs_relevant=True, linear=True, monotone=True, shared_ranks=True)
    gain: Gain = LINEAR
    discount: Discount = LOG2
    cutoff: int | None = None

    def __post_init__(self) -> None:
        check_cutoff(self.cutoff)
        check_parts(self)

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,), NaN where nothing can be gained."""
        found = _discounted_gain(rankings, "retrieved", self.gain, self.discount, self.cutoff)
        best = _discounted_gain(rankings, "judged", self.gain, self.discount, self.cutoff)
        value = ratio(found, best, otherwise=np.nan)
        # the best ranking may sum the same gains in another order, to a sum less by some last bits
        value[(value > 1) & (value < 1 + ROUNDING)] = 1
        return value
