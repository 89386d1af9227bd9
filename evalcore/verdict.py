"""What an interval of a delta says: the one place that decides."""

from __future__ import annotations

from typing import Literal, TypeAlias

from evalcore.errors import DataError

Verdict: TypeAlias = Literal["improved", "regressed", "equivalent", "inconclusive"]


def default_margin(baseline_estimate: float) -> float:
    """The smallest delta that matters where nobody says otherwise, in the metric's unit.

        0.5 % of |baseline|, at least 0.0005

    >>> default_margin(0.4), default_margin(0.01)
    (0.002, 0.0005)
    """
    return max(0.0005, 0.005 * abs(baseline_estimate))


def verdict_of_interval(
    low: float, high: float, *, margin: float, higher_is_better: bool = True, sufficient: bool = True
) -> Verdict:
    """The verdict of a contrast whose delta, candidate - baseline, has the interval (low, high).

        improved      0 < low
        regressed     high < 0
        equivalent    -margin < low and high < margin
        inconclusive  otherwise, without an interval (NaN), and where too few units tell anything (not sufficient)

    for a metric where higher is better; otherwise improved and regressed change places. The first that holds
    wins: a delta that is known to be above 0 and smaller than the margin is `improved`, for equivalence would
    hide its direction, and the interval beside it shows how little it is.
    Raises DataError for a margin that is not above 0, or for low > high.

    >>> verdict_of_interval(-0.001, 0.002, margin=0.005)
    'equivalent'
    """
    if not margin > 0:
        raise DataError(f"margin {margin} is not above 0")
    if low > high:
        raise DataError(f"interval ({low}, {high}) has its ends in the wrong order")
    if not sufficient:
        return "inconclusive"
    if low > 0 or high < 0:
        return "improved" if (low > 0) == higher_is_better else "regressed"
    if -margin < low and high < margin:
        return "equivalent"
    return "inconclusive"
