"""Publicly reported faults of evaluation programs, on the reported inputs: in evalcore none of them is there.

The inputs are not part of the project. What each fault is a case of is in test_kinds_of_fault.py, which needs none.
"""

import copy
import json
import re
import subprocess
import sys
import time
from dataclasses import fields
from math import isnan
from pathlib import Path

import numpy as np
import pytest

from evalcore.compat.pytrec_eval import RelevanceEvaluator, parse_qrel
from evalcore.conventions import Conventions
from evalcore.errors import DataError
from evalcore.evaluated import Evaluation
from evalcore.evaluation import evaluate
from evalcore.inference import UnitSums, benjamini_hochberg, bonferroni, holm, infer, sign_flip_p_value
from evalcore.metrics import METRICS, name, parse
from evalcore.rankings import JudgedRankings
from evalcore.verdict import verdict_of_interval
from tests.support.reports import (
    ELSEWHERE,
    EXPECTED,
    REPORTS,
    TOLERANCE,
    Expected,
    case,
    needs_reports,
    reported,
)

ROOT = Path(__file__).parents[2]
LEVELS = ("tests/evalcore/test_public_reports.py", "tests/jobs/test_public_reports.py")


def evaluated(number: str, metrics: str, *, system: str = "A", topics: bool = False, **conventions: str) -> Evaluation:
    content = case(number)
    return evaluate(
        content.runs[system],
        content.judged(),
        metrics,
        conventions=Conventions(**conventions),
        queries=content.topics if topics else None,
    )


@needs_reports
def test_every_report_is_handled():
    tested = {
        number
        for file in LEVELS
        for number in re.findall(r'@reported\("(B\d+)"\)', (ROOT / file).read_text(encoding="utf-8"))
    }
    with_more = {number for number, report in REPORTS.items() if ELSEWHERE.intersection(report["expected"])}
    assert with_more <= tested
    assert set(REPORTS) == {expected.case for expected in EXPECTED} | tested


@pytest.mark.parametrize("expected", EXPECTED, ids=str)
def test_evaluate_gives_the_number_that_is_right(expected: Expected):
    metric = name(parse(expected.metric))
    found = evaluated(
        expected.case, metric, system=expected.system, topics=expected.topics, **dict(expected.conventions)
    )
    value = found.mean()[metric] if expected.query is None else found.per_query()[expected.query][metric]
    assert value == pytest.approx(expected.value, abs=TOLERANCE, rel=0)


# queries that are missing on one side


@reported("B10")
def test_a_query_without_an_answer_has_a_row_that_says_so():
    found = evaluated("B10", "AP")
    assert len(found.per_query()) == REPORTS["B10"]["expected"]["n_rows"]
    assert dict(zip(found.queries, found.statuses, strict=True)) == {"q1": "ok", "q2": "unanswered"}


@reported("B11")
def test_no_query_in_common_is_an_error_with_examples_of_both_sides():
    with pytest.raises(DataError, match=r"run e\.g\. 7, qrels e\.g\. 7\.1$"):
        evaluated("B11", "AP")


@reported("B12")
def test_queries_that_nobody_judged_are_counted_and_in_no_mean():
    found = evaluated("B12", "AP")
    assert found.n_outside == REPORTS["B12"]["expected"]["n_extra_queries"]
    assert found.queries == ("q1",)


@reported("B48")
def test_queries_of_one_side_alone_are_told_and_stop_nothing():
    found = evaluated("B48", "AP")
    expected = REPORTS["B48"]["expected"]
    statuses = zip(found.queries, found.statuses, strict=True)
    assert [query for query, status in statuses if status == "unanswered"] == expected["missing"]
    assert found.n_outside == len(expected["extra"])


@reported("B18")
def test_nothing_to_find_is_nan_in_the_table_whatever_the_mean_makes_of_it():
    for no_relevant in ("zero", "skip", "one"):
        values = [row["nDCG"] for row in evaluated("B18", "nDCG", no_relevant=no_relevant).per_query().values()]
        assert values[0] == 1
        assert isnan(values[1])


# repeated documents


