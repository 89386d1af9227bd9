"""How many buckets units share."""

from __future__ import annotations

from evalcore.inference.buckets import BUCKETS

MOST_UNITS = 32_768
"""Above this many units, units share buckets, and a bucket is the unit."""


def buckets_of(n_units: int, *, n_strata: int = 1) -> int:
    """How many buckets units share, 0 if each is a row of its own: with strata as many in each, 32,768 in all."""
    if n_units <= MOST_UNITS:
        return 0
    return min(BUCKETS, 1 << ((MOST_UNITS // max(1, n_strata)).bit_length() - 1))
