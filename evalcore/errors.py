"""What evalcore raises.

EvalcoreError            anything wrong with what the caller gave
MetricNameError        a metric name that does not parse, or whose parameters are out of range
ConventionError        a convention that does not exist or has an unknown value
DataError              arrays that contradict each other or hold what they must not
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class EvalcoreError(ValueError):
    """Something is wrong with what the caller gave; the message says what and what to do."""


class MetricNameError(EvalcoreError):
    """A metric name that does not parse, or whose parameters are out of range."""


class ConventionError(EvalcoreError):
    """A convention that does not exist or has an unknown value."""


class DataError(EvalcoreError):
    """Arrays that contradict each other or hold what they must not."""


MOST_LISTED = 20


def unknown(kind: str, found: str, known: Iterable[str], *, also: Iterable[str] = ()) -> str:
    """The sentence for a name that does not exist: what was found, the nearest name, all names.

    Of more than 20 names only the number is told if one of them is near.

    also   names that may be the nearest too, without being listed

    >>> unknown("metric", "nDGC", ["AP", "nDCG"])
    'unknown metric "nDGC". Did you mean "nDCG"? Known: AP, nDCG.'
    """
    names = list(known)
    by_folded = {name.casefold(): name for name in [*also, *names]}
    near = difflib.get_close_matches(found.casefold(), by_folded, n=1)
    hint = f' Did you mean "{by_folded[near[0]]}"?' if near else ""
    told = (
        f"There are {len(names)} known names." if near and len(names) > MOST_LISTED else f"Known: {', '.join(names)}."
    )
    return f'unknown {kind} "{found}".{hint} {told}'
