import math

import numpy as np
import pytest
from scipy import stats

from evalcore.errors import DataError
from evalcore.gate import MOST_EVENTS, Guardrail, Known, judge, judge_known
from evalcore.inference import Measure, UnitSums

MARGIN = 1 / 16
SYMMETRIC = np.concatenate([np.arange(1, 21), -np.arange(1, 21)]) / 100  # no skewness: the interval is Student's


def judged(*gains, margin=MARGIN, units=None, **settings):
    """The judgement of each guardrail, from its queries' gains over a baseline of 0.5."""
    values = np.column_stack([np.full(len(gains[0]), 0.5), *(0.5 + np.asarray(gain) for gain in gains)])
    ids = [f"q{i:05d}" for i in range(len(values))] if units is None else units
    sums = UnitSums.from_values(ids, values, contrasts=[(0, place) for place in range(1, values.shape[1])])
    return judge(
        sums,
        measures=[Measure(column=column) for column in range(values.shape[1])],
        guardrails=[Guardrail(candidate=place, baseline=0, margin=margin) for place in range(1, values.shape[1])],
        **{"replicates": 999, **settings},
    )


def test_the_bounds_of_one_guardrail_are_those_of_students_t():
    (found,) = judged(SYMMETRIC - 0.01)
    error = np.std(SYMMETRIC, ddof=1) / math.sqrt(40)
    assert (found.basis, found.delta) == ("bounds", pytest.approx(-0.01))
    assert found.at_worst == pytest.approx(-0.01 - stats.t.ppf(0.95, 39) * error, abs=1e-9)
    assert found.at_best == pytest.approx(-0.01 + stats.t.ppf(0.995, 39) * error, abs=1e-9)
    assert (found.standard_error, found.degrees_of_freedom) == (pytest.approx(error), 39)
    assert (found.n_queries, found.n_units, found.effective_units) == (40, 40, pytest.approx(40))
    assert found.informative_units == 39


@pytest.mark.parametrize(
    ("shift", "answer", "strict"),
    [  # at_worst is 0.032 below the shift, at_best 0.052 above it
        (0.0, "passed", "passed"),
        (-0.0624, "inconclusive", "inconclusive"),
        (-0.0626, "regressed", "inconclusive"),
        (-0.12, "regressed", "regressed"),
    ],
)
def test_how_far_a_guardrail_fell_decides(shift, answer, strict):
    assert [judged(SYMMETRIC + shift, strict=each)[0].answer for each in (False, True)] == [answer, strict]


def test_the_upper_bound_allows_for_all_guardrails_and_the_lower_one_for_none():
    generator = np.random.Generator(np.random.Philox(3))
    gains = [generator.permutation(SYMMETRIC) for _ in range(5)]
    error = np.std(SYMMETRIC, ddof=1) / math.sqrt(40)
    alone, bonferroni = (stats.t.ppf(1 - level, 39) * error for level in (0.005, 0.001))
    apart, copies = judged(*gains, replicates=9_999), judged(*[gains[0]] * 5, replicates=9_999)
    for found in (*apart, *copies):
        assert found.at_worst == pytest.approx(-stats.t.ppf(0.95, 39) * error, abs=1e-9)
        assert alone - 1e-9 <= found.at_best <= bonferroni + 1e-9
    assert [found.at_best for found in copies] == pytest.approx([alone] * 5, rel=0.06)
    assert [found.at_best for found in apart] == pytest.approx([bonferroni] * 5, rel=0.06)


def test_where_lower_is_better_everything_is_mirrored():
    generator = np.random.Generator(np.random.Philox(4))
    gains = generator.exponential(0.1, 60) - 0.25
    higher = judged(gains)[0]
    values = np.column_stack([np.full(60, 0.5), 0.5 - gains])
    lower = judge(
        UnitSums.from_values([f"q{i:02d}" for i in range(60)], values),
        measures=[Measure(column=0), Measure(column=1)],
        guardrails=[Guardrail(candidate=1, baseline=0, margin=MARGIN, higher_is_better=False)],
        replicates=999,
    )[0]
    assert lower.answer == higher.answer == "regressed"
    for figure in ("delta", "at_worst", "at_best"):
        assert getattr(lower, figure) == pytest.approx(-getattr(higher, figure), abs=1e-12)


