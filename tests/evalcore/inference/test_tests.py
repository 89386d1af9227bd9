"""What holds for every test of TESTS; Wilcoxon's and the sign test beside scipy."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evalcore.errors import EvalcoreError
from evalcore.inference import TESTS, infer
from tests.evalcore.inference.support import sums_of
from tests.support.strategies import seeded

every_test = pytest.mark.parametrize("test", TESTS)
PAIRS = [(0, 1), (2, 1), (3, 1)]


def p_values(sums, pairs, test, *, replicates=199, **settings):
    found = infer(sums, contrasts=pairs, methods=["t"], tests=[test], replicates=replicates, **settings)
    return [contrast.p_values[test] for contrast in found.contrasts]


def some_values(n=40, seed=17):
    """One decimal, so that many deltas tie and some are 0."""
    return np.random.default_rng(seed).integers(0, 8, size=(n, 4)) / 10 + np.array([0.2, 0, 0, 0.1])


def of_deltas(deltas, test):
    return p_values(sums_of(deltas, np.zeros(len(deltas))), [(0, 1)], test)[0]


# every test


@every_test
def test_a_p_value_is_never_0_and_at_most_1(test):
    far = some_values() + np.array([5, 0, 0, 0])
    assert all(0 < p <= 1 for p in p_values(sums_of(*far.T), PAIRS, test))


@every_test
def test_a_great_difference_has_a_small_p_value_and_none_has_1(test):
    values = some_values()
    found = p_values(sums_of(values[:, 0] + 5, values[:, 1], values[:, 1]), [(0, 1), (2, 1)], test)
    assert found[0] <= 1 / 200
    assert found[1] == 1


@every_test
def test_exchanging_the_two_systems_or_moving_all_values_changes_nothing(test):
    values = some_values()
    found = p_values(sums_of(*values.T), PAIRS, test)
    assert p_values(sums_of(*values.T), [(b, a) for a, b in PAIRS], test) == found
    assert p_values(sums_of(*(values + 0.3).T), PAIRS, test) == pytest.approx(found, rel=1e-9)


@every_test
def test_the_order_of_the_contrasts_changes_nothing(test):
    sums = sums_of(*some_values().T)
    assert p_values(sums, PAIRS[::-1], test) == p_values(sums, PAIRS, test)[::-1]


@every_test
def test_families_do_not_see_each_other(test):
    sums = sums_of(*some_values().T)
    together = p_values(sums, PAIRS, test, families=[7, 3, 7])
    assert together[1:2] == p_values(sums, PAIRS[1:2], test)
    assert together[::2] == p_values(sums, PAIRS[::2], test)


@every_test
def test_one_unit_gives_no_evidence(test):
    (found,) = p_values(sums_of([0.5], [0.25]), [(0, 1)], test)
    assert math.isnan(found) or found == 1


@every_test
def test_nothing_counted_gives_nan(test):
    nothing = np.full(12, np.nan)
    assert math.isnan(p_values(sums_of(nothing, np.linspace(0, 1, 12)), [(0, 1)], test)[0])


@every_test
def test_a_unit_without_a_counted_query_changes_little(test):
    values = some_values()
    padded = np.vstack([values, np.full((3, 4), np.nan)])
    kept, more = (p_values(sums_of(*each.T), PAIRS, test, replicates=1_999) for each in (values, padded))
    assert more == pytest.approx(kept, abs=0.06)  # 4 standard deviations of the difference of two drawn p-values


def test_an_unknown_test_is_refused_with_the_nearest_name():
    with pytest.raises(EvalcoreError, match=r'"sign_flips".*sign_flip'):
        p_values(sums_of([0.1, 0.2], [0.0, 0.1]), [(0, 1)], "sign_flips")


# Wilcoxon


@seeded(50)
@given(st.lists(st.integers(-5, 5), min_size=2, max_size=9).filter(any))
def test_wilcoxon_of_few_units_counts_all_ways_to_give_ranks_signs(deltas):
    kept = [delta for delta in deltas if delta]
    ranks = stats.rankdata(np.abs(kept))
    observed = abs(np.sign(kept) @ ranks)
    all_sums = [abs(np.dot(signs, ranks)) for signs in itertools.product([-1, 1], repeat=len(kept))]
    assert of_deltas(deltas, "wilcoxon") == np.mean(np.array(all_sums) >= observed)


def test_wilcoxon_of_few_units_without_ties_is_scipys_exact_one():
    deltas = np.random.default_rng(1).normal(0.4, 1, size=18)
    assert of_deltas(deltas, "wilcoxon") == pytest.approx(stats.wilcoxon(deltas, method="exact").pvalue, rel=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_wilcoxon_of_many_units_with_ties_and_zeros_is_scipys_normal_one(seed):
    deltas = np.random.default_rng(seed).integers(-4, 6, size=80)
    expected = stats.wilcoxon(deltas, zero_method="wilcox", correction=False, method="asymptotic").pvalue
    assert of_deltas(deltas / 8, "wilcoxon") == pytest.approx(expected, rel=1e-12)


def test_wilcoxon_shares_ranks_between_deltas_that_only_rounding_tells_apart():
    tenths = np.array([*range(-3, 9)] * 3)
    baseline = np.random.default_rng(4).random(len(tenths))
    noisy = p_values(sums_of(baseline + tenths / 10, baseline), [(0, 1)], "wilcoxon")[0]
    assert noisy == pytest.approx(of_deltas(tenths, "wilcoxon"), rel=1e-12)


def test_wilcoxon_far_out_keeps_its_digits():
    n = 2_000  # all of one sign: z = (n (n + 1) / 2) / sqrt(n (n + 1) (2 n + 1) / 6)
    z = math.sqrt(1.5 * n * (n + 1) / (2 * n + 1))
    assert of_deltas(np.arange(1, n + 1), "wilcoxon") == pytest.approx(2 * stats.norm.sf(z), rel=1e-9)


# the sign test


@pytest.mark.parametrize(("wins", "losses"), [(1, 0), (5, 5), (6, 5), (0, 10), (3, 14), (400, 330), (900, 300)])
def test_the_sign_test_is_scipys_binomial_one(wins, losses):
    deltas = [0.25] * wins + [-1.0] * losses + [0.0] * 7
    expected = stats.binomtest(wins, wins + losses).pvalue
    assert of_deltas(deltas, "sign") == pytest.approx(expected, rel=1e-12)


def test_the_sign_test_by_hand():
    # 1 loss in 5: 2 (1 + 5) / 32
    assert of_deltas([0.1, 0.2, 0.3, 0.4, -9.0], "sign") == 12 / 32


def test_the_sign_test_of_many_units_of_one_sign_is_not_0():
    assert of_deltas(np.ones(3_000), "sign") == math.ulp(0.0)


def test_units_are_won_by_their_mean():
    units = ["a", "a", "a", "b", "c"]
    sums = sums_of([0.9, 0.0, 0.0, 0.6, 0.6], [0.1, 0.1, 0.1, 0.5, 0.5], units=units)
    assert p_values(sums, [(0, 1)], "sign") == [2 / 8]  # a by 0.2, though two of its three queries are lost