@reported("B22")
def test_a_document_returned_twice_is_an_error_that_names_it():
    for number, system, document in (("B22", "A", "a"), ("B24", "r", "A")):
        with pytest.raises(DataError, match=rf"duplicates is error: query q of the run, document {document}$"):
            evaluated(number, "AP", system=system)


@reported("B25")
def test_a_document_judged_twice_is_an_error_that_names_it():
    (query, document), rows = REPORTS["B25"]["expected"]["error_on"], REPORTS["B25"]["input"]["qrels_rows"]
    with pytest.raises(DataError, match=rf"query {query} has document {document} already"):
        parse_qrel([f"{q} 0 {doc} {grade}" for q, doc, grade in rows if doc == document])


# state


@reported("B43")
@pytest.mark.parametrize("number", ["B43", "B44", "B45"])
def test_what_is_evaluated_again_has_the_same_value(number):
    content = case(number)
    run, qrels = content.runs["A"], content.judged()
    before = copy.deepcopy((run, qrels))
    evaluator = RelevanceEvaluator(qrels, {"ndcg_cut_2,10,20"} if number != "B45" else {"ndcg_cut_10"})
    first = evaluate(run, qrels, "nDCG@2,nDCG@10,nDCG@20").per_query()
    scored = {query: dict(rows) for query, rows in run.items()}
    first_of_stand_in = evaluator.evaluate(scored)
    for _ in range(REPORTS[number]["input"]["repeat"]):
        assert str(evaluate(run, qrels, "nDCG@2,nDCG@10,nDCG@20").per_query()) == str(first)
        assert evaluator.evaluate(scored) == first_of_stand_in
    assert (run, qrels) == before


# arguments and types


@reported("B46")
def test_a_cutoff_is_a_whole_number_from_1_or_the_metric_is_not_made():
    with_cutoff = [metric for metric in METRICS.values() if "cutoff" in {field.name for field in fields(metric)}]
    assert len(with_cutoff) > 10
    for metric in with_cutoff:
        for cutoff in REPORTS["B46"]["input"]["k"]:
            with pytest.raises(ValueError, match=r"it must be a whole number from 1"):
                metric(cutoff=cutoff)


@reported("B47")
@pytest.mark.parametrize("score", [np.int32, np.int64, np.float32, np.uint8, int, float])
@pytest.mark.parametrize("as_id", [str, np.str_, int, np.int32, np.int64])
def test_ids_and_scores_of_any_integer_or_text_type_load(as_id, score):
    frame = REPORTS["B47"]["input"]["df"]
    rows = list(zip(frame["q_id"], frame["doc_id"], frame["score(int32)"], strict=True))
    run = {as_id(query): {as_id(document): score(value)} for query, document, value in rows}
    assert evaluate(run, run, "AP").mean()["AP"] == REPORTS["B47"]["expected"]["AP of itself"]


@reported("B50")
def test_a_number_is_the_same_id_as_its_text():
    given = REPORTS["B50"]["input"]
    as_numbers = {int(q): {int(doc): grade for doc, grade in row.items()} for q, row in given["qrels_int_ids"].items()}
    run = {query: dict(rows) for query, rows in given["runs_str_ids"]["A"].items()}
    assert evaluate(run, as_numbers, "AP").mean()["AP"] == REPORTS["B50"]["expected"]["AP"]


# memory and speed


def in_a_fresh_process(program: str) -> dict[str, float]:
    """What the program prints as JSON."""
    ended = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(ended.stdout)
    return found


TEN_MILLION_ROWS = """
import json, resource
import numpy as np
from evalcore import parse_list
from evalcore.ordering import rank_order
from evalcore.rankings import Grades, JudgedRankings

n_queries, depth, n_judged = 100_000, 100, 10
rng = np.random.default_rng(1)
offsets = np.arange(n_queries + 1) * depth
scores, documents = rng.random(n_queries * depth), rng.integers(0, 1_000_000, n_queries * depth)
order = rank_order(scores, offsets, doc_ids=documents)
grades = np.where(documents[order] < 100_000, documents[order] % 3, np.nan)
judged = Grades(np.tile(np.arange(n_judged, 0, -1.0) // 4, n_queries), np.arange(n_queries + 1) * n_judged)
rankings = JudgedRankings(retrieved=Grades(grades, offsets), judged=judged)
for metric in parse_list("nDCG@10,AP,RR,P@10"):
    metric.per_query(rankings)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps({"peak": peak}))
"""


