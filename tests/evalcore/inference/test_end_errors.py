"""The Monte-Carlo error of an interval's ends, beside what other seeds give."""

import math

import numpy as np
import pytest

from evalcore.inference import INTERVALS, Measure, infer
from evalcore.inference.end_errors import END_ERRORS
from tests.evalcore.inference.support import sums_of

SIZES = [1, 3, 2, 5, 1, 4, 9, 2, 3, 6, 2, 1, 12, 3, 2, 4, 7]
UNITS = np.repeat([f"u{g:02d}" for g in range(len(SIZES))], SIZES)
SKEWED = np.random.default_rng(81).exponential(size=len(UNITS))


@pytest.fixture(scope="module")
def over_seeds():
    """The estimate with each of 100 seeds."""
    sums = sums_of(SKEWED, units=UNITS)
    return [infer(sums, methods=END_ERRORS, replicates=799, seed=seed).estimates[0] for seed in range(100)]


@pytest.mark.parametrize("method", END_ERRORS)
def test_the_error_of_an_end_is_its_standard_deviation_over_seeds(over_seeds, method):
    ends = np.array([one.intervals[method] for one in over_seeds])
    errors = [one.end_errors[method] for one in over_seeds]
    assert np.mean(errors) == pytest.approx(ends.std(axis=0, ddof=1).max(), rel=0.25)


@pytest.mark.parametrize("method", INTERVALS)
def test_a_method_has_an_error_if_and_only_if_another_seed_moves_it(method):
    one, other = (
        infer(sums_of(SKEWED, units=UNITS), methods=[method], replicates=99, seed=seed).estimates[0] for seed in (0, 1)
    )
    assert (one.intervals[method] != other.intervals[method]) == (method in END_ERRORS) == (one.end_errors[method] > 0)


def test_students_end_has_no_error_though_the_other_one_is_drawn():
    # the longer tail of the mean's distribution is above: the lower end of `auto` is Student's, the upper one drawn
    found = infer(sums_of(SKEWED, units=UNITS), methods=["auto", "t", "studentized"], replicates=499).estimates[0]
    assert found.intervals["auto"] == (found.intervals["t"].low, found.intervals["studentized"].high)
    assert 0 < found.end_errors["auto"] <= found.end_errors["studentized"]


def test_units_that_are_alike_have_an_interval_without_error():
    assert infer(sums_of(SKEWED), replicates=99).estimates[0].end_errors == {"auto": 0.0}


def test_more_replicates_make_the_error_smaller_as_their_root():
    few, many = (
        infer(sums_of(SKEWED), methods=["percentile", "normal"], replicates=n).estimates[0].end_errors
        for n in (400, 9_999)
    )
    for method in few:
        assert few[method] / many[method] == pytest.approx(5, rel=0.3)


def test_the_error_of_a_geometric_mean_is_in_its_own_unit():
    logarithms = np.log(SKEWED)
    sums = sums_of(logarithms, units=UNITS)
    measures = [Measure(column=0), Measure(column=0, kind="geometric")]
    mean, geometric = infer(sums, measures=measures, methods=["normal"], replicates=499).estimates
    # both ends of the logarithm have the same error, and the exponential stretches the upper one more
    expected = mean.end_errors["normal"] * math.exp(mean.intervals["normal"].high)
    assert geometric.end_errors["normal"] == pytest.approx(expected)


@pytest.mark.parametrize("method", END_ERRORS)
def test_nothing_to_draw_from_has_no_error_and_no_interval_an_unknown_one(method):
    same, single = np.full(12, 0.5), ["a"] * 12
    assert infer(sums_of(same), methods=[method], replicates=99).estimates[0].end_errors[method] == 0
    found = infer(sums_of(SKEWED[:12], units=single), methods=[method], replicates=99).estimates[0]
    assert math.isnan(found.end_errors[method])


def test_a_wild_interval_without_ends_has_no_error_either():
    found = infer(sums_of([0.1, 0.2, 0.5], units=["a", "b", "b"]), methods=["wild"], replicates=99).estimates[0]
    assert math.isnan(found.end_errors["wild"])
