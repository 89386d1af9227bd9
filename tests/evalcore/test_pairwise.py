"""Pairs of documents: worked by hand, against scikit-learn's and ir_measures' values, and as many as there may be."""

import json
import tracemalloc
from math import exp, isnan, log, nan

import numpy as np
import pytest

from evalcore.conventions import Conventions
from evalcore.errors import MetricNameError
from evalcore.metrics import AUC, Accuracy, PairwiseAccuracy, PairwiseLogLoss, parse
from evalcore.metrics import scored as kernels
from evalcore.rankings import JudgedRankings
from evalcore.scoring import prepared
from evalcore.segments import offsets_of
from tests.support.data import DATA, needs_data
from tests.support.strategies import random_batch, rankings_of, same_bits


def value(metric: str, scores, grades) -> float:
    judged = [grade for grade in grades if grade is not None]
    rankings = JudgedRankings.from_lists(retrieved=[grades], judged=[judged], scores=[scores])
    return float(parse(metric).per_query(rankings)[0])


@pytest.mark.parametrize(
    ("metric", "scores", "grades", "expected"),
    [
        ("PairwiseAccuracy", [3, 2, 1], [2, 0, 1], 2 / 3),
        ("PairwiseAccuracy", [3, 2, 1], [1, 1, 0], 1),  # equal grades make no pair
        ("PairwiseAccuracy", [2, 2, 1], [1, 0, 0], 1.5 / 2),
        ("PairwiseAccuracy(ties=wrong)", [2, 2, 1], [1, 0, 0], 1 / 2),
        ("PairwiseAccuracy", [3, 2, 1], [0, None, 1], 0),  # an unjudged document makes none either
        ("PairwiseAccuracy", [2, 1], [-1, -2], 1),  # a negative grade is a grade
        ("PairwiseAccuracy", [2, 1], [1, 1], nan),
        ("PairwiseAccuracy", [2], [1], nan),
        ("PairwiseAccuracy", [], [], nan),
        ("AUC", [4, 3, 2, 1], [1, 0, 2, 0], 3 / 4),
        ("AUC", [1, 1], [1, 0], 1 / 2),
        ("AUC(rel=2)", [4, 3, 2, 1], [1, 0, 2, 0], 1 / 3),
        ("AUC", [2, 1], [2, 1], nan),
        ("AUC", [2, 1], [0, None], nan),
        ("PairwiseLogLoss", [2, 1], [1, 0], log(1 + exp(-1))),
        ("PairwiseLogLoss", [2, 1, 0], [0, 1, 2], (log(1 + exp(1)) * 2 + log(1 + exp(2))) / 3),
        ("PairwiseLogLoss", [1000, 0], [0, 1], 1000),  # where exp is infinite
        ("PairwiseLogLoss", [1000, 0], [1, 0], 0),
        ("PairwiseLogLoss", [1, 0], [1, 1], nan),
        ("PairwiseLogLoss", [1, nan], [1, 0], nan),
        ("PairwiseLogLoss", [1, -np.inf], [1, 0], nan),
    ],
)
def test_the_value_is_the_one_worked_out_by_hand(metric, scores, grades, expected):
    assert value(metric, scores, grades) == pytest.approx(expected, abs=1e-15, nan_ok=True)


@needs_data
def test_auc_is_that_of_scikit_learn():
    expected = json.loads((DATA / "expected" / "small_cases_sklearn_scipy.json").read_text())["auc_logloss"]
    assert value("AUC", expected["p"], expected["y"]) == pytest.approx(expected["roc_auc(ties=1/2)"], abs=1e-15)


def test_where_all_retrieved_documents_are_relevant_accuracy_is_undefined_and_no_error():
    assert isnan(value("Accuracy", [2, 1], [1, 1]))  # ir_measures 0.4.3 divides by zero


def test_without_ties_accuracy_of_judged_documents_is_auc():
    rng = np.random.default_rng(3)
    for _ in range(50):
        grades = rng.integers(0, 3, rng.integers(0, 12)).astype(float).tolist()
        scores = [-float(rank) for rank in range(len(grades))]
        assert value("Accuracy", scores, grades) == pytest.approx(value("AUC", scores, grades), abs=1e-12, nan_ok=True)


def test_with_shared_ranks_a_tied_pair_of_accuracy_counts_half():
    rankings = JudgedRankings.from_lists(retrieved=[[1, 0, 0, 1]], judged=[[1, 1, 0, 0]], scores=[[2.0, 2.0, 1.0, 0.0]])
    shared = prepared(rankings, Conventions(ties="average_rank"))
    assert Accuracy().per_query(shared) == pytest.approx([1.5 / 4])
    assert Accuracy(cutoff=1).per_query(shared) == pytest.approx([nan], nan_ok=True)  # both stand at rank 1.5
    assert Accuracy(cutoff=2).per_query(shared) == pytest.approx([0.5])


def test_values_do_not_depend_on_how_many_pairs_are_looked_at_at_once(monkeypatch):
    batch = random_batch(60, depth=40, seed=6)
    expected = PairwiseLogLoss().per_query(rankings_of(batch))
    for at_once in (1, 7, 300):
        monkeypatch.setattr(kernels, "PAIRS_AT_ONCE", at_once)
        assert same_bits(PairwiseLogLoss().per_query(rankings_of(batch)), expected)


@pytest.mark.parametrize("values", [[], [5], [1, 2, 3], [3, 1, 2, 2, 9, 0], [2, 2, 2]])
def test_what_is_out_of_order_is_what_a_loop_finds(values):
    before, behind = kernels.out_of_order(
        np.array([*values, 4, *values], dtype=float), offsets_of([len(values), 1, len(values)])
    )
    places = range(len(values))
    loop_before = [sum(values[j] < values[i] for j in places if j < i) for i in places]
    loop_behind = [sum(values[j] > values[i] for j in places if j > i) for i in places]
    assert before.tolist() == [*loop_before, 0, *loop_before]
    assert behind.tolist() == [*loop_behind, 0, *loop_behind]


def test_a_ranking_of_a_hundred_thousand_documents_takes_no_matrix_of_pairs():
    rng = np.random.default_rng(4)
    scores = rng.random(100_000)
    grades = np.zeros(100_000)
    grades[::5_000] = 1
    fine = rng.random(100_000)  # as many grades as documents
    for metrics, judged in (([PairwiseAccuracy(), AUC(), PairwiseLogLoss()], grades), ([PairwiseAccuracy()], fine)):
        rankings = JudgedRankings.from_lists(retrieved=[judged], judged=[judged], scores=[scores])
        tracemalloc.start()
        values = [metric.per_query(rankings)[0] for metric in metrics]
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert np.isfinite(values).all()
        assert peak < 100e6


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: PairwiseAccuracy(ties="right"), 'unknown ties "right"'),
        (lambda: AUC(min_grade=nan), "rel is nan"),
        (lambda: Accuracy(cutoff=0), "cutoff is 0"),
    ],
)
def test_a_wrong_parameter_is_refused(make, message):
    with pytest.raises(MetricNameError, match=message):
        make()
