"""Few clusters of unequal size: how much a standard error from them can be trusted."""

from __future__ import annotations

import math
from collections.abc import Sequence

from evalcore.arrays import FloatArray
from evalcore.inference.ordered import ordered_sum


def correlation(share: FloatArray, influence: FloatArray, *, n_queries: int, squares: float) -> float:
    """Intra-cluster correlation by analysis of variance, kept within 0 and 1.

        n_g = h_g N     E_g = u_g N                      queries and excess of cluster g, of G
        between = sum of E_g**2 / n_g / (G - 1)
        within  = (squares - sum of E_g**2 / n_g) / (N - G)
        n0      = (N - sum of n_g**2 / N) / (G - 1)
        correlation = (between - within) / (between + (n0 - 1) within)

    share, influence   (n_clusters,) h_g and u_g of the clusters with a counted query (`influence.Statistic`)
    squares            sum over the queries of (value - estimate)**2; NaN if unknown

    1 where `squares` is unknown or no cluster has two queries.  Source: Donner 1986, doi:10.2307/1403259.
    """
    n_clusters, per_cluster = len(share), share * n_queries
    if math.isnan(squares) or n_queries <= n_clusters or n_clusters < 2:
        return 1.0
    between_sum = ordered_sum(influence**2 / share) * n_queries
    between = between_sum / (n_clusters - 1)
    within = max(0.0, squares - between_sum) / (n_queries - n_clusters)
    typical = (n_queries - ordered_sum(per_cluster**2) / n_queries) / (n_clusters - 1)
    total = between + (typical - 1) * within
    return min(1.0, max(0.0, (between - within) / total)) if total > 0 else 0.0


def degrees_of_freedom(share: FloatArray, *, correlation: float, n_queries: int) -> float:
    """Of the standard error CR2 (Satterthwaite), for queries of a cluster that correlate; at least 1.

        v_g = n_g (1 + (n_g - 1) correlation)            variance of a cluster's sum, up to a factor
        W   = A (diag(v) - h v' - v h' + h h' sum(v)) A      A = diag((1 - h_g)**-0.5)
        df  = trace(W)**2 / trace(W**2)

    which takes time in proportion to the clusters, because all but the diagonal of W has rank 2. For clusters of
    one size it is n_clusters - 1.  (n_clusters,) -> number.

    Source: Imbens & Kolesar 2016, doi:10.1162/REST_a_00552; with correlation 0 Bell & McCaffrey 2002.
    """
    if len(share) < 2 or share.max() >= 1:
        return 1.0
    if share.max() - share.min() <= 1e-12 * share.max():
        return float(len(share) - 1)
    per_cluster = share * n_queries
    v = per_cluster * (1 + (per_cluster - 1) * correlation)
    v = v / v.max()
    a = 1 / (1 - share)
    total = ordered_sum(v)
    diagonal = total * share**2 - 2 * share * v
    hh, hv, vv = (ordered_sum(a * x * y) for x, y in ((share, share), (share, v), (v, v)))
    off = 2 * hh * vv + 2 * hv**2 + (total * hh) ** 2 - 4 * total * hh * hv
    trace = ordered_sum(a * (v + diagonal))
    of_square = ordered_sum(a**2 * (v**2 + 2 * v * diagonal)) + off
    return max(1.0, trace**2 / of_square)


def pooled_degrees_of_freedom(errors: Sequence[float], degrees: Sequence[float]) -> float:
    """Of the root of the sum of squared standard errors of independent estimates, each with its own.

        df = (sum of e**2)**2 / sum of e**4 / df_e

    Source: Welch 1947, doi:10.1093/biomet/34.1-2.28.

    >>> pooled_degrees_of_freedom([1.0, 1.0], [9, 9])
    18.0
    """
    squares = [error * error for error in errors]
    below = sum(square * square / df for square, df in zip(squares, degrees, strict=True))
    return sum(squares) ** 2 / below if below > 0 else float(min(degrees))
