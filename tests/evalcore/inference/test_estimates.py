import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evalcore.errors import DataError, EvalcoreError
from evalcore.inference import INTERVALS, UnitSums, infer
from tests.evalcore.inference.support import ALL, sums_of


@pytest.fixture
def rng():
    return np.random.default_rng(41)


def width(interval) -> float:
    return interval.high - interval.low


def correlated_systems(rng, n=200):
    """Two systems that find the same queries hard."""
    difficulty = rng.random(n)
    return [np.clip(difficulty + rng.normal(0, 0.05, n), 0, 1) for _ in range(2)]


def clusters(rng, n_units=40, size=8):
    """Values that mostly depend on the unit."""
    units = np.repeat([f"u{i:02d}" for i in range(n_units)], size)
    return units, np.clip(np.repeat(rng.random(n_units), size) + rng.normal(0, 0.05, len(units)), 0, 1)


def test_the_standard_error_of_single_queries_is_that_of_the_mean(rng):
    values = rng.random(50)
    found = infer(sums_of(values), methods=["t"]).estimates[0]
    assert found.standard_error == pytest.approx(stats.sem(values), rel=1e-12)
    assert (found.estimate, found.n_queries, found.n_units) == (pytest.approx(values.mean()), 50, 50)


def test_a_contrast_is_the_paired_t_test(rng):
    a, b = correlated_systems(rng)
    found = infer(sums_of(a, b), contrasts=[(0, 1)], methods=["t"]).contrasts[0]
    expected = stats.ttest_rel(a, b)
    assert found.delta == pytest.approx((a - b).mean(), rel=1e-12)
    assert found.relative_delta == pytest.approx(a.mean() / b.mean() - 1, rel=1e-12)
    assert found.p_value == pytest.approx(expected.pvalue, rel=1e-10)
    assert found.effect_size == pytest.approx((a - b).mean() / (a - b).std(ddof=1), rel=1e-12)
    ends = expected.confidence_interval()
    assert found.intervals["t"] == pytest.approx((ends.low, ends.high), rel=1e-10)


def test_candidate_less_baseline_in_that_order():
    better, worse = np.linspace(0.3, 0.9, 20), np.linspace(0.1, 0.8, 20)
    there, back = infer(sums_of(better, worse), contrasts=[(0, 1), (1, 0)], methods=ALL).contrasts
    assert there.delta > 0
    assert back.delta == -there.delta
    for method in ALL:
        assert back.intervals[method] == pytest.approx([-end for end in reversed(there.intervals[method])], rel=1e-12)


@pytest.mark.parametrize("method", ALL)
def test_pairing_makes_the_interval_of_a_delta_of_correlated_systems_narrow(rng, method):
    a, b = correlated_systems(rng)
    found = infer(sums_of(a, b), contrasts=[(0, 1)], methods=[method], replicates=999)
    unpaired = math.hypot(*(width(estimate.intervals[method]) for estimate in found.estimates))
    assert width(found.contrasts[0].intervals[method]) < unpaired / 3


@pytest.mark.parametrize("method", ALL)
def test_clusters_make_the_interval_wide(rng, method):
    units, values = clusters(rng)
    tables = sums_of(values), sums_of(values, units=units)
    by_query, by_unit = (
        infer(table, methods=[method], replicates=999).estimates[0].intervals[method] for table in tables
    )
    # all 8 queries of a unit are nearly one: the standard error grows by about sqrt(8) = 2.8
    assert 2.4 < width(by_unit) / width(by_query) < 3.2


@pytest.mark.parametrize("method", ALL)
def test_an_interval_covers_about_as_often_as_measured_elsewhere(rng, method):
    # research simulation, reciprocal rank with 90 % zeros and else 1/k with probability ~ 1/k, 50 queries:
    # coverage of the 95 % interval in percent (2,000 samples)
    measured = {"auto": 97.1, "t": 88.2, "hall": 95.6, "percentile": 88.1, "bca": 90.8, "studentized": 90.5}
    ranks = np.arange(1, 11)
    probabilities = np.append(0.9, 0.1 / ranks / (1 / ranks).sum())
    reciprocal = np.append(0.0, 1 / ranks)
    samples = rng.choice(reciprocal, size=(50, 1_000), p=probabilities)
    found = infer(sums_of(samples), methods=[method], replicates=999).estimates
    truth = probabilities @ reciprocal
    covered = [one.intervals[method].low <= truth <= one.intervals[method].high for one in found]
    assert 100 * np.mean(covered) == pytest.approx(measured[method], abs=4)  # 3 standard errors of the two simulations


@given(st.randoms(use_true_random=False))
def test_the_order_of_the_queries_does_not_change_a_bit(random):
    units, values = clusters(np.random.default_rng(41), n_units=6, size=3)
    rows = random.sample(range(len(values)), len(values))
    both = np.column_stack([values, values[::-1]])
    first, second = (
        infer(UnitSums.from_values(units[order], both[order]), contrasts=[(0, 1)], replicates=99)
        for order in (np.arange(len(values)), rows)
    )
    assert repr((first.estimates, first.contrasts)) == repr((second.estimates, second.contrasts))


