"""What tests of contrasts say where no system is better: p-values that are uniform, families that seldom reject.

python -m benchmarks.null [DATA SETS]     prints the tables; 10,000 data sets for each setting take an hour
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from zlib import crc32

import numpy as np

from evalcore.arrays import FloatArray, IntArray
from evalcore.inference import Contrast, UnitSums, infer

CHUNK = 100
"""Data sets that are columns of one table, over the same units, and share draws."""

Shape = Callable[[FloatArray], FloatArray]


def normal(z: FloatArray) -> FloatArray:
    """Values as they are."""
    return z


def ndcg(z: FloatArray) -> FloatArray:
    """Between 0 and 1, a fifth of them 0: many queries that tie."""
    return np.clip(0.35 + 0.4 * z, 0, 1)


def reciprocal_rank(z: FloatArray) -> FloatArray:
    """Of few values: 1 for z above 0.5, 1/2, 1/3 and so on below, 0 from -0.9 down."""
    ranks = np.maximum(1, np.ceil((0.5 - z) * 6) + 1)
    return np.where(z > -0.9, 1 / ranks, 0.0)


@dataclass(frozen=True, kw_only=True)
class Null:
    """Systems of one law, exchangeable within every query.

        z = sqrt(1/2) difficulty of the query + sqrt(1/2) what the system adds

    sizes        queries of the units from a standard normal variable; None: a unit is a query
    correlation  between what a system adds to two queries of a unit; difficulties likewise
    """

    units: int
    systems: int = 2
    shape: Shape = normal
    sizes: Callable[[FloatArray], FloatArray] | None = None
    correlation: float = 0.0

    @property
    def described(self) -> str:
        """The setting as text, the same in every process: it seeds the data."""
        functions = [each.__name__ if each else "" for each in (self.shape, self.sizes)]
        return repr((self.units, self.systems, *functions, self.correlation))

    def values(self, rng: np.random.Generator, n_sets: int) -> tuple[IntArray, FloatArray]:
        """The unit of each query, and values of each system of each data set.  (n,), (n, n_sets * systems)"""
        sizes = np.ones(self.units) if self.sizes is None else self.sizes(rng.standard_normal(self.units))
        at = np.repeat(np.arange(self.units), sizes.astype(np.int64))

        def effect(n_systems: int) -> FloatArray:
            of_unit, of_query = (rng.standard_normal((n, n_sets, n_systems)) for n in (self.units, len(at)))
            return math.sqrt(self.correlation) * of_unit[at] + math.sqrt(1 - self.correlation) * of_query

        z = math.sqrt(0.5) * effect(1) + math.sqrt(0.5) * effect(self.systems)
        return at, self.shape(z).reshape(len(at), -1)


def lognormal(z: FloatArray) -> FloatArray:
    """14 queries on average, the largest of 50 units has 80 or so."""
    return 1 + np.floor(8 * np.exp(z))


def contrasts(
    setting: Null, tests: Sequence[str], *, data_sets: int, replicates: int, seed: int = 0
) -> Iterator[list[Contrast]]:
    """The contrasts of all pairs of systems in each data set."""
    pairs = list(combinations(range(setting.systems), 2))
    rng = np.random.default_rng([seed, crc32(setting.described.encode())])
    for _ in range(0, data_sets, CHUNK):
        at, values = setting.values(rng, CHUNK)
        of_sets = [(k + a, k + b) for k in range(0, CHUNK * setting.systems, setting.systems) for a, b in pairs]
        found = infer(
            UnitSums.from_values(np.char.mod("%06d", at), values, contrasts=of_sets),
            contrasts=of_sets,
            methods=("t",),
            tests=tests,
            families=np.repeat(np.arange(CHUNK), len(pairs)).tolist(),
            replicates=replicates,
            seed=int(rng.integers(2**63)),
        ).contrasts
        for start in range(0, len(found), len(pairs)):
            yield found[start : start + len(pairs)]


def p_values(
    setting: Null, tests: Sequence[str], *, data_sets: int, replicates: int = 999, seed: int = 0
) -> dict[str, FloatArray]:
    """Of the first contrast of each data set; `t` is Student's.  (data_sets,) for each test"""
    first = [each[0] for each in contrasts(setting, tests, data_sets=data_sets, replicates=replicates, seed=seed)]
    found = {test: np.array([contrast.p_values[test] for contrast in first]) for test in tests}
    return {"t": np.array([contrast.p_value for contrast in first]), **found}


def family_wise_errors(
    setting: Null, tests: Sequence[str], *, data_sets: int, replicates: int = 999, level: float = 0.05, seed: int = 0
) -> dict[str, float]:
    """The share of data sets in which any contrast has a p-value up to `level`; `t` is Student's, not adjusted."""
    least = np.array([
        [min(c.p_value for c in family), *(min(c.p_values[test] for c in family) for test in tests)]
        for family in contrasts(setting, tests, data_sets=data_sets, replicates=replicates, seed=seed)
    ])  # fmt: skip
    return dict(zip(["t", *tests], (least <= level).mean(axis=0).tolist(), strict=True))


SETTINGS = {
    "50 queries": Null(units=50),
    "50 queries, nDCG": Null(units=50, shape=ndcg),
    "50 queries, RR": Null(units=50, shape=reciprocal_rank),
    "20 clusters": Null(units=20, sizes=lognormal, correlation=0.3),
    "50 clusters": Null(units=50, sizes=lognormal, correlation=0.3),
    "50 clusters, nDCG": Null(units=50, shape=ndcg, sizes=lognormal, correlation=0.3),
    "200 clusters": Null(units=200, sizes=lognormal, correlation=0.3),
}
ALONE = ("sign_flip", "wilcoxon", "sign")
TOGETHER = ("max_t", "tukey_hsd")
SYSTEMS = 6


def distance(p_values: FloatArray) -> float:
    """The largest distance of their distribution from the uniform one: 0.0136 in 5 % of 10,000 uniform numbers."""
    ascending, n = np.sort(p_values), len(p_values)
    return float(max((np.arange(1, n + 1) / n - ascending).max(), (ascending - np.arange(n) / n).max()))


def main() -> None:
    """Prints both tables."""
    data_sets = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    print(f"{data_sets} data sets. Share of p-values up to 5 %, and their distance from uniform ones (Kolmogorov)")
    print("| |", *(f" {name} |" for name in ("t", *ALONE)))
    print("|---" * (2 + len(ALONE)) + "|")
    for name, setting in SETTINGS.items():
        found = p_values(setting, ALONE, data_sets=data_sets).values()
        print(f"| {name} |", *(f"{np.mean(p <= 0.05):.2%}, {distance(p):.3f} |" for p in found), flush=True)
    error = math.sqrt(0.05 * 0.95 / data_sets)
    print(f"\nAny of {SYSTEMS} systems differs from another at 5 %: share of data sets, +- {error:.2%}")
    print("| |", *(f" {name} |" for name in ("t, not adjusted", *TOGETHER)))
    print("|---" * (2 + len(TOGETHER)) + "|")
    for name, setting in SETTINGS.items():
        rates = family_wise_errors(replace(setting, systems=SYSTEMS), TOGETHER, data_sets=data_sets).values()
        print(f"| {name} |", *(f"{rate:.2%} |" for rate in rates), flush=True)


if __name__ == "__main__":
    main()
