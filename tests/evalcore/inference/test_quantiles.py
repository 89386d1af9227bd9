"""Intervals of quantiles by Woodruff's method."""

import math

import numpy as np
import pytest
from scipy import stats

from evalcore.errors import DataError
from evalcore.inference import UnitSums, influence
from evalcore.inference.quantiles import quantile_levels
from tests.evalcore.inference.support import sums_of


def test_the_levels_of_a_median_by_hand():
    # 20 queries, the median the 10th: half of the indicators are 1, s^2 = 20/19 / 4, standard error sqrt(1/76)
    indicator = influence.of_column(sums_of([1.0] * 10 + [0.0] * 10), 0)
    reach = 2.0930240544082634 * math.sqrt(1 / 76)  # t with 19 degrees of freedom at .975
    assert quantile_levels(0.5, indicator, confidence=0.95) == pytest.approx((0.5 - reach, 0.5 + reach))


def test_of_many_single_queries_the_levels_are_those_of_the_order_statistics():
    # the number of values below the quantile is binomial: Conover 1999, Practical Nonparametric Statistics, section 3.2
    indicator = influence.of_column(sums_of([1.0] * 4_000 + [0.0] * 1_000), 0)
    expected = stats.binom.ppf([0.05, 0.95], 5_000, 0.8) / 5_000
    assert quantile_levels(0.8, indicator, confidence=0.9) == pytest.approx(tuple(expected), abs=2e-4)


def test_levels_stay_within_0_and_1():
    indicator = influence.of_column(sums_of([1.0] * 29 + [0.0]), 0)
    assert quantile_levels(0.97, indicator, confidence=0.95).high == 1.0
    assert quantile_levels(0.03, indicator, confidence=0.95).low == 0.0


def test_one_unit_has_no_levels():
    indicator = influence.of_column(sums_of([1.0, 0.0], units=["a", "a"]), 0)
    assert np.isnan(quantile_levels(0.5, indicator, confidence=0.95)).all()


@pytest.mark.parametrize("p", [0.0, 1.0, 50.0, math.nan])
def test_a_level_that_cannot_be_is_refused(p):
    with pytest.raises(DataError, match="for the median"):
        quantile_levels(p, influence.of_column(sums_of([1.0, 0.0]), 0), confidence=0.95)


def covered(samples, units, p, truth) -> float:
    """How often the interval of the p-quantile holds the truth.  (n_samples, n_queries)"""
    ascending = np.sort(samples, axis=1)
    n = samples.shape[1]

    def at(row, level):
        return ascending[row, max(0, math.ceil(level * n - 1e-9) - 1)]

    indicators = samples <= np.array([[at(row, p)] for row in range(len(samples))])
    sums = UnitSums.from_values(units, indicators.T.astype(np.float64))
    hits = 0
    for row in range(len(samples)):
        low, high = quantile_levels(p, influence.of_column(sums, row), confidence=0.95)
        hits += at(row, low) <= truth <= at(row, high)
    return hits / len(samples)


@pytest.mark.parametrize("p", [0.5, 0.8])
def test_an_interval_of_clustered_values_covers_as_often_as_it_says(p):
    rng = np.random.default_rng(95)
    sizes = rng.integers(1, 12, size=40)
    units = np.repeat([f"u{g:02d}" for g in range(40)], sizes)
    of_unit = np.repeat(rng.normal(0, math.sqrt(0.4), (500, 40)), sizes, axis=1)
    samples = of_unit + rng.normal(0, math.sqrt(0.6), of_unit.shape)  # standard normal, correlation 0.4 within a unit
    truth, noise = stats.norm.ppf(p), 3 * math.sqrt(0.95 * 0.05 / 500)
    assert covered(samples, units, p, truth) == pytest.approx(0.95, abs=noise)
    assert covered(samples, [f"q{i:04d}" for i in range(len(units))], p, truth) < 0.85
