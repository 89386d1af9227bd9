"""The interval of a relative delta, by hand and beside Student's test of every ratio."""

import math

import numpy as np
import pytest
from scipy import optimize, stats

from evalcore.inference import infer
from evalcore.inference.fieller import relative_interval
from evalcore.inference.influence import Statistic
from tests.evalcore.inference.support import sums_of


def of_eleven_units(estimate, adjusted) -> Statistic:
    """10 degrees of freedom; `adjusted` of the first two units, 0 of the others."""
    padded = np.append(adjusted, np.zeros(9))
    return Statistic(
        estimate=estimate, share=np.full(11, 1 / 11), influence=padded, adjusted=padded, deletion=padded,
        values=padded, n=np.ones(11, dtype=np.int64), n_queries=11, resolution=0.0,
    )  # fmt: skip


def test_fiellers_interval_by_hand():
    # delta 2, baseline 4; V_dd = 0.25, V_db = 0.1, V_bb = 1: the baseline is 4 standard errors from 0
    delta, baseline = of_eleven_units(2.0, [0.1, math.sqrt(0.24)]), of_eleven_units(4.0, [1.0, 0.0])
    # q = 2.228139, q^2 = 4.964603: (16 - q^2) r^2 - 2 (8 - 0.1 q^2) r + 4 - 0.25 q^2 = 0
    # 11.035397 r^2 - 2 * 7.503540 r + 2.758849 = 0: (7.503540 -+ sqrt(56.303109 - 30.444998)) / 11.035397
    assert relative_interval(delta, baseline, confidence=0.95) == pytest.approx((0.219150, 1.140754), abs=1e-5)


@pytest.mark.parametrize("estimate", [2.2, -2.2, 0.0])
def test_a_baseline_that_may_be_0_has_no_relative_interval(estimate):
    delta, baseline = of_eleven_units(2.0, [0.1, 0.5]), of_eleven_units(estimate, [1.0, 0.0])
    assert np.isnan(relative_interval(delta, baseline, confidence=0.95)).all()


@pytest.mark.parametrize("sign", [1, -1])
def test_of_a_weak_baseline_the_ends_are_the_ratios_at_which_students_test_just_rejects(sign):
    rng = np.random.default_rng(91)
    b = sign * (rng.normal(0.25, 0.5, 20))
    a = b + rng.normal(0.1, 0.3, 20)
    found = infer(sums_of(a, b), contrasts=[(0, 1)], methods=["t"])
    assert 2.2 < abs(found.estimates[1].estimate) / found.estimates[1].standard_error < 5

    def beyond(ratio):
        return stats.ttest_1samp(a - b - ratio * b, 0).pvalue - 0.05

    middle = found.contrasts[0].relative_delta
    ends = [optimize.brentq(beyond, *bracket, xtol=1e-12) for bracket in [(middle - 20, middle), (middle, middle + 20)]]
    assert found.contrasts[0].relative_interval == pytest.approx(ends, rel=1e-8)


def test_a_firm_baseline_has_the_interval_of_the_delta_method():
    # r = 1/4, baseline 1,000 standard errors from 0: variance (0.25 - 2/4 * 0.1 + 1/16) / 1000^2
    delta, baseline = of_eleven_units(250.0, [0.1, math.sqrt(0.24)]), of_eleven_units(1000.0, [1.0, 0.0])
    reach = 2.228139 * math.sqrt(0.2625) / 1000
    found = relative_interval(delta, baseline, confidence=0.95)
    assert found == pytest.approx((0.25 - reach, 0.25 + reach), abs=2e-6)


def test_a_firm_baseline_has_about_the_interval_of_the_logarithm_of_a_ratio():
    rng = np.random.default_rng(92)
    b = rng.normal(5, 1, 400)
    a = b * 1.1 + rng.normal(0, 0.3, 400)
    found = infer(sums_of(a, b), contrasts=[(0, 1)], methods=["t"]).contrasts[0]
    logarithms = a / a.mean() - b / b.mean()  # influence on log(mean of a / mean of b)
    reach = stats.t.ppf(0.975, 399) * stats.sem(logarithms)
    expected = [a.mean() / b.mean() * math.exp(side * reach) - 1 for side in (-1, 1)]
    assert found.relative_interval == pytest.approx(expected, abs=1e-4)


def test_a_baseline_of_zero_is_flagged_as_weak():
    found = infer(sums_of(np.linspace(0.1, 0.9, 20), np.zeros(20)), contrasts=[(0, 1)], methods=["t"]).contrasts[0]
    assert "weak_baseline" in found.flags
    assert np.isnan(found.relative_interval).all()


def test_the_interval_is_in_the_confidence_that_was_asked_for():
    a, b = np.random.default_rng(93).random((2, 50))
    narrow, wide = (
        infer(sums_of(a, b), contrasts=[(0, 1)], methods=["t"], confidence=confidence).contrasts[0].relative_interval
        for confidence in (0.5, 0.99)
    )
    assert wide.low < narrow.low < narrow.high < wide.high


def test_a_delta_of_nothing_is_nothing_of_the_baseline():
    a = np.random.default_rng(94).random(30)
    assert infer(sums_of(a, a), contrasts=[(0, 1)], methods=["t"]).contrasts[0].relative_interval == (0.0, 0.0)


def test_one_unit_has_no_relative_interval():
    found = infer(sums_of([0.2, 0.4], [0.2, 0.2], units=["a", "a"]), contrasts=[(0, 1)], methods=["t"]).contrasts[0]
    assert np.isnan(found.relative_interval).all()
    assert "weak_baseline" not in found.flags
