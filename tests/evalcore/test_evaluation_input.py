"""evaluate(): what it reads, in which forms, and what it refuses."""

import math
from copy import deepcopy

import numpy as np
import pytest

from evalcore import ConventionError, Conventions, DataError, MetricNameError, evaluate, parse
from tests.support.plain import QRELS, RUN, TIED, value


@pytest.mark.parametrize(
    "run",
    [
        {"q": {"c": 1.0, "a": 3.0, "b": 2.0}},
        {"q": [("c", 1.0), ("a", 3.0), ("b", 2.0)]},
        {"q": [["c", 1], ["a", 3], ["b", 2]]},
        {"q": ["a", "b", "c"]},
        {"q": ("a", "b", "c")},
        {"q": np.array(["a", "b", "c"])},
        {"q": {"c": np.float32(1), "a": np.int64(3), "b": 2}},
    ],
)
def test_a_run_may_be_written_in_several_ways(run):
    assert value(run, {"q": {"b": 1}}, "RR") == 0.5


@pytest.mark.parametrize("qrels", [{"q": {"b": 1, "c": 0}}, {"q": ["b"]}, {"q": {"b"}}, {"q": {"b": True, "c": False}}])
def test_judgments_may_be_written_in_several_ways(qrels):
    assert value({"q": ["a", "b", "c"]}, qrels, "AP") == 0.5


def test_a_number_is_the_same_id_as_its_text():
    for one, other in ((7, "7"), (np.int64(7), "7"), ("7", np.int32(7)), (np.str_("7"), 7)):
        assert value({one: {one: 1.0}}, {other: {other: 1}}) == 1


@pytest.mark.parametrize("wrong", [None, True, np.True_, 1.0, math.nan, b"a", ("a", 1)])
def test_what_is_no_id_is_refused(wrong):
    for run, qrels in (
        ({wrong: {"a": 1.0}}, {"q": {"a": 1}}),
        ({"q": {wrong: 1.0}}, {"q": {"a": 1}}),
        ({"q": {"a": 1.0}}, {wrong: {"a": 1}}),
        ({"q": {"a": 1.0}}, {"q": {wrong: 1}}),
    ):
        with pytest.raises(DataError, match="is no id: ids are texts or whole numbers"):
            evaluate(run, qrels, "AP")


def test_an_id_that_is_there_as_a_number_and_as_its_text_is_there_twice():
    with pytest.raises(DataError, match="a query of the run is given twice"):
        evaluate({1: {"a": 1}, "1": {"b": 1}}, {"1": {"a": 1}}, "AP")
    with pytest.raises(DataError, match="1 documents are returned again"):
        evaluate({"q": {1: 1.0, "1": 0.5}}, {"q": {"1": 1}}, "AP")
    with pytest.raises(DataError, match="query q of the judgments: a document is there as a number and as the text"):
        evaluate({"q": {"1": 0.5}}, {"q": {1: 1, "1": 2}}, "AP")


@pytest.mark.parametrize("wrong", [None, "0.5", [1.0], 1j])
def test_what_is_no_number_is_refused_with_its_place(wrong):
    with pytest.raises(DataError, match=r"query q of the run, document b is .* which is no number"):
        evaluate({"q": {"a": 1.0, "b": wrong}}, {"q": {"a": 1}}, "AP")
    with pytest.raises(DataError, match=r"the grade of query q, document b is .* which is no number"):
        evaluate({"q": {"a": 1.0}}, {"q": {"a": 1, "b": wrong}}, "AP")
    with pytest.raises(DataError, match=r"the weight of query q is .* which is no number"):
        evaluate({"q": {"a": 1.0}}, {"q": {"a": 1}}, "AP", queries={"q": wrong})
    with pytest.raises(DataError, match="which is no number"):
        evaluate({"q": {"a": 1.0}}, {"q": {"a": 1, "b": {"s": wrong}}}, "AP")


@pytest.mark.parametrize("wrong", [10**400, -(10**400)], ids=["large", "low"])
def test_a_number_beyond_every_double_is_refused_with_its_place(wrong):
    with pytest.raises(DataError, match="query q of the run, document b is beyond every double"):
        evaluate({"q": {"a": 1.0, "b": wrong}}, {"q": {"a": 1}}, "AP")
    with pytest.raises(DataError, match="the grade of query q, document b is beyond every double"):
        evaluate({"q": {"a": 1.0}}, {"q": {"a": 1, "b": wrong}}, "AP")


def test_queries_that_are_one_text_are_no_list_of_its_letters():
    with pytest.raises(DataError, match="the queries asked for are '12'; give a list of ids"):
        evaluate({"1": ["a"], "2": ["a"]}, {"1": ["a"], "2": ["a"]}, "AP", queries="12")


