"""Scores as probabilities: worked by hand, against scikit-learn's values, and summed over queries."""

import json
from math import log, nan
from sys import float_info

import numpy as np
import pytest

from evalcore.errors import DataError, MetricNameError
from evalcore.metrics import (
    ECE,
    MCE,
    PCOC,
    Brier,
    LogLoss,
    Reliability,
    expected_calibration_error,
    maximum_calibration_error,
    name,
    parse,
)
from evalcore.rankings import JudgedRankings
from tests.support.data import DATA, needs_data
from tests.support.families import probabilities
from tests.support.strategies import random_batch, rankings_of, same_bits

ALL = [LogLoss(), Brier(), PCOC(), ECE(), MCE(), Reliability()]


def of(scores, grades) -> JudgedRankings:
    judged = [[grade for grade in row if grade is not None] for row in grades]
    return JudgedRankings.from_lists(retrieved=grades, judged=judged, scores=scores)


def value(metric: str, scores, grades) -> float:
    return float(parse(metric).per_query(of([scores], [grades]))[0])


@pytest.mark.parametrize(
    ("metric", "scores", "grades", "expected"),
    [
        ("LogLoss", [0.75, 0.5], [1, 0], -(log(0.75) + log(0.5)) / 2),
        ("LogLoss", [0.75, 0.5], [None, 0], -log(0.5)),  # an unjudged document does not count
        ("LogLoss", [1, 0], [0, 1], -log(float_info.epsilon)),
        ("LogLoss", [1, 0], [1, 0], -log(1 - float_info.epsilon)),
        ("LogLoss(rel=2)", [0.75], [1], -log(0.25)),
        ("LogLoss", [0.5], [-1], -log(0.5)),  # a negative grade is not relevant
        ("LogLoss", [], [], nan),
        ("LogLoss", [7], [None], nan),  # nor need its score be a probability
        ("Brier", [0.75, 0.5], [1, 0], (0.25**2 + 0.5**2) / 2),
        ("Brier", [1, 0], [0, 1], 1),
        ("Brier", [], [], nan),
        ("PCOC", [0.75, 0.5], [1, 0], 1.25),
        ("PCOC", [0.75, 0.5], [1, 1], 1.25 / 2),
        ("PCOC", [0.75, 0.5], [0, 0], nan),
        ("PCOC(rel=0)", [0.75, 0.5], [0, 0], 1.25 / 2),
        ("ECE", [0.75, 0.71, 0.5], [1, 0, 0], (abs(0.75 + 0.71 - 1) + 0.5) / 3),
        ("ECE(bins=1)", [0.75, 0.25], [1, 0], 0),
        ("ECE(bins=2)", [0.75, 0.25], [1, 0], 0.25),
        ("ECE(bins=2)", [0.5, 0.25], [1, 0], abs(0.75 - 1) / 2),  # an edge is in the bin below it
        ("ECE", [0, 0.05], [0, 1], abs(0.05 - 1) / 2),  # and 0 in the first
        ("ECE", [1], [1], 0),
        ("ECE", [], [], nan),
        ("MCE", [0.75, 0.71, 0.5], [1, 0, 0], 0.5),
        ("MCE(bins=1,rel=2)", [0.75, 0.25], [2, 1], 0),
        ("MCE", [], [], nan),
    ],
)
def test_the_value_is_the_one_worked_out_by_hand(metric, scores, grades, expected):
    assert value(metric, scores, grades) == pytest.approx(expected, abs=1e-15, nan_ok=True)


@needs_data
def test_values_are_those_of_scikit_learn():
    expected = json.loads((DATA / "expected" / "small_cases_sklearn_scipy.json").read_text())["auc_logloss"]
    found = [value(metric, expected["p"], expected["y"]) for metric in ("LogLoss", "Brier")]
    assert found == pytest.approx([expected["log_loss(clip eps of dtype)"], expected["brier"]], abs=1e-14)


@pytest.mark.parametrize("metric", ALL, ids=name)
@pytest.mark.parametrize("wrong", [1.5, -0.1, nan, np.inf])
def test_a_score_that_is_no_probability_is_refused(metric, wrong):
    with pytest.raises(DataError, match="1 scores of judged documents are no probabilities from 0 to 1, such as"):
        metric.per_query(of([[0.5, wrong]], [[1, 0]]))


def test_predicted_over_observed_clicks_is_a_ratio_of_sums():
    rankings = of([[0.75, 0.5], [0.25], [], [0.5]], [[1, 0], [0], [], [1]])
    above, below = PCOC().parts(rankings)
    assert above.tolist() == [1.25, 0.25, 0, 0.5]
    assert below.tolist() == [1, 0, 0, 1]
    assert PCOC().per_query(rankings) == pytest.approx([1.25, nan, nan, 0.5], nan_ok=True)


def test_the_reliability_table_is_the_one_worked_out_by_hand():
    table = Reliability(bins=2).per_query(of([[0.75, 0.5, 0.25], [], [1.0]], [[1, 1, 0], [], [None]]))
    assert table.tolist() == [[2, 1, 0.75, 0.75, 1, 1], [0] * 6, [0] * 6]
    assert Reliability(bins=2).elements == (
        "documents_1", "documents_2", "scores_1", "scores_2", "relevant_1", "relevant_2"
    )  # fmt: skip


@pytest.mark.parametrize("metric", [Reliability(), Reliability(bins=3, min_grade=2)], ids=name)
def test_the_reliability_table_equals_its_twin_alone_and_in_a_batch(metric):
    batch = random_batch(200, depth=30, seed=8)
    tables = metric.per_query(rankings_of(batch))
    assert tables.shape == (200, len(metric.elements))
    twins = [probabilities.VALUES[Reliability](metric, query.retrieved, query.judged, query.extras) for query in batch]
    assert tables == pytest.approx(np.array(twins), abs=1e-12)
    assert same_bits(tables, np.concatenate([metric.per_query(rankings_of([query])) for query in batch]))
    assert metric.per_query(rankings_of([])).shape == (0, len(metric.elements))


def test_the_summed_table_gives_the_error_of_all_documents_together():
    batch = random_batch(50, depth=20, seed=9)
    documents = [pair for query in batch for pair in probabilities.predicted(ECE(), query.retrieved, query.extras)]
    documents.sort(reverse=True)
    together = of([[score for score, _ in documents]], [[float(label) for _, label in documents]])
    summed = Reliability().per_query(rankings_of(batch)).sum(axis=0)
    columns = np.split(summed, 3)
    assert expected_calibration_error(*columns) == pytest.approx(ECE().per_query(together)[0], abs=1e-12)
    assert maximum_calibration_error(*columns) == pytest.approx(MCE().per_query(together)[0], abs=1e-12)


def test_the_error_of_no_documents_is_undefined():
    nothing = np.zeros(10)
    assert np.isnan(expected_calibration_error(nothing, nothing, nothing))
    assert np.isnan(maximum_calibration_error(nothing, nothing, nothing))


@pytest.mark.parametrize("bins", [0, -1, 2.5, 1_001, nan, "ten"])
@pytest.mark.parametrize("metric", [ECE, MCE, Reliability])
def test_a_number_of_bins_is_whole_and_not_too_large(metric, bins):
    with pytest.raises(MetricNameError, match=r"bins is .*; it must be a whole number from 1 to 1000"):
        metric(bins=bins)


@pytest.mark.parametrize("metric", [LogLoss, Brier, PCOC, ECE, MCE, Reliability])
def test_the_lowest_relevant_grade_is_a_number(metric):
    with pytest.raises(MetricNameError, match="rel is nan"):
        metric(min_grade=nan)
