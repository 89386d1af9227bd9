"""Estimates and paired contrasts with intervals, from exact sums by unit.

    sums.py           UnitSums: the table that everything starts from; exact means
    draws.py          how often each replicate draws each unit
    bootstrap.py      replicates of every mean and difference of means
    influence.py      what each unit contributes to a mean or a difference; standard errors
    distributions.py  Student's t
    intervals.py      INTERVALS: percentile, bca, t
    estimates.py      infer: all of the above, for every column and pair
    multiplicity.py   p-values of several questions at once
    randomization.py  a p-value without Student's assumptions

A new interval is a function of Evidence and a line in INTERVALS.
"""

from evalcore.inference.estimates import Contrast, Estimate, Inference, Measure, infer
from evalcore.inference.intervals import INTERVALS, Evidence, Interval, interval
from evalcore.inference.multiplicity import benjamini_hochberg, bonferroni, holm
from evalcore.inference.randomization import sign_flip_p_value
from evalcore.inference.sums import LIMB_BITS, UnitSums, scale_exponent, to_limbs

__all__ = [
    "INTERVALS", "LIMB_BITS", "Contrast", "Estimate", "Evidence", "Inference", "Interval", "Measure", "UnitSums",
    "benjamini_hochberg", "bonferroni", "holm", "infer", "interval", "scale_exponent", "sign_flip_p_value", "to_limbs",
]  # fmt: skip
