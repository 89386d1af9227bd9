"""Measures as columns of Spark: what a row of SCORES holds of each, and what it adds to sums."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from evalcore.inference import LIMB_BITS, PRODUCT_BITS
from jobs.measures import WEIGHT, Measure


def values_of(measure: Measure) -> dict[str, Column]:
    """The columns of counted SCORES, from those of SCORES: the query's value first."""
    whole = F.col(measure.source)
    value = whole if measure.element is None else F.get(whole, F.lit(measure.element))
    parts = ("above", "below") if measure.statistic == "ratio" else ()
    return {measure.column: value, **{f"{measure.column}_{part}": F.col(f"{measure.source}_{part}") for part in parts}}


def added_by(measure: Measure) -> dict[str, Column]:
    """The columns of UNIT SUMS, each with what a row of counted SCORES adds to it."""
    value = F.col(measure.column)
    match measure.statistic:
        case "ratio":
            added = [F.col(f"{measure.column}_above"), F.col(f"{measure.column}_below")]
        case "weighted" | "units":
            weight = F.col(WEIGHT if measure.statistic == "weighted" else measure.unit_weight).cast("double")
            added = [value * weight, F.when(value.isNotNull(), weight)]
        case "geometric":
            added = [F.log(F.when(value.isNotNull(), F.greatest(value, F.lit(measure.floor))))]
        case _:
            added = [value]
    return dict(zip(measure.sums, added, strict=True))


def limbs(value: Column, *, exponent: int) -> tuple[Column, Column]:
    """A value as two integers, the arithmetic of evalcore.inference.to_limbs in SQL."""
    scaled = value * (2.0**LIMB_BITS / 2.0**exponent)
    high = F.floor(scaled)
    return high, F.rint((scaled - high) * 2.0**LIMB_BITS).cast("long")


def factor(value: Column, *, exponent: int) -> Column:
    """What stands for a value in sums of products, the arithmetic of evalcore.inference.product_factor in SQL."""
    return F.rint(value * (2.0**PRODUCT_BITS / 2.0**exponent)).cast("long")
