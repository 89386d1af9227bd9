import itertools
import math
from statistics import NormalDist

import numpy as np
import pytest
from scipy import stats

from evalcore.errors import EvalcoreError
from evalcore.inference import INTERVALS, Evidence, infer, influence, interval
from evalcore.inference.evidence import acceleration, quantile
from evalcore.inference.influence import Statistic
from evalcore.inference.intervals import bca
from tests.evalcore.inference.support import sums_of

SKEWED = np.round(np.random.default_rng(31).exponential(size=60), 3)


def evidence(*, confidence=0.95, replicates=None, studentized=None, **changes) -> Evidence:
    """Two units, 0.2 and 0.6."""
    parts = {
        "estimate": 0.4,
        "share": np.array([0.5, 0.5]),
        "influence": np.array([-0.1, 0.1]),
        "adjusted": np.array([-0.1, 0.1]) * math.sqrt(2),
        "deletion": np.array([-0.2, 0.2]),
        "values": np.array([0.2, 0.6]),
        "n": np.array([1, 1]),
        "n_queries": 2,
        "resolution": 2.0**-50,
    }
    return Evidence(
        statistic=Statistic(**parts | changes),
        confidence=confidence,
        replicates=np.sort(np.repeat([0.2, 0.4, 0.4, 0.6], 250)) if replicates is None else replicates,
        studentized=np.linspace(-2, 2, 999) if studentized is None else studentized,
    )


def test_the_t_interval_by_hand():
    # 0.1 0.2 0.6: mean 0.3, squared deviations .04 .01 .09, s^2 = .07; t with 2 df at .975 = 4.302652729749464
    found = infer(sums_of([0.1, 0.2, 0.6]), methods=["t"]).estimates[0]
    assert found.standard_error == pytest.approx(math.sqrt(0.07 / 3))
    reach = 4.302652729749464 * math.sqrt(0.07 / 3)
    assert found.intervals == {"t": pytest.approx((0.3 - reach, 0.3 + reach))}


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.999])
def test_the_t_interval_of_queries_agrees_with_scipy(confidence):
    found = infer(sums_of(SKEWED), methods=["t"], confidence=confidence).estimates[0].intervals["t"]
    expected = stats.ttest_1samp(SKEWED, 0).confidence_interval(confidence)
    assert found == pytest.approx((expected.low, expected.high), rel=1e-12)


def test_halls_interval_by_hand():
    # 0 0 0 4: mean 1, deviations -1 -1 -1 3, s^2 = 12 / 3, s = 2; m2 = 3, m3 = 6, skewness 6 / 3^(3/2) = 2 / sqrt(3);
    # t with 3 degrees of freedom at .975 over sqrt(4) = 1.5912232; 3 / k = 2.5980762, k / (6 n) = 0.0481125
    # 1 + k (1.5912232 - 0.0481125) = 2.7818307, cube root 1.4064044; 2.5980762 (1.4064044 - 1) = 1.0558697
    # 1 + k (-1.5912232 - 0.0481125) = -0.8929418, cube root -0.9629588; 2.5980762 (-0.9629588 - 1) = -5.0999166
    found = infer(sums_of([0.0, 0, 0, 4]), methods=["hall"]).estimates[0].intervals["hall"]
    assert found == pytest.approx((1 - 2 * 1.0558697, 1 + 2 * 5.0999166), abs=1e-6)


def test_halls_transformation_of_the_t_statistic_is_students_at_both_ends():
    # Hall 1992, (4.2): x = W + k W^2 / 3 + k^2 W^3 / 27 + k / (6 n), W = (mean - end) / s, is about Student's / sqrt(n)
    n, s, k = len(SKEWED), SKEWED.std(ddof=1), stats.skew(SKEWED)
    ends = infer(sums_of(SKEWED), methods=["hall"], confidence=0.9).estimates[0].intervals["hall"]
    w = (SKEWED.mean() - np.array(ends)) / s
    transformed = w + k * w**2 / 3 + k**2 * w**3 / 27 + k / (6 * n)
    assert transformed * math.sqrt(n) == pytest.approx(stats.t.ppf([0.95, 0.05], n - 1), rel=1e-9)


def test_without_skewness_halls_interval_is_students():
    found = infer(sums_of([0.1, 0.2, 0.3, 0.4, 0.5]), methods=["hall", "t"]).estimates[0].intervals
    assert found["hall"] == pytest.approx(found["t"], rel=1e-7)


