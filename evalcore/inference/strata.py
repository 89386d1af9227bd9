"""Strata: parts of the queries whose shares are fixed, each with units of its own."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from evalcore.arrays import FloatArray, IntArray
from evalcore.errors import DataError
from evalcore.inference import influence
from evalcore.inference.influence import Statistic, scaled
from evalcore.inference.measures import Measure, divisor, exact, statistic_of
from evalcore.inference.ordered import ordered_sum
from evalcore.inference.sums import UnitSums

Labels = Sequence[str] | npt.NDArray[np.str_]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Stratum:
    """Units of one label: their rows in the whole table, their sums, and the stream of their draws (draws.py)."""

    rows: IntArray
    sums: UnitSums
    stream: int


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Strata:
    """Units by stratum, in order of labels. Without labels one stratum: all that follows is then the ordinary case.

        estimate  = sum over h of pi_h m_h          m_h: the measure in stratum h
        influence = pi_h u_g   of a unit g of stratum h, u_g its influence on m_h; likewise what is made of it
        share     = pi_h h_g   h_g its share of the stratum
        variance  = sum over h of pi_h**2 variance of m_h, with the degrees of freedom of Satterthwaite

    pi_h is the stratum's share of what the measure divides by: of the queries, or of the sum below a ratio. So an
    estimate is what it is without strata. Weights that are given instead are taken over their sum.

    Source: Cochran 1977, Sampling Techniques, sections 5.3 and 5.4.
    """

    sums: UnitSums
    strata: list[Stratum]
    weights: list[Fraction] | None = None

    @classmethod
    def of(cls, sums: UnitSums, labels: Labels | None, weights: Mapping[str, float] | None = None) -> Strata:
        """The strata of a table from the label of each unit (n_units,); units of one label alone are no strata.

        The draws of a stratum are a function of the seed, the replicate, its label and its number of units: those
        of other strata do not move them.  Raises DataError for a stratum of one unit, labels that do not fit the
        table, or weights that do not fit the labels.
        """
        names, of_unit = _labels(sums, labels)
        shares = None if weights is None else _weights(names, weights)
        if len(names) < 2:
            every = Stratum(rows=np.arange(len(sums.units)), sums=sums, stream=0)
            return cls(sums=sums, strata=[every])
        strata = []
        for place, name in enumerate(names):
            rows = np.flatnonzero(of_unit == place)
            if len(rows) < 2:
                raise DataError(
                    f'stratum "{name}" has one unit, "{sums.units[rows[0]]}", from which nobody can tell how its units '
                    "differ; join it with another stratum"
                )
            strata.append(Stratum(rows=rows, sums=of_units(sums, rows), stream=stream_of(name)))
        return cls(sums=sums, strata=strata, weights=shares)

    def shares(self, measure: Measure) -> list[Fraction]:
        """pi_h of each stratum, unrounded."""
        if self.weights is not None:
            return self.weights
        divisors = [divisor(stratum.sums, measure) for stratum in self.strata]
        whole = sum(divisors)
        return [each / whole if whole else Fraction(0) for each in divisors]

    def statistic(self, measure: Measure) -> Statistic:
        """The measure, its parts being those of the strata; of a geometric mean its logarithm."""
        whole = statistic_of(self.sums, measure)
        if len(self.strata) == 1:
            return whole
        shares = [float(share) for share in self.shares(measure)]
        of_strata = [statistic_of(stratum.sums, measure) for stratum in self.strata]
        parts = [scaled(each, share) for each, share in zip(of_strata, shares, strict=True)]
        return replace(
            whole,
            estimate=whole.estimate if self.weights is None else self._weighted([measure]),
            share=self._scattered([share * part.share for share, part in zip(shares, parts, strict=True)]),
            influence=self._scattered([part.influence for part in parts]),
            adjusted=self._scattered([part.adjusted for part in parts]),
            deletion=self._scattered([part.deletion for part in parts]),
            parts=_with_squares(parts, shares, within=_within(whole.square_sum, whole.values, whole.n)),
            levels=self._scattered(
                [np.full(len(part.n), part.estimate if part.n_units else 0.0) for part in of_strata]
            ),
        )

    def contrast(self, measures: tuple[Measure, Measure], sides: tuple[Statistic, Statistic]) -> Statistic:
        """The first measure less the second, from their statistics."""
        square_sum = _square_sum_of_deltas(self.sums, measures)
        pair = influence.of_contrast(*sides, estimate=self._delta(measures, sides), square_sum=square_sum)
        if len(self.strata) == 1:
            return pair
        parts = [_difference(*both) for both in zip(sides[0].parts, sides[1].parts, strict=True)]
        if math.isnan(square_sum):
            return replace(pair, parts=tuple(parts))
        shares = [float(share) for share in self.shares(measures[0])]
        within = _within(square_sum, pair.values, sides[0].n)
        return replace(pair, parts=_with_squares(parts, shares, within=within))

    def _delta(self, measures: tuple[Measure, Measure], sides: tuple[Statistic, Statistic]) -> float:
        one, other = measures
        if not one.kind == other.kind == "mean":
            return sides[0].estimate - sides[1].estimate
        if self.weights is None:
            return self.sums.mean_difference(one.column, other.column)
        return self._weighted(measures)

    def _weighted(self, measures: Sequence[Measure]) -> float:
        """A measure, or the first less the second, with the given weights, rounded once; NaN if a stratum has none."""
        total = Fraction(0)
        for stratum, share in zip(self.strata, self.weights or [], strict=True):
            if share:
                try:
                    first, *others = (exact(stratum.sums, measure) for measure in measures)
                except ZeroDivisionError:
                    return math.nan
                total += share * (first - sum(others))
        return float(total)

    def _scattered(self, of_strata: Iterable[FloatArray]) -> FloatArray:
        whole = np.zeros(len(self.sums.units))
        for stratum, values in zip(self.strata, of_strata, strict=True):
            whole[stratum.rows] = values
        return whole


def of_units(sums: UnitSums, rows: IntArray) -> UnitSums:
    """The sums of some units, in ascending rows of the table; without products, which are not by unit."""
    return UnitSums(sums.units[rows], sums.n[rows], sums.hi[rows], sums.lo[rows], sums.exponents)


def stream_of(label: str) -> int:
    """The stream of a stratum's draws: the first 16 hexadecimal digits of the label's md5, as a number."""
    return int(hashlib.md5(label.encode(), usedforsecurity=False).hexdigest()[:16], 16)


def _labels(sums: UnitSums, labels: Labels | None) -> tuple[list[str], IntArray]:
    """The labels, ascending, and the place of each unit's."""
    if labels is None:
        return [], np.zeros(len(sums.units), dtype=np.int64)
    given = np.asarray(labels, dtype=None if len(labels) else np.str_)
    if given.shape != sums.units.shape or given.dtype.kind != "U":
        raise DataError(
            f"strata must be one list of strings, one for each of the {len(sums.units)} units, not {given.dtype} of "
            f"shape {given.shape}"
        )
    names, of_unit = np.unique(given, return_inverse=True)
    return names.tolist(), of_unit.reshape(given.shape)


