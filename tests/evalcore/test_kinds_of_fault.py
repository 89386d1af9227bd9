"""The kinds behind publicly known faults, each as a property of every metric, and other programs' faults on new inputs.

test_known_faults.py has the single inputs on which programs were wrong; here is why they cannot be wrong in this way.
"""

import copy
import json
import subprocess
import sys
from dataclasses import replace
from math import isnan, log2, nan
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import assume, given

from evalcore.compat.pytrec_eval import RelevanceEvaluator
from evalcore.conventions import Conventions
from evalcore.errors import DataError, MetricNameError
from evalcore.evaluated import Evaluation
from evalcore.evaluation import evaluate
from evalcore.metrics import AP, NDCG, RR, P, R, Success, column_name, name, parse
from evalcore.metrics.base import HasElements, HasExpectation
from evalcore.scoring import check
from tests.support.examples import EXAMPLES
from tests.support.strategies import same_bits, seeded

ROOT = Path(__file__).parents[2]
SCALAR = [metric for metric in EXAMPLES if not metric.FACTS.needs and not isinstance(metric, HasElements)]
METRICS = list({(type(metric), metric.cutoff is None): metric for metric in SCALAR}.values())
"""An example of each family that reads grades alone, and one with a cutoff; the last ones have odd parameters."""
AVERAGED = [metric for metric in METRICS if isinstance(metric, HasExpectation) or metric.FACTS.order_free]
BY_ID = ("doc_id_desc", "doc_id_asc", "random", "optimistic", "pessimistic")
DOCUMENTS = "abcdefgh"
Run = dict[str, dict[str, float]]


@st.composite
def runs(draw, *, tied: bool = True, least: int = 1) -> Run:
    """Some queries with scored documents, most of which share their scores if they are tied."""
    scores = st.sampled_from([-1.0, 0.0, 0.5]) if tied else st.floats(-10, 10, allow_subnormal=False)
    answer = st.dictionaries(st.sampled_from(DOCUMENTS), scores, min_size=least, max_size=6)
    found = draw(st.dictionaries(st.sampled_from(["q1", "q2", "q3"]), answer, min_size=1))
    if not tied:
        assume(all(len(set(row.values())) == len(row) for row in found.values()))
    return found


def qrels(*, least: int = 1) -> st.SearchStrategy[Run]:
    """Judgments of three queries; q4 is nobody's."""
    grades = st.dictionaries(st.sampled_from(DOCUMENTS), st.sampled_from([0.0, 1.0, 1.0, 2.0, 3.0]), min_size=least)
    return st.fixed_dictionaries(dict.fromkeys(["q1", "q2", "q3"], grades))


def values(found: Evaluation) -> np.ndarray:
    return np.array([found.values(metric) for metric in found.metrics])


def means(found: Evaluation) -> np.ndarray:
    return np.array(list(found.mean().values()))


def shuffled(mapping: dict, random) -> dict:
    items = list(mapping.items())
    random.shuffle(items)
    return dict(items)


# ties (B01-B07, N5, N21, N22)


@seeded(20)
@given(run=runs(), judged=qrels(), names=st.permutations(DOCUMENTS))
def test_the_mean_over_orders_does_not_know_the_names_of_documents(run, judged, names):
    new = dict(zip(DOCUMENTS, names, strict=True))
    renamed = [
        {q: {new[doc]: value for doc, value in row.items()} for q, row in each.items()} for each in (run, judged)
    ]
    average = Conventions(ties="average")
    before = evaluate(run, judged, AVERAGED, conventions=average)
    after = evaluate(*renamed, AVERAGED, conventions=average)
    assert values(after) == pytest.approx(values(before), abs=1e-12, nan_ok=True)


@seeded(20)
@given(run=runs(), judged=qrels(), random=st.randoms(use_true_random=False))
def test_ties_are_broken_by_what_is_stated_and_not_by_the_order_of_the_input(run, judged, random):
    turned = shuffled({query: shuffled(row, random) for query, row in run.items()}, random)
    shuffled_qrels = {query: shuffled(row, random) for query, row in judged.items()}
    for ties in BY_ID:
        conventions = Conventions(ties=ties)
        one = evaluate(run, judged, METRICS, conventions=conventions)
        other = evaluate(turned, shuffled_qrels, METRICS, conventions=conventions)
        assert same_bits(values(one), values(other)), ties


