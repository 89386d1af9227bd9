import math

import numpy as np
import pytest
from scipy import stats

from evalcore.errors import DataError
from evalcore.inference import Measure, UnitSums, infer
from evalcore.inference.draws import counts
from evalcore.inference.selection import admissible, best_of, held_out
from tests.evalcore.inference.support import sums_of


@pytest.fixture
def rng():
    return np.random.default_rng(48)


def test_the_corrected_estimate_is_that_of_plain_loops(rng):
    x = rng.random((3, 12))
    told = []
    for drawn in counts(12, seed=5, start=0, stop=150):
        chosen = int(np.argmax(x @ drawn))
        if (drawn == 0).any():
            told.append(x[chosen, drawn == 0].mean())
    found = best_of(sums_of(*x), [0, 1, 2], replicates=150, seed=5)
    assert (found.place, found.naive) == (int(np.argmax(x.mean(axis=1))), pytest.approx(x.mean(axis=1).max()))
    assert found.corrected == pytest.approx(np.mean(told), rel=1e-12)


@pytest.mark.parametrize(("baseline", "higher_is_better"), [(None, True), (0, False)])
def test_of_equal_candidates_the_chosen_one_is_too_good_and_the_corrected_one_is_not(rng, baseline, higher_is_better):
    naive, corrected, reported = [], [], []
    side = 1 if higher_is_better else -1
    for _ in range(100):
        sums = sums_of(*rng.normal(0, 1, (13, 60)))
        found = best_of(sums, range(1, 13), baseline=baseline, higher_is_better=higher_is_better, replicates=99)
        naive.append(found.naive)
        corrected.append(found.corrected)
        choose, tell = held_out(sums)
        place = max(range(1, 13), key=lambda candidate, seen=choose: side * seen.mean(candidate))
        reported.append(tell.mean(place))
    # the largest of 12 standard normal values is 1.63 on average, here over sqrt(60)
    assert side * np.mean(naive) > 1.4 / math.sqrt(60)
    for unbiased in (corrected, reported):
        assert abs(np.mean(unbiased)) < 3.5 * stats.sem(unbiased)


def test_a_candidate_far_ahead_needs_no_correction(rng):
    x = rng.normal(0, 1, (5, 200)) + np.array([[0], [0], [2], [0], [0]])
    found = best_of(sums_of(*x), range(5), replicates=999)
    assert found.place == 2
    assert found.corrected == pytest.approx(found.naive, abs=0.1 * stats.sem(x[2]))


def test_candidates_by_ratio_or_geometric_mean_are_corrected_in_their_own_unit(rng):
    clicks, shown = rng.random((2, 80)), rng.integers(1, 5, (2, 80))
    sums = sums_of(*clicks, *shown)
    ratios = [Measure(column=0, below=2, kind="ratio"), Measure(column=1, below=3, kind="ratio")]
    found = best_of(sums, [0, 1], measures=ratios, replicates=199)
    assert found.naive == pytest.approx(max(clicks.sum(axis=1) / shown.sum(axis=1)))
    assert found.corrected == pytest.approx(found.naive, rel=0.2)
    logs = [Measure(column=column, kind="geometric") for column in (0, 1)]
    found = best_of(sums_of(*np.log(clicks)), [0, 1], measures=logs, replicates=199)
    assert found.naive == pytest.approx(max(np.exp(np.log(clicks).mean(axis=1))))
    assert found.corrected == pytest.approx(found.naive, rel=0.2)


def test_strata_choose_and_tell_within_themselves(rng):
    x = rng.random((3, 40)) + np.repeat([0.0, 5.0], [30, 10])
    settings = {"strata": np.repeat(["a", "b"], [30, 10]), "stratum_weights": {"a": 1, "b": 3}}
    found = best_of(sums_of(*x), range(3), replicates=199, **settings)
    means = x[:, :30].mean(axis=1) / 4 + 3 * x[:, 30:].mean(axis=1) / 4
    assert found.naive == pytest.approx(means.max())
    assert found.corrected == pytest.approx(found.naive, abs=0.1)


def test_a_candidate_without_a_value_is_not_chosen(rng):
    x = rng.random(30)
    assert best_of(sums_of([math.nan] * 30, x), [0, 1], replicates=99).place == 1
    for candidates in ([0], []):
        with pytest.raises(DataError, match=f"no best of {len(candidates)} candidates"):
            best_of(sums_of([math.nan] * 30, x), candidates, replicates=99)


def test_units_are_held_out_by_their_id_alone(rng):
    ids = [f"user-{i}" for i in range(400)]
    sums = UnitSums.from_values(ids, rng.random((400, 1)))
    choose, tell = held_out(sums, share=0.25, key="night 7")
    assert sorted([*choose.units, *tell.units]) == sorted(ids)
    assert len(tell.units) / 400 == pytest.approx(0.25, abs=4 * math.sqrt(0.25 * 0.75 / 400))
    fewer = UnitSums.from_values(ids[:100], rng.random((100, 1)))
    assert {*held_out(fewer, share=0.25, key="night 7")[1].units} == {*tell.units} & {*ids[:100]}
    assert {*held_out(sums, share=0.25)[1].units} != {*tell.units}
    # md5sum of "held out:a" is e56889bc..., of "held out:b" 155881c5...: below 80000000 is below a half
    assert held_out(UnitSums.from_values(["a", "b"], np.ones((2, 1))))[1].units.tolist() == ["b"]


def test_sums_that_are_held_out_are_those_of_their_queries(rng):
    units, x = np.repeat(list("abcdefgh"), 3), rng.random(24)
    tell = held_out(UnitSums.from_values(units, x[:, np.newaxis]))[1]
    assert tell.mean(0) == pytest.approx(x[np.isin(units, tell.units)].mean(), rel=1e-12)


@pytest.mark.parametrize(("share", "message"), [(1.0, "share 1.0"), (50, "share 50"), (1e-9, "on one side")])
def test_a_share_that_leaves_a_side_empty_is_refused(share, message):
    with pytest.raises(DataError, match=message):
        held_out(sums_of([0.1, 0.2, 0.3]), share=share)


def contrast(moved, rng, n=100):
    return infer(sums_of(rng.normal(moved, 0.1, n), np.zeros(n)), contrasts=[(0, 1)], methods=["t"]).contrasts[0]


@pytest.mark.parametrize(
    ("moved", "higher_is_better", "answer"),
    [
        ((0.0, 0.3), (True, True), "passed"),
        ((0.0, -0.3), (True, True), "regressed"),
        ((0.0, -0.3), (True, False), "passed"),
        ((0.0, 0.3), (True, False), "regressed"),
        ((0.3, -0.04), (True, True), "inconclusive"),
    ],
)
def test_a_candidate_is_admissible_if_no_auxiliary_metric_falls(rng, moved, higher_is_better, answer):
    found = [contrast(each, rng) for each in moved]
    settings = {"method": "t", "higher_is_better": higher_is_better}
    assert admissible(found, [0.05, 0.05], **settings) == answer
    with pytest.raises(DataError, match="2 contrasts, 1 margins"):
        admissible(found, [0.05], **settings)
