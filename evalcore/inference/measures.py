"""What can be estimated from unit sums."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """A number to be estimated: a smooth function of sums.

    mean        the mean of a column
    ratio       the sum of a column over that of the column `below`, which counts the same queries
    geometric   e to the mean of a column of logarithms
    """

    column: int
    below: int | None = None
    kind: Literal["mean", "ratio", "geometric"] = "mean"
