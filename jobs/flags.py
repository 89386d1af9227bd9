"""What flags and adjustments of p-values are called, in words."""

from __future__ import annotations

FLAGS = {
    "one_unit": "fewer than 2 units: no interval",
    "degenerate": "all units are alike: the interval has no width",
    "insufficient": "fewer than 10 units tell anything: no verdict, unless every unit has the same value on both sides",
    "few_clusters": "fewer than 10 effective units: intervals are too narrow",
    "errors_disagree": "the replicates spread otherwise than the units say: look for a value that no other comes near",
    "weak_baseline": "the baseline's estimate is not told from 0: the relative delta has no interval",
    "monte_carlo": "an end of the interval is so close to 0 or the margin that another seed could change the verdict",
    "ties_matter": "the order of tied documents can move an estimate by more than the margin",
    "judged_gap": "one system has more judged documents, by over 2 points: unjudged ones count as not relevant",
    "no_interval": "the difference of two medians is told without an interval or a test",
    "bucketed": "units share 4,096 buckets, which adds about 1 % of noise to a standard error",
}
ADJUSTED = {
    "holm": "Holm",
    "max_t": "max-T",
    "tukey_hsd": "Tukey's HSD by randomisation",
    "bonferroni": "Bonferroni",
    "benjamini_hochberg": "Benjamini and Hochberg (false discovery rate)",
}
