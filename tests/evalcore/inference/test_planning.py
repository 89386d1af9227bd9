import math

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.power import TTestIndPower, TTestPower

from evalcore.errors import DataError
from evalcore.inference import Measure, UnitSums, infer
from evalcore.inference.influence import of_column, of_contrast
from evalcore.inference.measures import statistic_of
from evalcore.inference.planning import chance_to_detect, design_effect, minimal_detectable_effect, units_needed
from evalcore.inference.strata import Strata
from tests.evalcore.inference.support import sums_of


@pytest.fixture
def rng():
    return np.random.default_rng(46)


@pytest.mark.parametrize("n", [10, 20, 50, 1_000])
@pytest.mark.parametrize("power", [0.8, 0.9])
@pytest.mark.parametrize("confidence", [0.95, 0.99])
def test_the_minimal_detectable_effect_is_that_of_the_noncentral_t(n, power, confidence):
    of_units = TTestPower().solve_power(nobs=n, power=power, alpha=1 - confidence)
    found = minimal_detectable_effect(1 / math.sqrt(n), n - 1, power=power, confidence=confidence)
    assert found == pytest.approx(of_units, rel=0.5 / n)
    of_arms = TTestIndPower().solve_power(nobs1=n, ratio=2, power=power, alpha=1 - confidence)
    found = minimal_detectable_effect(math.sqrt(1 / n + 1 / (2 * n)), 3 * n - 2, power=power, confidence=confidence)
    assert found == pytest.approx(of_arms, rel=0.5 / n)


def test_the_minimal_detectable_effect_of_many_units_is_2_8_standard_errors():
    # (1.959964 + 0.841621) * 0.26 / sqrt(1e6), by hand
    assert minimal_detectable_effect(0.26e-3, 1e6 - 1) == pytest.approx(2.801585 * 0.26e-3, rel=1e-5)


@pytest.mark.parametrize("effect", [0.02, 0.1, 0.3, 0.5, 1.0])
@pytest.mark.parametrize("power", [0.8, 0.9])
def test_as_many_units_are_needed_as_statsmodels_says(effect, power):
    expected = math.ceil(TTestPower().solve_power(effect_size=effect, power=power, alpha=0.05))
    for sign, deviation in [(1, 1.0), (-1, 0.25)]:
        found = units_needed(sign * effect * deviation, deviation / math.sqrt(40), 39, 40, power=power)
        assert found == pytest.approx(expected, abs=1)


@pytest.mark.parametrize("df", [30.0, 4.0])
def test_with_the_units_needed_the_effect_is_just_detectable(df):
    n = units_needed(0.1, 0.08, df, 40)
    of_n, of_fewer = (
        minimal_detectable_effect(0.08 * math.sqrt(40 / units), (df + 1) * units / 40 - 1) for units in (n, n - 1)
    )
    assert of_n <= 0.1 < of_fewer


def test_the_chance_to_detect_the_minimal_detectable_effect_is_the_power():
    for df in (5, 50):
        effect = minimal_detectable_effect(0.01, df, power=0.9)
        assert chance_to_detect(effect, 0.01, df) == pytest.approx(0.9, rel=1e-9)
        assert chance_to_detect(-effect, 0.01, df) == pytest.approx(0.9, rel=1e-9)


@pytest.mark.parametrize("effect", [0.0, 0.2, 0.4])
def test_the_chance_to_detect_is_that_of_the_noncentral_t(effect):
    power = stats.nct.sf(stats.t.ppf(0.975, 39), 39, effect * math.sqrt(40))
    assert chance_to_detect(effect, 1 / math.sqrt(40), 39) == pytest.approx(power, abs=0.01)


def test_a_margin_of_three_standard_errors_passes_nine_times_in_ten():
    # research table of the gate: R = 3, no change: 0.91; R = 4: 0.99
    assert chance_to_detect(0.003, 0.001, 1e6, confidence=0.9) == pytest.approx(0.91, abs=0.005)
    assert chance_to_detect(0.004, 0.001, 1e6, confidence=0.9) == pytest.approx(0.99, abs=0.005)