@reported("B51")
@pytest.mark.skipif(sys.platform != "linux", reason="the unit of ru_maxrss is that of Linux")
def test_ten_million_rows_fit_into_memory():
    assert in_a_fresh_process(TEN_MILLION_ROWS)["peak"] < REPORTS["B51"]["expected"]["peak_rss_MB_max"]


TWO_QUERIES = """
import json, time
from evalcore.evaluation import evaluate

run = {q: {f"d{i}": 1 / (1 + i) for i in range(10)} for q in ("q1", "q2")}
qrels = {q: {f"d{i}": i % 3 for i in range(0, 20, 2)} for q in run}
began = time.process_time()
evaluate(run, qrels, "nDCG@10,AP,RR")
print(json.dumps({"seconds": time.process_time() - began}))
"""


@reported("B52")
def test_the_first_call_is_as_quick_as_any():
    assert in_a_fresh_process(TWO_QUERIES)["seconds"] < REPORTS["B52"]["expected"]["seconds_max"]


@reported("B54")
def test_thousands_of_queries_are_evaluated_together():
    rng = np.random.default_rng(2)
    run = {
        f"q{q}": {f"d{d}": float(score) for d, score in enumerate(row)} for q, row in enumerate(rng.random((8_000, 40)))
    }
    qrels = {query: {f"d{d}": d % 4 for d in range(0, 40, 4)} for query in run}
    rankings = JudgedRankings.from_lists(
        retrieved=rng.choice([0.0, 1.0, 2.0], size=(8_000, 40)), judged=np.tile([2.0, 2.0, 1.0, 0.0], (8_000, 1))
    )
    metric, times = parse("nDCG"), []
    for _ in range(3):
        began = time.process_time()
        metric.per_query(JudgedRankings(rankings.retrieved, rankings.judged))
        times.append(time.process_time() - began)
    assert min(times) < REPORTS["B54"]["expected"]["seconds_max"]
    began = time.process_time()
    evaluate(run, qrels, "nDCG")
    assert time.process_time() - began < 2  # from dictionaries of texts


# statistics


@reported("B56")
@pytest.mark.parametrize(("key", "rule"), [("bonferroni", bonferroni), ("holm", holm), ("bh", benjamini_hochberg)])
def test_p_values_of_several_questions_are_adjusted(key, rule):
    expected = REPORTS["B56"]["expected"][key]
    assert rule(REPORTS["B56"]["input"]["p_raw"]) == pytest.approx(expected, abs=TOLERANCE, rel=0)


@reported("B57")
def test_four_queries_that_all_differ_by_1_are_told_with_interval_and_p_value():
    scores, expected = REPORTS["B57"]["input"]["scores"], REPORTS["B57"]["expected"]
    values = np.column_stack([scores["A"], scores["B"]]).astype(np.float64)
    sums = UnitSums.from_values([f"q{i}" for i in range(len(values))], values)
    found = infer(sums, contrasts=[(0, 1)], replicates=999).contrasts[0]
    assert found.delta == expected["mean diff"]
    assert all(list(ends) == expected["95% CI"] for ends in found.intervals.values())
    exact = expected["randomisation p (exact, two-sided)"]
    assert sign_flip_p_value(values[:, 0] - values[:, 1]) == exact
    assert found.p_value == exact  # t has no error to divide by
    assert "insufficient" in found.flags


@reported("B58")
def test_a_drop_far_smaller_than_the_least_effect_is_no_regression():
    given = REPORTS["B58"]["input"]
    values = np.column_stack([given["candidate"], given["baseline"]])
    sums = UnitSums.from_values([f"q{i}" for i in range(len(values))], values)
    found = infer(sums, contrasts=[(0, 1)], replicates=999).contrasts[0]
    margin = given["min_effect"]
    for low, high in found.intervals.values():
        assert -margin < low
        assert high < margin
        sufficient = "insufficient" not in found.flags
        assert verdict_of_interval(low, high, margin=margin, sufficient=sufficient) != "regressed"
