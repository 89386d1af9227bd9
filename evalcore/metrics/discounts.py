"""Discount functions: how much of a gain is left at a rank."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

import numpy as np

from evalcore.arrays import FloatArray, IntArray
from evalcore.errors import MetricNameError, unknown
from evalcore.metrics.numbers import number, plain

KNOWN = ("log2", "ln", "log<base>", "jk<base>", "zipf", "none")


@dataclass(frozen=True, slots=True)
class Discount:
    """A function of the rank, which never rises.

    log2        1 / log2(rank + 1)
    ln          1 / ln(rank + 1)
    log<base>   1 / log_base(rank + 1), for a base above 1: log10, log1.5
    jk<base>    1 / log_base(rank), and 1 at ranks up to the base: jk2, jk10 (Järvelin & Kekäläinen 2002)
    zipf        1 / rank
    none        1

    >>> Discount.parse("log2")(np.array([1, 3]))
    array([1. , 0.5])
    """

    name: str

    @classmethod
    def parse(cls, text: str) -> Discount:
        """The discount of this name.  Raises MetricNameError."""
        if text in ("ln", "zipf", "none"):
            return cls(text)
        form = re.fullmatch(r"(log|jk)([0-9.]+)", text)
        if not form:
            raise MetricNameError(unknown("discount", text, KNOWN))
        base = number(form[2])
        if base <= 1:
            raise MetricNameError(f'the base of discount "{text}" must be above 1')
        return cls(f"{form[1]}{plain(base)}")

    def __str__(self) -> str:
        return self.name

    def __call__(self, ranks: IntArray | FloatArray) -> FloatArray:
        """(n,) ranks -> (n,) discounts."""
        if self.name == "none":
            return np.ones(len(ranks))
        if ranks.dtype != np.int64:  # shared ranks: halves and other fractions
            distinct, which = np.unique(ranks, return_inverse=True)
            return self._of(distinct.astype(np.float64))[which]
        # a table by rank: a rank has the same discount wherever it stands in a batch, whatever
        # vector instructions compute the logarithms, and each logarithm is taken once
        by_rank = np.arange(int(ranks.max(initial=0)) + 1).astype(np.float64)
        by_rank[0] = 1.0  # no rank 0; keeps the division defined
        return self._of(by_rank)[ranks]

    def _of(self, ranks: FloatArray) -> FloatArray:
        if self.name == "zipf":
            return 1 / ranks
        if self.name.startswith("jk"):
            return 1 / np.maximum(1, _log(ranks, float(self.name[2:])))
        if self.name == "ln":
            return 1 / np.log(ranks + 1)
        return 1 / _log(ranks + 1, float(self.name[3:]))


def _log(values: FloatArray, base: float) -> FloatArray:
    return np.log2(values) if base == 2 else np.log(values) / math.log(base)


LOG2 = Discount("log2")


def powers(base: float, count: int) -> FloatArray:
    """1, base, base**2 …: multiplied out, so that a power has the same bits in a table of any length.  (count,)"""
    factors = np.full(count, base)
    factors[:1] = 1.0
    return np.cumprod(factors)
