"""The wild cluster bootstrap, beside all sign vectors and beside refitting resampled queries."""

import itertools
import math

import numpy as np
import pytest

from evalcore.inference import UnitSums, infer, influence
from evalcore.inference.wild import WildBootstrap
from tests.evalcore.inference.support import sums_of


def clustered(sizes, seed=71):
    rng = np.random.default_rng(seed)
    units = np.repeat([f"u{g:02d}" for g in range(len(sizes))], sizes)
    return units, np.round(rng.exponential(size=len(units)) + np.repeat(rng.random(len(sizes)), sizes), 2)


SIZES = [1, 7, 2, 3, 5, 1, 4, 4, 9, 2, 3]
FEW = [3, 1, 6, 2]


def t_of_queries(values, units, value) -> float:
    """The t statistic of a mean with the cluster-robust error CR0, from queries."""
    residuals = values - values.mean()
    error = math.sqrt(sum(residuals[units == unit].sum() ** 2 for unit in np.unique(units))) / len(values)
    return math.inf if error < 1e-9 else abs(values.mean() - value) / error


def by_refitting(values, units, value, weights) -> float:
    """Share of the weightings whose t statistic reaches the one found: new values, fitted anew."""
    names, of_query = np.unique(units, return_inverse=True)
    assert len(names) == len(weights[0])
    reached = t_of_queries(values, units, value) - 1e-7
    made = (value + np.array(weight)[of_query] * (values - value) for weight in weights)
    return np.mean([t_of_queries(new, units, value) >= reached for new in made])


def philox(replicate, n_words, seed=3):
    return [
        int(word) for word in np.random.Philox(key=np.array([seed, replicate], dtype=np.uint64)).random_raw(n_words)
    ]


def drawn_signs(n_units, replicates):
    """As the docstring says: bit g of the words, the lowest first, 1 for -1."""
    words = [philox(i, 1)[0] for i in range(replicates)]
    return [[1 - 2 * (word >> g & 1) for g in range(n_units)] for word in words]


def drawn_webb(n_units, replicates):
    roots = [math.sqrt(3 / 2), 1.0, math.sqrt(1 / 2)]
    values = [*roots, *(-root for root in roots)]
    halves = [[half for word in philox(i, n_units) for half in (word % 2**32, word >> 32)] for i in range(replicates)]
    return [[values[half * 6 >> 32] for half in row[:n_units]] for row in halves]


def wild_of(values, units, replicates=999) -> WildBootstrap:
    return WildBootstrap(influence.of_column(sums_of(values, units=units), 0), replicates=replicates, seed=3)


@pytest.mark.parametrize(("sizes", "draw"), [(SIZES, drawn_signs), (FEW, drawn_webb)])
@pytest.mark.parametrize("distance", [-3.0, -1.2, 0.0, 0.4, 2.0, 25.0])
def test_a_p_value_is_that_of_refitting_queries_with_the_stated_weights(sizes, draw, distance):
    units, values = clustered(sizes)
    value = values.mean() + distance * 0.2
    expected = (by_refitting(values, units, value, draw(len(sizes), 199)) * 199 + 1) / 200 if distance else 1.0
    assert wild_of(values, units, replicates=199).p_value(value) == pytest.approx(expected)


@pytest.mark.parametrize("distance", [-0.6, 0.3, 0.55])
def test_the_p_value_of_drawn_signs_is_near_that_of_all(distance):
    units, values = clustered(SIZES)
    value = values.mean() + distance
    exact = by_refitting(values, units, value, list(itertools.product([1, -1], repeat=len(SIZES))))
    assert 0.003 < exact < 0.5
    found = wild_of(values, units, replicates=9_999).p_value(value)
    assert abs(found - exact) < 4 * math.sqrt(exact * (1 - exact) / 9_999) + 1e-4


def test_all_signs_alike_give_back_the_t_statistic_that_was_found():
    # far away the statistic grows without bound, and only replicates that flip all or nothing keep up: 2 of 2^11
    units, values = clustered(SIZES)
    found = wild_of(values, units, replicates=9_999).p_value(values.mean() + 1e4)
    signs = np.array(drawn_signs(len(SIZES), 9_999))
    assert found == (np.sum(np.abs(signs.sum(axis=1)) == len(SIZES)) + 1) / 10_000
    assert found > 1 / 10_000


