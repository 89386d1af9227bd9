import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalcore.errors import DataError
from evalcore.inference import INTERVALS, Measure, UnitSums, infer
from tests.evalcore.inference.support import sums_of


@pytest.fixture
def rng():
    return np.random.default_rng(41)


def test_units_that_all_agree_against_the_whole_have_no_acceleration_to_divide_by():
    # without unit a the delta is .75 - 1, without unit b .25 - .5: both -.25; over all it is .625 - .75 = -.125
    units = ["a"] * 3 + ["b"] * 5
    a = [0.25, np.nan, np.nan, 0.75, 0.75, 0.75, np.nan, np.nan]
    b = [np.nan, 0.5, 0.5, np.nan, np.nan, np.nan, 1.0, 1.0]
    found = infer(sums_of(a, b, units=units), contrasts=[(0, 1)], methods=["bca"]).contrasts[0]
    assert found.delta == -0.125
    # excess -.375, .375 of a and -.5, .5 of b: of each side excess / N / sqrt(1 - h), N = 4, h = 1/4, 3/4 and 1/2, 1/2
    parts = [-0.375 / 4 / 0.75**0.5 + 0.5 / 4 / 0.5**0.5, 0.375 / 4 / 0.25**0.5 - 0.5 / 4 / 0.5**0.5]
    assert found.standard_error == pytest.approx(math.hypot(*parts))
    assert found.intervals["bca"].low <= found.delta <= found.intervals["bca"].high


def test_a_delta_of_nothing_is_degenerate_and_certain(rng):
    values = rng.random(40)
    found = infer(sums_of(values, values), contrasts=[(0, 1)], methods=INTERVALS, replicates=199).contrasts[0]
    assert found.intervals == dict.fromkeys(INTERVALS, (0.0, 0.0))
    assert (found.delta, found.standard_error, found.p_value) == (0.0, 0.0, 1.0)
    assert math.isnan(found.effect_size)
    assert found.flags == ("degenerate", "insufficient")


def test_a_delta_that_is_the_same_everywhere_is_degenerate_though_its_doubles_differ():
    b = np.arange(40) / 100
    a = b + 0.1  # 0.11, 0.12, ... minus 0.01, 0.02, ...: 0.1 up to the last bits
    assert len(set(a - b)) > 1
    found = infer(sums_of(a, b), contrasts=[(0, 1)], methods=INTERVALS, replicates=199).contrasts[0]
    assert found.intervals == dict.fromkeys(INTERVALS, (found.delta, found.delta))
    assert found.flags == ("degenerate",)
    assert found.p_value == 2.0**-39  # the sign flips of 40 units


def test_a_value_that_is_the_same_everywhere_is_degenerate_also_by_cluster():
    units = np.repeat([f"u{i:02d}" for i in range(15)], np.arange(1, 16))
    found = infer(sums_of(np.full(len(units), 0.1), units=units), methods=INTERVALS, replicates=199).estimates[0]
    assert found.intervals == dict.fromkeys(INTERVALS, (0.1, 0.1))
    assert found.flags == ("degenerate", "insufficient")


def test_one_unit_has_an_estimate_and_nothing_else():
    found = infer(
        sums_of([0.2, 0.4], [0.2, 0.2], units=["a", "a"]), contrasts=[(0, 1)], methods=INTERVALS, replicates=199
    )
    estimate, contrast = found.estimates[0], found.contrasts[0]
    assert estimate.estimate == pytest.approx(0.3)
    assert contrast.delta == pytest.approx(0.1)
    for one in (estimate, contrast):
        assert one.flags == ("one_unit", "insufficient", "few_clusters")
        assert math.isnan(one.standard_error)
        assert np.isnan(list(one.intervals.values())).all()
    assert math.isnan(contrast.p_value)
    assert math.isnan(contrast.effect_size)


@pytest.mark.parametrize("units", [[], ["a", "b", "c"]])
def test_a_column_without_values_has_no_estimate_and_is_flagged(units):
    nothing = np.full(len(units), np.nan)
    sums = sums_of(nothing, np.ones(len(units)), units=units)
    found = infer(sums, contrasts=[(0, 1), (1, 0)], methods=INTERVALS, replicates=199)
    for one in (found.estimates[0], *found.contrasts):
        assert "one_unit" in one.flags
        assert np.isnan(list(one.intervals.values())).all()
    assert math.isnan(found.estimates[0].estimate)
    assert found.estimates[0].n_queries == found.estimates[0].n_units == 0
    assert all(math.isnan(contrast.delta) for contrast in found.contrasts)


