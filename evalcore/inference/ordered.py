"""Sums whose last bit does not depend on the machine."""

from __future__ import annotations

import numpy as np

from evalcore.arrays import FloatArray, IntArray

TOTAL_BITS = 52
"""Sums of whole numbers stay within 2**52: the difference of two stays below the 2**53 that doubles hold exactly."""


def ordered_sum(values: FloatArray) -> float:
    """The values added one by one in their order; 0 for none.  (n,) -> number

    numpy's own sum adds in an order that depends on the processor. Its running sum cannot: each element needs the
    one before. Relative error below n * 1e-16, which is enough for everything but an estimate.
    """
    return float(np.add.accumulate(values)[-1]) if len(values) else 0.0


def to_whole(columns: FloatArray, *, terms: int) -> tuple[FloatArray, IntArray]:
    """Each column multiplied by a power of 2 and rounded, so that sums of `terms` of its numbers stay within 2**52.

    Returns the whole numbers and the exponents of those powers.  (n_rows, n) -> (n_rows, n), (n,)
    """
    _, exponent = np.frexp(np.abs(columns).max(axis=0, initial=0.0))
    scale = TOTAL_BITS - (terms - 1).bit_length() - exponent
    return np.rint(np.ldexp(columns, scale)), scale
