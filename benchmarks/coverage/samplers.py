"""Data sets drawn from laws whose true estimate is known."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple, Protocol

import numpy as np

from benchmarks.coverage.laws import Law
from evalcore.arrays import AnyArray, FloatArray, IntArray
from evalcore.inference import Measure, UnitSums, scale_exponent, to_limbs
from evalcore.inference.sums import product_factor

Kind = Literal["mean", "geometric", "ratio", "contrast"]
Sizes = Callable[[FloatArray], AnyArray]
"""The number of queries of a unit, from a standard normal variable."""


class Values(NamedTuple):
    """A value for each query, and the cell of (n_units, n_sets) that each belongs to.  (n_queries,) both"""

    at: IntArray
    values: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class DataSets:
    """Some data sets with equally many units, which become columns of one UnitSums: replicates are drawn once.

    columns   of a mean: its values; of a contrast: the candidate's and the baseline's; of a ratio: above and below
    """

    n_units: int
    n_sets: int
    kind: Kind
    columns: tuple[Values, ...]

    def sums(self) -> UnitSums:
        """One column of unit sums for each data set; those of the second values follow all of the first."""
        exponents = [scale_exponent(float(np.abs(column.values).max())) for column in self.columns]
        limbs = [to_limbs(c.values, exponent=e) for c, e in zip(self.columns, exponents, strict=True)]
        n = [self._added(column.at, np.ones(len(column.at))) for column in self.columns]
        hi, lo = (
            [self._added(column.at, parts[limb]) for column, parts in zip(self.columns, limbs, strict=True)]
            for limb in (0, 1)
        )
        return UnitSums(
            np.array([f"{unit:06d}" for unit in range(self.n_units)]),
            *(np.hstack(arrays) for arrays in (n, hi, lo)),
            np.repeat(np.array(exponents, dtype=np.int64), self.n_sets),
            self._products(exponents) if max(int(each.max()) for each in n) > 1 else {},
        )

    def _added(self, at: IntArray, whole: AnyArray) -> IntArray:
        """(n_units, n_sets) sums of whole numbers, which stay far below 2**53."""
        added = np.bincount(at, weights=whole, minlength=self.n_units * self.n_sets)
        return added.astype(np.int64).reshape(self.n_units, self.n_sets)

    def _products(self, exponents: list[int]) -> dict[tuple[int, int], int]:
        factors = [product_factor(c.values, exponent=e) for c, e in zip(self.columns, exponents, strict=True)]
        found = {}
        for one, first in enumerate(self.columns):
            for other, second in enumerate(self.columns[one:], start=one):
                if first.at is second.at:
                    of_set = np.bincount(first.at % self.n_sets, weights=factors[one] * factors[other])
                    found |= {(one * self.n_sets + c, other * self.n_sets + c): int(p) for c, p in enumerate(of_set)}
        return found

    def asked(self) -> tuple[list[Measure], list[tuple[int, int]]]:
        """The measures and contrasts for `infer`: one of them for each data set."""
        sets = range(self.n_sets)
        if self.kind == "contrast":
            return [Measure(column=c) for c in range(2 * self.n_sets)], [(c, self.n_sets + c) for c in sets]
        below = self.n_sets if self.kind == "ratio" else None
        return [Measure(column=c, below=below and below + c, kind=self.kind) for c in sets], []

    def informative(self) -> float:
        """Units whose value is not the most common one, of the poorer side, on average; of paired deltas: not 0."""
        totals = [self._added(column.at, np.rint(column.values * 2.0**30)) for column in self.columns]
        if self.kind == "contrast" and self.columns[0].at is self.columns[1].at:
            return float(np.count_nonzero(totals[0] != totals[1], axis=0).mean())
        below = totals[1:] if self.kind == "ratio" else [self._added(c.at, np.ones(len(c.at))) for c in self.columns]
        return min(_away_from_the_usual(above, under) for above, under in zip(totals, below, strict=False))

    def by_query(self) -> DataSets:
        """The same values with every query as a unit of its own, whatever cluster it is from."""
        (column,) = self.columns
        of_set = column.at % self.n_sets
        order = np.argsort(of_set, kind="stable")
        n_queries = np.bincount(of_set, minlength=self.n_sets)
        place = np.arange(len(order)) - np.repeat(np.cumsum(n_queries) - n_queries, n_queries)
        at = place * self.n_sets + of_set[order]
        return DataSets(int(n_queries.max()), self.n_sets, self.kind, (Values(at, column.values[order]),))


def _away_from_the_usual(above: IntArray, below: IntArray) -> float:
    by_set = [one[other > 0] / other[other > 0] for one, other in zip(above.T, below.T, strict=True)]
    return float(np.mean([len(values) - np.unique(values, return_counts=True)[1].max() for values in by_set]))


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