def test_a_drop_within_the_margin_is_told():
    assert [judged(SYMMETRIC / 10 + shift)[0].worsened for shift in (-0.02, 0.0)] == [True, False]


def test_skewness_widens_the_bound_on_its_side():
    gains = np.repeat([0.0, -0.3], [90, 10])  # 10 of 100 lost much: a sample may well have missed more such
    (found,) = judged(gains)
    reach = stats.t.ppf(0.95, 99) * np.std(gains, ddof=1) / 10
    assert found.at_worst < -0.03 - 1.05 * reach


def gains_of(n, *differing):
    return np.concatenate([differing, np.zeros(n - len(differing))])


@pytest.mark.parametrize(
    ("gains", "answer", "basis"),
    [
        (np.zeros(3), "passed", "identical"),
        (np.zeros(50), "passed", "identical"),
        (np.full(4, -0.001), "passed", "no_unit_fell"),
        (np.full(4, -1 / 16), "invalid", "too_few_units"),
        (np.full(7, 0.2), "passed", "no_unit_fell"),
        (np.array([0.4, -0.1, 0.4, 0.4]), "invalid", "too_few_units"),
        (gains_of(50, *[-0.04] * 9), "passed", "no_unit_fell"),
        (gains_of(50, *[-0.3] * 9), "invalid", "too_few_differ"),
        (gains_of(76, -0.3), "passed", "few_differ"),  # 4.7439 of 76 may differ, by 1: 0.06242
        (gains_of(75, -0.3), "invalid", "too_few_differ"),  # 4.7439 of 75: 0.06325
        (gains_of(50, *[-0.3] * 10), "inconclusive", "bounds"),
        (np.full(10, -1 / 16), "regressed", "bounds"),
        (np.full(10, -1 / 17), "passed", "bounds"),
    ],
)
def test_few_units_that_tell_anything_are_invalid_unless_they_settle_it(gains, answer, basis):
    (found,) = judged(gains)
    assert (found.answer, found.basis) == (answer, basis)


def test_what_a_unit_can_lose_at_most_decides_where_few_differ():
    values = np.column_stack([np.full(1_000, 0.5), 0.5 + gains_of(1_000, -0.2, 0.2)])
    answers = []
    for most in (1.0, 10.0):
        guardrail = Guardrail(candidate=1, baseline=0, margin=MARGIN, most=most)
        sums = UnitSums.from_values([f"q{i:04d}" for i in range(1_000)], values)
        measures = [Measure(column=0), Measure(column=1)]
        (found,) = judge(sums, measures=measures, guardrails=[guardrail], replicates=99)
        answers.append((found.answer, found.at_worst))
    assert answers[0] == ("passed", pytest.approx(-0.0062958))
    assert answers[1][0] == "invalid"
    assert math.isnan(answers[1][1])


def test_clusters_count_by_their_effective_number():
    gains = np.tile(SYMMETRIC - 0.2, 2)
    even, uneven = ([f"u{i % 10}" for i in range(80)], ["u0"] * 60 + [f"u{i}" for i in range(1, 21)])
    assert judged(gains, units=even)[0].basis == "bounds"
    found = judged(gains, units=uneven)[0]
    assert (found.answer, found.basis) == ("invalid", "too_few_units")
    assert found.effective_units == pytest.approx(80**2 / (60**2 + 20))


def test_a_measure_without_a_query_on_one_side_is_invalid():
    values = np.column_stack([np.full(20, 0.5), np.full(20, np.nan)])
    sums = UnitSums.from_values([f"q{i:02d}" for i in range(20)], values)
    measures = [Measure(column=0), Measure(column=1)]
    (found,) = judge(sums, measures=measures, guardrails=[Guardrail(candidate=1, baseline=0, margin=MARGIN)])
    assert (found.answer, found.basis) == ("invalid", "nothing_counted")
    assert math.isnan(found.delta)


