"""All pairs of systems that took part in TREC, over 50 topics (../shared/data/score_matrices)."""

import math
import time
from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from evalcore.inference import holm, infer
from tests.evalcore.inference.support import sums_of
from tests.support.data import DATA, needs_data

pytestmark = needs_data

PUBLISHED = 0.007  # Smucker, Allan & Carterette 2009, table 1, randomisation and t-test of 50 topics


def compared(name, **settings):
    values = np.genfromtxt(DATA / "score_matrices" / f"{name}.csv", delimiter=",", skip_header=1)
    pairs = [(later, earlier) for earlier, later in combinations(range(values.shape[1]), 2)]
    started = time.process_time()
    found = infer(sums_of(*values.T), contrasts=pairs, **settings).contrasts
    return values, np.array(pairs), found, time.process_time() - started


@pytest.fixture(scope="module")
def trec8():
    return compared("adhoc8_ap", tests=["max_t", "sign_flip"])


def test_8256_pairs_of_systems_with_two_tests_take_seconds(trec8):
    _, pairs, found, seconds = trec8
    assert len(pairs) == len(found) == 8_256
    assert seconds < 40  # 4 on a quiet machine: docs/separation.md


def test_p_values_of_real_systems_are_those_of_scipy(trec8):
    values, pairs, found, _ = trec8
    expected = stats.ttest_rel(*(values[:, side] for side in pairs.T)).pvalue
    same = np.isnan(expected)
    assert same.sum() == 2  # two systems have a copy: 0 over 0 in scipy
    assert [contrast.p_value for contrast in found] == pytest.approx(np.where(same, 1.0, expected), rel=1e-11)


def test_sign_flips_agree_with_students_test_as_far_as_published(trec8):
    t = np.array([contrast.p_value for contrast in trec8[2]])
    flipped = np.array([contrast.p_values["sign_flip"] for contrast in trec8[2]])
    known = (t >= 1e-4) & (flipped >= 1e-4)
    square = np.mean((t - flipped)[known] ** 2) - np.mean((t * (1 - t))[known]) / 9_999  # less the error of flips
    assert math.sqrt(square) == pytest.approx(PUBLISHED, abs=0.001)


def test_max_t_tells_more_pairs_apart_than_holm_and_fewer_than_no_adjustment(trec8):
    t = np.array([contrast.p_value for contrast in trec8[2]])
    adjusted = np.array([contrast.p_values["max_t"] for contrast in trec8[2]])
    shares = [np.mean(p_values <= 0.05) for p_values in (holm(t), adjusted, t)]
    assert shares == pytest.approx([0.374, 0.400, 0.724], abs=0.002)


@pytest.mark.parametrize(("name", "share"), [("web2012_ndcg20", 0.518), ("web2012_err20", 0.472)])
def test_intervals_leave_out_0_where_p_values_are_small(name, share):
    _, _, found, _ = compared(name, methods=["t", "auto"])
    apart = [contrast.p_value <= 0.05 for contrast in found]
    assert np.mean(apart) == pytest.approx(share, abs=0.001)
    assert [contrast.intervals["t"].low > 0 or contrast.intervals["t"].high < 0 for contrast in found] == apart
    assert all(
        contrast.intervals["auto"].low <= contrast.intervals["t"].low
        and contrast.intervals["t"].high <= contrast.intervals["auto"].high
        for contrast in found
    )