def _weights(names: Sequence[str], weights: Mapping[str, float]) -> list[Fraction]:
    """The weights of the strata over their sum."""
    different = sorted({*names} ^ {*weights})
    if different:
        raise DataError(f'"{different[0]}" is not both a stratum ({", ".join(names)}) and one with a weight')
    bad = [name for name in names if not 0 <= weights[name] < math.inf]
    if bad or not any(weights.values()):
        raise DataError(f"weights of strata must be finite, not negative and not all 0; found {dict(weights)}")
    given = [Fraction(weights[name]) for name in names]
    return [weight / sum(given) for weight in given]


def _difference(candidate: Statistic, baseline: Statistic) -> Statistic:
    """A stratum's part of a contrast: where only one side counts queries it is that side."""
    if not baseline.n.any():
        return candidate
    if not candidate.n.any():
        return scaled(baseline, -1.0)
    return influence.of_contrast(candidate, baseline, estimate=candidate.estimate - baseline.estimate)


def _square_sum_of_deltas(sums: UnitSums, measures: tuple[Measure, Measure]) -> float:
    """The sum over queries of the squared delta, of two means over the same queries; else NaN."""
    one, other = measures
    a, b = one.column, other.column
    if not one.kind == other.kind == "mean" or np.any(sums.n[:, a] != sums.n[:, b]):
        return math.nan
    return sums.product(a, a) + sums.product(b, b) - 2 * sums.product(a, b)


def _within(square_sum: float, values: FloatArray, n: IntArray) -> float:
    """The mean square of queries about the mean of their unit; NaN if unknown."""
    spare = int(n.sum()) - int(np.count_nonzero(n))
    return max(0.0, square_sum - _at_means(values, n)) / spare if spare and not math.isnan(square_sum) else math.nan


def _with_squares(parts: Sequence[Statistic], shares: Sequence[float], *, within: float) -> tuple[Statistic, ...]:
    """Parts as if each had the mean square within units of the whole: squares are counted for all strata together."""
    filled = []
    for part, share in zip(parts, shares, strict=True):
        n = part.n if part.sides is None else part.sides[0].n  # of deltas: that of both, or `within` is NaN
        spare = int(n.sum()) - int(np.count_nonzero(n))
        filled.append(replace(part, square_sum=share * share * within * spare + _at_means(part.values, n)))
    return tuple(filled)


def _at_means(values: FloatArray, n: IntArray) -> float:
    counted = n > 0
    return ordered_sum(n[counted] * values[counted] ** 2)