def test_queries_as_units_have_no_design_effect(rng):
    assert design_effect(of_column(sums_of(rng.random(30)), 0)) == 1.0


def test_copies_of_a_query_count_once(rng):
    x = np.round(rng.random(200), 4)
    units = np.repeat([f"u{i:03d}" for i in range(200)], 5)
    found = design_effect(of_column(sums_of(np.repeat(x, 5), units=units), 0))
    # by hand: s**2 / 200 over 5 copies' s'**2 / 1000, where s**2 has 199 below and s'**2 999 / 5
    assert found == pytest.approx(5 * (999 / 5) / 199, rel=1e-3)


def test_the_design_effect_of_clusters_is_kish_s(rng):
    units = np.repeat([f"u{i:03d}" for i in range(400)], 8)
    x = np.repeat(rng.normal(0, 0.5, 400), 8) + rng.normal(0, 1, 3_200)
    statistic = of_column(sums_of(x, units=units), 0)
    assert design_effect(statistic) == pytest.approx(1 + 7 * statistic.correlation, rel=0.01)
    assert design_effect(statistic) == pytest.approx(1 + 7 * 0.2, rel=0.15)
    assert statistic.effective_units == pytest.approx(400)


def test_the_design_effect_of_a_contrast_is_that_of_its_deltas(rng):
    units = np.repeat([f"u{i:02d}" for i in range(40)], 6)
    x, y = np.repeat(rng.random((2, 40)), 6, axis=1) / 2 + rng.random((2, 240)) / 2
    sums = UnitSums.from_values(units, np.column_stack([x, y, x - y]), contrasts=[(0, 1)])
    of_pair = infer(sums, contrasts=[(0, 1)], methods=["t"]).joint.statistics[0]
    assert design_effect(of_pair) == pytest.approx(design_effect(of_column(sums, 2)), rel=1e-3)


def test_strata_make_up_for_queries(rng):
    x = np.repeat([0.1, 0.9], 50) + rng.normal(0, 0.01, 100)
    strata = Strata.of(sums_of(x), np.repeat(["a", "b"], 50))
    units = np.repeat([f"u{i:02d}" for i in range(50)], 2)
    assert math.isnan(design_effect(strata.statistic(Measure(column=0))))  # squares are not counted without need
    by_unit = Strata.of(sums_of(x, units=units), np.repeat(["a", "b"], 25))
    assert design_effect(by_unit.statistic(Measure(column=0))) < 0.01


def test_nothing_is_planned_from_nothing(rng):
    constant = of_column(sums_of([0.5, 0.5, 0.5, 0.5], units=list("aabb")), 0)
    assert design_effect(constant) == 1.0
    ratio = statistic_of(
        sums_of(rng.random(9), rng.random(9), units=list("aabbccdee")), Measure(column=0, below=1, kind="ratio")
    )
    assert math.isnan(design_effect(ratio))
    alone = of_column(sums_of([0.5, 0.6], units=list("aa")), 0)
    assert math.isnan(design_effect(of_contrast(alone, alone, estimate=0.0)))
    assert math.isnan(minimal_detectable_effect(math.nan, 1.0))
    assert math.isnan(chance_to_detect(0.1, 0.0, 5))
    assert units_needed(0.1, 0.0, 5, 6) is None
    assert units_needed(0.1, math.nan, 1.0, 1) is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [({"power": 80}, "80 % is 0.8"), ({"power": 0.4}, "power 0.4"), ({"confidence": 95}, "95 % is 0.95")],
)
def test_percentages_are_refused(arguments, message):
    with pytest.raises(DataError, match=message):
        minimal_detectable_effect(0.1, 9, **arguments)


def test_an_effect_of_nothing_is_refused():
    with pytest.raises(DataError, match="the least that matters"):
        units_needed(0.0, 0.1, 9, 10)
