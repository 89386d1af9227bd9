"""evaluate(): values of plain mappings are those of a score table, and what cannot be evaluated is refused."""

import gzip
import math
import time
from copy import deepcopy
from dataclasses import replace

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from evalcore import ConventionError, Conventions, DataError, MetricNameError, evaluate, parse
from evalcore.metrics import Metric, column_name, name
from evalcore.scoring import can_have
from tests.support.data import DATA, needs_data
from tests.support.examples import EXAMPLES
from tests.support.strategies import batches, rankings_of, seeded
from tests.support.trec import read_expected, read_qrels

BY_RANK = Conventions(ties="rank_column")
PLAIN = [metric for metric in EXAMPLES if metric.FACTS.needs <= {"scores", "documents", "reference"}]
BY_SUBTOPIC = [metric for metric in EXAMPLES if metric.FACTS.needs & {"subtopics"}]
RUN = {"q1": {"a": 0.9, "b": 0.5, "c": 0.1}, "q2": {"a": 0.4}}
QRELS = {"q1": {"b": 1, "c": 2, "d": 0}, "q2": {"b": 1}, "q3": {"a": 1}, "q4": {"a": 0}}


def value(run, qrels, metric="AP", **settings) -> float:
    """The value of the one query."""
    found = evaluate(run, qrels, metric, **settings)
    (only,) = found.values(found.metrics[0])
    return float(only)


def nested(rows) -> dict[str, dict[str, float]]:
    """{document: {group: grade}} of (document, group, grade)."""
    found: dict[str, dict[str, float]] = {}
    for document, group, grade in rows:
        found.setdefault(document, {})[group] = grade
    return found


def assert_same(metrics: list[Metric], batch, qrels, **settings) -> None:
    run = {f"q{i}": list(zip(each.extras.documents, each.extras.scores, strict=True)) for i, each in enumerate(batch)}
    found = evaluate(run, qrels, metrics, conventions=BY_RANK, **settings)
    rankings = rankings_of(batch)
    for metric in metrics:
        np.testing.assert_array_equal(found.values(metric), metric.per_query(rankings), err_msg=name(metric))


@seeded(10)
@given(batches().filter(bool))
def test_every_metric_has_the_values_that_it_has_for_the_same_rankings(batch):
    qrels = {f"q{i}": {f"j{j}": grade for j, grade in enumerate(each.judged)} or [] for i, each in enumerate(batch)}
    assert_same(PLAIN, batch, qrels, reference={f"q{i}": each.extras.reference for i, each in enumerate(batch)})


@seeded(10)
@given(batches().filter(bool))
def test_and_every_metric_of_subtopics_from_grades_by_subtopic(batch):
    assert_same(BY_SUBTOPIC, batch, {f"q{i}": nested(each.extras.subtopics) or [] for i, each in enumerate(batch)})


@needs_data
@pytest.mark.parametrize("tag", ["pircRBa1", "rutcor03100"])
def test_a_real_run_has_the_values_of_trec_eval(tag):
    qrels = read_qrels(DATA / "robust03/qrels.robust03.txt")
    run = run_of(DATA / f"robust03/input.{tag}.gz")
    measures = ["map", "ndcg", "ndcg_cut_10", "recip_rank", "P_10", "Rprec"]
    found = evaluate(run, qrels, measures, preset="trec_eval")
    expected = read_expected(DATA / f"expected/robust03.{tag}.perquery.csv.gz")
    for measure, metric in zip(measures, found.metrics, strict=True):
        theirs = [expected[measure][query] for query in found.queries]
        np.testing.assert_allclose(found.counted(metric), theirs, rtol=0, atol=1e-12)


def run_of(path) -> dict[str, list[tuple[str, float]]]:
    found: dict[str, list[tuple[str, float]]] = {}
    for query, _, document, _, score, *_ in map(str.split, gzip.decompress(path.read_bytes()).decode().splitlines()):
        found.setdefault(query, []).append((document, float(score)))
    return found


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


