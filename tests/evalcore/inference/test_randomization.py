"""The sign-flip test: exact where it can be, never 0, and the same for deltas that are the same."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalcore.errors import DataError
from evalcore.inference import infer, randomization, sign_flip_p_value
from tests.evalcore.inference.support import sums_of
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


# of contrasts


def contrasts_of(sums, pairs, **settings):
    found = infer(sums, contrasts=pairs, methods=["t"], tests=["sign_flip"], **settings).contrasts
    return [contrast.p_values["sign_flip"] for contrast in found]


def rounded_values(n_queries, n_systems, seed=7):
    return np.random.default_rng(seed).integers(0, 11, size=(n_queries, n_systems)) / 10


def test_a_contrast_has_the_p_value_of_its_deltas():
    values = rounded_values(60, 3)
    expected = [sign_flip_p_value(values[:, a] - values[:, b], replicates=499, seed=8) for a, b in [(0, 1), (2, 1)]]
    assert len(set(expected)) == 2
    assert contrasts_of(sums_of(*values.T), [(0, 1), (2, 1)], replicates=499, seed=8) == expected


def test_of_clusters_the_sums_of_deltas_are_flipped():
    sizes = [1, 5, 2, 2, 7, 1, 3, 4]
    values = rounded_values(sum(sizes), 2)
    units = np.repeat(list("abcdefgh"), sizes)
    deltas = [float((10 * (values[units == unit, 0] - values[units == unit, 1])).round().sum()) for unit in "abcdefgh"]
    assert contrasts_of(sums_of(*values.T, units=units), [(0, 1)]) == [by_trying_all(deltas)]
    assert by_trying_all(deltas) != by_trying_all([delta / size for delta, size in zip(deltas, sizes, strict=True)])


def test_the_same_signs_serve_all_contrasts_in_blocks_of_any_size(monkeypatch):
    values = rounded_values(70, 4)
    pairs = list(itertools.combinations(range(4), 2))
    together = contrasts_of(sums_of(*values.T), pairs, replicates=299)
    assert together == [contrasts_of(sums_of(*values.T), [pair], replicates=299)[0] for pair in pairs]
    monkeypatch.setattr(randomization, "BLOCK_CELLS", 50)
    assert contrasts_of(sums_of(*values.T), pairs, replicates=299) == together


def test_drawn_sums_that_only_rounding_tells_apart_are_equal():
    tenths = np.random.default_rng(3).choice([-3, -2, -1, 1, 2, 3], size=40)
    baseline = np.random.default_rng(4).random(40)  # a tenth more than a number is not always 0.1 more
    candidate = baseline + tenths / 10
    assert len(set(candidate - baseline)) > 6
    assert contrasts_of(sums_of(candidate, baseline), [(0, 1)]) == [sign_flip_p_value(tenths)]


def test_a_contrast_of_units_that_have_only_one_side_has_no_p_value():
    values = rounded_values(40, 2)
    nothing = np.full(20, np.nan)
    apart = sums_of(np.append(values[:20, 0], nothing), np.append(nothing, values[20:, 1]))
    assert math.isnan(contrasts_of(apart, [(0, 1)])[0])


def test_sides_that_count_some_different_queries_have_about_students_p_value():
    values = np.random.default_rng(5).random((400, 2)) + np.array([0.04, 0])
    values[:40, 0] = values[30:90, 1] = np.nan
    found = infer(sums_of(*values.T), contrasts=[(0, 1)], methods=["t"], tests=["sign_flip"]).contrasts[0]
    assert 0.005 < found.p_value < 0.2
    assert found.p_values["sign_flip"] == pytest.approx(found.p_value, abs=0.02)


@pytest.mark.parametrize("weights", [None, {"x": 3.0, "y": 1.0}])
def test_what_units_add_sums_to_the_delta_in_strata_too(weights):
    values = rounded_values(50, 2)
    labels = ["x"] * 20 + ["y"] * 30
    found = infer(
        sums_of(*values.T), contrasts=[(0, 1)], methods=["t"], strata=labels, stratum_weights=weights, replicates=99
    )
    added = randomization.contributions(found.joint.statistics[0])
    assert added.sum() == pytest.approx(found.contrasts[0].delta, rel=1e-12)
    of_x = (values[:20, 0] - values[:20, 1]) / 20 * (0.4 if weights is None else 0.75)
    assert added[:20] == pytest.approx(of_x, abs=1e-15)
