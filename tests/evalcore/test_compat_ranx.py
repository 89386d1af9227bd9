"""ranx's evaluate, Qrels and Run: the numbers of ranx where no scores are tied."""

import math
import random

import numpy as np
import pytest

from evalcore import DataError, MetricNameError
from evalcore.compat.ranx import NAMES, Qrels, Run, evaluate

QRELS = {"q1": {"a": 1, "b": 2}, "q2": {"a": 1}}
RUN = {"q1": {"a": 0.9, "c": 0.5, "b": 0.1}, "q2": {"b": 0.5, "a": 0.4}}
CUT = [name for name in NAMES if name not in ("r-precision", "bpref")]
METRICS = [
    *(f"{name}{cutoff}{level}" for name in CUT for cutoff in ("", "@1", "@5", "@20") for level in ("", "-l2")),
    *("r-precision", "r-precision-l2", "bpref", "bpref-l2", "rbp.95", "rbp.8-l2"),
]


def drawn(seed: int) -> tuple[dict, dict]:
    draw = random.Random(seed)
    grades = [[0, 1], [0, 1, 2, 3], [-1, 0, 1, 2]][seed % 3]
    qrels = {f"q{i}": {f"d{j}": draw.choice(grades) for j in draw.sample(range(60), 20)} for i in range(20)}
    run = {f"q{i}": {f"d{j}": draw.random() for j in draw.sample(range(80), draw.randint(1, 60))} for i in range(20)}
    return qrels, run


@pytest.mark.filterwarnings("ignore:unsafe cast")  # numba about its own code
def test_every_metric_of_untied_runs_is_that_of_the_package():
    package = pytest.importorskip("ranx")
    for seed in range(3):
        qrels, run = drawn(seed)
        theirs = package.evaluate(package.Qrels(qrels), package.Run(run), METRICS, return_mean=False)
        ours = evaluate(qrels, run, METRICS, return_mean=False)
        for metric in METRICS:
            known = ~np.isnan(theirs[metric])  # its bpref is NaN where the smaller class of judgments is empty
            assert known.all() or metric.startswith("bpref")
            np.testing.assert_allclose(ours[metric][known], theirs[metric][known], rtol=0, atol=1e-12, err_msg=metric)


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("map", ((1 + 2 / 3) / 2 + 1 / 2) / 2),
        ("mrr@1", 1 / 2),
        ("recall@2", (1 / 2 + 1) / 2),
        ("precision", (2 / 3 + 1 / 2) / 2),
        ("hits", (2 + 1) / 2),
        ("f1@2", (1 / 2 + 2 / 3) / 2),
        ("r-precision", 1 / 4),
        ("dcg@1", 1 / 2),
        ("dcg_burges", (1 + 3 / 2 + 1 / math.log2(3)) / 2),
        ("rbp.5", 0.5 * (1 + 2 * 0.25 + 1 * 0.5) / 2),
        ("recall-l2", (1 + 0) / 2),
    ],
)
def test_metrics_by_hand(metric, expected):
    assert evaluate(QRELS, RUN, metric) == pytest.approx(expected)


def test_several_metrics_are_a_dictionary_and_values_are_by_sorted_query():
    assert evaluate(QRELS, RUN, ["mrr", "hits"]) == {"mrr": 0.75, "hits": 1.5}
    backwards = dict(reversed(QRELS.items()))
    assert evaluate(backwards, RUN, "mrr", return_mean=False).tolist() == [1.0, 0.5]


def test_the_standard_deviation_is_that_of_the_values():
    assert evaluate(QRELS, RUN, "mrr", return_std=True) == {"mean": 0.75, "std": 0.25}


def test_queries_are_paired_by_their_ids_and_not_by_their_places():
    assert evaluate({"1": {"a": 1}, "2": {"b": 1}}, {"2": {"b": 1.0}, "1": {"a": 1.0}}, "map") == 1


def test_what_was_found_is_kept_in_the_run_unless_it_is_not_wanted():
    qrels, run = Qrels(QRELS), Run(RUN, name="bm25")
    evaluate(qrels, run, ["mrr"], return_std=True)
    assert (run.name, run.mean_scores, run.std_scores) == ("bm25", {"mrr": 0.75}, {"mrr": 0.25})
    assert run.scores == {"mrr": {"q1": 1.0, "q2": 0.5}}
    evaluate(qrels, run, "hits", save_results_in_run=False)
    assert list(run.scores) == ["mrr"]
    assert Run.from_dict(RUN).to_dict() == run.to_dict() == RUN


def test_other_queries_are_refused_or_made_comparable():
    with pytest.raises(DataError, match="the queries of qrels and run differ"):
        evaluate(QRELS, {"q1": RUN["q1"]}, "mrr")
    run = {"q1": RUN["q1"], "q9": {"a": 1.0}}
    assert evaluate(QRELS, run, "mrr", make_comparable=True) == 0.5
    assert list(run) == ["q1", "q9"]


def test_tied_documents_keep_the_order_in_which_they_are_given():
    assert evaluate({"q": {"b": 1}}, {"q": {"b": 1.0, "a": 1.0, "c": 1.0}}, "mrr") == 1


@pytest.mark.parametrize("wrong", ["ndgc", "ndcg@", "rbp", "map-lx", "NDCG"])
def test_what_is_no_metric_is_refused(wrong):
    with pytest.raises(MetricNameError, match="unknown metric"):
        evaluate(QRELS, RUN, wrong)
