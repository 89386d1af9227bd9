import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evalcore.errors import DataError
from evalcore.inference.distributions import student_t_cdf, student_t_quantile

DEGREES = [1, 1.5, 2, 3, 4.7, 10, 29, 59.9, 61, 999, 4_095, 32_767]


@pytest.mark.parametrize("df", DEGREES)
@pytest.mark.parametrize("x", [-300, -40, -10, -5, -3.01, -3, -2.99, -1.8, -1, -0.1, 0, 0.3, 2, 5])
def test_the_distribution_function_agrees_with_scipy_also_far_in_the_tail(x, df):
    assert student_t_cdf(x, df) == pytest.approx(stats.t.cdf(x, df), rel=2e-12, abs=1e-300)


@pytest.mark.parametrize("df", DEGREES)
@pytest.mark.parametrize("p", [1e-12, 1e-6, 0.001, 0.025, 0.05, 0.2, 0.4, 0.6, 0.975, 0.9999])
def test_the_quantile_agrees_with_scipy(p, df):
    assert student_t_quantile(p, df) == pytest.approx(stats.t.ppf(p, df), rel=1e-12)


@pytest.mark.parametrize("x", [-1e6, -3.1, -0.9, -1e-6, -1e-12])
def test_one_degree_of_freedom_is_the_cauchy_distribution(x):
    assert student_t_cdf(x, 1) == pytest.approx(-math.atan(1 / x) / math.pi, rel=1e-14)  # atan(1/x): no cancellation


@pytest.mark.parametrize("p", [0.01, 0.3, 0.75, 0.999])
def test_one_and_two_degrees_of_freedom_have_closed_forms(p):
    assert student_t_quantile(p, 1) == pytest.approx(math.tan(math.pi * (p - 0.5)), rel=1e-13)
    assert student_t_quantile(p, 2) == pytest.approx((2 * p - 1) * math.sqrt(2 / (4 * p * (1 - p))), rel=1e-13)


@given(st.floats(1e-9, 1 - 1e-9), st.floats(1, 40_000))
def test_the_quantile_inverts_the_distribution_function(p, df):
    assert student_t_cdf(student_t_quantile(p, df), df) == pytest.approx(p, rel=1e-11)


@given(st.floats(-50, 50), st.floats(1, 40_000))
def test_the_distribution_is_symmetric(x, df):
    assert student_t_cdf(x, df) + student_t_cdf(-x, df) == pytest.approx(1, abs=1e-15)


def test_the_ends_of_the_line_have_no_tail_left():
    assert student_t_cdf(-math.inf, 5) == 0.0
    assert student_t_cdf(math.inf, 5) == 1.0
    assert student_t_quantile(0.5, 3) == 0.0


@pytest.mark.parametrize(("p", "df"), [(0.0, 5), (1.0, 5), (math.nan, 5), (0.5, 0), (0.5, math.nan)])
def test_a_quantile_that_does_not_exist_is_refused(p, df):
    with pytest.raises(DataError, match="no quantile"):
        student_t_quantile(p, df)


def test_less_than_one_degree_of_freedom_is_refused():
    with pytest.raises(DataError, match="at least 1"):
        student_t_cdf(0.0, 0.5)
