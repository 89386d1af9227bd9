"""Estimates and paired contrasts with intervals, from exact sums by unit.

    sums.py           UnitSums: the table that everything starts from; exact means
    draws.py          how often each replicate draws each unit
    bootstrap.py      replicates of every mean and difference of means
    influence.py      what each unit contributes to a mean or a difference; standard errors
    distributions.py  Student's t
    intervals.py      INTERVALS: percentile, bca, t
    estimates.py      infer: all of the above, for every column and pair
    multiplicity.py   p-values of several questions at once

A new interval is a function of Evidence and a line in INTERVALS.
"""

from evalcore.inference.estimates import Contrast, Estimate, Inference, infer
from evalcore.inference.intervals import INTERVALS, Evidence, Interval, interval
from evalcore.inference.multiplicity import holm
from evalcore.inference.sums import LIMB_BITS, UnitSums, scale_exponent, to_limbs

__all__ = [
    "INTERVALS", "LIMB_BITS", "Contrast", "Estimate", "Evidence", "Inference", "Interval", "UnitSums", "holm", "infer",
    "interval", "scale_exponent", "to_limbs",
]  # fmt: skip