@seeded(40)
@given(run=runs(), judged=qrels())
def test_all_metrics_of_a_ranking_see_one_order(run, judged):
    for ties in (*BY_ID, "input_order", "average"):
        found = evaluate(
            run, judged, "RR,RR@6,RR@1,P@1,Success@1,AP,AP@6,nDCG(gain=binary)@1", conventions=Conventions(ties=ties)
        )
        for row in found.per_query().values():
            rounding = 1e-12 if ties == "average" else 0
            assert row["RR"] == pytest.approx(row["RR@6"], abs=rounding, rel=0)
            assert row["RR@1"] == pytest.approx(row["P@1"], abs=rounding, rel=0)
            assert row["Success@1"] == pytest.approx(row["P@1"], abs=rounding, rel=0)
            if not isnan(row["AP"]):
                assert row["AP"] == pytest.approx(row["AP@6"], abs=rounding, rel=0)
                assert row["nDCG(gain=binary)@1"] == pytest.approx(row["P@1"], abs=1e-15)


@seeded(40)
@given(run=runs(), relevant=st.sampled_from(DOCUMENTS))
def test_with_one_relevant_document_average_precision_is_reciprocal_rank_under_every_tie_rule(run, relevant):
    judged = {query: {relevant: 1} for query in run}
    for ties in (*BY_ID, "input_order", "average"):
        found = evaluate(run, judged, "AP,RR,AP@2,RR@2", conventions=Conventions(ties=ties))
        for row in found.per_query().values():
            assert row["AP"] == pytest.approx(row["RR"], abs=1e-12)
            assert row["AP@2"] == pytest.approx(row["RR@2"], abs=1e-12)


@seeded(20)
@given(run=runs(tied=False), judged=qrels())
def test_only_the_order_of_scores_matters_where_none_are_tied(run, judged):
    expected = evaluate(run, judged, METRICS)
    ranks = {
        q: {doc: -1000.0 - rank for rank, doc in enumerate(sorted(row, key=row.get, reverse=True))}
        for q, row in run.items()
    }
    for ties in (*BY_ID, "input_order"):
        assert same_bits(values(evaluate(ranks, judged, METRICS, conventions=Conventions(ties=ties))), values(expected))


# queries that one side lacks (B09-B13, B48, N1, N6, N14, N18)


@seeded(40)
@given(run=runs(), judged=qrels(least=1))
def test_every_judged_query_counts_once_in_every_mean_and_answered_ones_alone_under_skip(run, judged):
    metrics = [P(cutoff=2), R(cutoff=2), NDCG(cutoff=2), RR(), AP(), Success(cutoff=1)]
    zero, skip = (
        evaluate(run, judged, metrics, conventions=Conventions(unanswered=choice)) for choice in ("zero", "skip")
    )
    assert zero.queries == tuple(judged)
    for metric in metrics:
        rows = {
            query: 0.0 if isnan(row[name(metric)]) else row[name(metric)] for query, row in zero.per_query().items()
        }
        assert all(rows[query] == 0 for query in rows.keys() - run.keys())
        assert zero.mean()[name(metric)] == pytest.approx(sum(rows.values()) / 3, abs=1e-15)
        assert skip.mean()[name(metric)] == pytest.approx(sum(rows[query] for query in run) / len(run), abs=1e-15)


@seeded(20)
@given(run=runs(), judged=qrels(), random=st.randoms(use_true_random=False))
def test_queries_are_paired_by_their_ids_and_strangers_change_nothing(run, judged, random):
    expected = evaluate(run, judged, METRICS)
    more = shuffled(run | {"q4": {"a": 1.0}, "q5": {"b": 1.0}}, random)
    found = evaluate(more, judged, METRICS)
    assert same_bits(values(found), values(expected))
    assert (expected.n_outside, found.n_outside) == (0, 2)
    narrowed = evaluate(more, judged | {"q4": {"a": 1}}, METRICS, queries=list(judged))
    assert same_bits(means(narrowed), means(expected))


