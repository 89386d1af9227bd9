"""Clicks under a position-based model: what IPS adds, what it estimates, and what it refuses."""

from math import inf, isnan, log2, nan

import numpy as np
import pytest

from evalcore.errors import DataError, MetricNameError
from evalcore.metrics import DCG, IPS, SNIPS, ClickWeights, Discount, P, effective_sample_size, name, parse
from evalcore.rankings import Grades, JudgedRankings

NO_DISCOUNT = Discount.parse("none")


def one(retrieved, propensities, judged=None, judged_propensities=None) -> JudgedRankings:
    """One query; all judged documents are retrieved unless they are given."""
    return JudgedRankings.from_lists(
        retrieved=[retrieved],
        judged=[retrieved if judged is None else judged],
        propensities=[propensities],
        judged_propensities=[propensities if judged is None else judged_propensities],
    )


def test_a_click_counts_one_over_its_propensity_and_less_the_lower_it_stands():
    rankings = one([1, 0, 1], [0.5, 0.1, 0.25])
    assert IPS().per_query(rankings) == pytest.approx([2 / log2(2) + 4 / log2(4)])
    assert IPS(cutoff=2).per_query(rankings) == pytest.approx([2])
    assert IPS(discount=NO_DISCOUNT).per_query(rankings) == pytest.approx([2 + 4])


def test_a_clip_bounds_what_a_click_counts():
    rankings = one([1, 1], [0.5, 0.01])
    assert IPS(clip=10, discount=NO_DISCOUNT).per_query(rankings) == pytest.approx([2 + 10])
    assert IPS(clip=1, discount=NO_DISCOUNT).per_query(rankings) == pytest.approx([2])


def test_a_grade_from_rel_on_is_one_click():
    rankings = one([2, 1, 3], [0.5, 0.5, 0.5])
    assert IPS(min_grade=2, discount=NO_DISCOUNT).per_query(rankings) == pytest.approx([4])


def test_where_everything_was_looked_at_ips_is_dcg_and_precision():
    rankings = one([0, 1, 1, 0, 1], [1] * 5)
    for cutoff in (None, 1, 3):
        assert IPS(cutoff=cutoff).per_query(rankings) == pytest.approx(DCG(cutoff=cutoff).per_query(rankings))
    precision = IPS(cutoff=3, discount=NO_DISCOUNT).per_query(rankings) / 3
    assert precision == pytest.approx(P(cutoff=3).per_query(rankings))


def test_the_self_normalised_form_is_a_ratio_of_sums_over_queries():
    rankings = JudgedRankings.from_lists(
        retrieved=[[1, 0], [1, None], [0]],
        judged=[[0, 1, 1], [1], [0]],
        propensities=[[0.5, 1], [0.1, nan], [1]],
        judged_propensities=[[1, 0.5, 0.25], [0.1], [1]],
    )
    above, below = SNIPS(clip=5).parts(rankings)
    assert above == pytest.approx([2, 5, 0])
    assert below == pytest.approx([2 + 4, 5, 0])
    assert SNIPS(clip=5).per_query(rankings) == pytest.approx([2 / 6, 1, nan], nan_ok=True)


@pytest.mark.parametrize("wrong", [nan, None, 0, -0.5, 1.5, inf])
@pytest.mark.parametrize("metric", [IPS(), SNIPS(), ClickWeights(), IPS(clip=3), IPS(cutoff=1)], ids=name)
def test_a_clicked_document_without_a_propensity_is_refused(metric, wrong):
    with pytest.raises(DataError, match=r"1 clicked documents have no propensity above 0 and up to 1; that of the"):
        metric.per_query(one([1, 1, 0], [0.5, wrong, 0.5]))


def test_a_click_that_was_not_retrieved_needs_a_propensity_too():
    with pytest.raises(DataError, match="1 clicked documents have no propensity"):
        SNIPS().per_query(one([1], [0.5], judged=[1, 1], judged_propensities=[0.5, nan]))


def test_a_document_without_a_click_needs_no_propensity():
    rankings = one([1, 0, None], [0.5, nan, nan], judged=[1, 0], judged_propensities=[0.5, nan])
    assert IPS().per_query(rankings) == pytest.approx([2])
    assert SNIPS().per_query(rankings) == pytest.approx([1])


def test_without_propensities_there_is_an_error_and_no_value():
    with pytest.raises(DataError, match="needs propensities"):
        IPS().per_query(JudgedRankings.from_lists(retrieved=[[1]], judged=[[1]]))
    with pytest.raises(DataError, match="needs judged propensities"):
        SNIPS().parts(JudgedRankings.from_lists(retrieved=[[1]], judged=[[1]], propensities=[[1]]))


