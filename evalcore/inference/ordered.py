"""Sums whose last bit does not depend on the machine."""

from __future__ import annotations

import numpy as np

from evalcore.arrays import FloatArray


def ordered_sum(values: FloatArray) -> float:
    """The values added one by one in their order; 0 for none.  (n,) -> number

    numpy's own sum adds in an order that depends on the processor. Its running sum cannot: each element needs the
    one before. Relative error below n * 1e-16, which is enough for everything but an estimate.
    """
    return float(np.add.accumulate(values)[-1]) if len(values) else 0.0
