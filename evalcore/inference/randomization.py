"""Would the deltas look like this if the two systems were the same and only their names differed?"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from evalcore.arrays import FloatArray
from evalcore.errors import DataError

MOST_EXACT_UNITS = 20
"""Up to here all ways to flip are tried: 2**19, because a flip of everything changes nothing."""


def sign_flip_p_value(deltas: Sequence[float] | FloatArray, *, replicates: int = 9_999, seed: int = 0) -> float:
    """Two-sided p-value of the mean of paired deltas, by exchanging the two systems unit by unit.

        p = share of the ways to give every delta a sign whose |sum| is at least that of the signs they have

    Exact for up to 20 deltas that are not 0. For more, b of so many drawn ways reach the sum and
    p = (b + 1) / (replicates + 1), which is never 0: replicate i gives delta j, of those that are not 0, the sign of
    bit j of the raw words of numpy's Philox(key=[seed, i]), the lowest bit of a word first. Deltas are scaled and
    rounded to whole numbers, whose sums are exact: every platform finds the same.

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
    whole = _whole(given[given != 0])
    reached = abs(whole.sum()) - len(whole)  # rounding to whole numbers moves two sums by half of that each
    if len(whole) <= MOST_EXACT_UNITS:
        return float(np.mean(np.abs(_all_sums(whole)) >= reached))
    times = sum(abs(_drawn_sum(whole, seed=seed, replicate=replicate)) >= reached for replicate in range(replicates))
    return float(times + 1) / (replicates + 1)


def _whole(deltas: FloatArray) -> FloatArray:
    """Multiplied by a power of 2 and rounded, so that sums of them are whole numbers below 2**53."""
    _, exponent = math.frexp(np.abs(deltas).max(initial=0))
    return np.rint(np.ldexp(deltas, 52 - len(deltas).bit_length() - exponent))


def _all_sums(whole: FloatArray) -> FloatArray:
    """For every way to give signs, the first delta keeping its own.  (2**(n - 1),)"""
    sums = whole[:1].copy() if len(whole) else np.zeros(1)
    for delta in whole[1:]:
        sums = np.concatenate([sums + delta, sums - delta])
    return sums


def _drawn_sum(whole: FloatArray, *, seed: int, replicate: int) -> float:
    n_words = -(-len(whole) // 64)
    words = np.random.Philox(key=np.array([seed, replicate], dtype=np.uint64)).random_raw(n_words)
    bits = np.unpackbits(words.astype("<u8", copy=False).view(np.uint8), bitorder="little")[: len(whole)]
    return float(whole.sum() - 2 * (bits @ whole))
