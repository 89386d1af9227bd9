"""Tukey HSD by randomisation, beside the loops of its definition, all orders, and other people's programs."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from evalcore.inference import infer, sign_flip_p_value, tukey
from tests.evalcore.inference.support import sums_of
from tests.support.data import DATA, needs_data


def all_pairs(n_systems):
    return list(itertools.combinations(range(n_systems), 2))


def p_values(sums, pairs, **settings):
    found = infer(sums, contrasts=pairs, methods=["t"], tests=["tukey_hsd"], **settings).contrasts
    return np.array([contrast.p_values["tukey_hsd"] for contrast in found])


def values_of(n_units, n_systems, seed=23):
    """Tenths, with one system better than the others."""
    drawn = np.random.default_rng(seed).integers(0, 8, size=(n_units, n_systems))
    drawn[:, 0] += 2
    return drawn / 10


def ranges_in_all_orders(values, *, draws=4_000, seed=0):
    """By numpy's own permutations, of all orders."""
    rng = np.random.default_rng(seed)
    means = np.array([rng.permuted(values, axis=1).mean(axis=0) for _ in range(draws)])
    return np.ptp(means, axis=1)


def test_it_is_what_the_stated_words_give_in_plain_loops():
    values, seed, replicates = values_of(7, 3), 5, 99
    n_units, k = values.shape
    tenths = (10 * values).round().astype(int)
    at_least = np.zeros((k, k))
    drawn = []
    for unit in range(n_units):
        words = np.random.Philox(key=np.array([seed, unit], dtype=np.uint64)).random_raw(k + 50).tolist()
        circle = sorted(range(k), key=words[:k].__getitem__)
        halves = [half for word in words[k:] for half in (word % 2**32, word >> 32)]
        drawn.append((circle, [half * k // 2**32 for half in halves]))
    for replicate in range(replicates):
        totals = [0] * k
        for unit, (circle, places) in enumerate(drawn):
            for stand, system in enumerate(circle):
                totals[system] += tenths[unit, circle[(stand + places[replicate]) % k]]
        widest = max(totals) - min(totals)
        at_least += widest >= np.abs(tenths.sum(axis=0)[:, None] - tenths.sum(axis=0))
    expected = [(1 + at_least[a, b]) / (replicates + 1) for a, b in all_pairs(k)]
    assert len(set(expected)) == 3
    assert p_values(sums_of(*values.T), all_pairs(k), replicates=replicates, seed=seed).tolist() == expected


def test_of_two_systems_it_is_the_sign_flip_test():
    values = values_of(15, 2)
    exact = sign_flip_p_value(values[:, 0] - values[:, 1])
    (drawn,) = p_values(sums_of(*values.T), [(0, 1)])
    assert 0.02 < exact < 0.9
    assert drawn == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / 9_999))


@pytest.mark.parametrize(("n_units", "n_systems"), [(40, 3), (30, 6), (25, 20)])
def test_turning_circles_gives_the_p_values_of_all_orders(n_units, n_systems):
    values = values_of(n_units, n_systems)
    ranges = ranges_in_all_orders(values)
    pairs = all_pairs(n_systems)
    deltas = [abs(values[:, a].mean() - values[:, b].mean()) for a, b in pairs]
    expected = np.array([np.mean(ranges >= delta - 1e-9) for delta in deltas])
    assert expected.min() < 0.5 < expected.max()
    # 4 standard deviations of the drawn orders, and what one circle for each unit adds
    assert p_values(sums_of(*values.T), pairs) == pytest.approx(expected, abs=4 * 0.5 / math.sqrt(4_000) + 0.01)


def test_values_that_are_normal_have_about_the_p_values_of_the_studentized_range():
    n_units, n_systems = 200, 5
    values = np.random.default_rng(2).normal(size=(n_units, n_systems)) + np.array([0.25, 0, 0.1, 0.2, 0])
    # two-way analysis of variance: units are blocks
    residuals = values - values.mean(axis=1, keepdims=True) - values.mean(axis=0) + values.mean()
    df = (n_units - 1) * (n_systems - 1)
    error = math.sqrt((residuals**2).sum() / df / n_units)
    expected = [
        stats.studentized_range.sf(abs(values[:, a].mean() - values[:, b].mean()) / error, n_systems, df)
        for a, b in all_pairs(n_systems)
    ]
    assert p_values(sums_of(*values.T), all_pairs(n_systems)) == pytest.approx(expected, abs=0.025)


@needs_data
@pytest.mark.parametrize("name", ["adhoc8_ap", "web2012_ndcg20"])
def test_of_real_systems_as_many_pairs_differ_as_in_all_orders(name):
    values = np.loadtxt(DATA / "score_matrices" / f"{name}.csv", delimiter=",", skiprows=1)
    values = values[:, ::3]
    pairs = all_pairs(values.shape[1])
    least = np.quantile(ranges_in_all_orders(values, draws=1_000), 0.95)
    means = values.mean(axis=0)
    expected = np.mean([abs(means[a] - means[b]) > least for a, b in pairs])
    assert 0.1 < expected < 0.9
    assert np.mean(p_values(sums_of(*values.T), pairs) <= 0.05) == pytest.approx(expected, abs=0.02)


def test_whole_clusters_change_hands():
    units = np.repeat([f"u{g:02d}" for g in range(30)], 6)
    effects = np.repeat(np.random.default_rng(4).normal(size=(30, 3)), 6, axis=0)  # all queries of a unit are alike
    by_cluster, by_query = (
        p_values(sums_of(*(effects + np.array([0.2, 0, 0])).T, units=of), [(0, 1)], replicates=999)[0]
        for of in (units, None)
    )
    assert by_cluster > 3 * by_query


def test_blocks_of_any_size_give_the_same(monkeypatch):
    sums = sums_of(*values_of(20, 4).T)
    found = p_values(sums, all_pairs(4), replicates=199)
    drawn = tukey._ranges
    monkeypatch.setattr(tukey, "_ranges", lambda added, **settings: drawn(added, block_cells=50, **settings))
    assert p_values(sums, all_pairs(4), replicates=199).tolist() == found.tolist()


def test_more_systems_in_the_family_make_the_same_delta_less_surprising():
    values = values_of(30, 6)
    alone = p_values(sums_of(*values.T), [(0, 1)], replicates=1_999)[0]
    among = p_values(sums_of(*values.T), all_pairs(6), replicates=1_999)[0]
    assert among > alone


def test_a_family_of_systems_that_count_different_queries_has_no_p_values():
    values = values_of(20, 4)
    values[3, 2] = np.nan
    found = p_values(sums_of(*values.T), [(0, 1), (2, 1), (0, 3)], families=[0, 0, 1], replicates=99)
    assert np.isnan(found).tolist() == [True, True, False]


@pytest.mark.parametrize("weights", [None, {"x": 3.0, "y": 1.0}])
def test_in_strata_what_a_unit_adds_changes_hands(weights):
    values = values_of(40, 3)
    labels = ["x"] * 10 + ["y"] * 30
    # the same table without strata: each value times its weight, over the same sum
    factor = 1.0 if weights is None else np.where(np.array(labels) == "x", 0.75 * 40 / 10, 0.25 * 40 / 30)[:, None]
    found = p_values(sums_of(*values.T), all_pairs(3), strata=labels, stratum_weights=weights, replicates=299)
    assert found.tolist() == p_values(sums_of(*(values * factor).T), all_pairs(3), replicates=299).tolist()
