"""Figures as they are written: with the digits that are the same on every machine, or as a person reads them."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping

DIGITS = 12
"""Significant digits of what functions of the C library have a part in: their last bits differ between machines."""


def rounded(figure: float) -> float | None:
    """To 12 significant digits; NaN is null in tables and in JSON."""
    return None if math.isnan(figure) else float(f"{figure:.{DIGITS - 1}e}")


def as_json(content: object) -> str:
    r"""JSON, which has null alone for numbers that are not finite.

    >>> as_json({"high": math.inf})
    '{\n  "high": null\n}'
    """
    try:
        return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)
    except ValueError:
        return json.dumps(_finite(content), indent=2, ensure_ascii=False)


def _finite(content: object) -> object:
    if isinstance(content, Mapping):
        return {key: _finite(value) for key, value in content.items()}
    if isinstance(content, (list, tuple)):
        return [_finite(value) for value in content]
    return None if isinstance(content, float) and not math.isfinite(content) else content


def figure(value: float | None, *, sign: str = "", form: str = "") -> str:
    """For a person: with 4 decimals, a large one with none, or in a form; a dash for what there is not.

    >>> figure(0.25), figure(0.25, sign="+"), figure(12345.6), figure(None)
    ('0.2500', '+0.2500', '12,346', '-')
    """
    if value is None:
        return "-"
    if form:
        return f"{value:{form}}"
    return f"{value:{sign},.0f}" if abs(value) >= 1000 else f"{value:{sign}.4f}"


def p_value(value: float | None) -> str:
    """For a person: no smaller than the digits tell.

    >>> p_value(0.25), p_value(1e-9), p_value(None)
    ('0.2500', '<0.0001', '-')
    """
    return "<0.0001" if value is not None and value < 0.0001 else figure(value)
