"""Estimates and paired contrasts with intervals, from exact sums by unit.

    sums.py           UnitSums: the table that everything starts from; exact means
    draws.py          how often each replicate draws each unit
    bootstrap.py      replicates of every measure and difference
    studentized.py    the same in units of their own standard errors
    measures.py       what can be estimated: means, ratios of sums, geometric means
    influence.py      what each unit contributes to a measure or a difference; standard errors
    strata.py         parts whose shares of the queries are fixed; draws of each by itself
    arms.py           the strata of an experiment whose units are in one arm each
    ordered.py        sums whose last bit does not depend on the machine
    clusters.py       how many degrees of freedom a standard error from clusters has
    distributions.py  Student's t
    wild.py           the wild cluster bootstrap
    evidence.py       what an interval is made from
    intervals.py      INTERVALS: auto, t, hall, studentized, percentile and others
    end_errors.py     how far their ends would move with another seed
    fieller.py        the interval of a relative delta
    quantiles.py      the interval of a median
    tests.py          TESTS: p-values beside Student's, each a function of joint.py's Joint
    buckets.py        more units than that: random groups that are the same every night
    drawing.py        what is drawn for every measure and contrast, a part at a time
    estimates.py      infer: all of the above, for every measure and pair
    two_way.py        queries that depend on each other in two ways
    datasets.py       means over several data sets
    selection.py      the best of many candidates, corrected for the choice
    planning.py       how small a change can be seen, how many units a smaller one needs
    randomization.py  sign flips: a p-value without Student's assumptions
    ranks.py          Wilcoxon's and the sign test, as description
    simultaneous.py   p-values, intervals and bounds of several contrasts that hold together: max-T
    tukey.py          many systems, whose values are handed out anew
    multiplicity.py   p-values of several questions at once, from the p-values alone

A new interval is a function of Evidence and a line in INTERVALS; a new test one of Joint and a line in TESTS.
"""

from evalcore.inference.estimates import Contrast, Estimate, Inference, infer
from evalcore.inference.evidence import Evidence, Interval
from evalcore.inference.intervals import INTERVALS, interval
from evalcore.inference.joint import Joint
from evalcore.inference.measures import Measure
from evalcore.inference.multiplicity import benjamini_hochberg, bonferroni, holm
from evalcore.inference.randomization import sign_flip_p_value
from evalcore.inference.simultaneous import simultaneous_bounds, simultaneous_intervals
from evalcore.inference.sums import LIMB_BITS, PRODUCT_BITS, UnitSums, scale_exponent, to_limbs
from evalcore.inference.tests import TESTS

__all__ = [
    "INTERVALS", "LIMB_BITS", "PRODUCT_BITS", "TESTS", "Contrast", "Estimate", "Evidence", "Inference", "Interval",
    "Joint", "Measure", "UnitSums", "benjamini_hochberg", "bonferroni", "holm", "infer", "interval", "scale_exponent",
    "sign_flip_p_value", "simultaneous_bounds", "simultaneous_intervals", "to_limbs",
]  # fmt: skip