@pytest.mark.parametrize(
    ("n", "gains", "answer", "basis"),
    [
        (20, SYMMETRIC[:20], "inconclusive", "bounds"),
        (20, np.zeros(20), "invalid", "too_few_differ"),
        (3, SYMMETRIC[:3], "invalid", "too_few_units"),
    ],
)
def test_arms_without_a_common_unit_are_not_identical_though_nothing_differs_within_them(n, gains, answer, basis):
    nothing = np.full(n, np.nan)
    values = np.column_stack([np.append(SYMMETRIC[:n], nothing), np.append(nothing, gains)]) / 2 + 0.5
    measures = [Measure(column=0), Measure(column=1)]
    sums = UnitSums.from_values([f"u{i:02d}" for i in range(2 * n)], values)
    guardrail = Guardrail(candidate=1, baseline=0, margin=0.01)
    (found,) = judge(sums, measures=measures, guardrails=[guardrail], replicates=199)
    assert (found.answer, found.basis) == (answer, basis)


def test_sides_that_weigh_units_otherwise_are_not_the_same_though_no_unit_differs():
    values = np.repeat([[0.0], [1.0]], 100, axis=0)  # the candidate counts a third query of each unit that has 0
    ids = [f"u{i:03d}" for i in range(200)]
    both = np.column_stack([values, values])
    more = np.column_stack([np.full((100, 1), np.nan), np.zeros((100, 1))])
    sums = UnitSums.from_values([*ids, *ids[:100]], np.vstack([both, more]))
    measures = [Measure(column=0), Measure(column=1)]
    (found,) = judge(sums, measures=measures, guardrails=[Guardrail(candidate=1, baseline=0, margin=MARGIN)])
    assert (found.answer, found.basis) == ("invalid", "too_few_differ")
    assert (found.delta, found.informative_units) == (pytest.approx(1 / 3 - 1 / 2), 0)


def test_the_limits_of_a_number_of_events_are_garwoods():
    exact = [stats.chi2.ppf(0.95, 2 * (events + 1)) / 2 for events in range(10)]
    assert pytest.approx(exact, abs=5e-5) == MOST_EVENTS


@pytest.mark.parametrize("level", [0.0, 0.5, 5.0, math.nan])
def test_a_level_is_a_small_fraction(level):
    with pytest.raises(DataError, match="level"):
        judged(SYMMETRIC, level=level)


def test_a_bound_next_to_what_decides_is_told_to_hang_on_the_seed():
    generator = np.random.Generator(np.random.Philox(3))
    gains = [generator.permutation(SYMMETRIC) for _ in range(5)]
    at_best = judged(*gains, replicates=999)[0].at_best
    for shift, matters in ((-1.001, True), (-1.5, False)):  # of the first bound: it ends just below 0, or far
        found = judged(*(gain + shift * at_best for gain in gains), replicates=999, margin=0.01)
        assert [each.seed_matters for each in found] == [matters] * 5
    assert not any(each.seed_matters for each in judged(gains[0] - 1.001 * at_best, margin=0.01))  # nothing is drawn


# from figures


def known(delta, **changed):
    figures = {"candidate": 0.5 + delta, "baseline": 0.5, "standard_error": 0.02, "degrees_of_freedom": 30}
    return Known(delta=delta, n_queries=50, n_units=31, **{**figures, **changed})


@pytest.mark.parametrize(
    ("delta", "answer", "strict"),
    [(0.0, "passed", "passed"), (-0.04, "inconclusive", "inconclusive"), (-0.1, "regressed", "inconclusive")],
)
def test_from_a_standard_error_the_bounds_are_students(delta, answer, strict):
    for better in (True, False):
        contrast = known(delta if better else -delta)
        found = judge_known(contrast, margin=MARGIN, higher_is_better=better, level=0.001)
        sign = 1 if better else -1
        assert sign * found.at_worst == pytest.approx(delta - stats.t.ppf(0.95, 30) * 0.02, abs=1e-9)
        assert sign * found.at_best == pytest.approx(delta + stats.t.ppf(0.999, 30) * 0.02, abs=1e-9)
        assert (found.answer, found.delta) == (answer, contrast.delta)
        assert judge_known(contrast, margin=MARGIN, higher_is_better=better, level=0.001, strict=True).answer == strict
        assert found.worsened == (delta + stats.t.ppf(0.95, 30) * 0.02 < 0)


@pytest.mark.parametrize(
    ("few", "answer"), [("identical", "passed"), ("too_few_units", "invalid"), ("too_few_differ", "invalid")]
)
def test_without_bounds_the_reason_decides(few, answer):
    found = judge_known(known(0.0, few=few), margin=MARGIN)
    assert (found.answer, found.basis, found.worsened) == (answer, few, False)
    assert math.isnan(found.at_worst) == (answer == "invalid")