@seeded(20)
@given(run=runs(), judged=qrels())
def test_an_empty_answer_is_no_answer(run, judged):
    asked = {query: run.get(query, {}) for query in judged}
    for unanswered in ("zero", "skip"):
        conventions = Conventions(unanswered=unanswered)
        found, expected = (evaluate(each, judged, METRICS, conventions=conventions) for each in (asked, run))
        assert found.statuses == expected.statuses
        assert same_bits(means(found), means(expected))


# nothing relevant (B17, B18, B20, N4, N17)


@seeded(20)
@given(run=runs(), judged=qrels())
def test_a_query_with_nothing_to_find_counts_as_the_convention_says_for_all_metrics_that_need_something(run, judged):
    needing = [metric for metric in METRICS if metric.FACTS.needs_relevant and metric.FACTS.statistic == "mean"]
    columns = values(evaluate(run, judged, needing))
    known = (~np.isnan(columns)).sum(axis=1)
    total = np.nansum(columns, axis=1)
    zero, one, skip = (
        means(evaluate(run, judged, needing, conventions=Conventions(no_relevant=choice)))
        for choice in ("zero", "one", "skip")
    )
    assert zero == pytest.approx(total / 3, abs=1e-12)
    assert one == pytest.approx((total + 3 - known) / 3, abs=1e-12)
    assert skip[known > 0] == pytest.approx((total / np.maximum(known, 1))[known > 0], abs=1e-12)
    assert np.isnan(skip[known == 0]).all()


def test_a_share_of_nothing_is_undefined_and_stops_nothing():
    found = evaluate({"q": ["a"]}, {"q": {"a": 0}}, "R(cap=k)@1,R,AP,nDCG,Rprec")
    assert all(isnan(value) for value in found.per_query()["q"].values())
    assert set(found.mean().values()) == {0.0}
    assert isnan(evaluate({"q": ["a", "b"]}, {"q": ["a", "b"]}, "Accuracy").per_query()["q"]["Accuracy"])


# repeated documents (B22-B26, N12, N15)


@seeded(40)
@given(
    answer=st.lists(st.sampled_from(DOCUMENTS), min_size=1, max_size=8),
    judged=st.dictionaries(st.sampled_from(DOCUMENTS), st.sampled_from([0.0, 1.0, 2.0]), min_size=1),
)
def test_a_document_counts_once_however_often_it_is_returned(answer, judged):
    once = list(dict.fromkeys(answer))
    for duplicates in ("first", "best_score"):
        found = evaluate({"q": answer}, {"q": judged}, METRICS, conventions=Conventions(duplicates=duplicates))
        assert same_bits(values(found), values(evaluate({"q": once}, {"q": judged}, METRICS)))
    if len(once) < len(answer):
        with pytest.raises(DataError, match="duplicates is error"):
            evaluate({"q": answer}, {"q": judged}, METRICS)


@seeded(20)
@given(relevant=st.lists(st.sampled_from(DOCUMENTS), min_size=1, max_size=8), run=runs())
def test_a_document_is_relevant_once_however_often_it_is_judged_so(relevant, run):
    judged, once = dict.fromkeys(run, relevant), {query: set(relevant) for query in run}
    assert same_bits(values(evaluate(run, judged, METRICS)), values(evaluate(run, once, METRICS)))


# denominators and the ideal (B27-B33)


@seeded(60)
@given(n_relevant=st.integers(1, 8), k=st.integers(1, 8), found=st.lists(st.booleans(), min_size=1, max_size=8))
def test_each_denominator_is_what_its_name_says(n_relevant, k, found):
    assume(sum(found) <= n_relevant)
    qrel = {"q": [f"r{i}" for i in range(n_relevant)]}
    oracle = {"q": [f"r{i}" for i in range(n_relevant)]}
    places = iter(range(n_relevant))
    run = {"q": [f"r{next(places)}" if hit else f"x{i}" for i, hit in enumerate(found)]}
    names = [f"AP@{k}", f"AP(denominator=min(R,k))@{k}", f"AP(denominator=hits)@{k}", f"R@{k}", f"R(cap=k)@{k}"]
    best, row = (evaluate(each, qrel, names).per_query()["q"] for each in (oracle, run))
    reachable = min(n_relevant, k)
    share = pytest.approx(reachable / n_relevant, abs=1e-15)
    assert list(best.values()) == [share, 1, 1, share, 1]
    assert row[names[1]] * reachable == pytest.approx(row[names[0]] * n_relevant, abs=1e-12)
    assert row[names[2]] * sum(found[:k]) == pytest.approx(row[names[0]] * n_relevant, abs=1e-12)
    assert row[names[4]] * reachable == pytest.approx(row[names[3]] * n_relevant, abs=1e-12)


