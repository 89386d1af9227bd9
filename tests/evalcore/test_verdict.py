import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalcore.errors import DataError
from evalcore.verdict import default_margin, verdict_of_interval

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


def test_an_interval_with_its_ends_exchanged_is_refused():
    with pytest.raises(DataError, match="wrong order"):
        verdict_of_interval(0.2, 0.1, margin=MARGIN)


@pytest.mark.parametrize(
    ("estimate", "margin"), [(0.4, 0.002), (-0.4, 0.002), (0.1, 0.0005), (0.0, 0.0005), (50, 0.25)]
)
def test_the_default_margin_is_half_a_percent_and_at_least_five_ten_thousandths(estimate, margin):
    assert default_margin(estimate) == pytest.approx(margin)
