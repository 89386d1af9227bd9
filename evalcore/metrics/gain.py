"""What the documents found are worth: cumulative gain, discounted by rank, normalised."""

from __future__ import annotations

from dataclasses import dataclass
from types import NoneType
from typing import ClassVar, Literal, Protocol

from evalcore.arrays import FloatArray
from evalcore.errors import MetricNameError, unknown
from evalcore.metrics.base import UNBOUNDED, Facts, check_cutoff, check_grade
from evalcore.metrics.discounts import LOG2, Discount
from evalcore.metrics.gain_bounds import dcg_bounds, ndcg_bounds
from evalcore.metrics.gained import Side, discounted_gain, expected_gain, share
from evalcore.metrics.gains import LINEAR, Gain
from evalcore.rankings import JudgedRankings

NO_DISCOUNT = Discount("none")
IDEALS = ("judged", "retrieved", "full")


class _Gaining(Protocol):
    @property
    def gain(self) -> Gain: ...


def check_parts(metric: _Gaining, *, losses: bool = False) -> None:
    """Raises MetricNameError unless gain, discount, rel and cutoff are what they must be, not their names.

    losses   whether gains may be negative: a share of the best gain is none then
    """
    for part, kind in (("gain", Gain), ("discount", Discount)):
        if not isinstance(getattr(metric, part, None), (kind, NoneType)):
            raise MetricNameError(f"{part} is {getattr(metric, part)!r}; write {kind.__name__}.parse(...)")
    if metric.gain.name == "signed" and not losses:
        raise MetricNameError("gain=signed can be negative, and no share of the best then; CG and DCG take it")
    if (min_grade := getattr(metric, "min_grade", None)) is not None:
        check_grade(min_grade)
    check_cutoff(getattr(metric, "cutoff", None))


@dataclass(frozen=True, slots=True, kw_only=True)
class CG:
    """Cumulative gain: what the first documents are worth, whatever their order.

        CG@c = sum over ranks r <= c of gain(grade at r)

    Range from 0, in units of gain; with ``gain=signed`` below 0 too. An unjudged document, a negative
    grade and a grade below ``rel``, where one is given, gain 0. Defined for every query.

    Source: Järvelin & Kekäläinen 2002, doi:10.1145/582415.582418.

    >>> CG(cutoff=2).per_query(JudgedRankings.from_lists(retrieved=[[1, 2, 2]], judged=[[2, 2, 1]]))
    array([3.])
    """

    FACTS: ClassVar[Facts] = Facts(low=-UNBOUNDED, high=UNBOUNDED, linear=True, monotone=True, shared_ranks=True)
    gain: Gain = LINEAR
    min_grade: float | None = None
    cutoff: int | None = None

    def __post_init__(self) -> None:
        check_parts(self, losses=True)

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,)."""
        return discounted_gain(
            rankings, "retrieved", self.gain, NO_DISCOUNT, min_grade=self.min_grade, cutoff=self.cutoff
        )

    def expected(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,)."""
        return expected_gain(rankings, self.gain, NO_DISCOUNT, min_grade=self.min_grade, cutoff=self.cutoff)

    def bounds(self, rankings: JudgedRankings, *, best_grade: float) -> tuple[FloatArray, FloatArray]:
        """(n_rankings,) each."""
        return dcg_bounds(rankings, self.gain, NO_DISCOUNT, self.min_grade, self.cutoff, best_grade)


@dataclass(frozen=True, slots=True, kw_only=True)
class DCG:
    """Discounted cumulative gain: what the first documents are worth, less the lower they stand.

        DCG@c = sum over ranks r <= c of gain(grade at r) * discount(r)

    Range from 0, in units of gain; with ``gain=signed`` below 0 too. An unjudged document, a negative
    grade and a grade below ``rel``, where one is given, gain 0. Defined for every query.

    Source: Järvelin & Kekäläinen 2002, doi:10.1145/582415.582418; Burges et al. 2005,
    doi:10.1145/1102351.1102363 (gain=exp2).

    >>> DCG().per_query(JudgedRankings.from_lists(retrieved=[[0, 0, 2]], judged=[[2, 0, 0]]))
    array([1.])
    """

    FACTS: ClassVar[Facts] = Facts(low=-UNBOUNDED, high=UNBOUNDED, linear=True, monotone=True, shared_ranks=True)
    gain: Gain = LINEAR
    discount: Discount = LOG2
    min_grade: float | None = None
    cutoff: int | None = None

    def __post_init__(self) -> None:
        check_parts(self, losses=True)

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,)."""
        return discounted_gain(
            rankings, "retrieved", self.gain, self.discount, min_grade=self.min_grade, cutoff=self.cutoff
        )

    def expected(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,)."""
        return expected_gain(rankings, self.gain, self.discount, min_grade=self.min_grade, cutoff=self.cutoff)

    def bounds(self, rankings: JudgedRankings, *, best_grade: float) -> tuple[FloatArray, FloatArray]:
        """(n_rankings,) each."""
        return dcg_bounds(rankings, self.gain, self.discount, self.min_grade, self.cutoff, best_grade)