def test_the_sums_of_weights_tell_the_effective_sample_size_and_the_clipped_share():
    rankings = JudgedRankings.from_lists(
        retrieved=[[1, 1, 0], [1, None], []],
        judged=[[1, 1, 0], [1], [1]],
        propensities=[[0.5, 0.1, 1], [0.25, nan], []],
        judged_propensities=[[0.5, 0.1, 1], [0.25], [0.1]],
    )
    found = ClickWeights(clip=8).per_query(rankings)
    assert ClickWeights.elements == ("weights", "squares", "clicks", "clipped")
    assert found == pytest.approx(np.array([[2 + 8, 4 + 64, 2, 1], [4, 16, 1, 0], [0, 0, 0, 0]]))
    weights, squares, clicks, clipped = found.sum(axis=0)
    assert effective_sample_size(weights, squares) == pytest.approx(14**2 / 84)
    assert clipped / clicks == pytest.approx(1 / 3)
    assert ClickWeights(cutoff=1).per_query(rankings)[:, 0] == pytest.approx([2, 4, 0])


def test_equal_weights_are_as_many_as_they_are_and_no_weights_are_undefined():
    assert effective_sample_size(5 * 3, 5 * 3**2) == 5
    assert isnan(effective_sample_size(0, 0))


def test_no_ranking_gives_no_weights():
    nothing = JudgedRankings.from_lists(retrieved=[], judged=[], propensities=[], judged_propensities=[])
    assert ClickWeights().per_query(nothing).shape == (0, 4)


@pytest.mark.parametrize("text", ["IPS@10", "IPS(clip=10,discount=none,rel=2)@5", "SNIPS(clip=2.5)", "ClickWeights@3"])
def test_names_are_read_and_written(text):
    assert name(parse(text)) == text


def test_a_clip_of_none_is_no_clip():
    assert parse("IPS(clip=none)@10") == IPS(cutoff=10)


@pytest.mark.parametrize("clip", ["0", "0.5", "-1", "some"])
def test_a_clip_that_is_none_is_refused(clip):
    with pytest.raises(MetricNameError, match=r"clip|number"):
        parse(f"IPS(clip={clip})@10")


def test_a_discount_is_not_its_name():
    with pytest.raises(MetricNameError, match=r"write Discount.parse\(...\)"):
        IPS(discount="log2")


@pytest.fixture(scope="module")
def simulated():
    """Clicks on one ranking of ten documents, for another one that reverses it, and what that one is worth."""
    rng = np.random.default_rng(7)
    n_queries, n_documents = 40_000, 10
    looked_at = 1 / np.arange(1, n_documents + 1)
    attractive = rng.random((n_queries, n_documents)) < np.linspace(0.1, 0.6, n_documents)
    clicks = (attractive & (rng.random((n_queries, n_documents)) < looked_at)).astype(np.float64)
    offsets = np.arange(n_queries + 1) * n_documents
    best_first = np.argsort(-clicks, axis=1, kind="stable")
    rankings = JudgedRankings(
        retrieved=Grades(clicks[:, ::-1].ravel(), offsets),
        judged=Grades(np.take_along_axis(clicks, best_first, axis=1).ravel(), offsets),
        propensities=np.tile(looked_at[::-1], n_queries),
        judged_propensities=looked_at[best_first].ravel(),
    )
    return rankings, attractive[:, ::-1].astype(np.float64)


def standard_errors_off(values: np.ndarray, truth: np.ndarray) -> float:
    return abs((values - truth).mean()) / ((values - truth).std() / len(values) ** 0.5)


def test_the_estimate_from_clicks_is_without_bias(simulated):
    rankings, attractive = simulated
    discounts = 1 / np.log2(np.arange(2, 12))
    assert standard_errors_off(IPS().per_query(rankings), attractive @ discounts) < 3
    top = IPS(cutoff=3, discount=NO_DISCOUNT).per_query(rankings)
    assert standard_errors_off(top, attractive[:, :3].sum(axis=1)) < 3


def test_counting_clicks_as_they_are_is_biased_and_so_is_clipping(simulated):
    rankings, attractive = simulated
    discounts = 1 / np.log2(np.arange(2, 12))
    assert standard_errors_off(DCG().per_query(rankings), attractive @ discounts) > 50
    assert standard_errors_off(IPS(clip=3).per_query(rankings), attractive @ discounts) > 50


def test_the_self_normalised_estimate_is_consistent(simulated):
    rankings, attractive = simulated
    above, below = SNIPS().parts(rankings)
    discounts = 1 / np.log2(np.arange(2, 12))
    assert above.sum() / below.sum() == pytest.approx((attractive @ discounts).sum() / attractive.sum(), rel=0.01)