TWICE = {"q": [("a", 0.1), ("b", 0.5), ("a", 0.9), ("c", 0.7)]}


@pytest.mark.parametrize(
    ("rule", "expected"), [("first", 1 / 3), ("last", 1), ("best_score", 1), ("counted", (1 + 2 / 4) / 1)]
)
def test_a_document_that_is_returned_twice_is_treated_as_the_conventions_say(rule, expected):
    assert value(TWICE, {"q": ["a"]}, conventions=Conventions(duplicates=rule)) == pytest.approx(expected)


def test_or_refused_with_examples():
    with pytest.raises(DataError, match="1 documents are returned again, and duplicates is error: query q of the run"):
        evaluate(TWICE, {"q": ["a"]}, "AP")


def test_in_a_list_without_scores_the_first_copy_is_the_best():
    run, qrels = {"q": ["a", "b", "a"]}, {"q": ["a"]}
    for rule, expected in {"first": 1, "best_score": 1, "last": 0.5, "counted": 1 + 2 / 3}.items():
        assert value(run, qrels, conventions=Conventions(duplicates=rule)) == pytest.approx(expected)


TIED = {"q": {"a": 1.0, "b": 1.0, "c": 1.0}}


@pytest.mark.parametrize(
    ("ties", "expected"),
    [
        ("doc_id_desc", 1 / 3),
        ("doc_id_asc", 1),
        ("input_order", 1),
        ("rank_column", 1),
        ("average", (1 + 1 / 2 + 1 / 3) / 3),
        ("average_rank", 1 / 2),
        ("optimistic", 1),
        ("pessimistic", 1 / 3),
    ],
)
def test_ties_are_broken_as_the_conventions_say(ties, expected):
    assert value(TIED, {"q": ["a"]}, "RR", conventions=Conventions(ties=ties)) == pytest.approx(expected)


def test_random_order_depends_on_query_and_document_alone():
    random = Conventions(ties="random")
    forwards, backwards = {"q": ["x", "a", "b"]}, {"q": ["b", "a", "x"]}
    scored = [{"q": dict.fromkeys(run["q"], 1.0)} for run in (forwards, backwards)]
    assert len({value(run, {"q": ["a"]}, "RR", conventions=random) for run in scored}) == 1
    many = {f"q{i}": {"a": 1.0, "b": 1.0} for i in range(200)}
    mean = evaluate(many, {query: ["a"] for query in many}, "P@1", conventions=random).mean()["P@1"]
    assert 0.4 < mean < 0.6


def test_the_order_of_a_list_without_scores_holds_under_every_tie_rule():
    for ties in ("doc_id_desc", "doc_id_asc", "input_order", "average", "average_rank", "pessimistic", "random"):
        assert value({"q": ["c", "a", "b"]}, {"q": ["a"]}, "RR", conventions=Conventions(ties=ties)) == 0.5


def test_scores_that_agree_in_32_bits_are_tied_if_the_conventions_say_so():
    run, qrels = {"q": {"a": 16777217.0, "b": 16777216.0}}, {"q": ["a"]}
    assert value(run, qrels, "RR") == 1
    assert value(run, qrels, "RR", conventions=Conventions(score_precision="float32")) == 0.5


def test_an_explicit_depth_cuts_rankings_and_what_looks_at_whole_ties_is_refused():
    run, qrels = {"q": {"a": 3.0, "b": 2.0, "c": 2.0, "d": 1.0}}, {"q": ["a", "b", "c", "d"]}
    at_2 = Conventions(depth=2)
    assert value(run, qrels, "NumRet", conventions=at_2) == 2
    with pytest.raises(ConventionError, match="looks at all tied documents; use depth: auto with it"):
        evaluate(run, qrels, "NumRet", conventions=replace(at_2, ties="average"))
    assert value(run, qrels, "NumRet", conventions=replace(at_2, ties="optimistic")) == 2


