"""Ids of queries and documents, as columns: what is none, which are in a sample, which document a passage is of."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

KEY = "evaljob sample:"
"""Never change it: the same query must be in the sample, or out of it, every night."""


def blank(key: str) -> Column:
    """Whether an id is null or nothing but spaces."""
    text = F.col(key)
    # the first comparison reads one byte, and spares nearly every id the trimmed copy
    return F.coalesce((text < "!") & (F.trim(text) == ""), F.lit(True))


def sampled(key: str, share: float) -> Column:
    """Whether an id is in the sample of this share (above 0, up to 1) of all ids.

        in the sample where the first 8 hexadecimal digits of md5("evaljob sample:<id>"), as a number, < share * 2**32

    A function of the id alone: the same in every system, table and night, and a smaller sample is part of a
    larger one. Blank ids stay, to be refused as ever.
    """
    bound = round(share * 2**32)
    if bound >= 2**32:
        return F.lit(True)
    digest = F.substring(F.md5(F.concat(F.lit(KEY), key)), 1, 8)
    return blank(key) | (digest < f"{bound:08x}")  # digits of equal number sort as their numbers do


def parent(key: str, separator: str) -> Column:
    """The document that a passage is of: its id up to the first separator; whole where it begins with one."""
    return F.coalesce(F.nullif(F.substring_index(key, separator, 1), F.lit("")), F.col(key))