@pytest.mark.parametrize(
    ("sizes", "other"), [([3] * 30, "hall"), ([1, 9, 3, 2] * 8, "studentized"), ([2, 1] * 900, "hall")]
)
def test_auto_is_the_least_interval_that_holds_students_and_one_that_allows_for_skewness(sizes, other):
    units = np.repeat([f"u{g:04d}" for g in range(len(sizes))], sizes)
    values = np.random.default_rng(35).exponential(size=len(units))
    methods = ["auto", "t", "hall", "studentized"]
    found = infer(sums_of(values, units=units), methods=methods, replicates=999).estimates[0].intervals
    both = found["t"], found[other]
    assert found["auto"] == (min(both[0].low, both[1].low), max(both[0].high, both[1].high))
    assert found["hall"] != found["studentized"]


def test_the_ends_at_9999_replicates_are_the_250th_and_the_9750th():
    ascending = np.arange(1.0, 10_000.0)
    assert quantile(ascending, (1 - 0.95) / 2) == 250.0
    assert quantile(ascending, (1 + 0.95) / 2) == 9750.0


@pytest.mark.parametrize(
    ("p", "expected"), [(0.0, 1.0), (0.1, 1.0), (0.25, 1.0), (0.375, 1.5), (0.75, 4.0), (1.0, 4.0)]
)
def test_a_quantile_is_linear_between_ranks_and_stops_at_the_first_and_last(p, expected):
    assert quantile(np.array([1.0, 2.0, 4.0]), p) == expected


@pytest.mark.parametrize("values", [[0.0, 0.5, 1.0], [0.0, 0.1, 0.3, 1.0], [0.0, 0.0, 0.25, 0.7, 1.0]])
@pytest.mark.parametrize("confidence", [0.5, 0.8, 0.95])
def test_the_percentile_interval_has_the_levels_it_says_in_the_exact_bootstrap_distribution(values, confidence):
    exact = np.sort([sum(drawn) / len(values) for drawn in itertools.product(values, repeat=len(values))])
    found = infer(sums_of(values), methods=["percentile"], confidence=confidence).estimates[0].intervals["percentile"]
    for end, p in zip(found, [(1 - confidence) / 2, (1 + confidence) / 2], strict=True):
        error = 5 * math.sqrt(p * (1 - p) / 9_999)  # five standard errors of an empirical level
        assert np.mean(exact < end - 1e-9) <= p + error
        assert np.mean(exact <= end + 1e-9) >= p - error


def scipy_interval(values, method):
    return stats.bootstrap(
        (values,), np.mean, n_resamples=9_999, method=method, rng=np.random.default_rng(5), batch=999
    )


@pytest.mark.parametrize("ours", ["percentile", "bca"])
def test_bootstrap_intervals_agree_with_scipy_to_within_their_own_noise(ours):
    expected = scipy_interval(SKEWED, {"percentile": "percentile", "bca": "BCa"}[ours])
    found = infer(sums_of(SKEWED), methods=[ours]).estimates[0].intervals[ours]
    # an end's Monte-Carlo error is sqrt(p (1 - p) / B) / density = 0.027 standard errors; of a difference 0.038
    assert found == pytest.approx(expected.confidence_interval, abs=5 * 0.038 * expected.standard_error)


def test_bca_of_skewed_values_is_shifted_towards_the_long_tail():
    found = infer(sums_of(SKEWED), methods=["percentile", "bca"]).estimates[0].intervals
    assert found["bca"].low > found["percentile"].low
    assert found["bca"].high > found["percentile"].high


def delete_one_acceleration(statistic, units) -> float:
    """The jackknife's acceleration (Efron & Tibshirani 1993, 14.15), by a loop; statistic(kept rows) -> number."""
    without = np.array([statistic(units != unit) for unit in np.unique(units)])
    spread = without.mean() - without
    return (spread**3).sum() / (6 * (spread**2).sum() ** 1.5)


def test_the_acceleration_of_a_mean_is_the_jackknifes_and_its_skewness():
    found = acceleration(influence.of_column(sums_of(SKEWED), 0))
    assert found == pytest.approx(
        delete_one_acceleration(lambda kept: SKEWED[kept].mean(), np.arange(len(SKEWED))), rel=1e-12
    )
    assert found == pytest.approx(stats.skew(SKEWED) / (6 * math.sqrt(len(SKEWED))), rel=1e-12)


