"""evaluate(): which queries count, and how their values become one."""

import math

import numpy as np
import pytest

from evalcore import ConventionError, Conventions, DataError, evaluate
from tests.support.plain import QRELS, RUN


def test_every_query_has_a_status_and_stays_in_the_order_of_the_judgments():
    found = evaluate(RUN | {"q9": {"z": 1}}, QRELS, "AP,NumRet", queries=["q9", "q3", "q1", "q2", "q4", "q8"])
    assert found.queries == ("q9", "q3", "q1", "q2", "q4", "q8")
    assert found.statuses == ("unjudged", "unanswered", "ok", "ok", "unanswered", "unjudged")
    assert evaluate(RUN | {"q4": {"a": 1}}, QRELS, "AP").statuses == ("ok", "ok", "unanswered", "no_relevant")
    assert np.isnan(found.columns["numret"][[0, 5]]).all()
    assert found.columns["numret"][1:5].tolist() == [0, 3, 1, 0]


def test_queries_of_the_run_outside_the_universe_are_counted():
    assert evaluate(RUN | {"q8": {"z": 1}, "q9": {"z": 1}}, QRELS, "AP").n_outside == 2
    assert evaluate(RUN, QRELS, "AP", queries=["q1"]).n_outside == 1


def test_a_query_without_relevant_documents_is_judged_and_one_without_judgments_is_not():
    found = evaluate({"q1": ["a"], "q2": ["a"]}, {"q1": ["a"], "q2": []}, "AP,NumRel")
    assert found.statuses == ("ok", "no_relevant")
    assert found.mean() == {"AP": 0.5, "NumRel": 1.0}
    found = evaluate({"q1": ["a"], "q2": ["a"]}, {"q1": ["a"], "q2": {}}, "AP,NumRel")
    assert found.statuses == ("ok", "unjudged")
    assert found.mean() == {"AP": 1.0, "NumRel": 1.0}


@pytest.mark.parametrize(
    ("changed", "settings", "match"),
    [
        ({"unanswered": "error"}, {}, "2 queries are refused, because unanswered is error: q3; q4$"),
        ({"no_relevant": "error"}, {}, "1 queries are refused, because no_relevant is error: q4$"),
        ({"unjudged_query": "error"}, {"queries": ["q1", "q7"]}, "1 queries have no judgments, .*: q7$"),
    ],
)
def test_queries_that_the_conventions_do_not_let_pass_are_refused(changed, settings, match):
    with pytest.raises(DataError, match=match):
        evaluate(RUN, QRELS, "AP", conventions=Conventions(**changed), **settings)


def test_a_query_of_the_run_without_judgments_is_refused_if_the_conventions_say_so():
    with pytest.raises(DataError, match="1 queries have no judgments, and unjudged_query is error: q9"):
        evaluate(RUN | {"q9": ["a"]}, QRELS, "AP", conventions=Conventions(unjudged_query="error"))


MEANS = [
    ({}, (7 / 12 + 0 + 0 + 0) / 4),
    ({"no_relevant": "skip"}, (7 / 12 + 0 + 0) / 3),
    ({"no_relevant": "one"}, (7 / 12 + 0 + 0 + 1) / 4),
    ({"unanswered": "skip"}, 7 / 24),
    ({"mean": "sum"}, 7 / 12),
    ({"mean": "median"}, 0.0),
    ({"mean": "geometric"}, (7 / 12 * 1e-15) ** (1 / 4)),
    ({"unanswered": "skip", "mean": "geometric"}, (7 / 12 * 1e-5) ** (1 / 2)),
]


@pytest.mark.parametrize(("changed", "expected"), MEANS)
def test_the_mean_counts_queries_as_the_conventions_say(changed, expected):
    assert evaluate(RUN, QRELS, "AP", conventions=Conventions(**changed)).mean()["AP"] == pytest.approx(expected)


def test_queries_may_have_weights():
    weighted = Conventions(mean="weighted")
    found = evaluate(RUN, QRELS, "AP", conventions=weighted, queries={"q1": 3, "q2": 1})
    assert found.mean()["AP"] == pytest.approx(3 / 4 * 7 / 12)
    with pytest.raises(ConventionError, match="mean: weighted needs weights"):
        evaluate(RUN, QRELS, "AP", conventions=weighted)
    with pytest.raises(DataError, match="negative, NaN or infinite"):
        evaluate(RUN, QRELS, "AP", conventions=weighted, queries={"q1": -1})
    assert math.isnan(evaluate(RUN, QRELS, "AP", conventions=weighted, queries={"q1": 0}).mean()["AP"])


def test_a_metric_with_a_mean_of_its_own_keeps_it():
    run, qrels = {"q1": ["a", "x"], "q2": ["x", "x2", "a"]}, {"q1": ["a"], "q2": ["a", "b"]}
    found = evaluate(run, qrels, "NumRel,GMAP", conventions=Conventions(mean="median"))
    assert found.mean() == {"NumRel": 3.0, "GMAP": pytest.approx(math.sqrt(1 * 1 / 6))}


def test_a_ratio_is_the_quotient_of_sums():
    run = {"q1": {"a": 0.5, "b": 0.5}, "q2": {"a": 0.2}}
    qrels = {"q1": {"a": 1, "b": 0}, "q2": {"a": 1}}
    assert evaluate(run, qrels, "PCOC").mean()["PCOC"] == pytest.approx((0.5 + 0.5 + 0.2) / (1 + 0 + 1))


def test_a_vector_has_a_mean_for_each_element():
    found = evaluate({"q1": ["a"], "q2": ["b", "a"]}, {"q1": ["a"], "q2": ["a"]}, "IPrecCurve")
    (mean,) = found.mean().values()
    assert mean.tolist() == [0.75] * 11
    assert len(found.per_query()["q1"]["IPrecCurve"]) == 11


def test_units_are_refused_because_there_are_none():
    with pytest.raises(ConventionError, match="mean: units needs the unit of each query"):
        evaluate(RUN, QRELS, "AP", conventions=Conventions(mean="units"))
