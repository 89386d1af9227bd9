"""Numbers in metric names: one spelling for each, and the reader of it."""

from __future__ import annotations

import re

import numpy as np

from evalcore.errors import MetricNameError

LONGEST = 40


def number(text: str) -> float:
    """The number of this text.  Raises MetricNameError.

    >>> number("-0.50")
    -0.5
    """
    text = text.strip()
    if len(text) > LONGEST or not re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", text):
        raise MetricNameError(f'"{text[:LONGEST]}" is not a number like 2 or 0.5')
    return float(text) + 0.0  # -0 is 0


def plain(value: float) -> str:
    """The shortest spelling that `number` reads back, without an exponent.

    >>> plain(1e-5), plain(2.0)
    ('0.00001', '2')
    """
    return np.format_float_positional(value, trim="-")
