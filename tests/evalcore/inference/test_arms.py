import math

import numpy as np
import pytest
from scipy import stats

from evalcore.errors import DataError
from evalcore.inference import UnitSums, infer
from evalcore.inference.arms import arm_of_units
from tests.evalcore.inference.support import sums_of

ARMS = {"control": [1], "treatment": [0]}


@pytest.fixture
def rng():
    return np.random.default_rng(45)


def apart(treatment, control) -> UnitSums:
    """One column for each arm; units of the one have no value in the other."""
    nothing = np.full(len(control), np.nan), np.full(len(treatment), np.nan)
    return sums_of(np.append(treatment, nothing[0]), np.append(nothing[1], control))


def test_a_contrast_of_two_arms_is_welch_s_test(rng):
    a, b = rng.random(25), rng.random(40) ** 2
    sums = apart(a, b)
    expected = stats.ttest_ind(a, b, equal_var=False)
    ends = expected.confidence_interval()
    for strata in (None, arm_of_units(sums, ARMS)):
        found = infer(sums, contrasts=[(0, 1)], strata=strata, methods=["t"]).contrasts[0]
        assert found.delta == pytest.approx(a.mean() - b.mean(), rel=1e-12)
        assert found.degrees_of_freedom == pytest.approx(expected.df, rel=1e-9)
        assert found.p_value == pytest.approx(expected.pvalue, rel=1e-9)
        assert found.intervals["t"] == pytest.approx((ends.low, ends.high), rel=1e-9)
        assert (found.n_queries, found.n_units) == (0, 65)


def test_arms_of_clusters_have_each_its_own_degrees_of_freedom(rng):
    users = np.repeat([f"u{i:02d}" for i in range(30)], rng.integers(1, 9, 30))
    arm = np.isin(users, users[users < "u12"])
    x = rng.random(len(users))
    sums = sums_of(np.where(arm, x, np.nan), np.where(arm, np.nan, x), units=users)
    contrast = infer(sums, contrasts=[(0, 1)], strata=arm_of_units(sums, ARMS), methods=["t"]).contrasts[0]
    alone = [infer(sums_of(x[side], units=users[side]), methods=["t"]).estimates[0] for side in (arm, ~arm)]
    squares = [one.standard_error**2 for one in alone]
    assert contrast.standard_error == pytest.approx(math.sqrt(sum(squares)), rel=1e-12)
    below = sum(v**2 / one.degrees_of_freedom for v, one in zip(squares, alone, strict=True))
    assert contrast.degrees_of_freedom == pytest.approx(sum(squares) ** 2 / below, rel=1e-9)


def test_replicates_draw_each_arm_from_itself(rng):
    a, b = rng.random(12), rng.random(90) ** 2
    sums = apart(a, b)
    found = infer(sums, contrasts=[(0, 1)], strata=arm_of_units(sums, ARMS), methods=["percentile"]).contrasts[0]
    resampled = rng.choice(a, (9_999, 12)).mean(axis=1) - rng.choice(b, (9_999, 90)).mean(axis=1)
    # a quantile at 2.5 % of 9,999 replicates has an error of 0.027 standard errors, here 0.09, twice
    assert found.intervals["percentile"] == pytest.approx(np.quantile(resampled, [0.025, 0.975]), abs=0.01)


def test_the_effect_size_of_two_arms_is_in_deviations_of_units(rng):
    a, b = rng.random(25), rng.random(40) / 2
    found = infer(apart(a, b), contrasts=[(0, 1)], methods=["t"]).contrasts[0]
    # Cohen 1988, section 2.3.2: the root of the mean of the two variances
    assert found.effect_size == pytest.approx((a.mean() - b.mean()) / math.sqrt((a.var(ddof=1) + b.var(ddof=1)) / 2))


@pytest.mark.parametrize("test", ["sign_flip", "tukey_hsd", "wilcoxon", "sign"])
def test_what_exchanges_two_systems_within_a_unit_does_not_apply(rng, test):
    sums = apart(rng.random(15), rng.random(15))
    for strata in (None, arm_of_units(sums, ARMS)):
        found = infer(sums, contrasts=[(0, 1)], strata=strata, tests=[test], methods=["t"], replicates=99)
        assert math.isnan(found.contrasts[0].p_values[test])


def test_few_units_of_one_arm_are_too_few(rng):
    few = infer(apart(rng.random(9), rng.random(90)), contrasts=[(0, 1)], methods=["t"]).contrasts[0]
    assert "insufficient" in few.flags
    one = infer(apart(rng.random(1), rng.random(90)), contrasts=[(0, 1)], methods=["t"]).contrasts[0]
    assert math.isnan(one.p_value)


def test_a_unit_without_a_query_is_in_the_first_arm():
    sums = sums_of([0.5, np.nan, np.nan], [np.nan, np.nan, 0.5])
    assert arm_of_units(sums, ARMS).tolist() == ["treatment", "control", "control"]


def test_a_unit_in_two_arms_is_refused():
    sums = sums_of([0.5, 0.5, np.nan], [np.nan, 0.1, 0.5])
    with pytest.raises(DataError, match=r'1 of 3 units .*"q00001" is the first, in control and treatment'):
        arm_of_units(sums, ARMS)