@pytest.mark.parametrize(("n_different", "flags"), [(9, ("insufficient",)), (10, ())])
def test_fewer_than_ten_units_that_tell_something_are_insufficient(rng, n_different, flags):
    b = np.full(50, 0.5)
    a = b.copy()
    a[:n_different] += rng.random(n_different) / 10 + 0.01
    found = infer(sums_of(a, b), contrasts=[(0, 1)], methods=["t"])
    assert found.contrasts[0].flags == flags
    assert found.estimates[0].flags == flags  # the most common value is 0.5


@pytest.mark.parametrize(("largest", "flags"), [(9, ()), (60, ("few_clusters",))])
def test_fewer_than_ten_effective_clusters_are_flagged(rng, largest, flags):
    # 20 units of 3 queries and one of `largest`: 69^2 / (180 + 81) = 18, 120^2 / (180 + 3600) = 3.8
    units = np.repeat([f"u{i:02d}" for i in range(21)], [3] * 20 + [largest])
    assert infer(sums_of(rng.random(len(units)), units=units), methods=["t"]).estimates[0].flags == flags


@pytest.mark.parametrize("size", [1, 3, 7, 11])
def test_ten_clusters_of_one_size_are_ten_effective_units(rng, size):
    units = np.repeat([f"u{i}" for i in range(10)], size)
    found = infer(sums_of(rng.random(len(units)), units=units), methods=["t"])
    assert "few_clusters" not in found.estimates[0].flags


def test_an_end_beyond_the_largest_double_is_infinite():
    logarithms = sums_of([-300.0, 300.0])
    (found,) = infer(logarithms, measures=[Measure(column=0, kind="geometric")], methods=["t"]).estimates
    assert (found.estimate, found.intervals["t"]) == (1.0, (0.0, math.inf))


@pytest.mark.parametrize("seed", [-1, 2**64])
def test_a_seed_that_no_generator_takes_is_refused_whatever_is_drawn(rng, seed):
    with pytest.raises(DataError, match=f"seed {seed} is not from 0"):
        infer(sums_of(rng.random(20)), methods=["t"], seed=seed)


def test_a_p_value_is_never_zero(rng):
    found = infer(sums_of(1 - rng.random(30_000) / 1e3, np.zeros(30_000)), contrasts=[(0, 1)], methods=["t"])
    assert found.contrasts[0].p_value == 5e-324


def test_a_baseline_of_zero_has_no_relative_delta(rng):
    found = infer(sums_of(rng.random(20), np.zeros(20)), contrasts=[(0, 1)], methods=["t"])
    assert math.isnan(found.contrasts[0].relative_delta)


@given(st.lists(st.tuples(st.sampled_from("abcdef"), *[st.floats(0, 1) | st.just(math.nan)] * 2), max_size=25))
def test_whatever_the_table_the_answer_is_ordered_finite_or_flagged(rows):
    sums = sums_of([a for _, a, _ in rows], [b for _, _, b in rows], units=[unit for unit, _, _ in rows])
    found = infer(sums, contrasts=[(0, 1)], methods=INTERVALS, replicates=99)
    for one in itertools.chain(found.estimates, found.contrasts):
        for method, interval in one.intervals.items():
            unbounded = method == "wild" and "few_clusters" in one.flags and np.isnan(interval).all()
            assert interval.low <= interval.high or "one_unit" in one.flags or unbounded
        assert one.standard_error >= 0 or "one_unit" in one.flags
    assert 0 < found.contrasts[0].p_value <= 1 or "one_unit" in found.contrasts[0].flags


def test_a_geometric_mean_of_one_unit_or_none_has_no_interval():
    sums = UnitSums.from_values(["a"], np.array([[0.5, np.nan]]))
    measures = [Measure(column=column, kind="geometric") for column in (0, 1)]
    for found in infer(sums, measures=measures, methods=["auto", "t", "percentile"], replicates=99).estimates:
        assert all(math.isnan(end) for interval in found.intervals.values() for end in interval)
