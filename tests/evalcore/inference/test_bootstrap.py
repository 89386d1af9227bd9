import itertools
import os
import subprocess
import sys
from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import stats

import evalcore
from evalcore.errors import DataError
from evalcore.inference import UnitSums
from evalcore.inference.bootstrap import draw, split
from evalcore.inference.draws import counts


def clustered(n_units=12, n_columns=4, missing=0.2) -> UnitSums:
    """Clusters of different sizes, values with all their bits, some undefined."""
    units = [f"u{i:02d}" for i in range(n_units) for _ in range(1 + i % 4)]
    rng = np.random.default_rng(20)
    values = rng.random((len(units), n_columns)) * 2 - 1
    values[rng.random(values.shape) < missing] = np.nan
    return UnitSums.from_values(units, values)


def exact_replicate(sums: UnitSums, column: int, drawn) -> Fraction:
    """A replicate's mean in fractions, by plain loops."""
    total, n = Fraction(0), 0
    for g, times in enumerate(drawn):
        value = int(sums.hi[g, column]) * 2**30 + int(sums.lo[g, column])
        total += int(times) * Fraction(value) * Fraction(2) ** (int(sums.exponents[column]) - 60)
        n += int(times) * int(sums.n[g, column])
    return total / n


def check_against_fractions(sums: UnitSums, contrasts, replicates=25):
    found = draw(sums, replicates=replicates, seed=4)
    means = np.array([found.mean(column) for column in range(len(sums.exponents))])
    deltas = np.array([found.difference(*pair) for pair in contrasts])
    for r, drawn in enumerate(counts(len(sums.units), seed=4, start=0, stop=replicates)):
        exact = [exact_replicate(sums, column, drawn) for column in range(len(sums.exponents))]
        assert means[:, r] == pytest.approx([float(x) for x in exact], rel=4e-16)
        assert deltas[:, r] == pytest.approx([float(exact[a] - exact[b]) for a, b in contrasts], rel=4e-16, abs=2e-16)


def test_replicates_are_the_exact_means_of_what_was_drawn():
    check_against_fractions(clustered(), [(0, 1), (3, 2)])


def test_replicates_stay_exact_where_sums_fill_64_bits():
    rng = np.random.default_rng(21)
    n = np.full((5, 3), 2**29)
    hi = rng.integers(-(n << 30), n << 30)
    lo = rng.integers(0, n << 30)
    check_against_fractions(UnitSums(np.array(list("abcde")), n, hi, lo, np.array([0, 0, 9])), [(0, 1), (2, 1)])


def test_a_delta_over_the_same_queries_keeps_its_last_bits():
    values = np.random.default_rng(22).random((30, 1)) / 4 + 0.5
    sums = UnitSums.from_values([f"q{i:02d}" for i in range(30)], np.hstack([values + 2.0**-52, values]))
    deltas = draw(sums, replicates=99, seed=0).difference(0, 1)
    assert set(deltas) == {2.0**-52}  # the difference of the two means would be off by a third of it


def test_a_system_and_its_copy_differ_by_exactly_nothing():
    sums = clustered(n_columns=1)
    twice = UnitSums(sums.units, *(np.hstack([a, a]) for a in (sums.n, sums.hi, sums.lo)), np.repeat(sums.exponents, 2))
    found = draw(twice, replicates=200, seed=0)
    assert found.difference(0, 1).tobytes() == found.difference(1, 0).tobytes() == bytes(1_600)  # all +0.0


@pytest.mark.parametrize("block_cells", [1, 100, 2_000])
def test_the_block_size_does_not_change_a_bit(block_cells):
    whole = draw(clustered(), replicates=200, seed=9)
    blocks = draw(clustered(), replicates=200, seed=9, block_cells=block_cells)
    assert blocks.limbs.tobytes() == whole.limbs.tobytes()
    assert blocks.n.tobytes() == whole.n.tobytes()


ROOT = Path(evalcore.__file__).parents[1]
THREADS = """
import hashlib, numpy as np
from evalcore.inference import UnitSums
from evalcore.inference.bootstrap import draw
values = np.random.Generator(np.random.Philox(5)).random((3_000, 40))
sums = UnitSums.from_values([f"q{i:04d}" for i in range(3_000)], values)
found = draw(sums, replicates=600, seed=1)
print(hashlib.sha256(found.limbs.tobytes() + found.difference(0, 1).tobytes()).hexdigest())
"""


