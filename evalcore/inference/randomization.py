"""Would the deltas look like this if the two systems were the same and only their names differed?"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from evalcore.arrays import FloatArray
from evalcore.errors import DataError
from evalcore.inference import draws
from evalcore.inference.bootstrap import BLOCK_CELLS
from evalcore.inference.influence import Statistic
from evalcore.inference.joint import Joint
from evalcore.inference.ordered import to_whole

MOST_EXACT_UNITS = 20
"""Up to here all ways to flip are tried."""


def sign_flip_p_value(deltas: Sequence[float] | FloatArray, *, replicates: int = 9_999, seed: int = 0) -> float:
    """Two-sided p-value of the mean of paired deltas, by exchanging the two systems unit by unit.

        p = share of the ways to give every delta a sign whose |sum| is at least that of the signs they have

    Exact for up to 20 deltas that are not 0. For more, b of so many drawn ways reach the sum and
    p = (b + 1) / (replicates + 1), which is never 0: replicate i gives delta j the sign of bit j of the raw words of
    numpy's Philox(key=[seed, i]), the lowest bit of a word first, 1 for minus. Deltas are scaled and rounded to
    whole numbers, whose sums are exact, and sums that differ by no more than that rounding are equal: every
    platform finds the same.

    1 where no delta differs from 0, NaN for none at all. Raises DataError for a delta that is not finite.

    Source: Fisher 1935, The Design of Experiments, section 21; Phipson & Smyth 2010, doi:10.2202/1544-6115.1585.

    >>> sign_flip_p_value([1.0, 1.0, 1.0, 1.0])
    0.125
    """
    given = np.asarray(deltas, dtype=np.float64)
    if not np.isfinite(given).all():
        raise DataError("a delta is NaN or infinite; leave out units that one of the systems does not count")
    if not len(given):
        return math.nan
    return float(_p_values(given[:, np.newaxis], ties=np.zeros(1), replicates=replicates, seed=seed)[0])


def sign_flip(joint: Joint) -> FloatArray:
    """`sign_flip_p_value` of what each unit contributes to the delta, the same drawn signs for all contrasts.

        D_g = u_g + delta h_g       (`contributions`)

    Whole units are flipped, so their queries may depend on each other and units may have different numbers of them.
    Exact if the two systems could be exchanged in each unit; if they only have the same mean, right for many units,
    because the flipped sums vary as the delta does. NaN where no unit has both sides.
    """
    found = np.full(len(joint.statistics), np.nan)
    tested = [place for place, statistic in enumerate(joint.statistics) if _is_paired(statistic)]
    at_once = max(1, 4 * BLOCK_CELLS // max(1, len(joint.sums.units)))
    for start in range(0, len(tested), at_once):
        places = tested[start : start + at_once]
        found[places] = _p_values(
            np.column_stack([contributions(joint.statistics[place]) for place in places]),
            ties=np.array([joint.statistics[place].resolution for place in places]),
            replicates=joint.n_replicates,
            seed=joint.seed,
        )
    return found


def _is_paired(statistic: Statistic) -> bool:
    return not math.isnan(statistic.estimate) and not np.isnan(statistic.values).all()


def contributions(statistic: Statistic) -> FloatArray:
    """What each unit adds to the estimate, 0 below rounding; all of them sum to it.  (n_units,)

    D_g = u_g + estimate * h_g, which is S_g / N for a mean: u_g its influence and h_g its share (influence.py), the
    estimate that of its stratum. A contrast of sides that count different queries is taken as linear.
    """
    levels = statistic.estimate if statistic.levels is None else statistic.levels
    parts = statistic.influence + levels * statistic.share
    parts[np.abs(parts) <= 2 * statistic.resolution * statistic.share] = 0.0
    return parts


def _p_values(deltas: FloatArray, *, ties: FloatArray, replicates: int, seed: int) -> FloatArray:
    """Of each column of deltas, whose sums are equal up to `ties`.  (n_units, n), (n,) -> (n,)"""
    n_units = len(deltas)
    whole, scale = to_whole(deltas, terms=n_units)
    informative = np.count_nonzero(deltas, axis=0)
    # rounding to whole numbers moves each of two sums by up to half of the number of deltas
    reached = np.abs(whole.sum(axis=0)) - informative - np.ldexp(ties, scale)
    exact = informative <= MOST_EXACT_UNITS
    found = np.empty(whole.shape[1])
    for column in np.flatnonzero(exact).tolist():
        found[column] = _share_of_all(whole[deltas[:, column] != 0, column], reached[column])
    drawn = np.flatnonzero(~exact)
    if drawn.size:
        columns, least = whole[:, drawn], reached[drawn]
        times = np.zeros(len(drawn), dtype=np.int64)
        block = max(1, BLOCK_CELLS // max(n_units, len(drawn)))
        for start in range(0, replicates, block):
            stop = min(start + block, replicates)
            flipped = drawn_signs(n_units, seed=seed, start=start, stop=stop) @ columns
            times += np.count_nonzero(np.abs(flipped) >= least, axis=0)
        found[drawn] = (times + 1) / (replicates + 1)
    return found


def _share_of_all(whole: FloatArray, reached: float) -> float:
    """Share of all ways to give signs whose |sum| is at least `reached`: each half's sums met with the other's."""
    if reached <= 0:
        return 1.0
    half = len(whole) // 2
    one, other = _all_sums(whole[:half]), np.sort(_all_sums(whole[half:]))
    above = len(other) * len(one) - int(np.searchsorted(other, reached - one, side="left").sum())
    return 2 * above / (len(one) * len(other))  # as many are at most -reached


def _all_sums(whole: FloatArray) -> FloatArray:
    """(n,) -> (2**n,)"""
    sums = np.zeros(1)
    for delta in whole:
        sums = np.concatenate([sums + delta, sums - delta])
    return sums


def drawn_signs(n_units: int, *, seed: int, start: int, stop: int) -> FloatArray:
    """1 or -1 for each unit in replicates start .. stop - 1.  (stop - start, n_units)"""
    words = draws.raw_words(-(-n_units // 64), seed=seed, start=start, stop=stop)
    bits = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")[:, :n_units]
    return 1.0 - 2.0 * bits.astype(np.float64)
