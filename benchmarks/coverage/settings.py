"""SETTINGS: what is simulated. Those of REFERENCE chose `auto`, those of OTHERS check it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr
from scipy.stats import binom, poisson

from benchmarks.coverage.laws import Law, law, lognormal, reciprocal_rank, redrawn, transformed, with_beta
from benchmarks.coverage.samplers import (
    Buckets,
    Clicks,
    Queries,
    Reweighted,
    Sampler,
    Sizes,
    TwoSystems,
    equal,
    lognormal_sizes,
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Setting:
    """A name that says what is drawn, and what draws it.  `reference`: whether it served to choose `auto`."""

    name: str
    sampler: Sampler
    reference: bool = False
    replicates: int = 1_999


LAWS = {
    "rr10 (35% zeros)": reciprocal_rank(0.35, 1.3),
    "rr10 sparse (90% zeros)": reciprocal_rank(0.90, 1.0),
    "ndcg moderate": with_beta(0.20, 0.08, 2.0, 2.0),
    "ndcg skewed (60% zeros)": with_beta(0.60, 0.01, 0.7, 2.5),
    "delta rr10 (80% ties)": redrawn(reciprocal_rank(0.35, 1.3), reciprocal_rank(0.33, 1.3), 0.2),
    "delta sparse (97% ties)": law({-1.0: 0.005, 0.0: 0.97, 0.1: 0.01, 0.2: 0.01, 0.5: 0.005}),
}
UNEVEN = lognormal_sizes(8, 1.0)
"""Sizes of clusters: 13.7 queries on average, with a standard deviation of about 1.2 times that."""


def reference() -> Iterator[Setting]:
    """The settings of the simulation that `auto` was chosen by."""
    for name, of_values in LAWS.items():
        for units in (50, 200, 1_000):
            yield Setting(name=f"{name}, N={units}", sampler=Queries(law=of_values, units=units), reference=True)
    for name, clusters, informative in [
        *(("rr10 (35% zeros)", clusters, 0.0) for clusters in (20, 50, 200)),
        *(("ndcg skewed (60% zeros)", clusters, 0.0) for clusters in (20, 50, 200)),
        *(("rr10 (35% zeros)", clusters, 0.6) for clusters in (20, 50)),
    ]:
        told = ", informative sizes" if informative else ""
        yield Setting(
            name=f"{name}, ICC 0.3{told}, G={clusters}",
            sampler=Queries(law=LAWS[name], units=clusters, sizes=UNEVEN, correlation=0.3, informative=informative),
            reference=True,
            replicates=999,
        )


def mixed_binomial(parts: dict[float, float], trials: int) -> Law:
    """Shares of `trials` documents that are relevant, from the probability of each rate: P@10, for instance."""
    hits = np.arange(trials + 1)
    found = sum(weight * binom(trials, rate).pmf(hits) for rate, weight in parts.items())
    return Law(hits / trials, found / found.sum())


def powers(largest: int, power: float) -> Sizes:
    """Sizes from 1 up to `largest` in proportion to size**-power (Zipf)."""
    sizes = np.arange(1.0, largest + 1)
    return Law(sizes, sizes**-power / (sizes**-power).sum()).of


def poisson_sizes(mean: float) -> Sizes:
    """1 + a Poisson number."""
    return lambda z: 1 + poisson(mean).ppf(ndtr(z))


RR, SPARSE, MODERATE, SKEWED, DELTA, _ = LAWS.values()
BETTER = reciprocal_rank(0.30, 1.3)
GRADED = law({0.0: 0.3, 0.25: 0.1, 0.5: 0.25, 0.75: 0.1, 1.0: 0.25})
PRECISION = mixed_binomial({0.02: 0.5, 0.2: 0.3, 0.6: 0.2}, 10)
SUCCESS = law({0.0: 0.9, 1.0: 0.1})
NEAR_ONE = transformed(with_beta(0.70, 0.02, 0.8, 4.0), lambda values: 1 - values)
GAIN = lognormal(1.0)
SMALL_STEPS = law({-0.5: 0.03, -0.25: 0.12, 0.0: 0.6, 0.25: 0.2, 0.5: 0.05})
LOSSES = law({-1.0: 0.02, -0.5: 0.02, 0.0: 0.85, 0.05: 0.06, 0.1: 0.05})
SHIFT = transformed(with_beta(0.0, 0.0, 8.0, 7.0), lambda values: values - 0.5)
LOG_PRECISION = transformed(with_beta(0.15, 0.02, 0.6, 1.8), lambda values: np.log(np.maximum(values, 1e-5)))
LOG_GAIN = transformed(GAIN, np.log)
RATE = with_beta(0.0, 0.0, 1.2, 12.0)
WEIGHTS = law({0.0: 0.4, 0.5: 0.3, 2.0: 0.2, 5.0: 0.08, 10.0: 0.02})
ONE_IN_FIVE_LARGE = law({1.0: 0.8, 40.0: 0.2}).of


def others() -> Iterator[Setting]:
    """Settings that were written down before `auto` was run on them."""
    for name, sampler in {
        "graded steps of a quarter, N=30": Queries(law=GRADED, units=30),
        "graded steps of a quarter, N=100": Queries(law=GRADED, units=100),
        "P@10 of easy and hard queries, N=60": Queries(law=PRECISION, units=60),
        "success (10% ones), N=120": Queries(law=SUCCESS, units=120),
        "success (10% ones), N=400": Queries(law=SUCCESS, units=400),
        "ndcg near 1 (70% ones), N=60": Queries(law=NEAR_ONE, units=60),
        "dcg without a bound (lognormal), N=100": Queries(law=GAIN, units=100),
        "dcg without a bound (lognormal), N=500": Queries(law=GAIN, units=500),
        "delta in small steps (60% ties), N=50": Queries(law=SMALL_STEPS, units=50),
        "delta with rare losses (85% ties), N=100": Queries(law=LOSSES, units=100),
        "delta with rare losses (85% ties), N=400": Queries(law=LOSSES, units=400),
        "delta of a continuous value, N=25": Queries(law=SHIFT, units=25),
        "geometric mean of AP, N=80": Queries(law=LOG_PRECISION, units=80, kind="geometric"),
        "geometric mean of dcg, N=40": Queries(law=LOG_GAIN, units=40, kind="geometric"),
        "two systems, N=60": TwoSystems(candidate=BETTER, baseline=RR, units=60),
        "two systems, each answers 80% of the queries, N=150": TwoSystems(
            candidate=BETTER, baseline=RR, units=150, answered=0.8
        ),
        "two arms of an A/B test, N=100": TwoSystems(candidate=MODERATE, baseline=MODERATE, units=100, arms=True),
        "clicks over impressions, equal impressions, N=60": Clicks(rate=RATE, units=60, impressions=equal(10)),
        "clicks over impressions, Zipf, N=300": Clicks(rate=RATE, units=300, impressions=powers(200, 1.5)),
        "clicks over impressions, more where rates are low, N=200": Clicks(
            rate=RATE, units=200, impressions=lognormal_sizes(10, 0.8), informative=-0.5
        ),
        "rewards reweighted (SNIPS), N=300": Reweighted(
            weights=WEIGHTS, rewards=np.array([0.1, 0.1, 0.2, 0.3, 0.4]), units=300
        ),
    }.items():
        yield Setting(name=name, sampler=sampler)
    for name, sampler in {
        "rr10, ICC 0.2, clusters of 5, G=30": Queries(law=RR, units=30, sizes=equal(5), correlation=0.2),
        "ndcg skewed, ICC 0.5, clusters of 12, G=40": Queries(law=SKEWED, units=40, sizes=equal(12), correlation=0.5),
        "rr10, ICC 0, uneven sizes, G=30": Queries(law=RR, units=30, sizes=UNEVEN),
        "ndcg skewed, ICC 0.05, uneven sizes, G=40": Queries(law=SKEWED, units=40, sizes=UNEVEN, correlation=0.05),
        "ndcg moderate, ICC 0.6, uneven sizes, G=40": Queries(law=MODERATE, units=40, sizes=UNEVEN, correlation=0.6),
        "rr10, ICC 0.3, Zipf sizes, G=100": Queries(law=RR, units=100, sizes=powers(100, 1.5), correlation=0.3),
        "ndcg moderate, ICC 0.2, one cluster in five is large, G=60": Queries(
            law=MODERATE, units=60, sizes=ONE_IN_FIVE_LARGE, correlation=0.2
        ),
        "ndcg moderate, ICC 0.3, Poisson sizes, G=12": Queries(
            law=MODERATE, units=12, sizes=poisson_sizes(9), correlation=0.3
        ),
        "rr10, ICC 0.2, Poisson sizes, G=15": Queries(law=RR, units=15, sizes=poisson_sizes(4), correlation=0.2),
        "rr10, ICC 0.3, uneven sizes, G=30": Queries(law=RR, units=30, sizes=UNEVEN, correlation=0.3),
        "graded steps, ICC 0.4, repeated query texts, G=150": Queries(
            law=GRADED, units=150, sizes=powers(6, 2.0), correlation=0.4
        ),
        "rr10 sparse, ICC 0.1, uneven sizes, G=500": Queries(law=SPARSE, units=500, sizes=UNEVEN, correlation=0.1),
        "ndcg skewed, ICC 0.3, Zipf sizes, G=1000": Queries(
            law=SKEWED, units=1_000, sizes=powers(50, 1.7), correlation=0.3
        ),
        "rr10, ICC 0.2, Poisson sizes, G=2000": Queries(law=RR, units=2_000, sizes=poisson_sizes(3), correlation=0.2),
        "ndcg moderate, ICC 0.3, large clusters are worse, G=60": Queries(
            law=MODERATE, units=60, sizes=UNEVEN, correlation=0.3, informative=-0.5
        ),
        "delta rr10 (80% ties), ICC 0.1, uneven sizes, G=40": Queries(
            law=DELTA, units=40, sizes=UNEVEN, correlation=0.1
        ),
        "geometric mean of AP, ICC 0.2, uneven sizes, G=60": Queries(
            law=LOG_PRECISION, units=60, sizes=UNEVEN, correlation=0.2, kind="geometric"
        ),
        "two systems, ICC 0.3, uneven sizes, G=40": TwoSystems(
            candidate=BETTER, baseline=RR, units=40, sizes=UNEVEN, correlation=0.3
        ),
        "two systems, ICC 0.2, Poisson sizes, G=25": TwoSystems(
            candidate=SKEWED, baseline=SKEWED, units=25, sizes=poisson_sizes(5), correlation=0.2, agreement=0.95
        ),
        "two arms of an A/B test by user, ICC 0.3, uneven sizes, G=80": TwoSystems(
            candidate=BETTER, baseline=RR, units=80, sizes=UNEVEN, correlation=0.3, arms=True
        ),
        "delta rr10 (80% ties), 20,000 queries in 4,096 buckets": Buckets(law=DELTA, queries=20_000),
        "rr10 sparse (90% zeros), 10,000 queries in 4,096 buckets": Buckets(law=SPARSE, queries=10_000),
    }.items():
        yield Setting(name=name, sampler=sampler, replicates=999)


REFERENCE = tuple(reference())
OTHERS = tuple(others())
SETTINGS = (*REFERENCE, *OTHERS)
