"""Distributions of query values whose mean is known, as step functions of a normal variable."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
from scipy.special import ndtr, ndtri
from scipy.stats import beta

from evalcore.arrays import FloatArray

ATOMS = 1_000
"""What stands for a continuous distribution: so many equally likely quantiles."""


@dataclass(frozen=True, eq=False)
class Law:
    """Values, ascending, and their probabilities.  (n_values,) both

    A value is a step function of a standard normal variable z, so queries resemble each other as far as their z do.
    """

    values: FloatArray
    probabilities: FloatArray

    @cached_property
    def steps(self) -> FloatArray:
        """(n_values - 1,) the z from which on each value but the first is taken."""
        return ndtri(np.minimum(np.cumsum(self.probabilities)[:-1], 1.0))

    @property
    def mean(self) -> float:
        return float(self.values @ self.probabilities)

    @property
    def variance(self) -> float:
        return float((self.values - self.mean) ** 2 @ self.probabilities)

    def of(self, z: FloatArray) -> FloatArray:
        """The value for each z, of any shape."""
        return self.values[np.searchsorted(self.steps, z, side="right")]

    def mean_given(self, center: FloatArray, spread: float) -> FloatArray:
        """The mean where z is normal with that mean and standard deviation.  (n,) -> (n,)"""
        beyond = ndtr((center[:, None] - self.steps) / spread)
        return self.values[0] + beyond @ np.diff(self.values)

    def latent_correlation(self, of_values: float) -> float:
        """The correlation of two z for which their values correlate by `of_values`; by bisection."""
        nodes, weights = np.polynomial.hermite_e.hermegauss(100)
        low, high = 0.0, 1.0
        for _ in range(40):
            middle = (low + high) / 2
            shared = self.mean_given(np.sqrt(middle) * nodes, np.sqrt(1 - middle))
            between = weights @ (shared - self.mean) ** 2 / weights.sum()
            low, high = (middle, high) if between < of_values * self.variance else (low, middle)
        return low


def law(probabilities: dict[float, float]) -> Law:
    """From the probability of each value."""
    ascending = sorted(probabilities)
    return Law(np.array(ascending), np.array([probabilities[value] for value in ascending]))


def with_beta(zeros: float, ones: float, a: float, b: float) -> Law:
    """Values as nDCG has them: 0 and 1 with those probabilities, else from a beta distribution."""
    between = beta(a, b).ppf((np.arange(ATOMS) + 0.5) / ATOMS)
    rest = np.full(ATOMS, (1 - zeros - ones) / ATOMS)
    return Law(np.concatenate([[0.0], between, [1.0]]), np.concatenate([[zeros], rest, [ones]]))


def reciprocal_rank(zeros: float, power: float) -> Law:
    """RR@10: nothing found with probability `zeros`, else first at rank k in proportion to k**-power."""
    ranks = np.arange(1, 11)
    found = (1 - zeros) * ranks**-power / (ranks**-power).sum()
    return law({0.0: zeros, **{1 / int(rank): float(p) for rank, p in zip(ranks, found, strict=True)}})


def lognormal(spread: float) -> Law:
    """Values without a bound, as DCG has them: e to a normal variable of that standard deviation."""
    levels = (np.arange(ATOMS) + 0.5) / ATOMS
    return Law(np.exp(spread * ndtri(levels)), np.full(ATOMS, 1 / ATOMS))


def transformed(of: Law, function) -> Law:
    """The law of a monotone function of the values."""
    values = function(of.values)
    return Law(values, of.probabilities) if values[0] <= values[-1] else Law(values[::-1], of.probabilities[::-1])


def redrawn(before: Law, after: Law, changed: float) -> Law:
    """The difference of two systems that agree but for a share of the queries, where each draws on its own."""
    deltas = {0.0: 1 - changed}
    sides = (zip(side.values, side.probabilities, strict=True) for side in (after, before))
    for (one, p), (other, q) in product(*sides):
        delta = round(float(one - other), 12)
        deltas[delta] = deltas.get(delta, 0.0) + changed * float(p * q)
    return law(deltas)