@pytest.mark.parametrize("wrong", [math.nan, math.inf, -math.inf])
def test_a_grade_that_is_not_finite_is_refused(wrong):
    with pytest.raises(DataError, match="1 numbers are NaN or infinite: the grade of query q, document b is"):
        evaluate({"q": {"a": 1.0}}, {"q": {"a": 1, "b": wrong}}, "AP")


@pytest.mark.parametrize("wrong", [math.nan, math.inf, -math.inf])
def test_a_score_that_is_not_finite_is_refused_or_ranks_last(wrong):
    run, qrels = {"q": {"b": wrong, "a": 0.0}}, {"q": {"a": 1}}
    with pytest.raises(DataError, match="non_finite_score is error: query q of the run, document b is"):
        evaluate(run, qrels, "AP")
    assert value(run, qrels, conventions=Conventions(non_finite_score="last")) == 1


@pytest.mark.parametrize(
    ("run", "qrels", "match"),
    [
        ({"q": "abc"}, {"q": ["a"]}, "'abc' is no ranking of documents"),
        ({"q": {"a", "b"}}, {"q": ["a"]}, "is no ranking of documents"),
        ({"q": 3}, {"q": ["a"]}, "3 is no ranking of documents"),
        ({"q": [("a", 1.0), "b"]}, {"q": ["a"]}, r"not all rows are \(document, score\)"),
        ({"q": [("a", 1.0, 2)]}, {"q": ["a"]}, r"not all rows are \(document, score\)"),
        ({"q": {"a": 1.0}, "r": ["a"]}, {"q": ["a"], "r": ["a"]}, "some queries of the run give scores and others"),
        ([("q", "a")], {"q": ["a"]}, "the queries of the run are given as list"),
        ({"q": ["a"]}, {"q": "a"}, "'a' is no collection of documents"),
        ({"q": ["a"]}, {"q": 1}, "1 is no collection of documents"),
    ],
)
def test_data_of_another_form_is_refused(run, qrels, match):
    with pytest.raises(DataError, match=match):
        evaluate(run, qrels, "AP")


def test_a_run_without_a_judged_query_is_refused_with_ids_of_both():
    with pytest.raises(DataError, match=r"^no query of the run is judged; run e\.g\. 7, qrels e\.g\. 7\.1$"):
        evaluate({"7": [("a", 1.0)]}, {"7.1": {"a": 1}}, "AP")
    with pytest.raises(DataError, match=r"run e\.g\. none, qrels e\.g\. q"):
        evaluate({}, {"q": {"a": 1}}, "AP")
    with pytest.raises(DataError, match=r"run e\.g\. q, qrels e\.g\. none"):
        evaluate({"q": {"a": 1}}, {}, "AP")


def test_metrics_that_need_what_the_data_lacks_say_so():
    with pytest.raises(DataError, match="scores are needed for Brier, and the run gives documents alone"):
        evaluate({"q": ["a"]}, {"q": ["a"]}, "Brier")
    with pytest.raises(DataError, match="needs reference, and none was given"):
        evaluate({"q": ["a"]}, {"q": ["a"]}, "RBO")
    with pytest.raises(ConventionError, match="ties: average is not defined for"):
        evaluate(TIED, {"q": ["a"]}, "infAP", conventions=Conventions(ties="average"))


def test_what_is_wrong_with_the_reference_run_is_told_of_it():
    with pytest.raises(DataError, match="query q of the reference run: 3 is no ranking"):
        evaluate({"q": ["a"]}, {"q": ["a"]}, "RBO", reference={"q": 3})


def test_names_and_metrics_may_be_mixed_and_must_differ():
    found = evaluate(RUN, QRELS, ["AP, P@5", parse("RR")])
    assert list(found.mean()) == ["AP", "P@5", "RR"]
    with pytest.raises(MetricNameError, match="a metric is named twice: ap"):
        evaluate(RUN, QRELS, ["map", parse("AP")])
    with pytest.raises(MetricNameError, match="no metric is named"):
        evaluate(RUN, QRELS, [])


def test_nothing_that_is_given_is_changed():
    run = {"q": [["b", 1.0], ["a", 2.0]], 2: {"a": 1.0}}
    qrels = {"q": {"a": {"s": 1}, "b": {"t": 2}}, 2: {"a": 1}}
    before = deepcopy((run, qrels))
    first = evaluate(run, qrels, "alpha_nDCG@5,AP", reference=run)
    assert (run, qrels) == before
    assert evaluate(run, qrels, "alpha_nDCG@5,AP", reference=run).per_query() == first.per_query()
