"""The wild cluster bootstrap: residuals under a hypothesis, with a random sign for each cluster."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from evalcore.arrays import FloatArray
from evalcore.inference import draws
from evalcore.inference.bootstrap import BLOCK_CELLS
from evalcore.inference.influence import Statistic
from evalcore.inference.joint import Joint
from evalcore.inference.ordered import ordered_sum, to_whole
from evalcore.inference.randomization import drawn_signs

FEWEST_UNITS_FOR_SIGNS = 10
"""Below it there are too few ways to give signs: weights have six values."""
WEBB = (math.sqrt(1.5), 1.0, math.sqrt(0.5))
TIE = 1e-6
"""Two t statistics this near are equal: sums of whole numbers leave an error below it."""
TOLERANCE = 1e-6
"""Of an interval's end, in standard errors."""
FARTHEST = 2.0**20


def wild(joint: Joint) -> FloatArray:
    """Two-sided p-values of no difference, each contrast by itself; NaN without a standard error (`WildBootstrap`)."""
    return np.array([
        WildBootstrap(statistic, replicates=joint.n_replicates, seed=joint.seed).p_value(0.0)
        for statistic in joint.statistics
    ])  # fmt: skip


class WildBootstrap:
    """The restricted wild cluster bootstrap of a statistic.

        d   = estimate - value                  r_g = u_g + d h_g        residual of unit g if `value` were true
        t   = d / root of the sum of u_g**2
        t*  = d* / root of the sum of (v_g r_g - d* h_g)**2              d* = sum of v_g r_g
        p   = (1 + replicates in which |t*| reaches |t|) / (replicates + 1)

    The weight v_g is -1 or 1 with equal probability: bit g of the raw words of numpy's Philox(key=[seed, replicate]),
    the lowest bit of a word first, 0 for 1 and 1 for -1. Of fewer than 10 units it is one of 1, -1 and their products
    with the roots of 3/2 and 1/2: number (half * 6) >> 32 of ROOT(3/2), 1, ROOT(1/2), -ROOT(3/2), -1, -ROOT(1/2),
    from the 32-bit halves of the words, the low half first. Units are those with a counted query, in their order.

    Sums over units are of whole numbers, exact, so p is the same everywhere. All values share the draws: with d the
    residuals are linear in it, so a replicate is seven sums.

    Source: Cameron, Gelbach & Miller 2008, doi:10.1162/rest.90.3.414; Webb 2023, doi:10.1111/caje.12661.
    """

    def __init__(self, statistic: Statistic, *, replicates: int, seed: int) -> None:
        self._statistic, self._replicates = statistic, replicates
        self._error = statistic.plain_error
        counted = statistic.n > 0
        u, h = statistic.influence[counted], statistic.share[counted]
        self._shares_squared = ordered_sum(h * h)
        linear, squared = np.column_stack([u, h, u * h, h * h]), np.column_stack([u * u, u * h, h * h])
        self._linear, self._squared = np.empty((4, replicates)), np.zeros((3, replicates))
        if not self._error > 0:
            return
        for block, weights in _blocks(len(u), replicates=replicates, seed=seed):
            self._linear[:, block] = _weighted(linear, weights).T
            self._squared[:, block] = _weighted(squared, [(m * m, np.abs(signs)) for m, signs in weights]).T

    def p_value(self, value: float) -> float:
        """Of the hypothesis that the statistic is `value`; as sign flips have it where no unit has influence."""
        d = self._statistic.estimate - value
        if math.isnan(self._statistic.standard_error):
            return math.nan
        if abs(d) <= self._statistic.resolution:
            return 1.0
        if not self._error > 0:
            return max(2.0 ** (1 - self._statistic.n_units), 1 / (self._replicates + 1))
        vu, vh, vuh, vhh = self._linear
        vvuu, vvuh, vvhh = self._squared
        moved = vu + d * vh
        square = vvuu + 2 * d * vvuh + d * d * vvhh - 2 * moved * (vuh + d * vhh) + moved * moved * self._shares_squared
        t = abs(d) / self._error - TIE
        times = np.count_nonzero(np.abs(moved) >= t * np.sqrt(np.maximum(square, 0.0)))
        return float(times + 1) / (self._replicates + 1)

    def reach(self, side: int, confidence: float) -> float:
        """How far from the estimate, below (-1) or above (1), values are not rejected; infinity without an end."""
        level = round(1 - confidence, 12)

        def rejected(distance: float) -> bool:
            return self.p_value(self._statistic.estimate + side * distance * self._error) <= level

        inner, outer = 0.0, 1.0
        while not rejected(outer):
            inner, outer = outer, 2 * outer
            if outer > FARTHEST:
                return math.inf
        while outer - inner > TOLERANCE:
            middle = (inner + outer) / 2
            inner, outer = (inner, middle) if rejected(middle) else (middle, outer)
        return inner * self._error


def _blocks(n_units: int, *, replicates: int, seed: int) -> Iterator[tuple[slice, list[tuple[float, FloatArray]]]]:
    """Replicates and their weights: magnitudes, each with signs (n_replicates of the block, n_units), 0 elsewhere."""
    block = max(1, BLOCK_CELLS // n_units)
    for start in range(0, replicates, block):
        stop = min(start + block, replicates)
        if n_units >= FEWEST_UNITS_FOR_SIGNS:
            yield slice(start, stop), [(1.0, drawn_signs(n_units, seed=seed, start=start, stop=stop))]
            continue
        words = draws.raw_words(-(-n_units // 2), seed=seed, start=start, stop=stop)
        which = (words.view("<u4")[:, :n_units].astype(np.int64) * 6) >> 32
        signs = np.where(which < 3, 1.0, -1.0)
        yield slice(start, stop), [(magnitude, signs * (which % 3 == k)) for k, magnitude in enumerate(WEBB)]


def _weighted(columns: FloatArray, weights: list[tuple[float, FloatArray]]) -> FloatArray:
    """Sums of the columns over units, each times its weight.  (n_units, n_columns) -> (n_replicates, n_columns)"""
    whole, scale = to_whole(columns, terms=len(columns))
    return np.ldexp(sum(magnitude * (signs @ whole) for magnitude, signs in weights), -scale)
