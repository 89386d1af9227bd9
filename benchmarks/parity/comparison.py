"""How far two sides are apart, and for what reason."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from benchmarks.parity.cases import Case, untied, without_negative_grades
from benchmarks.parity.tools.tool import Tool

SAME = 1e-9

REASONS: dict[str, Callable[[Case], Case]] = {
    "tied scores": untied,
    "negative grades": without_negative_grades,
    "tied scores and negative grades": lambda given: without_negative_grades(untied(given)),
}


@dataclass(frozen=True)
class Gap:
    """How far two sides are apart.

    largest      largest absolute difference, of values that both have
    n_undefined  values that are NaN in the tool alone
    n            values compared
    """

    largest: float
    n_undefined: int
    n: int

    @property
    def is_none(self) -> bool:
        return self.largest <= SAME


def gaps(tool: Tool, cases: Sequence[Case], measures: Sequence[str]) -> dict[str, Gap]:
    """By row of the table; rows that have no value are left out."""
    differences: dict[str, list[float]] = {}
    undefined: dict[str, int] = {}
    for given in cases:
        ready = tool.prepared(given)
        theirs, ours = tool.theirs(ready, measures), tool.ours(ready, measures)
        for measure, values in theirs.items():
            row = next(each for each in sorted(measures, key=len, reverse=True) if measure.startswith(each))
            for query, value in values.items():
                mine = ours[measure][query]
                if math.isnan(value):
                    undefined[row] = undefined.get(row, 0) + (not math.isnan(mine))
                else:
                    differences.setdefault(row, []).append(abs(value - mine) if not math.isnan(mine) else math.inf)
    return {row: Gap(max(found), undefined.get(row, 0), len(found)) for row, found in differences.items()}


def reason(tool: Tool, cases: Sequence[Case], measure: str) -> str | None:
    """The change of the data under which the difference is gone."""
    for name, change in REASONS.items():
        changed = [change(given) for given in cases]
        if gaps(tool, changed, [measure]).get(measure, Gap(0, 0, 0)).is_none:
            return name
    return None
