"""Student's t distribution, so that evalcore needs numpy alone. The normal one is statistics.NormalDist."""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import count
from statistics import NormalDist

from evalcore.errors import DataError


def student_t_cdf(x: float, df: float) -> float:
    """P(T <= x) for df >= 1 degrees of freedom, whole or not; a tail keeps its relative accuracy.

        P(|T| > t) = I_v(df / 2, 1 / 2)    v = df / (df + t**2)    I: regularised incomplete beta function

    Source: NIST DLMF 8.17, https://dlmf.nist.gov/8.17 .

    >>> student_t_cdf(0.0, 5), round(student_t_cdf(1.0, 1), 12)
    (0.5, 0.75)
    """
    if not df >= 1:
        raise DataError(f"{df} degrees of freedom; at least 1 is needed")
    tail = _upper_tail(abs(x), df)
    return tail if x < 0 else 1.0 - tail


@lru_cache(maxsize=1024)
def student_t_quantile(p: float, df: float) -> float:
    """The x with P(T <= x) = p, for 0 < p < 1 and df >= 1.

    Newton's method on log P(T > t) as a function of log t, which falls ever faster: the tangent from a point
    left of the root passes it, and from there the steps go back to it without overshooting. The normal
    quantile is such a point.

    >>> round(student_t_quantile(0.975, 10), 12)
    2.228138851986
    """
    if not (0 < p < 1 and df >= 1):
        raise DataError(f"no quantile at {p} with {df} degrees of freedom: 0 < p < 1 and df >= 1 are needed")
    if p == 0.5:
        return 0.0
    wanted = min(p, 1.0 - p)
    t = -NormalDist().inv_cdf(wanted)
    for _ in range(60):
        tail = _upper_tail(t, df)
        step = math.log(tail / wanted) * tail / (t * _density(t, df))
        t *= math.exp(step)
        if abs(step) < 1e-13:
            break
    return math.copysign(t, p - 0.5)


def _density(t: float, df: float) -> float:
    return _gamma_ratio(df / 2) / math.sqrt(df * math.pi) * math.exp(-(df + 1) / 2 * math.log1p(t * t / df))


def _upper_tail(t: float, df: float) -> float:
    """P(T > t) for t >= 0: half of I_v(df / 2, 1 / 2), or near the middle 1/2 less half of I_w(1 / 2, df / 2)."""
    a, odds = df / 2, t * t / df
    if math.isinf(odds):
        return 0.0
    v, w = 1 / (1 + odds), odds / (1 + odds)
    front = math.exp(-a * math.log1p(odds)) * math.sqrt(w) * _gamma_ratio(a) / math.sqrt(math.pi)  # v^a w^(1/2) / B
    if t < 3 and w < 0.5:  # few terms, none negative; beyond it the fraction is quick
        return 0.5 - front * _beta_series(a, w)
    return front / (2 * a * _beta_fraction(a, 0.5, v))


def _gamma_ratio(a: float) -> float:
    """Gamma(a + 1/2) / Gamma(a): the difference of two lgamma would lose digits where a is large."""
    shift = 1.0
    while a < 30:
        shift *= a / (a + 0.5)
        a += 1
    inverse = 1 / (a * a)
    series = (-1 / 8 + inverse * (1 / 192 + inverse * (-1 / 640 + inverse * 17 / 14336))) / a
    return shift * math.sqrt(a) * math.exp(series)


def _beta_series(b: float, x: float) -> float:
    """The sum over n of x**n (b + 1/2) ... (b + n - 1/2) / (3/2 ... (n + 1/2)): DLMF 8.17.8 for a = 1/2."""
    total = term = 1.0
    for n in count():
        term *= x * (b + n + 0.5) / (n + 1.5)
        total += term
        if term < 1e-17 * total:
            break
    return total


def _beta_fraction(a: float, b: float, x: float) -> float:
    """1 + d1 / (1 + d2 / (1 + ...)) of DLMF 8.17.22 by Lentz's method, for x below (a + 1) / (a + b + 2)."""
    value = numerator = 1.0  # ratios of successive numerators and denominators, which do not reach 0 below that bound
    denominator = 0.0
    for k in count(1):
        m = k // 2
        d = (-(a + m) * (a + b + m) if k % 2 else m * (b - m)) * x / ((a + k - 1) * (a + k))
        denominator = 1 / (1 + d * denominator)
        numerator = 1 + d / numerator
        change = numerator * denominator
        value *= change
        if abs(change - 1) < 4e-16:
            break
    return value
