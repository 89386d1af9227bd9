"""UNIT SUMS as evalcore takes them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from evalcore.inference import Measure as Estimated
from evalcore.inference import UnitSums
from jobs.errors import DataRefused, number_of
from jobs.measures import Measure

if TYPE_CHECKING:
    import pyarrow as pa

TEXTS = ("unit", "stratum", "system", "given")
PARTS = ("n", "hi", "lo", "undefined", "squares")
"""What UNIT SUMS holds of each sum."""
Key: TypeAlias = tuple[str, str | None]
"""A system, and the system whose counted queries it is restricted to, if any."""


@dataclass(frozen=True, slots=True)
class Sums:
    """UNIT SUMS as evalcore takes them, with the names of the columns.

    columns    the place of each (system, sum)
    undefined  how many queries have no value in it
    strata     (n_units,) the stratum of each unit; None without strata
    """

    table: UnitSums
    columns: dict[tuple[Key, str], int]
    undefined: dict[tuple[Key, str], int]
    strata: list[str] | None

    @classmethod
    def of(
        cls,
        rows: pa.Table,
        products: pa.Table,
        *,
        systems: Sequence[str],
        pairs: Sequence[tuple[str, str]],
        measures: Sequence[Measure],
        exponents: Mapping[str, int],
    ) -> Sums:
        """UNIT SUMS and pair counts, rows in any order; what has no row counts nothing.

        pairs   of systems whose sums over the queries that both count are in the rows
        """
        columns = {
            key: rows[key].to_pylist() if key in TEXTS else rows[key].to_numpy()
            for key in (*TEXTS, *(f"{column}_{part}" for each in measures for column in each.sums for part in PARTS))
        }
        return cls.of_columns(
            columns, products.to_pylist(), systems=systems, pairs=pairs, measures=measures, exponents=exponents
        )

    @classmethod
    def of_columns(
        cls,
        rows: Mapping[str, Any],
        products: Sequence[Mapping[str, Any]],
        *,
        systems: Sequence[str],
        pairs: Sequence[tuple[str, str]],
        measures: Sequence[Measure],
        exponents: Mapping[str, int],
    ) -> Sums:
        """The same from columns: lists of texts, and arrays of numbers."""
        ids = rows["unit"]
        if any("\0" in each for each in ids):
            raise DataRefused("a unit's name contains a NUL character; mend that column and score again")
        units, first, unit = np.unique(np.array(ids, dtype=np.str_), return_index=True, return_inverse=True)
        strata = rows["stratum"]
        if crossing := len(set(zip(ids, strata, strict=True))) - len(units):
            raise DataRefused(
                f"{number_of(crossing, 'unit')} in more than one stratum; strata must part the units, every night alike"
            )
        both: list[Key] = [key for one, other in pairs for key in ((one, other), (other, one))]
        keys: list[Key] = [*((system, None) for system in systems), *both]
        places = {key: place for place, key in enumerate(keys)}
        place = np.array([places[key] for key in zip(rows["system"], rows["given"], strict=True)], dtype=int)
        names = [column for measure in measures for column in measure.sums]
        columns = {(key, column): at * len(names) + i for key, at in places.items() for i, column in enumerate(names)}
        arrays = {part: np.zeros((len(units), len(columns)), dtype=np.int64) for part in PARTS}
        for i, column in enumerate(names):
            for part, array in arrays.items():
                array[unit, place * len(names) + i] = rows[f"{column}_{part}"]
        scale = np.tile(np.array([exponents[column] for column in names], dtype=np.int64), len(places))
        undefined = arrays["undefined"].sum(axis=0)
        squares = arrays["squares"].sum(axis=0)
        known = {(place, place): int(squares[place]) for place in range(len(columns))}
        for row in products:
            for measure in measures:
                product = row.get(f"{measure.column}_products")
                one, other = (columns[(row[side], None), measure.column] for side in ("candidate", "baseline"))
                if product is not None:
                    known[min(one, other), max(one, other)] = product
        return cls(
            UnitSums(units, arrays["n"], arrays["hi"], arrays["lo"], scale, known),
            columns,
            {key: int(undefined[column]) for key, column in columns.items()},
            None if None in strata else [strata[row] for row in first],
        )

    def pair(self, candidate: str, baseline: str, column: str) -> tuple[tuple[Key, str], tuple[Key, str]]:
        """Which sums of two systems are over the queries that both count."""
        if ((candidate, baseline), column) in self.columns:
            return ((candidate, baseline), column), ((baseline, candidate), column)
        return ((candidate, None), column), ((baseline, None), column)

    def estimated(self, key: tuple[Key, str], measure: Measure) -> Estimated:
        """What inference makes of a measure's sums."""
        below = self.columns[key[0], f"{measure.column}_below"] if measure.kind == "ratio" else None
        return Estimated(column=self.columns[key], below=below, kind=measure.kind)

    def total(self, column: int, less: int | None = None) -> float:
        """The sum of a column, or of one less another, rounded once; NaN if nothing counts."""
        sums = []
        for each in (column, less):
            if each is not None:
                n = int(self.table.n[:, each].sum())
                if n == 0:
                    return math.nan
                sums.append(self.table.exact_mean(each) * n)
        return float(sums[0] - sum(sums[1:]))
