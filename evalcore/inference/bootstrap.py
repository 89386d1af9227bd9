"""Replicates of every mean, measure and difference, exact sums by matrix products."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from evalcore.arrays import FloatArray, IntArray
from evalcore.inference import draws
from evalcore.inference.measures import Measure, replicated
from evalcore.inference.ordered import TOTAL_BITS
from evalcore.inference.strata import Strata
from evalcore.inference.sums import LIMB_BITS, UnitSums

BLOCK_CELLS = 2**21
"""Numbers in a block's largest matrix: 16 MiB, few enough that the allocator hands out the same pages again."""


class Replicates:
    """Each measure and each difference of two in every replicate, units drawn within strata.

        measure = sum over strata of pi_h * the measure in replicate stratum h       (strata.py)

    Sums are drawn at once, what is made of them when it is asked for: there are more differences than fit in memory.
    NaN in a replicate that drew no query of a stratum which counts. out_of_bag: of the units that a replicate does
    not draw, each once.
    """

    def __init__(
        self,
        strata: Strata,
        measures: Sequence[Measure],
        *,
        replicates: int,
        seed: int,
        out_of_bag: bool = False,
    ) -> None:
        self._measures, self._n_replicates = measures, replicates
        self._shares = [[float(share) for share in strata.shares(measure)] for measure in measures]
        self._drawn = [
            draw(stratum.sums, replicates=replicates, seed=seed, stream=stratum.stream, out_of_bag=out_of_bag)
            for stratum in strata.strata
        ]

    def measure(self, place: int) -> FloatArray:
        """(n_replicates,) of the measure at this place; of a geometric mean its logarithm."""
        return self._over_strata(place, lambda drawn: replicated(drawn.mean, self._measures[place]))

    def difference(self, candidate: int, baseline: int) -> FloatArray:
        """(n_replicates,) one measure less another; of two means taken between sums, where both have the same pi_h."""
        one, other = self._measures[candidate], self._measures[baseline]
        if one.kind == other.kind == "mean" and self._shares[candidate] == self._shares[baseline]:
            return self._over_strata(candidate, lambda drawn: drawn.difference(one.column, other.column))
        return self.value(candidate) - self.value(baseline)

    def value(self, place: int) -> FloatArray:
        """(n_replicates,) of the measure at this place, geometric means not in logarithms."""
        value = self.measure(place)
        return np.exp(value) if self._measures[place].kind == "geometric" else value

    def _over_strata(self, place: int, of_stratum: Callable[[Drawn], FloatArray]) -> FloatArray:
        shares = self._shares[place]
        total = np.full(self._n_replicates, 0.0 if any(shares) else np.nan)
        for share, drawn in zip(shares, self._drawn, strict=True):
            if share:
                total += share * of_stratum(drawn)
        return total


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """The exact sums of every column in every replicate.

    limbs      (n_limbs, n_columns, n_replicates) of `width` bits each, see `split`
    n          (n_distinct, n_replicates) queries, NaN for none; column c counts those of row n_of[c]
    exponents  (n_columns,) scale of the columns
    """

    limbs: FloatArray
    width: int
    n: FloatArray
    n_of: IntArray
    exponents: IntArray

    def mean(self, column: int) -> FloatArray:
        """(n_replicates,) the mean of a column; NaN in replicates that drew no query of it."""
        return self._mean(self.limbs[:, column], column)

    def difference(self, candidate: int, baseline: int) -> FloatArray:
        """(n_replicates,) the mean of one column less that of another.

        Over the same queries it is taken between the sums, so it is 0 in every replicate for a system and its copy.
        """
        if (self.n_of[candidate], self.exponents[candidate]) == (self.n_of[baseline], self.exponents[baseline]):
            return self._mean(self.limbs[:, candidate] - self.limbs[:, baseline], candidate)
        return self.mean(candidate) - self.mean(baseline)

    def _mean(self, limbs: FloatArray, column: int) -> FloatArray:
        """Sums from their limbs, of two limbs rounded once, over the queries of a column."""
        total = limbs[0]
        for limb in limbs[1:]:
            total = total * 2.0**self.width + limb
        mean: FloatArray = np.ldexp(total, int(self.exponents[column]) - 2 * LIMB_BITS) / self.n[self.n_of[column]]
        return mean


def draw(
    sums: UnitSums,
    *,
    replicates: int,
    seed: int,
    stream: int = 0,
    out_of_bag: bool = False,
    block_cells: int = BLOCK_CELLS,
) -> Drawn:
    """As many units as there are, with replacement, in every replicate; out_of_bag those that it did not draw, once.

        counts  (n_replicates, n_units)        the same for all columns, so contrasts are paired
        mean  = counts @ sums / counts @ n
        delta = mean of the candidate - mean of the baseline

    Sums are cut into limbs so narrow that the products add up to whole numbers below 2**53: the result has the same
    bits for any block size, BLAS and thread count.  Memory: the result, twice for few units, and `block_cells` doubles.
    Raises DataError for more than 32,768 units.
    """
    n_units, n_columns = sums.n.shape
    width = TOTAL_BITS - max(0, n_units - 1).bit_length()
    limbs = split(sums.hi.T, sums.lo.T, width=width)
    n, n_of = _distinct(sums.n.T)
    rows = np.concatenate([*limbs, n]).astype(np.float64)
    totals = np.zeros((len(rows), replicates))
    if n_units:
        for block, counts in draws.blocks(n_units, replicates=replicates, seed=seed, stream=stream, cells=block_cells):
            totals[:, block] = rows @ ((counts == 0).astype(np.float64) if out_of_bag else counts).T
    of_limbs, of_n = np.split(totals, [len(limbs) * n_columns])
    of_n[of_n == 0] = np.nan
    return Drawn(of_limbs.reshape(len(limbs), n_columns, replicates), width, of_n, n_of, sums.exponents)


def _distinct(rows: IntArray) -> tuple[IntArray, IntArray]:
    """Each row once, and which of them each row is: most columns count the same queries."""
    places: dict[bytes, int] = {}
    place_of = np.array([places.setdefault(row.tobytes(), len(places)) for row in rows], dtype=np.int64)
    return rows[np.unique(place_of, return_index=True)[1]], place_of


def split(hi: IntArray, lo: IntArray, *, width: int) -> list[IntArray]:
    """The numbers hi * 2**30 + lo cut into limbs of `width` bits (31 to 52), the most significant first.

        number = (... limbs[0] * 2**width + limbs[1]) * 2**width + ...

    The first limb carries the sign and is at most 2**width in magnitude, the others are from 0 to 2**width - 1.

    >>> [limb.tolist() for limb in split(np.array([3, -1]), np.array([5, 0]), width=31)]
    [[1, -1], [1073741829, 1073741824]]
    """
    high, low = hi + (lo >> LIMB_BITS), lo & (2**LIMB_BITS - 1)
    taken = width - LIMB_BITS  # bits of `high` that fill up the lowest limb
    limbs = [((high & (2**taken - 1)) << LIMB_BITS) | low]
    high = high >> taken
    while np.abs(high).max(initial=0) > 2**width:
        limbs.append(high & (2**width - 1))
        high = high >> width
    return [high, *reversed(limbs)]
