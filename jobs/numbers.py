"""Numbers that are written as text, read strictly: Spark alone would also take `1.0d`, `1f` and padding."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
INFINITE = r"(?i)^[+-]?(inf|infinity)$"
NAN = r"(?i)^[+-]?nan$"


def number(text: Column) -> Column:
    """The number that a text is, null if it is none."""
    found = F.when(text.rlike(NUMBER) | text.rlike(INFINITE), text.cast("double"))
    return F.coalesce(found, F.when(text.rlike(NAN), float("nan")))


def whole_number(text: Column) -> Column:
    """The whole number of at most nine digits that a text is, null if it is none."""
    return F.when(text.rlike("^[+-]?[0-9]{1,9}$"), text.cast("int"))
