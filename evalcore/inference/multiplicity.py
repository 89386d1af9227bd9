"""p-values of several questions asked at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evalcore.arrays import FloatArray


def holm(p_values: Sequence[float] | FloatArray) -> FloatArray:
    """Adjusted p-values: reject those up to alpha, and the chance of any false rejection is at most alpha.

        adjusted of the k-th smallest of m = max over j <= k of min(1, (m - j + 1) * p_(j))

    Whatever the dependence between them. NaN is a question without a test: it stays NaN and is not counted.

    Source: Holm 1979, Scandinavian Journal of Statistics 6, 65-70.

    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    adjusted = np.array(p_values, dtype=np.float64)
    tested = np.flatnonzero(~np.isnan(adjusted))
    ascending = tested[np.argsort(adjusted[tested], kind="stable")]
    factors = np.arange(len(ascending), 0, -1)
    adjusted[ascending] = np.maximum.accumulate(np.minimum(1.0, factors * adjusted[ascending]))
    return adjusted
