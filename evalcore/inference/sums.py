"""The table that all inference starts from: exact sums by unit."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from evalcore.arrays import AnyArray, FloatArray, IntArray
from evalcore.errors import DataError

LIMB_BITS = 30
MAX_QUERIES = 2**32
"""Counted queries of a column: |hi| and lo of one query are at most 2**30, so no 64-bit sum passes 2**62."""
PRODUCT_BITS = 15
"""Kept of each factor of a product: sums of 2**33 products stay within 64 bits."""
MAX_EXPONENT = 500
"""Beyond 2**500 the square of a value would leave the range of a double."""


def to_limbs(values: FloatArray, *, exponent: int | IntArray = 0) -> tuple[IntArray, IntArray]:
    """Two integers for each value, which add without rounding.

        y = values / 2**exponent    hi = floor(y * 2**30)    lo = rint((y * 2**30 - hi) * 2**30)
        value = (hi * 2**30 + lo) * 2**(exponent - 60), to within 2**(exponent - 61)

    Values from 2**(exponent - 7) up keep every bit of a double. `exponent` is one number or an array that
    broadcasts against the values.  Raises DataError unless every |y| <= 1.

    >>> to_limbs(np.array([0.75, -0.5]))
    (array([ 805306368, -536870912]), array([0, 0]))
    """
    scaled = np.ldexp(values, LIMB_BITS - np.asarray(exponent, dtype=np.int32))
    if not np.all(np.abs(scaled) <= 2.0**LIMB_BITS):
        raise DataError(f"a value is not a finite number within 2**exponent (exponent {exponent}): see scale_exponent")
    hi = np.floor(scaled)
    lo = np.rint((scaled - hi) * 2.0**LIMB_BITS)
    return hi.astype(np.int64), lo.astype(np.int64)


def product_factor(values: FloatArray, *, exponent: int | IntArray = 0) -> IntArray:
    """What stands for a value in `UnitSums.products`: rint(value * 2**(15 - exponent)).

    >>> product_factor(np.array([0.75, -0.5]))
    array([ 24576, -16384])
    """
    return np.rint(np.ldexp(values, PRODUCT_BITS - np.asarray(exponent, dtype=np.int32))).astype(np.int64)


def scale_exponent(largest: float) -> int:
    """The smallest e >= 0 with largest <= 2**e, for a column whose values are at most `largest` in magnitude.

    Raises DataError if `largest` is negative, not finite or above 2**500.

    >>> scale_exponent(1.0), scale_exponent(5.0)
    (0, 3)
    """
    if not 0 <= largest <= 2.0**MAX_EXPONENT:
        raise DataError(f"the largest magnitude is {largest}; it must be a number from 0 to 2**{MAX_EXPONENT}")
    fraction, exponent = math.frexp(largest)  # largest = fraction * 2**exponent, 0.5 <= fraction < 1
    return max(0, exponent - (fraction == 0.5))


@dataclass(frozen=True, slots=True, eq=False)
class UnitSums:
    """For every unit and column: how many queries have a value, and the exact sum of those values.

    units      (n_units,) string ids, ascending, each once
    n          (n_units, n_columns) int64: queries with a defined value
    hi, lo     (n_units, n_columns) int64: sums of their limbs (`to_limbs`)
    exponents  (n_columns,) int64: the scale of each column
    products   for pairs of columns (the first place not above the second), the sum over queries of the products of
               their `product_factor`: how far queries of a unit resemble each other follows from it.
               A column's own, (i, i), is of squares. Only where units have several queries, and only as many
               pairs as somebody needs; unknown ones widen intervals

    A column is one metric of one system. Tables of disjoint queries over the same units add: n, hi and lo
    by plain integer addition, in any order. Raises DataError if the arrays do not fit together, or if a
    sum is more than its number of queries can give: a 64-bit sum that wrapped, or limbs of another scale.
    """

    units: npt.NDArray[np.str_]
    n: IntArray
    hi: IntArray
    lo: IntArray
    exponents: IntArray
    products: Mapping[tuple[int, int], int] = field(default_factory=dict)
    _exact_means: dict[int, Fraction] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        if self.units.ndim != 1 or self.units.dtype.kind != "U":
            raise DataError(f"units must be one list of strings, not {self.units.dtype} of shape {self.units.shape}")
        self._check_shapes()
        falling = np.flatnonzero(self.units[:-1] >= self.units[1:])
        if falling.size:
            first, second = self.units[falling[0]], self.units[falling[0] + 1]
            raise DataError(f'units must ascend and be unique: "{first}" is followed by "{second}"')
        self._check_magnitudes()

    def _check_shapes(self) -> None:
        shape = (len(self.units), len(self.exponents))
        wanted = {"n": shape, "hi": shape, "lo": shape, "exponents": shape[1:]}
        for name, expected in wanted.items():
            array: IntArray = getattr(self, name)
            if array.shape != expected or array.dtype != np.int64:
                raise DataError(f"{name} must be int64 of shape {expected}, not {array.dtype} of shape {array.shape}")
        if not self.exponents.size or np.any(np.abs(self.exponents) > MAX_EXPONENT):
            raise DataError(f"there must be a column, and exponents within {MAX_EXPONENT}: found {self.exponents}")

    def _check_magnitudes(self) -> None:
        if np.any(self.n < 0) or np.any(self.n > MAX_QUERIES) or np.any(self.n.sum(axis=0) > MAX_QUERIES):
            raise DataError(
                f"a column counts from 0 to 2**32 = {MAX_QUERIES} queries; found {self.n.max()} in one unit"
            )
        most = self.n << LIMB_BITS
        bad = np.argwhere((self.hi > most) | (self.hi < -most) | (self.lo > most) | (self.lo < 0))
        if bad.size:
            unit, column = bad[0]
            raise DataError(
                f'unit "{self.units[unit]}", column {column}: limbs {self.hi[unit, column]}, {self.lo[unit, column]} '
                f"cannot be sums over {self.n[unit, column]} queries"
            )

    @classmethod
    def from_values(
        cls,
        unit_ids: Sequence[str] | AnyArray,
        values: FloatArray,
        *,
        exponents: IntArray | None = None,
        contrasts: Sequence[tuple[int, int]] = (),
    ) -> UnitSums:
        """Sums of query values (n_queries, n_columns), NaN = undefined, by the unit of each query (n_queries,).

        `exponents` default to the smallest that hold each column. `contrasts` are the pairs of columns that
        will be contrasted: where units have several queries their intervals need `products`.
        Raises DataError for infinite values and for ids that are not strings.

        >>> sums = UnitSums.from_values(["b", "a", "b"], np.array([[0.5], [1.0], [np.nan]]))
        >>> sums.units.tolist(), sums.n.tolist(), sums.mean(0)
        (['a', 'b'], [[1], [1]], 0.75)
        """
        ids = np.asarray(unit_ids, dtype=None if len(unit_ids) else np.str_)
        if values.ndim != 2 or ids.shape != values.shape[:1]:
            raise DataError(f"{ids.shape} unit ids for values of shape {values.shape}; one id for each row is needed")
        defined = ~np.isnan(values)
        filled = np.where(defined, values, 0.0)
        if exponents is None:
            largest = np.abs(filled).max(axis=0, initial=0.0)
            exponents = np.array([scale_exponent(float(magnitude)) for magnitude in largest], dtype=np.int64)
        hi, lo = to_limbs(filled, exponent=exponents)
        order = np.argsort(ids, kind="stable")
        units, starts = np.unique(ids[order], return_index=True)
        n, hi, lo = (np.add.reduceat(rows[order], starts, axis=0) for rows in (defined.astype(np.int64), hi, lo))
        products = {}
        if len(units) < len(ids):
            factors = product_factor(filled, exponent=exponents)
            pairs = [*((column, column) for column in range(values.shape[1])), *map(tuple, map(sorted, contrasts))]
            products = {(a, b): int(factors[:, a] @ factors[:, b]) for a, b in pairs}
        return cls(units, n, hi, lo, exponents, products)

    def product(self, one: int, other: int) -> float:
        """The sum over queries of the product of two columns, to about 4 digits; NaN where nobody counted it."""
        whole = self.products.get((min(one, other), max(one, other)))
        if whole is None:
            return math.nan
        exponent = int(self.exponents[one] + self.exponents[other]) - 2 * PRODUCT_BITS
        return math.ldexp(float(whole), exponent)

    def exact_mean(self, column: int) -> Fraction:
        """The sum over the number of queries, unrounded.  Raises ZeroDivisionError if no query has a value."""
        if column not in self._exact_means:  # each column has many contrasts
            total = (int(self.hi[:, column].sum()) << LIMB_BITS) + int(self.lo[:, column].sum())
            scale = Fraction(2) ** (int(self.exponents[column]) - 2 * LIMB_BITS)
            self._exact_means[column] = scale * Fraction(total, int(self.n[:, column].sum()))
        return self._exact_means[column]

    def exact_ratio(self, above: int, below: int) -> Fraction:
        """One column's sum over another's, unrounded.  Raises ZeroDivisionError if the lower one is 0."""
        n_above, n_below = (int(self.n[:, column].sum()) for column in (above, below))
        if n_above == 0:
            raise ZeroDivisionError
        return self.exact_mean(above) * n_above / (self.exact_mean(below) * n_below)

    def mean(self, column: int) -> float:
        """The mean over the counted queries, correctly rounded; NaN if there is none."""
        return float(self.exact_mean(column)) if self.n[:, column].any() else math.nan

    def mean_difference(self, candidate: int, baseline: int) -> float:
        """The mean of one column less that of another, rounded once; NaN if either has no counted query."""
        try:
            return float(self.exact_mean(candidate) - self.exact_mean(baseline))
        except ZeroDivisionError:
            return math.nan

    def unit_totals(self, column: int) -> FloatArray:
        """(n_units,) the sum of each unit as a double."""
        exponent = int(self.exponents[column])
        hi = np.ldexp(self.hi[:, column].astype(np.float64), exponent - LIMB_BITS)
        return hi + np.ldexp(self.lo[:, column].astype(np.float64), exponent - 2 * LIMB_BITS)