def test_the_acceleration_of_clusters_is_that_of_deleting_one_cluster():
    units = np.repeat([f"u{i:02d}" for i in range(15)], np.arange(1, 16))
    values = np.random.default_rng(32).exponential(size=len(units))
    found = acceleration(influence.of_column(sums_of(values, units=units), 0))
    assert found == pytest.approx(delete_one_acceleration(lambda kept: values[kept].mean(), units), rel=1e-12)


def test_the_acceleration_of_a_contrast_over_different_queries_is_that_of_deleting_one_cluster():
    units = np.repeat([f"u{i:02d}" for i in range(12)], 4)
    rng = np.random.default_rng(33)
    a, b = rng.exponential(size=(2, len(units)))
    a[rng.random(len(a)) < 0.3] = np.nan
    sums = sums_of(a, b, units=units)
    columns = [influence.of_column(sums, column) for column in (0, 1)]
    contrast = influence.of_contrast(*columns, estimate=sums.mean_difference(0, 1))
    expected = delete_one_acceleration(lambda kept: np.nanmean(a[kept]) - b[kept].mean(), units)
    assert acceleration(contrast) == pytest.approx(expected, rel=1e-12)


def test_bca_by_hand():
    # 100 replicates 1..100, estimate 40: 39 below and one equal, so z0 = Phi^-1(0.395)
    z0 = stats.norm.ppf(0.395)
    a = 6 / (6 * 6**1.5)  # deletions add up to 0; cubes -1 - 1 + 8, squares 1 + 1 + 4
    z = z0 + stats.norm.ppf([0.025, 0.975])
    levels = stats.norm.cdf(z0 + z / (1 - a * z))
    given = evidence(
        estimate=40.0,
        replicates=np.arange(1.0, 101.0),
        deletion=np.array([-1.0, -1.0, 2.0]),
        n=np.ones(3, dtype=np.int64),
    )
    assert bca(given) == pytest.approx(tuple(101 * levels), rel=1e-9)


def test_replicates_that_equal_the_estimate_up_to_rounding_count_half():
    tied = evidence(estimate=0.4 + 2.0**-53, replicates=np.repeat([0.2, 0.4 - 2.0**-53, 0.6], [100, 700, 200]))
    z0 = NormalDist().inv_cdf(0.45)  # 100 below and half of 700 equal; the deletions are symmetric, so a = 0
    levels = [NormalDist().cdf(2 * z0 + NormalDist().inv_cdf(p)) for p in tied.tails]
    assert bca(tied) == pytest.approx([quantile(tied.replicates, level) for level in levels])


@pytest.mark.parametrize("estimate", [-1.0, 2.0])
@pytest.mark.parametrize("deletion", [[-1.0, 1.0], [-1.0] * 9 + [9.0], [1.0] * 9 + [-9.0]])
@pytest.mark.parametrize("confidence", [0.95, 0.999999])
def test_bca_stays_finite_and_ordered_where_all_replicates_are_on_one_side(estimate, deletion, confidence):
    n = np.ones(len(deletion), dtype=np.int64)
    ends = bca(evidence(estimate=estimate, deletion=np.array(deletion), n=n, confidence=confidence))
    assert 0.2 <= ends.low <= ends.high <= 0.6


@pytest.mark.parametrize("method", INTERVALS)
def test_without_influence_the_interval_is_the_estimate_twice(method):
    nothing = np.zeros(2)
    found = interval(
        method, evidence(influence=nothing, adjusted=nothing, deletion=nothing, replicates=np.full(99, 0.4))
    )
    assert found == (0.4, 0.4)


@pytest.mark.parametrize("method", INTERVALS)
def test_one_unit_has_no_interval(method):
    found = interval(method, evidence(n=np.array([2, 0])))
    assert np.isnan(found).all()


def test_an_unknown_method_names_the_known_ones():
    with pytest.raises(EvalcoreError, match=r'unknown interval method "BCA"\. Did you mean "bca"'):
        interval("BCA", evidence())


@pytest.mark.parametrize("method", INTERVALS)
def test_a_higher_confidence_gives_a_wider_interval_around_the_same_estimate(method):
    sums = sums_of(SKEWED)
    ends = [
        infer(sums, methods=[method], confidence=c, replicates=999).estimates[0].intervals[method]
        for c in (0.5, 0.8, 0.95, 0.99)
    ]
    for inner, outer in itertools.pairwise(ends):
        assert outer.low < inner.low < SKEWED.mean() < inner.high < outer.high