def test_documents_are_removed_as_the_conventions_say():
    run, qrels = {"q": ["x", "n", "a"]}, {"q": {"a": 1, "n": -1}}
    assert value(run, qrels, "RR") == pytest.approx(1 / 3)
    assert value(run, qrels, "RR", conventions=Conventions(unjudged="removed")) == 0.5
    assert value(run, qrels, "RR", conventions=Conventions(unjudged="removed", negative_grade="removed")) == 1
    with pytest.raises(DataError, match="negative_grade is error"):
        evaluate(run, qrels, "RR", conventions=Conventions(negative_grade="error"))


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


def test_diagnostics_stand_beside_the_values():
    found = evaluate(TIED, {"q": ["a"]}, "RR", diagnostics=["ties", "random", "oracle"])
    assert found.columns["rr_ties_low"].tolist() == pytest.approx([1 / 3])
    assert found.columns["rr_ties_high"].tolist() == found.columns["rr_oracle"].tolist() == [1]
    assert found.columns["rr_random"].tolist() == pytest.approx([11 / 18])
    assert can_have(parse("RR"), "ties")


def test_unjudged_documents_could_be_as_good_as_the_best_grade_judged():
    found = evaluate({"q": ["x"]}, {"q": {"a": 3}}, "DCG", diagnostics=["unjudged"])
    assert [found.columns[f"dcg_unjudged_{side}"].tolist() for side in ("low", "high")] == [[0], [3]]


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


def test_a_preset_gives_names_its_meaning_and_metrics_none():
    run, qrels = {"q": ["a", "b"]}, {"q": ["a", "b", "c"]}
    assert value(run, qrels, "AP@2", preset="spark_mllib") == 1
    assert value(run, qrels, [parse("AP@2")], preset="spark_mllib") == pytest.approx(2 / 3)


def test_nothing_that_is_given_is_changed():
    run = {"q": [["b", 1.0], ["a", 2.0]], 2: {"a": 1.0}}
    qrels = {"q": {"a": {"s": 1}, "b": {"t": 2}}, 2: {"a": 1}}
    before = deepcopy((run, qrels))
    first = evaluate(run, qrels, "alpha_nDCG@5,AP", reference=run)
    assert (run, qrels) == before
    assert evaluate(run, qrels, "alpha_nDCG@5,AP", reference=run).per_query() == first.per_query()


@seeded(20)
@given(st.data())
def test_a_query_has_the_same_value_alone_or_among_others(data):
    documents = st.dictionaries(st.sampled_from("abcdef"), st.sampled_from([0.1, 0.2, 0.3]), min_size=1)
    judged = st.dictionaries(st.sampled_from("abcdef"), st.sampled_from([0, 1, 2]), min_size=1)
    run = {f"q{i}": data.draw(documents) for i in range(4)}
    qrels = {f"q{i}": data.draw(judged) for i in range(4)}
    together = evaluate(run, qrels, "AP,nDCG@3,RR").per_query()
    for query in run:
        alone = evaluate({query: run[query]}, {query: qrels[query]}, "AP,nDCG@3,RR").per_query()
        np.testing.assert_equal(alone[query], together[query])


def test_20_000_queries_take_less_than_seconds():
    rng = np.random.default_rng(0)
    documents = [f"d{i}" for i in range(1000)]
    picked = rng.integers(0, 1000, (20_000, 10)).tolist()
    scores = rng.random(10).tolist()
    run = {f"q{i}": dict(zip([documents[j] for j in row], scores, strict=True)) for i, row in enumerate(picked)}
    qrels = {f"q{i}": {documents[row[0]]: 1, documents[i % 1000]: 2} for i, row in enumerate(picked)}
    start = time.perf_counter()
    found = evaluate(run, qrels, "nDCG@10,AP,RR@10,P@5")
    assert time.perf_counter() - start < 10  # half a second on an idle machine
    assert len(found.queries) == 20_000


def test_columns_are_called_as_in_a_score_table():
    assert list(evaluate(RUN, QRELS, "nDCG(gain=exp2)@10").columns) == [column_name(parse("nDCG(gain=exp2)@10"))]
