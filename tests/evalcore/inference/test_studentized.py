"""Replicates in units of their own standard errors, beside plain loops and the exact bootstrap distribution."""

import hashlib
import itertools
import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import evalcore
from evalcore.inference import UnitSums, infer, influence
from evalcore.inference.bootstrap import draw
from evalcore.inference.draws import counts
from evalcore.inference.studentized import studentize
from tests.evalcore.inference.support import sums_of

REPLICATES = 300


def systems() -> UnitSums:
    """Clusters of different sizes; the third system lacks a third of its values."""
    units = np.repeat([f"u{g:02d}" for g in range(14)], [1, 7, 2, 3] * 3 + [4, 20])
    rng = np.random.default_rng(61)
    values = rng.exponential(size=(len(units), 3))
    values[rng.random(len(units)) < 0.3, 2] = np.nan
    return sums_of(*values.T, units=units)


def statistics(sums):
    """Each mean and two contrasts, with their replicates."""
    pairs = [(0, 1), (2, 1)]
    columns = [influence.of_column(sums, column) for column in range(3)]
    contrasts = [influence.of_contrast(columns[a], columns[b], estimate=sums.mean_difference(a, b)) for a, b in pairs]
    drawn = draw(sums, replicates=REPLICATES, seed=5)
    replicates = [*map(drawn.mean, range(3)), *(drawn.difference(*pair) for pair in pairs)]
    return [*columns, *contrasts], replicates


def by_plain_loops(statistic, replicates) -> list[float]:
    found = []
    for drawn, replicate in zip(counts(14, seed=5, start=0, stop=REPLICATES), replicates, strict=True):
        weight = sum(times * h for times, h in zip(drawn, statistic.share, strict=True))
        d = sum(times * u for times, u in zip(drawn, statistic.influence, strict=True)) / weight
        squares = 0.0
        for times, u, h in zip(drawn, statistic.influence, statistic.share, strict=True):
            squares += times * (u - d * h) ** 2
        found.append((replicate - statistic.estimate) * weight / math.sqrt(squares))
    return sorted(found)


def test_studentized_replicates_are_those_of_plain_loops():
    given, replicates = statistics(systems())
    found = studentize(given, replicates, seed=5)
    for statistic, drawn, row in zip(given, replicates, found, strict=True):
        assert row == pytest.approx(by_plain_loops(statistic, drawn), rel=1e-9, abs=1e-9)


def test_one_at_a_time_or_together_makes_no_difference():
    given, replicates = statistics(systems())
    together = studentize(given, replicates, seed=5)
    for statistic, drawn, row in zip(given, replicates, together, strict=True):
        assert_array_equal(studentize([statistic], [drawn], seed=5)[0], row)


@pytest.mark.parametrize("block_cells", [1, 50, 1_000])
def test_the_block_size_does_not_change_a_bit(block_cells):
    given, replicates = statistics(systems())
    whole = studentize(given, replicates, seed=5)
    blocks = studentize(given, replicates, seed=5, block_cells=block_cells)
    assert [row.tobytes() for row in blocks] == [row.tobytes() for row in whole]


ROOT = Path(evalcore.__file__).parents[1]
THREADS = """
import hashlib
from tests.evalcore.inference.test_studentized import statistics, studentize, systems
given, replicates = statistics(systems())
print(hashlib.sha256(b"".join(row.tobytes() for row in studentize(given, replicates, seed=5))).hexdigest())
"""


def test_the_number_of_blas_threads_and_the_kernel_do_not_change_a_bit():
    given, replicates = statistics(systems())
    here = hashlib.sha256(b"".join(row.tobytes() for row in studentize(given, replicates, seed=5))).hexdigest()
    settings = {"OPENBLAS_NUM_THREADS": "1", "OPENBLAS_CORETYPE": "Nehalem"}  # no fused multiply-add
    there = subprocess.run(
        [sys.executable, "-c", THREADS], env=os.environ | settings, capture_output=True, cwd=ROOT, check=True, text=True
    ).stdout.strip()
    assert there == here


@pytest.mark.parametrize("values", [[0.0, 0.1, 0.4, 1.0, 3.0], [0.2, 0.25, 0.3, 0.9, 0.1, 0.7]])
def test_the_interval_has_the_levels_it_says_in_the_exact_distribution(values):
    n, x = len(values), np.array(values)
    drawn = np.array(list(itertools.product(range(n), repeat=n)))
    means, deviations = x[drawn].mean(axis=1), x[drawn].std(axis=1)
    told = deviations > 1e-9  # all draws of one unit have no error to divide by
    exact = np.sort((means[told] - x.mean()) / deviations[told] * math.sqrt(n))
    low, high = infer(sums_of(values), methods=["studentized"], confidence=0.8).estimates[0].intervals["studentized"]
    error = x.std() / math.sqrt(n)
    for end, p in [(high, 0.1), (low, 0.9)]:
        point, noise = (x.mean() - end) / error, 5 * math.sqrt(p * (1 - p) / 9_999)
        assert np.mean(exact < point - 1e-9) <= p + noise
        assert np.mean(exact <= point + 1e-9) >= p - noise


def test_a_replicate_of_one_unit_alone_says_nothing():
    found = infer(sums_of([0.1, 0.2, 0.6]), methods=["studentized"])
    sums = sums_of([0.1, 0.2, 0.6])
    drawn = draw(sums, replicates=900, seed=0)
    row = studentize([influence.of_column(sums, 0)], [drawn.mean(0)], seed=0)[0]
    same_unit = (counts(3, seed=0, start=0, stop=900) == 3).any(axis=1)
    assert 0 < same_unit.sum() < 200
    assert len(row) == 900 - same_unit.sum()
    assert np.isfinite(found.estimates[0].intervals["studentized"]).all()


def test_nothing_is_drawn_for_no_statistic():
    assert studentize([], [], seed=0) == []