@dataclass(frozen=True, slots=True, kw_only=True)
class IDCG:
    """DCG of the best possible ranking: all judged documents, best gain first.

        IDCG@c = sum over ranks r <= c of gain(r-th best judged document) * discount(r)

    Range from 0, in units of gain. A grade below ``rel``, where one is given, gains 0. Depends on the
    judgments and not on the system. Defined for every query.

    Source: Järvelin & Kekäläinen 2002, doi:10.1145/582415.582418.

    >>> IDCG(cutoff=1).per_query(JudgedRankings.from_lists(retrieved=[[]], judged=[[1, 2]]))
    array([2.])
    """

    FACTS: ClassVar[Facts] = Facts(high=UNBOUNDED, empty=None, higher_is_better=None, order_free=True)
    gain: Gain = LINEAR
    discount: Discount = LOG2
    min_grade: float | None = None
    cutoff: int | None = None

    def __post_init__(self) -> None:
        check_parts(self)

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,)."""
        return discounted_gain(
            rankings, "judged", self.gain, self.discount, min_grade=self.min_grade, cutoff=self.cutoff
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class NDCG:
    """Discounted gain of the ranking, as a share of the best possible ranking's.

        nDCG@c = DCG@c / IDCG@c

    Range 0 to 1. An unjudged document, a negative grade and a grade below ``rel``, where one is given,
    gain 0. The best ranking is, by ``ideal``:

        judged      all judged documents, retrieved or not, cut at the same c
        retrieved   the documents of this ranking in their best order, cut at the same c; those below the
                    cutoff count too (scikit-learn, LightGBM, torchmetrics)
        full        all judged documents, not cut

    Undefined for a query where no judged document gains anything.

    Source: Järvelin & Kekäläinen 2002, doi:10.1145/582415.582418 (gain=linear); Burges et al. 2005,
    doi:10.1145/1102351.1102363 (gain=exp2); trec_eval ``ndcg``, ``ndcg_cut``, ``ndcg_p`` (discount=jk2);
    ranx ``ndcg-l2`` (rel=2).

    >>> NDCG(cutoff=10).per_query(JudgedRankings.from_lists(retrieved=[[0, 2]], judged=[[2, 0]])).round(4)
    array([0.6309])
    """

    FACTS: ClassVar[Facts] = Facts(needs_relevant=True, linear=True, monotone=True, shared_ranks=True)
    gain: Gain = LINEAR
    discount: Discount = LOG2
    ideal: Literal["judged", "retrieved", "full"] = "judged"
    min_grade: float | None = None
    cutoff: int | None = None

    def __post_init__(self) -> None:
        check_parts(self)
        if self.ideal not in IDEALS:
            raise MetricNameError(unknown("ideal", str(self.ideal), IDEALS))

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,), NaN where nothing can be gained."""
        found = discounted_gain(
            rankings, "retrieved", self.gain, self.discount, min_grade=self.min_grade, cutoff=self.cutoff
        )
        return self._share(found, rankings)

    def expected(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,), NaN where nothing can be gained."""
        found = expected_gain(rankings, self.gain, self.discount, min_grade=self.min_grade, cutoff=self.cutoff)
        return self._share(found, rankings)

    def bounds(self, rankings: JudgedRankings, *, best_grade: float) -> tuple[FloatArray, FloatArray]:
        """(n_rankings,) each, NaN where nothing can be gained whatever the unjudged documents are."""
        return ndcg_bounds(
            rankings,
            self.per_query(rankings),
            best="best" if self.ideal == "retrieved" else "judged",
            gain=self.gain,
            discount=self.discount,
            min_grade=self.min_grade,
            cutoff=self.cutoff,
            ideal_cutoff=None if self.ideal == "full" else self.cutoff,
            best_grade=best_grade,
        )

    def _share(self, found: FloatArray, rankings: JudgedRankings) -> FloatArray:
        def best_of(side: Side) -> FloatArray:
            cutoff = None if self.ideal == "full" else self.cutoff
            return discounted_gain(rankings, side, self.gain, self.discount, min_grade=self.min_grade, cutoff=cutoff)

        best = best_of("judged")
        if self.ideal != "retrieved":
            return share(found, best)
        value = share(found, best_of("best"))
        value[(best > 0) & (found == 0)] = 0  # there is something to find, and none of it was
        return value
