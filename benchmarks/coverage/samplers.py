"""Data sets drawn from laws whose true estimate is known."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from benchmarks.coverage.datasets import DataSets, Kind, Values
from benchmarks.coverage.laws import Law
from evalcore.arrays import AnyArray, FloatArray

Sizes = Callable[[FloatArray], AnyArray]
"""The number of queries of a unit, from a standard normal variable."""


class Sampler(Protocol):
    """What draws data sets."""

    @property
    def truth(self) -> float:
        """What the estimates of many data sets would be on a single one without an end."""

    def draw(self, rng: np.random.Generator, n_sets: int) -> DataSets:
        """So many data sets."""


def one(z: FloatArray) -> AnyArray:
    """A query is its own unit."""
    return np.ones(z.shape)


def equal(size: int) -> Sizes:
    """Units of one size."""
    return lambda z: np.full(z.shape, size)


def lognormal_sizes(median: float, spread: float) -> Sizes:
    """1 + floor of a lognormal number."""
    return lambda z: 1 + np.floor(np.exp(math.log(median) + spread * z))


@dataclass(frozen=True, kw_only=True)
class Queries:
    """The mean of values from clusters of queries; by default each query is a cluster.

        z of a query = sqrt(r) effect of the cluster + sqrt(1 - r) its own      r such that values correlate as asked

    informative   correlation of a cluster's effect with the normal variable that its size is a function of
    kind          "geometric" if the law is one of logarithms
    """

    law: Law
    units: int
    sizes: Sizes = one
    correlation: float = 0.0
    informative: float = 0.0
    kind: Kind = "mean"

    @property
    def truth(self) -> float:
        mean = (
            weighted_mean(self.law, self.sizes, self._latent, self.informative) if self.informative else self.law.mean
        )
        return math.exp(mean) if self.kind == "geometric" else mean

    @cached_property
    def _latent(self) -> float:
        return self.law.latent_correlation(self.correlation) if self.correlation else 0.0

    def draw(self, rng: np.random.Generator, n_sets: int) -> DataSets:
        size = rng.standard_normal(self.units * n_sets)
        at = np.repeat(np.arange(len(size)), self.sizes(size).astype(np.int64))
        effect = self.informative * size + math.sqrt(1 - self.informative**2) * rng.standard_normal(len(size))
        z = math.sqrt(self._latent) * effect[at] + math.sqrt(1 - self._latent) * rng.standard_normal(len(at))
        return DataSets(self.units, n_sets, self.kind, (Values(at, self.law.of(z)),))


def weighted_mean(law: Law, sizes: Sizes, latent: float, informative: float) -> float:
    """E[size * value] / E[size] where the effect of a cluster goes with its size, by a sum over a fine grid."""
    grid = np.linspace(-8, 8, 10_001)
    weight = np.exp(-(grid**2) / 2) * sizes(grid)
    spread = math.sqrt(1 - latent * informative**2)
    return float(weight @ law.mean_given(math.sqrt(latent) * informative * grid, spread) / weight.sum())


@dataclass(frozen=True, kw_only=True)
class TwoSystems:
    """The difference of two systems' means over the same clusters of queries.

    agreement   share of the variance of a z, of clusters and of queries, that both systems have in common
    answered    share of the queries that each system has a value for, independently
    arms        every cluster has values of one system alone, as in an A/B test
    """

    candidate: Law
    baseline: Law
    units: int
    sizes: Sizes = one
    correlation: float = 0.0
    agreement: float = 0.8
    answered: float = 1.0
    arms: bool = False

    @property
    def truth(self) -> float:
        return self.candidate.mean - self.baseline.mean

    def draw(self, rng: np.random.Generator, n_sets: int) -> DataSets:
        n_clusters = self.units * n_sets
        sizes = self.sizes(rng.standard_normal(n_clusters)).astype(np.int64)
        at = np.repeat(np.arange(n_clusters), sizes)
        common = rng.standard_normal(n_clusters), rng.standard_normal(len(at))
        arm = rng.permuted(np.tile(np.arange(self.units) % 2, (n_sets, 1)), axis=1).T.ravel()
        columns = []
        for side, (law, latent) in enumerate(zip((self.candidate, self.baseline), self._latent, strict=True)):
            effect, own = (self._partly(rng, shared) for shared in common)
            values = law.of(math.sqrt(latent) * effect[at] + math.sqrt(1 - latent) * own)
            if self.arms or self.answered < 1:
                kept = arm[at] == side if self.arms else rng.random(len(at)) < self.answered
                columns.append(Values(at[kept], values[kept]))
            else:
                columns.append(Values(at, values))
        return DataSets(self.units, n_sets, "contrast", tuple(columns))

    @cached_property
    def _latent(self) -> list[float]:
        laws = self.candidate, self.baseline
        return [law.latent_correlation(self.correlation) if self.correlation else 0.0 for law in laws]

    def _partly(self, rng: np.random.Generator, shared: FloatArray) -> FloatArray:
        return math.sqrt(self.agreement) * shared + math.sqrt(1 - self.agreement) * rng.standard_normal(len(shared))


@dataclass(frozen=True, kw_only=True)
class Clicks:
    """Clicks over impressions: every unit has a number of impressions and a rate of clicks."""

    rate: Law
    units: int
    impressions: Sizes
    informative: float = 0.0

    @property
    def truth(self) -> float:
        return weighted_mean(self.rate, self.impressions, 1.0, self.informative)

    def draw(self, rng: np.random.Generator, n_sets: int) -> DataSets:
        size = rng.standard_normal(self.units * n_sets)
        effect = self.informative * size + math.sqrt(1 - self.informative**2) * rng.standard_normal(len(size))
        impressions = self.impressions(size).astype(np.int64)
        clicks = rng.binomial(impressions, self.rate.of(effect))
        at = np.arange(len(size))
        columns = Values(at, clicks.astype(np.float64)), Values(at, impressions.astype(np.float64))
        return DataSets(self.units, n_sets, "ratio", columns)


@dataclass(frozen=True, kw_only=True)
class Reweighted:
    """Rewards of logged actions under another policy, as SNIPS has them: weighted rewards over weights.

    rewards   the chance of a reward at each of the law's weights
    """

    weights: Law
    rewards: FloatArray
    units: int

    @property
    def truth(self) -> float:
        return float(self.weights.values * self.rewards @ self.weights.probabilities) / self.weights.mean

    def draw(self, rng: np.random.Generator, n_sets: int) -> DataSets:
        at = np.arange(self.units * n_sets)
        which = np.searchsorted(self.weights.values, self.weights.of(rng.standard_normal(len(at))))
        weights = self.weights.values[which]
        rewarded = rng.random(len(at)) < self.rewards[which]
        return DataSets(self.units, n_sets, "ratio", (Values(at, weights * rewarded), Values(at, weights)))


@dataclass(frozen=True, kw_only=True)
class Buckets:
    """The mean over independent queries that fell into buckets by their ids."""

    law: Law
    queries: int
    buckets: int = 4_096

    @property
    def truth(self) -> float:
        return self.law.mean

    def draw(self, rng: np.random.Generator, n_sets: int) -> DataSets:
        bucket = rng.integers(0, self.buckets, self.queries)
        at = (bucket[:, None] * n_sets + np.arange(n_sets)).ravel()
        values = Values(at, self.law.of(rng.standard_normal(len(at))))
        return DataSets(self.buckets, n_sets, "mean", (values,))