def test_the_number_of_blas_threads_and_the_kernel_do_not_change_a_bit():
    settings = [
        {"OPENBLAS_NUM_THREADS": "1"},
        {"OPENBLAS_NUM_THREADS": "2"},
        {"OPENBLAS_NUM_THREADS": "1", "OPENBLAS_CORETYPE": "Nehalem"},  # no fused multiply-add
    ]
    started = [
        subprocess.Popen([sys.executable, "-c", THREADS], env=os.environ | setting, stdout=subprocess.PIPE, cwd=ROOT)
        for setting in settings
    ]
    outputs = [process.communicate()[0] for process in started]
    assert all(process.returncode == 0 for process in started)
    assert len(set(outputs)) == 1
    assert len(outputs[0]) == 65


@pytest.mark.parametrize("sizes", [[1, 1, 1], [1, 1, 1, 1, 1], [1, 3, 2, 1]])
def test_replicates_follow_the_exact_bootstrap_distribution(sizes):
    values = [0.0, 0.5, 1.0, 0.25, 0.125, 0.75, 1.0]
    groups = np.repeat(np.arange(len(sizes)), sizes)
    sums = UnitSums.from_values([f"u{g}" for g in groups], np.array(values[: len(groups)]).reshape(-1, 1))
    totals = [sum(values[i] for i in np.flatnonzero(groups == g)) for g in range(len(sizes))]
    exact = Counter(
        sum(totals[g] for g in drawn) / sum(sizes[g] for g in drawn)
        for drawn in itertools.product(range(len(sizes)), repeat=len(sizes))
    )
    observed = Counter(draw(sums, replicates=9_999, seed=6).mean(0).tolist())
    assert observed.keys() <= exact.keys()
    expected = np.array([exact[m] for m in sorted(exact)]) / len(sizes) ** len(sizes) * 9_999
    found = np.array([observed[m] for m in sorted(exact)])
    enough = expected >= 5
    pooled = [np.append(x[enough], x[~enough].sum()) if not enough.all() else x for x in (found, expected)]
    assert stats.chisquare(*pooled).pvalue > 1e-4


def test_a_replicate_that_drew_no_query_of_a_column_is_nan():
    sums = UnitSums.from_values(["a", "b", "c"], np.array([[1.0, 0.5], [np.nan, 0.5], [np.nan, 0.5]]))
    found = draw(sums, replicates=300, seed=2)
    missed = counts(3, seed=2, start=0, stop=300)[:, 0] == 0
    assert 0 < missed.sum() < 300
    assert_array_equal(found.mean(0), np.where(missed, np.nan, 1.0))
    assert_array_equal(found.difference(0, 1), np.where(missed, np.nan, 0.5))
    assert_array_equal(found.mean(1), 0.5)


def test_a_table_without_units_has_replicates_that_are_nan():
    found = draw(UnitSums.from_values([], np.empty((0, 2))), replicates=99, seed=0)
    assert_array_equal(found.mean(1), np.full(99, np.nan))
    assert_array_equal(found.difference(0, 1), np.full(99, np.nan))


def test_more_units_than_can_be_drawn_are_refused():
    ids = np.char.mod("%05d", np.arange(32_769))
    with pytest.raises(DataError, match="32769 units"):
        draw(UnitSums.from_values(ids, np.zeros((32_769, 1))), replicates=99, seed=0)


@given(st.integers(-(2**62), 2**62), st.integers(0, 2**62), st.integers(37, 52))
def test_limbs_of_any_width_join_to_the_number_they_were_cut_from(hi, lo, width):
    limbs = [int(limb[0]) for limb in split(np.array([hi]), np.array([lo]), width=width)]
    number = 0
    for limb in limbs:
        number = (number << width) + limb
    assert number == (hi << 30) + lo
    assert abs(limbs[0]) <= 2**width
    assert all(0 <= limb < 2**width for limb in limbs[1:])
