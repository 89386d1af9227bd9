"""Where no system is better p-values are uniform and families seldom reject: the quick form of benchmarks/null.py."""

import math
import subprocess
import sys
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy import stats

from benchmarks.null import CHUNK, SETTINGS, Null, contrasts, distance, family_wise_errors, lognormal, p_values
from evalcore.inference import infer
from tests.evalcore.inference.support import sums_of

DATA_SETS = 2_000
FAMILIES = 300


@cache
def found_in(name):
    return p_values(SETTINGS[name], ["sign_flip", "wilcoxon", "sign"], data_sets=DATA_SETS)


@pytest.mark.parametrize("name", ["50 queries", "50 queries, nDCG", "50 clusters"])
def test_students_p_values_are_uniform(name):
    assert stats.kstest(found_in(name)["t"], "uniform").pvalue > 0.01


@pytest.mark.parametrize("name", ["50 queries", "50 queries, nDCG", "50 clusters", "20 clusters"])
def test_those_of_sign_flips_are_uniform_for_few_unequal_clusters_too(name):
    assert stats.kstest(found_in(name)["sign_flip"], "uniform").pvalue > 0.01


def test_queries_taken_for_units_have_p_values_that_are_anything_but_uniform():
    # the same clusters, their queries as units: the test above can fail
    rng = np.random.default_rng(3)
    at, values = SETTINGS["50 clusters"].values(rng, CHUNK)
    pairs = [(place, place + 1) for place in range(0, 2 * CHUNK, 2)]
    assert len(at) > 300
    found = infer(sums_of(*values.T), contrasts=pairs, methods=["t"], tests=["sign_flip"], replicates=199).contrasts
    for by_name in ([each.p_value for each in found], [each.p_values["sign_flip"] for each in found]):
        assert stats.kstest(by_name, "uniform").pvalue < 1e-6
        assert np.mean(np.array(by_name) <= 0.05) > 0.2


def test_p_values_that_tie_have_the_law_that_they_should():
    # 12 units won or lost: the sign flip p-value is the binomial one, of wins and losses alike
    n_units, n_sets = 12, 2_000
    deltas = np.random.default_rng(6).choice([-1.0, 1.0], size=(n_units, n_sets))
    pairs = [(place, 0) for place in range(1, n_sets + 1)]
    found = infer(sums_of(np.zeros(n_units), *deltas.T), contrasts=pairs, methods=["t"], tests=["sign_flip", "sign"])
    law = stats.binom(n_units, 0.5)
    values = [min(1.0, 2 * law.cdf(wins)) for wins in range(n_units // 2 + 1)]
    chances = [law.pmf(wins) * (1 if 2 * wins == n_units else 2) for wins in range(n_units // 2 + 1)]
    for test in ("sign_flip", "sign"):
        p = np.array([contrast.p_values[test] for contrast in found.contrasts])
        times = [int(np.count_nonzero(np.abs(p - value) < 1e-12)) for value in values]
        assert sum(times) == n_sets
        rare = slice(0, 2)  # none or one of 12: together 13 times in 2,000
        grouped = [sum(times[rare]), *times[2:]], [sum(chances[rare]), *chances[2:]]
        assert stats.chisquare(grouped[0], n_sets * np.array(grouped[1]) / sum(chances)).pvalue > 0.01


@pytest.mark.parametrize("test", ["sign_flip", "wilcoxon", "sign"])
@pytest.mark.parametrize("name", ["50 queries, nDCG", "20 clusters"])
def test_p_values_that_tie_or_are_approximate_are_not_too_small(name, test):
    assert stats.kstest(found_in(name)[test], "uniform", alternative="greater").pvalue > 0.01


@pytest.mark.parametrize("name", ["50 queries", "50 clusters"])
def test_a_family_rejects_anything_in_at_most_5_percent(name):
    setting = replace(SETTINGS[name], systems=6)
    found = family_wise_errors(setting, ["max_t", "tukey_hsd"], data_sets=FAMILIES)
    most = 0.055 + 2 * math.sqrt(0.05 * 0.95 / FAMILIES)
    assert found["max_t"] <= most
    assert 0.02 < found["tukey_hsd"] <= most
    assert found["t"] > 2 * most  # without adjustment


def test_data_sets_of_a_table_do_not_depend_on_how_many_there_are():
    some, more = (
        p_values(Null(units=20, sizes=lognormal), ["max_t"], data_sets=n, replicates=99)["max_t"] for n in (100, 200)
    )
    assert more[:CHUNK].tolist() == some.tolist()
    assert len(set(more.tolist())) > 20


def test_the_data_are_the_same_in_every_process():
    code = "from benchmarks.null import SETTINGS; print([setting.described for setting in SETTINGS.values()])"
    told = {subprocess.run([sys.executable, "-c", code], check=True, capture_output=True).stdout for _ in range(2)}
    assert len(told) == 1
    assert b"0x" not in told.pop()


def test_each_data_set_is_a_family_of_all_pairs():
    found = list(contrasts(Null(units=15, systems=4), [], data_sets=CHUNK, replicates=99))
    assert [len(family) for family in found] == [6] * CHUNK


def test_the_distance_is_that_of_kolmogorov():
    p = np.random.default_rng(2).random(50) ** 1.5
    assert distance(p) == pytest.approx(stats.kstest(p, "uniform").statistic, rel=1e-12)
