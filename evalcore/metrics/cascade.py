"""What a reader finds who goes down the ranking and stops at what satisfies: expected reciprocal rank."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from evalcore.arrays import FloatArray
from evalcore.errors import DataError, MetricNameError
from evalcore.metrics.base import Facts, check_cutoff
from evalcore.metrics.gained import Side, gainers, share
from evalcore.metrics.gains import DEEPEST_EXPONENT, EXP2, Gain
from evalcore.rankings import JudgedRankings
from evalcore.segments import accumulate, segment_sum


def _check(metric: ERR | NERR) -> None:
    check_cutoff(metric.cutoff)
    if not (math.isfinite(metric.max_grade) and 0 < metric.max_grade <= DEEPEST_EXPONENT):
        raise MetricNameError(f"max is {metric.max_grade!r}; it must be above 0 and at most {DEEPEST_EXPONENT}")


def _expected_reciprocal_rank(rankings: JudgedRankings, side: Side, max_grade: float, cutoff: int | None) -> FloatArray:
    """Of the retrieved documents as they stand, or of the judged ones, best first.  (n_rankings,)"""
    hits = gainers(rankings, side, EXP2)

    def stops() -> FloatArray:
        """How likely it is that the reader stops here, over the rank."""
        most = EXP2(np.array([max_grade]))[0]
        if (hits.grades > most).any():
            grade = np.log2(hits.grades.max() + 1)
            raise DataError(f"a grade is {grade:g}, above {max_grade:g}, the highest that ERR counts with; give max=")
        satisfied = hits.grades / 2**max_grade
        left = accumulate(np.multiply, 1 - satisfied, hits.offsets)
        reached = np.ones(len(left))
        reached[1:] = left[:-1]
        reached[hits.offsets[:-1][np.diff(hits.offsets) > 0]] = 1
        return satisfied * reached / hits.ranks

    starts = hits.offsets[:-1]
    worth = rankings.once(("stops", side, max_grade), stops)
    return segment_sum(worth, starts, starts + hits.counts(cutoff))


@dataclass(frozen=True, slots=True, kw_only=True)
class ERR:
    """Expected reciprocal rank: the mean of 1 / rank of the document that satisfies a reader.

        ERR@c = sum over ranks r <= c of R(r) / r * product over ranks s < r of (1 - R(s))
        R(r)  = (2^grade - 1) / 2^max

    The reader goes down the ranking and is satisfied by a document with the probability R. ``max`` is the
    highest grade that there can be, 4 as in gdeval; a judged or returned document with a higher one raises
    DataError. Range from 0, and below 1 whatever the ranking: with max=4 the best document alone has 15/16.
    An unjudged document and a negative grade satisfy nobody. Defined for every query.

    Source: Chapelle et al. 2009, doi:10.1145/1645953.1646033; gdeval ``err``.

    >>> ERR(max_grade=2).per_query(JudgedRankings.from_lists(retrieved=[[0, 2]], judged=[[2, 0]]))
    array([0.375])
    """

    FACTS: ClassVar[Facts] = Facts(monotone=True)
    gain: ClassVar[Gain] = EXP2
    max_grade: float = 4
    cutoff: int | None = None

    def __post_init__(self) -> None:
        _check(self)

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,)."""
        return _expected_reciprocal_rank(rankings, "retrieved", self.max_grade, self.cutoff)


@dataclass(frozen=True, slots=True, kw_only=True)
class NERR:
    """Expected reciprocal rank as a share of the best possible ranking's.

        nERR@c = ERR@c / ERR@c of all judged documents, best grade first

    Range 0 to 1. ``max`` is the highest grade that there can be; a judged or returned document with a higher
    one raises DataError. An unjudged document and a negative grade satisfy nobody. Undefined for a query
    without a judged document of a grade above 0. It is not the NERR of Azzopardi et al. 2021.

    Source: Chapelle et al. 2009, doi:10.1145/1645953.1646033.

    >>> NERR(cutoff=10).per_query(JudgedRankings.from_lists(retrieved=[[0, 2]], judged=[[2, 0]]))
    array([0.5])
    """

    FACTS: ClassVar[Facts] = Facts(needs_relevant=True, monotone=True)
    gain: ClassVar[Gain] = EXP2
    max_grade: float = 4
    cutoff: int | None = None

    def __post_init__(self) -> None:
        _check(self)

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,), NaN where no judged document has a grade above 0."""
        found, best = (
            _expected_reciprocal_rank(rankings, side, self.max_grade, self.cutoff) for side in ("retrieved", "judged")
        )
        return share(found, best)