def test_a_contrast_is_tested_as_its_deltas_are():
    units, a = clustered(SIZES)
    _, b = clustered(SIZES, seed=72)
    found = infer(
        sums_of(a, b, units=units), contrasts=[(0, 1)], methods=["wild"], tests=["wild"], replicates=999, seed=3
    )
    deltas = wild_of(a - b, units)
    assert found.contrasts[0].p_values["wild"] == pytest.approx(deltas.p_value(0.0))
    ends = [(a - b).mean() + side * deltas.reach(side, 0.95) for side in (-1, 1)]
    assert found.contrasts[0].intervals["wild"] == pytest.approx(ends)


@pytest.mark.parametrize("sizes", [SIZES, FEW, [2] * 30])
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_an_interval_ends_where_p_values_reach_one_less_the_confidence(sizes, confidence):
    units, values = clustered(sizes)
    sums = sums_of(values, units=units)
    low, high = (
        infer(sums, methods=["wild"], confidence=confidence, replicates=999, seed=3).estimates[0].intervals["wild"]
    )
    bootstrap, step = wild_of(values, units), 2e-6 * influence.of_column(sums, 0).plain_error
    for end, inwards in [(low, step), (high, -step)]:
        assert bootstrap.p_value(end - inwards) <= round(1 - confidence, 9) < bootstrap.p_value(end + inwards)


def test_the_interval_of_many_units_is_about_students():
    values = np.random.default_rng(73).normal(size=2_000)
    found = infer(sums_of(values), methods=["wild", "t"]).estimates[0]
    assert found.intervals["wild"] == pytest.approx(found.intervals["t"], abs=5 * 0.038 * found.standard_error)


def test_two_units_can_reject_nothing_and_have_no_interval():
    found = infer(sums_of([0.1, 0.2, 0.5], units=["a", "b", "b"]), methods=["wild"]).estimates[0]
    assert np.isnan(found.intervals["wild"]).all()


def test_a_p_value_without_a_standard_error_is_nan_and_without_a_difference_1():
    same, single = sums_of([0.5, 0.7], [0.5, 0.7]), sums_of([0.5, 0.7], [0.1, 0.2], units=["a", "a"])
    for sums, expected in [(same, 1.0), (single, math.nan)]:
        found = infer(sums, contrasts=[(0, 1)], methods=["t"], tests=["wild"], replicates=99)
        assert found.contrasts[0].p_values["wild"] == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize(("n_units", "expected"), [(3, 1 / 4), (40, 1 / 1000)])
def test_a_delta_that_is_the_same_everywhere_has_the_p_value_of_sign_flips(n_units, expected):
    baseline = np.arange(n_units) / 100
    found = infer(
        sums_of(baseline + 0.1, baseline), contrasts=[(0, 1)], methods=["t"], tests=["wild"], replicates=999
    ).contrasts[0]
    assert found.p_values["wild"] == expected


def test_blocks_and_the_order_of_queries_do_not_change_a_bit(monkeypatch):
    units, values = clustered([2] * 70)
    whole = wild_of(values, units).p_value(1.2)
    order = np.random.default_rng(0).permutation(len(values))
    assert wild_of(values[order], units[order]).p_value(1.2) == whole
    monkeypatch.setattr("evalcore.inference.wild.BLOCK_CELLS", 500)
    assert wild_of(values, units).p_value(1.2) == whole


def test_the_test_keeps_its_level_for_few_clusters_of_unequal_size():
    # 12 clusters, one of them a third of all queries: Student's test with CR1 errors rejects far too often
    sizes = np.array([1, 2, 2, 3, 3, 4, 4, 5, 6, 8, 10, 24])
    units = np.repeat([f"u{g:02d}" for g in range(12)], sizes)
    rng = np.random.default_rng(74)
    columns = rng.normal(size=(len(units), 300)) + np.repeat(rng.normal(size=(12, 300)), sizes, axis=0)
    sums = UnitSums.from_values(units, columns)
    p_values = [
        WildBootstrap(influence.of_column(sums, column), replicates=99, seed=0).p_value(0.0) for column in range(300)
    ]
    cr1 = infer(sums, methods=["cr1"]).estimates
    noise = 3 * math.sqrt(0.1 * 0.9 / 300)
    assert np.mean([not one.intervals["cr1"].low <= 0 <= one.intervals["cr1"].high for one in cr1]) > 0.1
    assert np.mean(np.array(p_values) <= 0.1) < 0.1 + noise
