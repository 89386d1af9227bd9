"""The sign-flip test: exact where it can be, never 0, and the same for deltas that are the same."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalcore.errors import DataError
from evalcore.inference import sign_flip_p_value
from tests.support.strategies import seeded

TENTHS = st.integers(-10, 10).map(lambda tenths: tenths / 10)


def by_trying_all(deltas: list[float]) -> float:
    """Of exact fractions, all signs one after the other."""
    exact = [Fraction(str(delta)) for delta in deltas]
    sums = [
        sum(s * d for s, d in zip(signs, exact, strict=True)) for signs in itertools.product([1, -1], repeat=len(exact))
    ]
    return sum(abs(total) >= abs(sum(exact)) for total in sums) / len(sums)


def test_four_equal_deltas_can_be_reached_in_two_of_sixteen_ways():
    assert sign_flip_p_value([1.0] * 4) == 2 / 16
    assert sign_flip_p_value([-0.5] * 4) == 2 / 16


@seeded(100)
@given(st.lists(TENTHS, min_size=1, max_size=8))
def test_it_is_the_share_of_signs_that_reach_the_sum_though_floats_add_up_to_other_bits(deltas):
    assert sign_flip_p_value(deltas) == by_trying_all(deltas)


@seeded(50)
@given(deltas=st.lists(TENTHS, min_size=1, max_size=25), factor=st.sampled_from([1e-300, 1 / 3, 1e5, 1e300]))
def test_unit_order_scale_and_direction_change_nothing(deltas, factor):
    p_value = sign_flip_p_value(deltas, replicates=99)
    assert sign_flip_p_value([-delta for delta in deltas], replicates=99) == p_value
    assert sign_flip_p_value([delta * factor for delta in deltas], replicates=99) == p_value
    if len(deltas) <= 20:
        assert sign_flip_p_value(deltas[::-1]) == p_value


def test_units_without_a_difference_count_as_if_they_were_not_there():
    assert sign_flip_p_value([1.0] * 4 + [0.0] * 40) == sign_flip_p_value([1.0] * 4)
    assert sign_flip_p_value([0.0] * 3) == 1
    assert math.isnan(sign_flip_p_value([]))


def test_a_drawn_p_value_is_never_zero():
    assert sign_flip_p_value([0.5] * 50, replicates=999) == 1 / 1000


def test_the_drawn_p_value_is_near_the_exact_one():
    rng = np.random.default_rng(1)
    deltas = rng.normal(0.3, 1, size=20)
    exact = sign_flip_p_value(deltas)
    drawn = sign_flip_p_value([*deltas, 1e-9], replicates=4_000)  # one delta more than are tried out, and no weight
    assert abs(drawn - exact) < 4 * math.sqrt(exact * (1 - exact) / 4_000)


def test_the_seed_decides_and_nothing_else():
    deltas = np.random.default_rng(2).normal(0.1, 1, size=100)
    assert sign_flip_p_value(deltas, replicates=500, seed=3) == sign_flip_p_value(deltas.copy(), replicates=500, seed=3)
    assert sign_flip_p_value(deltas, replicates=500, seed=3) != sign_flip_p_value(deltas, replicates=500, seed=4)


def test_drawn_signs_are_those_of_the_stated_bits():
    deltas = np.array([*range(1, 36), *range(-35, 0)], dtype=np.float64)
    deltas[0] += 300  # the sum
    words = [np.random.Philox(key=np.array([9, replicate], dtype=np.uint64)).random_raw(2) for replicate in range(99)]
    signs = [[1 - 2 * (int(row[j // 64]) >> (j % 64) & 1) for j in range(70)] for row in words]
    times = sum(abs(np.dot(row, deltas)) >= 300 for row in signs)
    assert 1 < times < 98
    assert sign_flip_p_value(deltas, replicates=99, seed=9) == (times + 1) / 100


def test_the_test_keeps_its_level_where_nothing_differs():
    rng = np.random.default_rng(5)
    p_values = [sign_flip_p_value(rng.choice([-1.0, -0.5, 0.5, 1.0], size=12)) for _ in range(2_000)]
    assert np.mean(np.array(p_values) <= 0.05) < 0.05 + 3 * math.sqrt(0.05 * 0.95 / 2_000)


@pytest.mark.parametrize("wrong", [math.nan, math.inf])
def test_a_delta_that_is_not_finite_is_refused(wrong):
    with pytest.raises(DataError, match="a delta is NaN or infinite"):
        sign_flip_p_value([1.0, wrong])
