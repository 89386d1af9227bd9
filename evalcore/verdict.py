"""What an interval of a delta says, and what bounds of several say to a gate: the one place that decides."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal, TypeAlias

from evalcore.errors import DataError

Verdict: TypeAlias = Literal["improved", "regressed", "equivalent", "inconclusive"]
Answer: TypeAlias = Literal["passed", "regressed", "inconclusive", "invalid"]
MOST_URGENT_FIRST: tuple[Answer, ...] = ("regressed", "invalid", "inconclusive", "passed")


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


def answer_of_bounds(delta: float, lower: float, upper: float, *, margin: float, strict: bool = False) -> Answer:
    """What a gate makes of one delta whose true value is above `lower` and below `upper`; above 0 is better.

        regressed     upper < 0 and delta <= -margin       worse, and by enough to matter
        passed        -margin < lower                      not worse by as much as the margin
        inconclusive  otherwise, and without bounds (NaN)

    strict: regressed only if upper < -margin. No delta is both, for lower <= delta.
    Raises DataError for a margin that is not above 0, or for bounds that do not enclose the delta.

    >>> answer_of_bounds(-0.01, -0.02, -0.001, margin=0.005), answer_of_bounds(0.0, -0.004, 0.004, margin=0.005)
    ('regressed', 'passed')
    """
    if not margin > 0:
        raise DataError(f"margin {margin} is not above 0")
    if lower > delta or delta > upper:
        raise DataError(f"the bounds {lower} and {upper} do not enclose the delta {delta}")
    if upper < (-margin if strict else 0.0) and delta <= -margin:
        return "regressed"
    return "passed" if lower > -margin else "inconclusive"


def answer_of_gate(answers: Collection[Answer]) -> Answer:
    """The answer to all guardrails: the most urgent of theirs; passed only if all passed.

        regressed > invalid > inconclusive > passed

    Each guardrail must show by itself that it did not get worse, so no level is divided among them: an
    intersection-union test.  Raises DataError if there is none.

    Source: Berger 1982, doi:10.1080/00401706.1982.10487790.
    """
    if not answers:
        raise DataError("a gate needs a guardrail")
    return next(answer for answer in MOST_URGENT_FIRST if answer in answers)
