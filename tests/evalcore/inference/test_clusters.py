"""Standard errors from clusters and their degrees of freedom, beside statsmodels and plain matrices."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.api import OLS

from evalcore.inference import UnitSums, infer, influence
from evalcore.inference.clusters import correlation, degrees_of_freedom, pooled_degrees_of_freedom
from tests.evalcore.inference.support import sums_of
from tests.support.strategies import seeded


def clustered(sizes, seed=51, between=0.5):
    """Values of clusters that differ, and the cluster of each."""
    rng = np.random.default_rng(seed)
    units = np.repeat([f"u{g:02d}" for g in range(len(sizes))], sizes)
    return units, rng.random(len(units)) + between * np.repeat(rng.random(len(sizes)), sizes)


SIZES = [1, 9, 3, 3, 2, 5, 1, 4, 14, 2]


@pytest.mark.parametrize(("method", "kind"), [("cr1", "cluster"), ("cr3", "cluster-crv3")])
def test_the_interval_of_clusters_is_that_of_a_regression_on_a_constant_by_statsmodels(method, kind):
    units, values = clustered(SIZES)
    found = infer(sums_of(values, units=units), methods=[method]).estimates[0].intervals[method]
    keywords = {"groups": np.unique(units, return_inverse=True)[1], "use_correction": True}
    fitted = OLS(values, np.ones(len(values))).fit(cov_type=kind, cov_kwds=keywords, use_t=True)
    assert found == pytest.approx(tuple(fitted.conf_int(0.05)[0]), rel=1e-9)


def cr2(values, design, contrast, units, rho):
    """Standard error CR2 and degrees of freedom from whole matrices: Imbens & Kolesar 2016, equations (6) to (8)."""
    inverse = np.linalg.inv(design.T @ design)
    hat = design @ inverse @ design.T
    residuals = values - hat @ values
    variance, columns = 0.0, []
    for unit in np.unique(units):
        of_unit = units == unit
        eigenvalues, vectors = np.linalg.eigh(np.eye(of_unit.sum()) - hat[np.ix_(of_unit, of_unit)])
        root = vectors @ np.diag(eigenvalues**-0.5) @ vectors.T
        weights = root @ design[of_unit] @ inverse @ contrast
        variance += (weights @ residuals[of_unit]) ** 2
        columns.append((np.eye(len(values)) - hat)[:, of_unit] @ weights)
    g = np.column_stack(columns)
    covariance = np.where(units[:, None] == units, rho, 0.0) + (1 - rho) * np.eye(len(values))
    inner = g.T @ covariance @ g
    return math.sqrt(variance), np.trace(inner) ** 2 / np.trace(inner @ inner)


@pytest.mark.parametrize("sizes", [SIZES, [2, 30], [1, 1, 1, 40], [7] * 6], ids=str)
def test_the_standard_error_of_clusters_is_cr2(sizes):
    units, values = clustered(sizes)
    found = influence.of_column(sums_of(values, units=units), 0)
    expected, degrees = cr2(values, np.ones((len(values), 1)), np.ones(1), units, found.correlation)
    assert found.standard_error == pytest.approx(expected, rel=1e-10)
    assert found.degrees_of_freedom == pytest.approx(max(1, degrees), rel=1e-9)
    low, high = infer(sums_of(values, units=units), methods=["t"]).estimates[0].intervals["t"]
    assert (high - low) / 2 == pytest.approx(stats.t.ppf(0.975, max(1, degrees)) * expected, rel=1e-9)


@pytest.mark.parametrize("rho", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("sizes", [SIZES, [1, 2], [1, 1, 1, 40], [5, 5, 5, 6]], ids=str)
def test_the_degrees_of_freedom_are_those_of_imbens_and_kolesar(sizes, rho):
    units, values = clustered(sizes)
    _, expected = cr2(values, np.ones((len(values), 1)), np.ones(1), units, rho)
    found = degrees_of_freedom(np.array(sizes) / sum(sizes), correlation=rho, n_queries=sum(sizes))
    assert found == pytest.approx(max(1, expected), rel=1e-9)


def test_cr2_and_its_degrees_of_freedom_by_hand():
    # Clusters a: 0, b: 3, c: 3 and 6; the mean is 3. E = -3, 0, 3, h = 1/4, 1/4, 1/2, u = -3/4, 0, 3/4:
    # CR2^2 = 9/16 / (3/4) + 9/16 / (1/2) = 15/8
    found = influence.of_column(sums_of([0.0, 3, 3, 6], units=["a", "b", "c", "c"]), 0)
    assert found.standard_error == pytest.approx(math.sqrt(15 / 8))
    # W = A (diag(v) - h v' - v h' + h h' sum(v)) A, A = diag(4/3, 4/3, 2)^(1/2)
    # correlation 0, v = 1, 1, 2: diagonal 1, 1, 2; off it -1/3 and twice -sqrt(2/3); 16 / (6 + 2 (1/9 + 4/3)) = 9/5
    # correlation 1, v = 1, 1, 4: diagonal 7/6, 7/6, 3; off it -1/6 and twice -sqrt(3/2); (16/3)^2 / (160/9) = 8/5
    for rho, expected in [(0.0, 9 / 5), (1.0, 8 / 5)]:
        assert degrees_of_freedom(found.share, correlation=rho, n_queries=4) == pytest.approx(expected)


@pytest.mark.parametrize("rho", [0.0, 0.4, 1.0])
def test_clusters_of_one_size_have_one_degree_of_freedom_less_than_there_are(rho):
    assert degrees_of_freedom(np.full(7, 1 / 7), correlation=rho, n_queries=35) == 6


@seeded(100)
@given(st.lists(st.integers(1, 1000), min_size=2, max_size=30), st.floats(0, 1))
def test_clusters_never_have_more_degrees_of_freedom_than_their_number_less_one(sizes, rho):
    share = np.array(sizes) / sum(sizes)
    found = degrees_of_freedom(share, correlation=rho, n_queries=sum(sizes))
    assert 1 <= found <= (len(sizes) - 1) * (1 + 1e-9)


def test_the_correlation_is_that_of_the_analysis_of_variance():
    units, values = clustered(SIZES)
    f = stats.f_oneway(*(values[units == unit] for unit in np.unique(units))).statistic
    n, g = len(values), len(SIZES)
    typical = (n - sum(size**2 for size in SIZES) / n) / (g - 1)
    found = influence.of_column(sums_of(values, units=units), 0).correlation
    assert found == pytest.approx((f - 1) / (f - 1 + typical), rel=1e-3)  # squares are counted to about 4 digits
    assert 0.1 < found < 0.9


def test_the_correlation_of_a_contrast_is_that_of_its_deltas():
    units, a = clustered(SIZES)
    b = np.round(a + np.random.default_rng(52).normal(0, 0.1, len(a)) + 0.05 * np.repeat(np.arange(10), SIZES), 3)
    sums = UnitSums.from_values(units, np.column_stack([a, b, a - b]), contrasts=[(0, 1)])
    columns = [influence.of_column(sums, column) for column in range(3)]
    squares = sums.product(0, 0) + sums.product(1, 1) - 2 * sums.product(0, 1)
    delta = influence.of_contrast(*columns[:2], estimate=sums.mean_difference(0, 1), square_sum=squares)
    assert delta.correlation == pytest.approx(columns[2].correlation, rel=2e-3)
    found = infer(sums, contrasts=[(0, 1)], methods=["t"])
    assert found.contrasts[0].degrees_of_freedom == pytest.approx(found.estimates[2].degrees_of_freedom, rel=2e-3)


@pytest.mark.parametrize(
    ("values", "expected"),
    [([0.0, 0, 0, 1, 1, 1], 1.0), ([0.0, 1, 2, 0, 1, 2], 0.0)],
    ids=["all alike within", "no difference between"],
)
def test_the_correlation_stays_within_0_and_1(values, expected):
    assert influence.of_column(sums_of(values, units=list("aaabbb")), 0).correlation == pytest.approx(expected)


def test_an_unknown_correlation_is_taken_as_1():
    found = correlation(np.array([0.5, 0.5]), np.array([-0.1, 0.1]), n_queries=10, squares=math.nan)
    assert found == 1.0


def test_degrees_of_freedom_pooled_by_hand():
    # (1 + 4)^2 / (1/4 + 16/9)
    assert pooled_degrees_of_freedom([1.0, 2.0], [4, 9]) == pytest.approx(25 / (1 / 4 + 16 / 9))


def test_a_contrast_of_sides_that_count_different_queries_has_the_standard_error_of_their_regression():
    units, a = clustered(SIZES)
    b = a[::-1] + 0.1
    rng = np.random.default_rng(53)
    a[rng.random(len(a)) < 0.3] = np.nan
    b[rng.random(len(b)) < 0.1] = np.nan
    in_a, in_b = ~np.isnan(a), ~np.isnan(b)
    design = np.zeros((in_a.sum() + in_b.sum(), 2))
    design[: in_a.sum(), 0] = design[in_a.sum() :, 1] = 1.0
    stacked = (
        np.concatenate([a[in_a], b[in_b]]),
        design,
        np.array([1.0, -1.0]),
        np.concatenate([units[in_a], units[in_b]]),
    )
    found = infer(sums_of(a, b, units=units), contrasts=[(0, 1)], methods=["t"])
    assert found.contrasts[0].standard_error == pytest.approx(cr2(*stacked, rho=0.0)[0], rel=1e-10)
    # sides that share clusters but not all queries: the fewer degrees of freedom of the two
    assert found.contrasts[0].degrees_of_freedom == min(one.degrees_of_freedom for one in found.estimates)
