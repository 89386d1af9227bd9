"""Lists as such, and what a whole run shows of the catalogue."""

from math import isnan, log2

import numpy as np
import pytest

from evalcore.catalogue import coverage, entropy, gini, novelty
from evalcore.errors import DataError, MetricNameError
from evalcore.metrics import NumQ, ZeroResult, parse
from evalcore.rankings import JudgedRankings


def test_the_mean_is_the_rate_of_rankings_that_hold_nothing():
    rankings = JudgedRankings.from_lists(retrieved=[[], [1], [None], []], judged=[[1], [1], [], []])
    assert ZeroResult().per_query(rankings).mean() == 0.5
    assert NumQ().per_query(rankings).sum() == 4


def test_other_names_are_read():
    assert parse("num_q") == NumQ()
    assert parse("ZeroResultRate") == ZeroResult()


def test_coverage_is_the_share_of_the_catalogue_that_was_shown():
    assert coverage(np.array([3, 0, 1]), 10) == 2 / 10
    assert coverage(np.array([1, 1]), 2) == 1
    assert coverage(np.array([], dtype=np.int64), 5) == 0


def test_gini_is_0_for_even_counts_and_greatest_where_one_document_takes_all():
    assert gini(np.array([2, 2, 2, 2]), 4) == 0
    assert gini(np.array([8]), 4) == 3 / 4


def test_gini_by_hand_with_documents_that_were_never_shown():
    # places 1 to 5 hold 0 0 1 2 3: (-4*0 - 2*0 + 0*1 + 2*2 + 4*3) / (5 * 6)
    assert gini(np.array([3, 1, 2]), 5) == pytest.approx(16 / 30, rel=1e-15)
    assert gini(np.array([3, 0, 1, 2, 0]), 5) == gini(np.array([3, 1, 2]), 5)


def test_gini_is_half_the_mean_difference_of_two_documents_over_their_mean():
    counts = np.random.default_rng(0).poisson(2, size=200)
    mean_difference = np.abs(counts[:, None] - counts[None, :]).mean()
    assert gini(counts, 200) == pytest.approx(mean_difference / 2 / counts.mean(), rel=1e-12)


def test_entropy_by_hand():
    assert entropy(np.array([5])) == 0
    assert entropy(np.array([1, 1, 1, 1])) == 2
    assert entropy(np.array([3, 1, 0])) == pytest.approx(3 / 4 * log2(4 / 3) + 1 / 4 * log2(4), rel=1e-15)


def test_entropy_is_that_of_scipy():
    stats = pytest.importorskip("scipy.stats")
    counts = np.random.default_rng(1).poisson(3, size=500)
    assert entropy(counts) == pytest.approx(stats.entropy(counts, base=2), rel=1e-12)


def test_evenness_is_undefined_where_nothing_was_shown():
    nothing = np.zeros(3, dtype=np.int64)
    assert isnan(gini(nothing, 3))
    assert isnan(entropy(nothing))


@pytest.mark.parametrize("statistic", [coverage, gini])
def test_a_catalogue_smaller_than_what_was_shown_is_refused(statistic):
    with pytest.raises(DataError, match="2 documents were shown, but the catalogue has 1"):
        statistic(np.array([1, 1]), 1)
    with pytest.raises(DataError, match="the catalogue has 0"):
        statistic(np.array([], dtype=np.int64), 0)


def test_a_count_below_0_is_refused():
    with pytest.raises(DataError, match="shown -2 times"):
        entropy(np.array([1, -2]))


def test_novelty_is_the_mean_self_information_of_the_first_documents():
    share, offsets = np.array([1 / 2, 1 / 8, 1 / 4, 1.0]), np.array([0, 3, 3, 4])
    assert novelty(share, offsets) == pytest.approx([(1 + 3 + 2) / 3, np.nan, 0], nan_ok=True)
    assert novelty(share, offsets, cutoff=2) == pytest.approx([(1 + 3) / 2, np.nan, 0], nan_ok=True)


@pytest.mark.parametrize("share", [0.0, -0.5, 1.5, np.nan])
def test_a_share_of_popularity_that_is_none_is_refused(share):
    with pytest.raises(DataError, match="1 shares of popularity are not above 0 and up to 1"):
        novelty(np.array([0.5, share]), np.array([0, 2]))


def test_novelty_takes_the_cutoffs_that_metrics_take():
    with pytest.raises(MetricNameError, match="cutoff is 0"):
        novelty(np.array([0.5]), np.array([0, 1]), cutoff=0)
