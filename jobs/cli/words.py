"""Options whose words hold several things."""

from __future__ import annotations

import re
from collections.abc import Sequence

from jobs.errors import UsageError


def margins(given: Sequence[str] | None) -> dict[str, object]:
    """Margins by metric, from METRIC=NUMBER; a metric's name may have an = in its brackets."""
    margins: dict[str, object] = {}
    for text in given or []:
        metric, equals, number = text.rpartition("=")
        try:
            margins[metric.strip()] = float(number)
        except ValueError:
            equals = ""
        if not equals or not metric:
            raise UsageError(f'--margin {text}: write the metric and a number, such as "nDCG@10=0.005"')
    return margins


def split(names: Sequence[str] | None) -> list[str] | None:
    """Names with commas between, one by one; a comma inside brackets is part of a name."""
    if names is None:
        return None
    parts = (part.strip() for text in names for part in re.split(r",(?![^({]*[)}])", text))
    return [part for part in parts if part]