@seeded(40)
@given(run=runs(), judged=qrels(), random=st.randoms(use_true_random=False))
def test_the_ideal_is_made_of_all_judgments_in_whatever_order_they_come(run, judged, random):
    names = "nDCG,nDCG@2,nDCG(gain=exp2)@2,nDCG(ideal=full)@2"
    turned = {query: shuffled(row, random) for query, row in judged.items()}
    found = evaluate(run, turned, names)
    assert same_bits(values(found), values(evaluate(run, judged, names)))
    defined = values(found)[~np.isnan(values(found))]
    assert ((defined >= 0) & (defined <= 1)).all()


# gains (B34-B40, N2, N8, N11, N16, N20, N23, N25)


@seeded(40)
@given(run=runs(), judged=qrels(), bar=st.sampled_from([0.5, 2, 3]))
def test_a_bar_is_one_metric_s_own_and_gains_have_one_only_where_it_is_asked_for(run, judged, bar):
    raised = {q: {doc: grade if grade >= bar else 0.0 for doc, grade in row.items()} for q, row in judged.items()}
    binary = {q: {doc: float(grade >= bar) for doc, grade in row.items()} for q, row in judged.items()}
    together = evaluate(run, judged, f"AP(rel={bar}),nDCG,nDCG(rel={bar}),P@2")
    assert same_bits(together.values(parse(f"AP(rel={bar})")), evaluate(run, binary, "AP").values(AP()))
    assert same_bits(together.values(parse(f"nDCG(rel={bar})")), evaluate(run, raised, "nDCG").values(NDCG()))
    for alone in ("nDCG", "P@2"):
        assert same_bits(together.values(parse(alone)), evaluate(run, judged, alone).values(parse(alone)))


def test_grades_are_taken_as_they_are_and_ids_need_not_be_numbers():
    run, judged = {"topic x": ["a", "b"], "7.1": ["b"]}, {"topic x": {"a": 0.5, "b": 9}, "7.1": {"b": 5}}
    rows = evaluate(run, judged, "DCG(gain=exp2),CG@1").per_query()
    assert rows["topic x"]["DCG(gain=exp2)"] == pytest.approx(2**0.5 - 1 + 511 / log2(3), abs=1e-12)
    assert (rows["topic x"]["CG@1"], rows["7.1"]["CG@1"]) == (0.5, 5)


def test_whether_junk_is_judged_is_a_parameter_and_not_chance():
    run, judged = {"q": ["a", "b", "c"]}, {"q": {"a": -2, "b": 1, "c": 0}}
    found = evaluate(run, judged, "Bpref,Bpref(negative=not_relevant)").mean()
    assert found == {"Bpref": 1.0, "Bpref(negative=not_relevant)": 0.0}


def test_rank_biased_precision_is_what_its_definition_says_in_every_call():
    for _ in range(3):
        found = evaluate({"q": ["x", "a", "b"]}, {"q": {"a": 1, "b": 1}}, "RBP(p=0.9)").mean()
        assert found["RBP(p=0.9)"] == pytest.approx(0.1 * (0.9 + 0.9**2), abs=1e-15)


# state (B43-B45, N2, N19)


@seeded(20)
@given(run=runs(), judged=qrels(), order=st.permutations(range(len(METRICS))))
def test_a_value_depends_on_no_other_metric_no_earlier_call_and_changes_no_argument(run, judged, order):
    before = copy.deepcopy((run, judged))
    expected = evaluate(run, judged, METRICS)
    found = evaluate(run, judged, [METRICS[place] for place in order])
    assert all(same_bits(found.values(metric), expected.values(metric)) for metric in METRICS)
    alone = METRICS[order[0]]
    assert same_bits(evaluate(run, judged, [alone]).values(alone), expected.values(alone))
    assert (run, judged) == before


def test_what_can_be_read_only_once_is_refused_and_not_empty_the_second_time():
    for answer in (iter(["a", "b"]), iter([("a", 1.0)]), (document for document in "ab")):
        with pytest.raises(DataError, match="is no ranking of documents"):
            evaluate({"q": answer}, {"q": {"a": 1}}, "RR")


