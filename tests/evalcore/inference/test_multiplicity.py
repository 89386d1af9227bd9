import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalcore.inference import holm


def test_holm_by_hand():
    # ascending .005 .01 .03 .04, times 4 3 2 1: .02 .03 .06 .04, made to ascend: .02 .03 .06 .06
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_an_adjusted_p_value_stays_a_probability():
    assert holm([0.5, 0.9]).tolist() == [1.0, 1.0]
    assert holm([]).tolist() == []


def test_a_question_without_a_test_stays_nan_and_is_not_counted():
    adjusted = holm([0.01, math.nan, 0.04])
    assert adjusted[[0, 2]] == pytest.approx([0.02, 0.04])
    assert math.isnan(adjusted[1])


@given(st.lists(st.floats(0, 1), min_size=1, max_size=5))
def test_holm_is_bonferroni_over_every_set_of_hypotheses_that_may_be_true(p_values):
    # closed testing: a hypothesis falls if every subset that contains it falls by Bonferroni
    subsets = [s for size in range(1, len(p_values) + 1) for s in itertools.combinations(range(len(p_values)), size)]
    expected = [
        max(min(1.0, len(s) * min(p_values[j] for j in s)) for s in subsets if i in s) for i in range(len(p_values))
    ]
    assert holm(p_values) == pytest.approx(expected)


def test_the_argument_is_left_alone():
    p_values = np.array([0.02, 0.01])
    holm(p_values)
    assert p_values.tolist() == [0.02, 0.01]
