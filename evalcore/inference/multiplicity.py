"""p-values of several questions asked at once.

All of them take any number of p-values and give one adjusted p-value for each, in the same order. NaN is a
question without a test: it stays NaN and is not counted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from evalcore.arrays import FloatArray


def holm(p_values: Sequence[float] | FloatArray) -> FloatArray:
    """Adjusted p-values: reject those up to alpha, and the chance of any false rejection is at most alpha.

        adjusted of the k-th smallest of m = max over j <= k of min(1, (m - j + 1) * p_(j))

    Whatever the dependence between them.

    Source: Holm 1979, Scandinavian Journal of Statistics 6, 65-70.

    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """

    def rule(ascending: FloatArray) -> FloatArray:
        return np.maximum.accumulate(np.arange(len(ascending), 0, -1) * ascending)

    return _adjusted(p_values, rule)


def bonferroni(p_values: Sequence[float] | FloatArray) -> FloatArray:
    """Adjusted p-values with the promise of `holm`, and never below it: for readers who know no other.

        adjusted of one of m = min(1, m * p)

    Source: Dunn 1961, doi:10.1080/01621459.1961.10482090.

    >>> bonferroni([0.01, 0.04, 0.5]).tolist()
    [0.03, 0.12, 1.0]
    """
    return _adjusted(p_values, lambda ascending: len(ascending) * ascending)


def benjamini_hochberg(p_values: Sequence[float] | FloatArray) -> FloatArray:
    """Adjusted p-values: reject those up to alpha, and on average at most that share of the rejections is false.

        adjusted of the k-th smallest of m = min over j >= k of min(1, m / j * p_(j))

    For independent or positively dependent tests, as those of several systems against one baseline are.

    Source: Benjamini & Hochberg 1995, doi:10.1111/j.2517-6161.1995.tb02031.x.

    >>> benjamini_hochberg([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.04, 0.04]
    """

    def rule(ascending: FloatArray) -> FloatArray:
        of_rank = len(ascending) * ascending / np.arange(1, len(ascending) + 1)
        return np.minimum.accumulate(of_rank[::-1])[::-1]

    return _adjusted(p_values, rule)


def _adjusted(p_values: Sequence[float] | FloatArray, rule: Callable[[FloatArray], FloatArray]) -> FloatArray:
    """The rule's value for the ascending p-values, each in its place and at most 1."""
    adjusted = np.array(p_values, dtype=np.float64)
    tested = np.flatnonzero(~np.isnan(adjusted))
    ascending = tested[np.argsort(adjusted[tested], kind="stable")]
    adjusted[ascending] = np.minimum(1.0, rule(adjusted[ascending]))
    return adjusted