def test_judgments_that_can_be_read_only_once_are_refused():
    for judged in (iter(["a", "b"]), (document for document in "ab")):
        with pytest.raises(DataError, match="is no collection of documents"):
            evaluate({"q": ["a"]}, {"q": judged}, "RR")


def test_a_document_that_is_called_like_its_query_is_a_document():
    documents = [str(i) for i in range(10)]
    run, judged = {"0": dict.fromkeys(documents, 1.0)}, {"0": documents}
    assert evaluate(run, judged, "R@10").mean() == {"R@10": 1.0}
    assert list(run["0"]) == documents


HASHED = """
import json
from evalcore.evaluation import evaluate
run = {"q": {"a": 3, "b": 2, "c": 1, "d": 0}, "p": {"a": 1, "b": 1}}
qrels = {"q": {"a": 1, "b": 3, "c": 2}, "p": {"b": 1}}
found = evaluate(run, qrels, "nDCG(gain={1:0,2:0,3:1})@10,nDCG,AP,AP(rel=2),RR@10,RR")
print(json.dumps(found.per_query()))
"""


def test_values_do_not_depend_on_the_hashes_of_a_process():
    rows = []
    for seed in ("0", "1"):
        ended = subprocess.run(
            [sys.executable, "-c", HASHED],
            cwd=ROOT,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=True,
        )
        rows.append(json.loads(ended.stdout))
    assert rows[0] == rows[1]
    graded = (1 + 3 / log2(3) + 2 / 2) / (3 + 2 / log2(3) + 1 / 2)
    assert rows[0]["q"]["nDCG"] == pytest.approx(graded, abs=1e-15)


# arguments and types (B46, B47, B50, N10, N24)


@pytest.mark.parametrize("cutoff", [-1, 0, 2.5, True, "5", nan])
def test_no_metric_takes_a_cutoff_that_is_no_rank(cutoff):
    for metric in METRICS:
        if metric.cutoff is not None:
            with pytest.raises(MetricNameError, match="must be a whole number from 1"):
                replace(metric, cutoff=cutoff)


def test_the_stand_in_of_another_program_refuses_what_crashed_it():
    for measure in ("P.0", "P_0", "ndcg_cut_0", "recall.5,0"):
        with pytest.raises(ValueError, match="must be a whole number from 1"):
            RelevanceEvaluator({"q": {"a": 1}}, {measure}).evaluate({"q": {"a": 1.0}})


@seeded(20)
@given(
    run=runs(),
    judged=qrels(),
    kinds=st.tuples(*[st.sampled_from([int, np.int8, np.int64, np.uint16, str, np.str_])] * 4),
)
def test_ids_of_any_type_are_the_same_ids(run, judged, kinds):
    number = {doc: i for i, doc in enumerate(DOCUMENTS)}

    def as_types(table: Run, of_query, of_document) -> dict:
        return {
            of_query(int(query[1:])): {of_document(number[doc]): value for doc, value in row.items()}
            for query, row in table.items()
        }

    expected = evaluate(as_types(run, str, str), as_types(judged, str, str), METRICS)
    found = evaluate(as_types(run, *kinds[:2]), as_types(judged, *kinds[2:]), METRICS)
    assert same_bits(values(found), values(expected))
    assert found.queries == expected.queries


@seeded(20)
@given(run=runs(), judged=qrels(), kind=st.sampled_from([np.float32, np.float16, np.float64, int]))
def test_numbers_of_any_type_are_the_same_numbers(run, judged, kind):
    whole = {q: {doc: value * 2 for doc, value in row.items()} for q, row in run.items()}
    expected = evaluate(whole, judged, METRICS)
    run_of_type, judged_of_type = (
        {q: {doc: kind(value) for doc, value in row.items()} for q, row in table.items()} for table in (whole, judged)
    )
    assert same_bits(values(evaluate(run_of_type, judged_of_type, METRICS)), values(expected))


def test_the_properties_above_are_of_most_metrics():
    assert len(METRICS) >= 20
    assert len({column_name(metric) for metric in METRICS}) == len(METRICS)
    check(AVERAGED, Conventions(ties="average"))
    assert {AP, RR, NDCG, P, R} <= {type(metric) for metric in AVERAGED}
