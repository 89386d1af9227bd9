"""Data sets as columns of one table of unit sums, so that all of them share the draws of a bootstrap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from evalcore.arrays import AnyArray, FloatArray, IntArray
from evalcore.inference import Measure, UnitSums, scale_exponent, to_limbs
from evalcore.inference.sums import product_factor

Kind = Literal["mean", "geometric", "ratio", "contrast"]


class Values(NamedTuple):
    """A value for each query, and the cell of (n_units, n_sets) that each belongs to.  (n_queries,) both"""

    at: IntArray
    values: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class DataSets:
    """Some data sets with equally many units, which become columns of one UnitSums: replicates are drawn once.

    columns   of a mean: its values; of a contrast: the candidate's and the baseline's; of a ratio: above and below
    """

    n_units: int
    n_sets: int
    kind: Kind
    columns: tuple[Values, ...]

    def sums(self) -> UnitSums:
        """One column of unit sums for each data set; those of the second values follow all of the first."""
        exponents = [scale_exponent(float(np.abs(column.values).max())) for column in self.columns]
        limbs = [to_limbs(c.values, exponent=e) for c, e in zip(self.columns, exponents, strict=True)]
        n = [self._added(column.at, np.ones(len(column.at))) for column in self.columns]
        hi, lo = (
            [self._added(column.at, parts[limb]) for column, parts in zip(self.columns, limbs, strict=True)]
            for limb in (0, 1)
        )
        return UnitSums(
            units=np.array([f"{unit:06d}" for unit in range(self.n_units)]),
            n=np.hstack(n),
            hi=np.hstack(hi),
            lo=np.hstack(lo),
            exponents=np.repeat(np.array(exponents, dtype=np.int64), self.n_sets),
            products=self._products(exponents) if max(int(each.max()) for each in n) > 1 else {},
        )

    def _added(self, at: IntArray, whole: AnyArray) -> IntArray:
        """(n_units, n_sets) sums of whole numbers, which stay far below 2**53."""
        added = np.bincount(at, weights=whole, minlength=self.n_units * self.n_sets)
        return added.astype(np.int64).reshape(self.n_units, self.n_sets)

    def _products(self, exponents: list[int]) -> dict[tuple[int, int], int]:
        factors = [product_factor(c.values, exponent=e) for c, e in zip(self.columns, exponents, strict=True)]
        found = {}
        for one, first in enumerate(self.columns):
            for other, second in enumerate(self.columns[one:], start=one):
                if first.at is second.at:
                    of_set = np.bincount(first.at % self.n_sets, weights=factors[one] * factors[other])
                    found |= {(one * self.n_sets + c, other * self.n_sets + c): int(p) for c, p in enumerate(of_set)}
        return found

    def asked(self) -> tuple[list[Measure], list[tuple[int, int]]]:
        """The measures and contrasts for `infer`: one of them for each data set."""
        sets = range(self.n_sets)
        if self.kind == "contrast":
            return [Measure(column=c) for c in range(2 * self.n_sets)], [(c, self.n_sets + c) for c in sets]
        below = self.n_sets if self.kind == "ratio" else None
        return [Measure(column=c, below=below and below + c, kind=self.kind) for c in sets], []

    def informative(self) -> float:
        """Units whose value is not the most common one, of the poorer side, on average; of paired deltas: not 0."""
        totals = [self._added(column.at, np.rint(column.values * 2.0**30)) for column in self.columns]
        if self.kind == "contrast" and self.columns[0].at is self.columns[1].at:
            return float(np.count_nonzero(totals[0] != totals[1], axis=0).mean())
        below = totals[1:] if self.kind == "ratio" else [self._added(c.at, np.ones(len(c.at))) for c in self.columns]
        return min(_away_from_the_usual(above, under) for above, under in zip(totals, below, strict=False))

    def by_query(self) -> DataSets:
        """The same values with every query as a unit of its own, whatever cluster it is from."""
        (column,) = self.columns
        of_set = column.at % self.n_sets
        order = np.argsort(of_set, kind="stable")
        n_queries = np.bincount(of_set, minlength=self.n_sets)
        place = np.arange(len(order)) - np.repeat(np.cumsum(n_queries) - n_queries, n_queries)
        at = place * self.n_sets + of_set[order]
        return DataSets(int(n_queries.max()), self.n_sets, self.kind, (Values(at, column.values[order]),))


def _away_from_the_usual(above: IntArray, below: IntArray) -> float:
    by_set = [one[other > 0] / other[other > 0] for one, other in zip(above.T, below.T, strict=True)]
    return float(np.mean([len(values) - np.unique(values, return_counts=True)[1].max() for values in by_set]))