def test_units_without_a_counted_query_change_nothing_but_the_draws(rng):
    values = rng.random(30)
    padded = np.append(values, [np.nan] * 10)
    alone, among = (infer(sums_of(column), methods=ALL).estimates[0] for column in (values, padded))
    for name in ("estimate", "standard_error", "n_queries", "n_units", "flags"):
        assert getattr(alone, name) == getattr(among, name)
    assert alone.intervals["t"] == among.intervals["t"]
    assert alone.intervals["percentile"] == pytest.approx(among.intervals["percentile"], abs=0.02)


def test_replicates_are_drawn_only_where_a_method_needs_them():
    ids = np.char.mod("%05d", np.arange(40_000))  # more units than can be drawn
    sums = UnitSums.from_values(ids, np.linspace(0, 1, 40_000).reshape(-1, 1))
    assert infer(sums, methods=["t"], replicates=0).estimates[0].estimate == pytest.approx(0.5)
    with pytest.raises(DataError, match="40000 units"):
        infer(sums, methods=["percentile"])


def test_two_sides_that_count_different_queries_are_a_difference_of_two_means():
    a = np.array([0.5, np.nan, 1.0, 0.0, 0.25, 0.75])
    b = np.array([0.5, 0.5, 0.0, np.nan, 0.25, 0.0])
    found = infer(sums_of(a, b), contrasts=[(0, 1)]).contrasts[0]
    assert found.delta == 0.5 - 0.25
    assert (found.n_queries, found.n_units) == (4, 6)
    # by hand: influence (value - mean) / n of each side, 0 where there is no value, and 1 - h_g = 4/5
    influence = np.nan_to_num(a - 0.5) / 5 - np.nan_to_num(b - 0.25) / 5
    assert found.standard_error == pytest.approx(math.sqrt(5 / 4 * (influence**2).sum()))
    assert found.degrees_of_freedom == 4


@pytest.mark.parametrize(("n_a", "n_b"), [(20, 20), (7, 400)])
def test_two_sides_without_a_query_in_common_are_the_two_samples_of_welch(rng, n_a, n_b):
    a, b = rng.random(n_a), rng.random(n_b) / 3
    sums = sums_of(np.append(a, np.full(n_b, np.nan)), np.append(np.full(n_a, np.nan), b))
    found = infer(sums, contrasts=[(0, 1)], methods=["t"]).contrasts[0]
    expected = stats.ttest_ind(a, b, equal_var=False)
    assert (found.n_queries, found.n_units) == (0, n_a + n_b)
    assert found.degrees_of_freedom == pytest.approx(expected.df, rel=1e-10)
    assert found.p_value == pytest.approx(expected.pvalue, rel=1e-9)
    assert found.intervals["t"] == pytest.approx(tuple(expected.confidence_interval()), rel=1e-10)
    assert found.flags == (("insufficient",) if n_a < 10 else ())


def test_a_side_with_one_unit_has_no_standard_error():
    a = [0.5, np.nan, np.nan, np.nan]
    b = [np.nan, 0.2, 0.4, 0.9]
    found = infer(sums_of(a, b), contrasts=[(0, 1)], methods=INTERVALS, replicates=99).contrasts[0]
    assert found.delta == pytest.approx(0)
    assert math.isnan(found.standard_error)
    assert np.isnan(list(found.intervals.values())).all()
    assert "one_unit" in found.flags


@pytest.mark.parametrize("scale", [3.0, 1e-3, 1e6, 2.0**400])
def test_another_unit_of_measurement_scales_everything(rng, scale):
    a, b = np.round(correlated_systems(rng, 60), 3)
    one, scaled = (
        infer(sums_of(a * s, b * s), contrasts=[(0, 1)], methods=INTERVALS, replicates=999).contrasts[0]
        for s in (1, scale)
    )
    assert scaled.p_value == pytest.approx(one.p_value, rel=1e-6)
    for method in INTERVALS:
        assert np.array(scaled.intervals[method]) / scale == pytest.approx(one.intervals[method], rel=1e-6, abs=1e-9)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"methods": ["tt"]}, EvalcoreError, r'unknown interval method "tt"\. Did you mean "t"'),
        ({"confidence": 95}, DataError, "95 % is 0.95"),
        ({"confidence": 0.0}, DataError, "confidence 0.0"),
        ({"replicates": 98}, DataError, "at least 99"),
        ({"contrasts": [(0, 2)]}, DataError, r"contrast \(0, 2\) .* there are 2"),
        ({"contrasts": [(-1, 0)]}, DataError, "does not exist"),
        ({"seed": -1, "methods": ["percentile"]}, DataError, "seed -1"),
    ],
)
def test_an_argument_that_cannot_be_is_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        infer(sums_of([0.1, 0.2], [0.3, 0.4]), **arguments)
