"""Max-T: p-values and intervals of a family, beside plain loops over the same draws."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from evalcore.errors import DataError
from evalcore.inference import holm, infer, simultaneous_bounds, simultaneous_intervals
from evalcore.inference.draws import counts
from evalcore.inference.simultaneous import joint_confidence
from tests.evalcore.inference.support import sums_of

REPLICATES = 499


@pytest.fixture
def rng():
    return np.random.default_rng(53)


def inferred(sums, pairs, *, replicates=REPLICATES, **settings):
    return infer(sums, contrasts=pairs, methods=["t"], tests=["max_t"], replicates=replicates, **settings)


def p_values(sums, pairs, **settings):
    return [contrast.p_values["max_t"] for contrast in inferred(sums, pairs, **settings).contrasts]


def systems(rng, n=40, n_systems=4, ahead=0.3):
    """Systems that find the same queries hard, the first of them ahead."""
    return rng.normal(size=(n, 1)) + rng.normal(size=(n, n_systems)) + ahead * (np.arange(n_systems) == 0)


def test_it_is_what_the_same_draws_give_in_plain_loops(rng):
    values, pairs = systems(rng), [(0, 1), (0, 2), (3, 1)]
    n, seed = len(values), 9
    largest = []
    for weights in counts(n, seed=seed, start=0, stop=REPLICATES):
        moved = []
        for a, b in pairs:
            deltas = values[:, a] - values[:, b]
            replicate = sum(w * d for w, d in zip(weights, deltas, strict=True)) / n
            moved.append(abs(replicate - deltas.mean()) / (deltas.std() / math.sqrt(n)))
        largest.append(max(moved))
    t = [stats.ttest_rel(values[:, a], values[:, b]).pvalue for a, b in pairs]
    expected = [(1 + sum(z >= stats.norm.isf(p / 2) for z in largest)) / (REPLICATES + 1) for p in t]
    assert len(set(expected)) == 3
    assert p_values(sums_of(*values.T), pairs, seed=seed) == [max(p, each) for p, each in zip(t, expected, strict=True)]


def test_it_is_at_least_students_p_value_and_about_at_most_bonferronis(rng):
    values, pairs = systems(rng, n_systems=6), list(itertools.combinations(range(6), 2))
    found = inferred(sums_of(*values.T), pairs, replicates=9_999).contrasts
    for contrast in found:
        p, adjusted = contrast.p_value, contrast.p_values["max_t"]
        assert p <= adjusted <= min(1, 15 * p) + 4 * math.sqrt(15 * p / 9_999) + 1 / 10_000


def test_of_one_contrast_it_is_about_students_p_value(rng):
    values = systems(rng, n_systems=2)
    (found,) = inferred(sums_of(*values.T), [(0, 1)], replicates=9_999).contrasts
    assert 0.01 < found.p_value < 0.9
    assert found.p_values["max_t"] == pytest.approx(found.p_value, abs=0.02)


def test_independent_contrasts_have_the_p_values_of_sidak(rng):
    # systems without anything in common, each against a constant: 1 - (1 - p)**m
    values = np.column_stack([np.zeros(400), rng.normal([0.02, 0.05, 0.08, 0.11, 0.14], size=(400, 5))])
    found = inferred(sums_of(*values.T), [(place, 0) for place in range(1, 6)], replicates=9_999).contrasts
    sidak = [1 - (1 - contrast.p_value) ** 5 for contrast in found]
    assert min(sidak) < 0.1 < 0.5 < max(sidak)
    # 4 standard deviations of a drawn p-value, and chance correlations of 400 units
    assert [contrast.p_values["max_t"] for contrast in found] == pytest.approx(sidak, abs=0.04)


def test_contrasts_that_are_nearly_the_same_cost_little_beside_holm(rng):
    base, candidate = systems(rng, n_systems=2, ahead=0.0).T
    alike = [candidate + 0.3 + rng.normal(0, 0.01, len(base)) for _ in range(8)]
    found = inferred(sums_of(base, *alike), [(place, 0) for place in range(1, 9)], replicates=9_999).contrasts
    alone = np.array([contrast.p_value for contrast in found])
    adjusted = np.array([contrast.p_values["max_t"] for contrast in found])
    assert (adjusted < 1.2 * alone + 0.01).all()
    assert holm(alone).min() > 4 * adjusted.min()


def test_families_are_adjusted_by_themselves(rng):
    values = systems(rng)
    sums, pairs = sums_of(*values.T), [(1, 0), (2, 0), (3, 0), (1, 2)]
    by_family = p_values(sums, pairs, families=[0, 1, 0, 1])
    assert by_family[::2] == p_values(sums, pairs[::2])
    assert by_family[1::2] == p_values(sums, pairs[1::2])
    assert by_family != p_values(sums, pairs)


def test_a_system_and_its_copy_count_for_nothing(rng):
    values = systems(rng)
    with_copy = sums_of(*values.T, values[:, 1])
    alone, copied = p_values(with_copy, [(0, 1)])[0], p_values(with_copy, [(0, 1), (4, 1)])
    assert copied == [alone, 1.0]


def test_a_constant_delta_keeps_the_p_value_of_sign_flips(rng):
    values = rng.random(7)
    found = inferred(sums_of(values + 0.5, values), [(0, 1)]).contrasts[0]
    assert found.p_values["max_t"] == pytest.approx(found.p_value)
    assert found.p_value == 2**-6


# intervals


def test_simultaneous_intervals_and_p_values_agree(rng):
    values, pairs = systems(rng, n=60, n_systems=5, ahead=0.45), list(itertools.combinations(range(5), 2))
    found = inferred(sums_of(*values.T), pairs, replicates=1_999)
    p = [contrast.p_values["max_t"] for contrast in found.contrasts]
    assert min(p) < 0.04 < 0.06 < max(p)
    assert all(each < 0.04 or each > 0.06 for each in p)  # `auto` reaches a little further than t
    holds_0 = [low <= 0 <= high for low, high in simultaneous_intervals(found.joint, confidence=0.95)]
    assert holds_0 == [each > 0.05 for each in p]


@pytest.mark.parametrize("side", ["both", "lower", "upper"])
def test_the_confidence_of_each_is_between_that_of_one_and_bonferronis(rng, side):
    values = np.exp(systems(rng, n_systems=6))  # skewed
    joint = inferred(sums_of(*values.T), [(place, 0) for place in range(1, 6)]).joint
    found = set(joint_confidence(joint, confidence=0.95, side=side).tolist())
    misses = 0.05 if side == "both" else 0.1  # of an interval whose one end misses in 5 %
    assert len(found) == 1
    assert misses / 5 <= 1 - found.pop() <= misses


def test_a_family_of_one_has_its_own_interval(rng):
    values = systems(rng, n_systems=2)
    found = infer(sums_of(*values.T), contrasts=[(0, 1)], confidence=0.9)
    (interval,) = simultaneous_intervals(found.joint, confidence=0.9)
    own = found.contrasts[0].intervals["auto"]
    assert interval.low <= own.low
    assert own.high <= interval.high
    assert interval == pytest.approx(own, rel=0.05)


def test_bounds_are_the_ends_of_wider_intervals_than_one_sided_ones_alone(rng):
    values = systems(rng)
    pairs = [(1, 0), (2, 0), (3, 0)]
    found = infer(sums_of(*values.T), contrasts=pairs, confidence=0.9)
    lower, upper = (simultaneous_bounds(found.joint, level=0.05, side=side) for side in ("lower", "upper"))
    for contrast, low, high in zip(found.contrasts, lower, upper, strict=True):
        assert low < contrast.intervals["auto"].low < contrast.intervals["auto"].high < high


def test_a_copy_and_a_single_unit_have_the_bounds_that_intervals_have(rng):
    values = systems(rng)
    joint = inferred(sums_of(values[:, 0], values[:, 0]), [(0, 1)]).joint
    assert simultaneous_bounds(joint, level=0.05, side="upper").tolist() == [0.0]
    joint = inferred(sums_of([0.5], [0.25]), [(0, 1)]).joint
    assert np.isnan(simultaneous_bounds(joint, level=0.05, side="upper")).tolist() == [True]


@pytest.mark.parametrize(("confidence", "side"), [(1.0, "both"), (0.0, "both"), (0.5, "lower"), (0.3, "upper")])
def test_a_confidence_that_cannot_be_is_refused(rng, confidence, side):
    joint = inferred(sums_of(*systems(rng).T), [(0, 1)]).joint
    with pytest.raises(DataError, match=f"confidence {confidence} is not between"):
        joint_confidence(joint, confidence=confidence, side=side)


def covers_at_once(side: str, *, data_sets: int = 400, n: int = 100, level: float = 0.05) -> float:
    """The share of data sets in which all bounds of five correlated, skewed contrasts are right."""
    rng = np.random.default_rng(7)
    right = []
    for _ in range(0, data_sets, 100):
        normal = math.sqrt(0.5) * rng.normal(size=(n, 100, 1)) + math.sqrt(0.5) * rng.normal(size=(n, 100, 5))
        deltas = (normal + 0.2 * normal**2 - 0.2).reshape(n, 500)  # mean 0, skewness 1.1
        found = infer(
            sums_of(np.zeros(n), *deltas.T), contrasts=[(place, 0) for place in range(1, 501)], methods=["t"],
            families=np.repeat(np.arange(100), 5), replicates=499, seed=int(rng.integers(2**32)),
        )  # fmt: skip
        bounds = simultaneous_bounds(found.joint, level=level, side=side)
        right.append((bounds <= 0 if side == "lower" else bounds >= 0).reshape(100, 5).all(axis=1))
    return float(np.mean(right))


@pytest.mark.parametrize("side", ["lower", "upper"])
def test_all_bounds_of_a_family_hold_as_often_as_they_should(side):
    # 3 standard errors of 400 data sets below 95 %; of one skewed contrast t alone covers 93 to 97 %
    assert 0.95 - 3 * 0.011 <= covers_at_once(side) < 1
