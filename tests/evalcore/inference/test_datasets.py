import math

import numpy as np
import pytest
from scipy import stats

from evalcore.errors import DataError
from evalcore.inference import infer
from evalcore.inference.datasets import Outcomes, mean_contrast, mean_estimate, outcomes
from tests.evalcore.inference.support import sums_of


@pytest.fixture
def rng():
    return np.random.default_rng(47)


@pytest.fixture
def systems(rng):
    """Two systems on three data sets of other sizes."""
    hard = [rng.random(n) for n in (60, 15, 30)]
    return [(x + rng.normal(0.05, 0.1, len(x)), x) for x in hard]


def of_each(systems, method="t"):
    return [infer(sums_of(a, b), contrasts=[(0, 1)], methods=[method]) for a, b in systems]


def test_two_data_sets_with_one_vote_each_are_welch_s_test(systems):
    (a, _), (b, _) = systems[:2]
    found = mean_estimate([each.estimates[0] for each in of_each(systems[:2])])
    expected = stats.ttest_ind(a, -b, equal_var=False)  # the sum of both means
    assert found.estimate == pytest.approx((a.mean() + b.mean()) / 2)
    assert found.estimate / found.standard_error == pytest.approx(expected.statistic, rel=1e-9)
    assert found.degrees_of_freedom == pytest.approx(expected.df, rel=1e-9)
    ends = expected.confidence_interval()
    assert found.intervals == {"t": pytest.approx((ends.low / 2, ends.high / 2), rel=1e-9)}
    assert (found.n_queries, found.n_units) == (75, 75)


def test_contrasts_are_paired_within_data_sets_and_added_over_them(systems):
    found = of_each(systems)
    contrast = mean_contrast([each.contrasts[0] for each in found], [each.estimates[1].estimate for each in found])
    deltas = [a - b for a, b in systems]
    assert contrast.delta == pytest.approx(np.mean([d.mean() for d in deltas]))
    assert contrast.relative_delta == pytest.approx(contrast.delta / np.mean([b.mean() for _, b in systems]))
    error = math.sqrt(sum(stats.sem(d) ** 2 for d in deltas)) / 3
    assert contrast.standard_error == pytest.approx(error)
    assert contrast.p_value == pytest.approx(2 * stats.t.sf(contrast.delta / error, contrast.degrees_of_freedom))
    assert contrast.effect_size == pytest.approx(np.mean([d.mean() / d.std(ddof=1) for d in deltas]))


def test_a_mean_over_data_sets_is_that_over_strata_of_the_same_weights(systems):
    labels = np.repeat(["x", "y", "z"], [60, 15, 30])
    joined = sums_of(*np.concatenate([np.column_stack(pair) for pair in systems]).T)
    weights = {"x": 1, "y": 2, "z": 5}
    strata = infer(joined, contrasts=[(0, 1)], methods=["t"], strata=labels, stratum_weights=weights)
    found = of_each(systems)
    estimate = mean_estimate([each.estimates[0] for each in found], weights=[1, 2, 5])
    contrast = mean_contrast([each.contrasts[0] for each in found], [1.0] * 3, weights=[1, 2, 5])
    assert estimate.intervals["t"] == pytest.approx(strata.estimates[0].intervals["t"], rel=1e-9)
    assert contrast.intervals["t"] == pytest.approx(strata.contrasts[0].intervals["t"], rel=1e-9)
    assert contrast.p_value == pytest.approx(strata.contrasts[0].p_value, rel=1e-6)


def test_one_data_set_is_itself(systems):
    found = of_each(systems[:1])[0]
    assert mean_estimate(found.estimates[:1]).intervals["t"] == pytest.approx(found.estimates[0].intervals["t"])
    contrast = mean_contrast(found.contrasts, [found.estimates[1].estimate])
    assert contrast.p_value == pytest.approx(found.contrasts[0].p_value)
    assert contrast.relative_delta == pytest.approx(found.contrasts[0].relative_delta)


def test_data_sets_are_counted_by_where_their_interval_is(rng):
    moved = [(0.3, 60), (-0.3, 60), (0.0, 60), (0.3, 60), (0.01, 5)]
    found = of_each([(rng.normal(delta, 0.1, n), np.zeros(n)) for delta, n in moved], method="auto")
    contrasts = [each.contrasts[0] for each in found]
    assert outcomes(contrasts, method="auto") == Outcomes(above=2, below=1, neither=2)


def test_a_data_set_without_a_value_leaves_no_mean(systems):
    nothing = infer(sums_of([math.nan] * 5, [math.nan] * 5), contrasts=[(0, 1)], methods=["t"])
    found = [*of_each(systems), nothing]
    estimate = mean_estimate([each.estimates[0] for each in found])
    contrast = mean_contrast([each.contrasts[0] for each in found], [each.estimates[1].estimate for each in found])
    assert math.isnan(estimate.estimate)
    assert math.isnan(contrast.p_value)
    assert math.isnan(contrast.intervals["t"].low)
    assert "one_unit" in estimate.flags
    assert outcomes([each.contrasts[0] for each in found], method="t").neither >= 1


def test_data_sets_without_an_error_have_the_largest_p_value_of_theirs():
    found = of_each([(np.full(n, 0.5), np.full(n, b)) for n, b in [(12, 0.25), (15, 0.25)]])
    contrast = mean_contrast([each.contrasts[0] for each in found], [0.25, 0.25])
    assert contrast.intervals["t"] == (0.25, 0.25)
    assert contrast.p_value == 2.0**-11
    same = of_each([(np.full(12, 0.5), np.full(12, 0.5))] * 2)
    assert mean_contrast([each.contrasts[0] for each in same], [0.5, 0.5]).p_value == 1.0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"weights": [1, 1]}, "3 data sets need as many weights"),
        ({"weights": [1, 1, -1]}, "not negative"),
        ({"weights": [0, 0, 0]}, "not all 0"),
        ({"weights": [1, 1, math.nan]}, "finite"),
        ({"confidence": 95}, "95 % is 0.95"),
    ],
)
def test_settings_that_cannot_be_are_refused(systems, settings, message):
    with pytest.raises(DataError, match=message):
        mean_estimate([each.estimates[0] for each in of_each(systems)], **settings)


def test_no_data_set_and_baselines_that_do_not_fit_are_refused(systems):
    with pytest.raises(DataError, match="no data set"):
        mean_estimate([])
    with pytest.raises(DataError, match="3 contrasts and 1 estimates of the baseline"):
        mean_contrast([each.contrasts[0] for each in of_each(systems)], [0.5])
