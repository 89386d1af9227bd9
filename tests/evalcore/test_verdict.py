import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalcore.errors import DataError
from evalcore.verdict import answer_of_bounds, answer_of_gate, default_margin, verdict_of_interval

MARGIN = 0.01


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (0.02, 0.05, "improved"),
        (0.001, 0.005, "improved"),  # small, but known to be up
        (-0.05, -0.02, "regressed"),
        (-0.005, -0.001, "regressed"),
        (-0.005, 0.005, "equivalent"),
        (0.0, 0.0, "equivalent"),
        (0.0, 0.005, "equivalent"),  # an end at 0 does not exclude it
        (-0.01, 0.005, "inconclusive"),  # an end at the margin is not inside
        (-0.005, 0.01, "inconclusive"),
        (-0.05, 0.05, "inconclusive"),
        (0.0, 0.05, "inconclusive"),
        (math.nan, math.nan, "inconclusive"),
        (math.nan, 0.001, "inconclusive"),
        (-0.001, math.nan, "inconclusive"),
    ],
)
def test_the_verdict_of_an_interval(low, high, verdict):
    assert verdict_of_interval(low, high, margin=MARGIN) == verdict


@given(st.floats(-1, 1), st.floats(0, 1))
def test_where_lower_is_better_improved_and_regressed_change_places(low, width):
    swapped = {"improved": "regressed", "regressed": "improved"}
    verdict = verdict_of_interval(low, low + width, margin=MARGIN)
    assert verdict_of_interval(low, low + width, margin=MARGIN, higher_is_better=False) == swapped.get(verdict, verdict)


@pytest.mark.parametrize("margin", [0.0, -0.1, math.nan])
def test_a_margin_must_be_above_zero(margin):
    with pytest.raises(DataError, match="margin"):
        verdict_of_interval(0.0, 0.1, margin=margin)
    with pytest.raises(DataError, match="margin"):
        answer_of_bounds(0.0, -0.1, 0.1, margin=margin)


def test_an_interval_with_its_ends_exchanged_is_refused():
    with pytest.raises(DataError, match="wrong order"):
        verdict_of_interval(0.2, 0.1, margin=MARGIN)


@pytest.mark.parametrize(
    ("estimate", "margin"), [(0.4, 0.002), (-0.4, 0.002), (0.1, 0.0005), (0.0, 0.0005), (50, 0.25)]
)
def test_the_default_margin_is_half_a_percent_and_at_least_five_ten_thousandths(estimate, margin):
    assert default_margin(estimate) == pytest.approx(margin)


# a gate


@pytest.mark.parametrize(
    ("delta", "lower", "upper", "usual", "strict"),
    [
        (-0.02, -0.03, -0.011, "regressed", "regressed"),
        (-0.02, -0.03, -0.01, "regressed", "inconclusive"),  # a bound at the margin is not beyond it
        (-0.01, -0.02, -0.001, "regressed", "inconclusive"),  # a delta at the margin is
        (-0.01, -0.02, 0.0, "inconclusive", "inconclusive"),  # a bound at 0 does not exclude it
        (-0.009, -0.012, -0.006, "inconclusive", "inconclusive"),  # worse for certain, and perhaps not by much
        (-0.005, -0.009, -0.001, "passed", "passed"),  # worse for certain, and not by much
        (0.0, -0.01, 0.01, "inconclusive", "inconclusive"),
        (0.0, -0.009, 0.01, "passed", "passed"),
        (0.05, 0.02, 0.09, "passed", "passed"),
        (0.0, 0.0, 0.0, "passed", "passed"),
        (-0.02, math.nan, math.nan, "inconclusive", "inconclusive"),
    ],
)
def test_what_a_gate_makes_of_one_delta(delta, lower, upper, usual, strict):
    assert answer_of_bounds(delta, lower, upper, margin=MARGIN) == usual
    assert answer_of_bounds(delta, lower, upper, margin=MARGIN, strict=True) == strict


@given(st.floats(-1, 1), st.floats(0, 1), st.floats(0, 1))
def test_strict_only_makes_regressed_inconclusive(delta, below, above):
    usual, strict = (
        answer_of_bounds(delta, delta - below, delta + above, margin=MARGIN, strict=strict) for strict in (False, True)
    )
    assert strict == usual or (usual, strict) == ("regressed", "inconclusive")


def test_bounds_that_do_not_enclose_the_delta_are_refused():
    for lower, upper in ((0.1, 0.2), (-0.2, -0.1)):
        with pytest.raises(DataError, match="do not enclose"):
            answer_of_bounds(0.0, lower, upper, margin=MARGIN)


@pytest.mark.parametrize(
    ("answers", "answer"),
    [
        (["passed", "passed"], "passed"),
        (["passed", "inconclusive"], "inconclusive"),
        (["inconclusive", "invalid", "passed"], "invalid"),
        (["invalid", "inconclusive", "regressed", "passed"], "regressed"),
    ],
)
def test_a_gate_answers_with_the_most_urgent_of_its_guardrails(answers, answer):
    assert answer_of_gate(answers) == answer


def test_a_gate_without_guardrails_is_refused():
    with pytest.raises(DataError, match="needs a guardrail"):
        answer_of_gate([])
