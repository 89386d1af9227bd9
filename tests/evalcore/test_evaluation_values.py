"""evaluate(): values of plain mappings are those of a score table, and follow the conventions."""

import time
from dataclasses import replace

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from evalcore import ConventionError, Conventions, DataError, evaluate, parse
from evalcore.metrics import Metric, column_name, name
from evalcore.scoring import can_have
from tests.support.data import DATA, needs_data
from tests.support.examples import EXAMPLES
from tests.support.plain import QRELS, RUN, TIED, value
from tests.support.strategies import batches, rankings_of, seeded
from tests.support.trec import lines_of, read_expected, read_qrels

BY_RANK = Conventions(ties="rank_column")
PLAIN = [metric for metric in EXAMPLES if metric.FACTS.needs <= {"scores", "documents", "reference"}]
BY_SUBTOPIC = [metric for metric in EXAMPLES if metric.FACTS.needs & {"subtopics"}]


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
    for query, _, document, _, score, *_ in map(str.split, lines_of(path)):
        found.setdefault(query, []).append((document, float(score)))
    return found


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


def test_a_preset_gives_names_its_meaning_and_metrics_none():
    run, qrels = {"q": ["a", "b"]}, {"q": ["a", "b", "c"]}
    assert value(run, qrels, "AP@2", preset="spark_mllib") == 1
    assert value(run, qrels, [parse("AP@2")], preset="spark_mllib") == pytest.approx(2 / 3)


def test_diagnostics_stand_beside_the_values():
    found = evaluate(TIED, {"q": ["a"]}, "RR", diagnostics=["ties", "random", "oracle"])
    assert found.columns["rr_ties_low"].tolist() == pytest.approx([1 / 3])
    assert found.columns["rr_ties_high"].tolist() == found.columns["rr_oracle"].tolist() == [1]
    assert found.columns["rr_random"].tolist() == pytest.approx([11 / 18])
    assert can_have(parse("RR"), "ties")


def test_unjudged_documents_could_be_as_good_as_the_best_grade_judged():
    found = evaluate({"q": ["x"]}, {"q": {"a": 3}}, "DCG", diagnostics=["unjudged"])
    assert [found.columns[f"dcg_unjudged_{side}"].tolist() for side in ("low", "high")] == [[0], [3]]


def test_columns_are_called_as_in_a_score_table():
    assert list(evaluate(RUN, QRELS, "nDCG(gain=exp2)@10").columns) == [column_name(parse("nDCG(gain=exp2)@10"))]
