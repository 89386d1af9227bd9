"""Standard errors from buckets beside those from the units that fell into them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from benchmarks.coverage.datasets import DataSets, Values
from benchmarks.coverage.laws import Law
from benchmarks.coverage.samplers import Queries
from evalcore.arrays import FloatArray
from evalcore.inference import infer

QUERIES = 20_000
BUCKETS = (64, 256, 1_024, 4_096)


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """Of the ratio (standard error of buckets) / (standard error of units) over data sets.

    theory   1 / sqrt(2 (buckets - 1)): what random groups do to the deviation of a standard error
    within   share of the data sets where the ratio is within 3 / sqrt(2 buckets) of 1
    """

    mean: float
    deviation: float
    theory: float
    within: float


def compare(law: Law, *, buckets: int, data_sets: int, seed: int = 0, chunk: int = 20) -> Agreement:
    """20,000 independent queries in so many buckets, drawn anew for each chunk of data sets."""
    ratios = []
    for number in range(data_sets // chunk):
        rng = np.random.default_rng([seed, buckets, number])
        by_unit = Queries(law=law, units=QUERIES).draw(rng, chunk)
        (values,) = by_unit.columns
        unit, of_set = np.divmod(values.at, chunk)
        at = rng.integers(0, buckets, QUERIES)[unit] * chunk + of_set
        by_bucket = DataSets(buckets, chunk, "mean", (Values(at, values.values),))
        ratios.append(_errors(by_bucket) / _errors(by_unit))
    found = np.concatenate(ratios)
    return Agreement(
        mean=float(found.mean()),
        deviation=float(found.std(ddof=1)),
        theory=1 / math.sqrt(2 * (buckets - 1)),
        within=float(np.mean(np.abs(found - 1) <= 3 / math.sqrt(2 * buckets))),
    )


def _errors(data_sets: DataSets) -> FloatArray:
    return np.array([each.standard_error for each in infer(data_sets.sums(), methods=["t"]).estimates])
