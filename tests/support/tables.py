"""Comparing tables of numbers: rows joined on a key, an explicit tolerance, null and NaN told apart."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]


def by_key(rows: Iterable[Row], key: Sequence[str]) -> dict[tuple[Any, ...], Row]:
    """The rows by the values of their key columns, each of which must be there once."""
    found: dict[tuple[Any, ...], Row] = {}
    for row in rows:
        place = tuple(row[column] for column in key)
        assert place not in found, f"two rows for {place}"
        found[place] = row
    return found


def same(one: object, other: object, *, tolerance: float) -> bool:
    """Equal; for two numbers within the tolerance. NaN equals NaN alone, null equals null alone."""
    if isinstance(one, float) and isinstance(other, float):
        if math.isnan(one) or math.isnan(other):
            return math.isnan(one) and math.isnan(other)
        return abs(one - other) <= tolerance
    return one == other


def assert_same_table(
    found: Iterable[Row], expected: Iterable[Row], *, key: Sequence[str], tolerance: float = 0.0
) -> None:
    """Fails with the first cells that differ."""
    left, right = by_key(found, key), by_key(expected, key)
    assert left.keys() == right.keys()
    wrong = [
        f"{place} {column}: {left[place][column]!r} is not {value!r}"
        for place, row in right.items()
        for column, value in row.items()
        if not same(left[place][column], value, tolerance=tolerance)
    ]
    assert not wrong, "; ".join(wrong[:5])
