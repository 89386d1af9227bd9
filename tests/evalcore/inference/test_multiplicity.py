import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalcore.inference import benjamini_hochberg, bonferroni, holm
from tests.support.strategies import seeded

every_rule = pytest.mark.parametrize("rule", [holm, bonferroni, benjamini_hochberg])
p_values_of_a_family = st.lists(st.floats(0, 1), min_size=1, max_size=5)


def test_holm_by_hand():
    # ascending .005 .01 .03 .04, times 4 3 2 1: .02 .03 .06 .04, made to ascend: .02 .03 .06 .06
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_bonferroni_by_hand():
    assert bonferroni([0.01, 0.04, 0.3, 0.005]) == pytest.approx([0.04, 0.16, 1.0, 0.02])


def test_benjamini_hochberg_by_hand():
    # ascending .005 .01 .03 .031, times 4/1 4/2 4/3 4/4: .02 .02 .04 .031, made to ascend from above: .02 .02 .031 .031
    assert benjamini_hochberg([0.01, 0.031, 0.03, 0.005]) == pytest.approx([0.02, 0.031, 0.031, 0.02])


@every_rule
def test_an_adjusted_p_value_stays_a_probability(rule):
    assert rule([0.5, 0.9]).max() <= 1
    assert rule([1.0, 1.0]).tolist() == [1.0, 1.0]
    assert rule([]).tolist() == []


@every_rule
def test_a_question_without_a_test_stays_nan_and_is_not_counted(rule):
    adjusted = rule([0.01, math.nan, 0.04])
    assert adjusted[[0, 2]].tolist() == rule([0.01, 0.04]).tolist()
    assert math.isnan(adjusted[1])


@given(p_values_of_a_family)
def test_holm_is_bonferroni_over_every_set_of_hypotheses_that_may_be_true(p_values):
    # closed testing: a hypothesis falls if every subset that contains it falls by Bonferroni
    subsets = [s for size in range(1, len(p_values) + 1) for s in itertools.combinations(range(len(p_values)), size)]
    expected = [
        max(min(1.0, len(s) * min(p_values[j] for j in s)) for s in subsets if i in s) for i in range(len(p_values))
    ]
    assert holm(p_values) == pytest.approx(expected)


@seeded(200)
@given(p_values=p_values_of_a_family, level=st.floats(0.001, 0.999))
def test_benjamini_hochberg_rejects_up_to_the_last_p_value_below_its_share_of_the_level(p_values, level):
    # the procedure as it was written down, from which the adjusted values follow
    ascending, m = sorted(p_values), len(p_values)
    below = [k for k in range(1, m + 1) if ascending[k - 1] <= k / m * level]
    last = ascending[below[-1] - 1] if below else -1.0
    near = [abs(ascending[k - 1] - k / m * level) < 1e-12 for k in range(1, m + 1)]
    if not any(near):  # on the edge rounding may decide either way
        assert (benjamini_hochberg(p_values) <= level).tolist() == [p <= last for p in p_values]


@seeded(100)
@given(p_values_of_a_family)
def test_the_three_rules_are_in_order_and_never_below_the_p_value(p_values):
    least = benjamini_hochberg(p_values)
    assert (np.array(p_values) <= least * (1 + 1e-15)).all()
    assert (least <= holm(p_values) * (1 + 1e-15)).all()
    assert (holm(p_values) <= bonferroni(p_values)).all()


@every_rule
@seeded(50)
@given(p_values=p_values_of_a_family, order=st.randoms(use_true_random=False))
def test_the_order_of_the_questions_does_not_matter(rule, p_values, order):
    places = list(range(len(p_values)))
    order.shuffle(places)
    assert rule([p_values[place] for place in places]).tolist() == rule(p_values)[places].tolist()


@every_rule
def test_the_argument_is_left_alone(rule):
    p_values = np.array([0.02, 0.01])
    rule(p_values)
    assert p_values.tolist() == [0.02, 0.01]
