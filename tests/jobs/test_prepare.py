"""What is done to all systems alike: a sample of the queries, passages as their documents, no document for itself."""

from __future__ import annotations

import hashlib

import pytest

from evalcore import column_name, evaluate, parse_list
from jobs import prepare, store
from jobs.config_input import Prepare
from jobs.errors import DataRefused
from jobs.ids import parent, sampled
from tests.support.evaluations import score, write_trec


def in_sample(query_id: str, share: float) -> bool:
    """The definition, in Python."""
    return int(hashlib.md5(f"evaljob sample:{query_id}".encode()).hexdigest()[:8], 16) < share * 2**32


def test_a_sample_is_a_share_of_ids_that_depends_on_nothing_but_the_id(spark):
    ids = [*(f"q{number}" for number in range(2000)), "007", "7", "größe", "日本", " ", ""]
    shares = (0.01, 0.1, 0.5, 1.0)
    frame = spark.createDataFrame([(each,) for each in [*ids, None]], "query_id string").repartition(3)
    columns = {f"share_{share}": sampled("query_id", share) for share in shares}
    rows = {row.query_id: row for row in frame.withColumns(columns).collect()}
    for share in shares:
        chosen = {each for each in ids if rows[each][f"share_{share}"]}
        assert chosen == {each for each in ids if in_sample(each, share) or not each.strip()}
        assert rows[None][f"share_{share}"], "an id that is missing stays, to be refused"
        deviation = (2000 * share * (1 - share)) ** 0.5
        assert abs(len(chosen) - 2000 * share) <= 4 * deviation + 6
    assert [in_sample("q1", share) for share in shares] == [False, False, True, True]


def test_a_passage_is_of_the_document_before_the_first_separator(spark):
    ids = ["d1#2", "d1#2#3", "d1", "#2", "d.1"]
    frame = spark.createDataFrame([(each,) for each in ids], "doc_id string")
    found = frame.select(parent("doc_id", "#").alias("one"), parent("doc_id", ".").alias("other")).collect()
    assert [row.one for row in found] == ["d1", "d1", "d1", "#2", "d.1"]
    assert [row.other for row in found][3:] == ["#2", "d"]


RUNS = {
    "a": [
        *("q1 d2#1 9", "q1 d1#1 8", "q1 d2#2 7", "q1 d1#3 6", "q1 d3 5", "q1 q1#1 10"),
        *("q2 d1#1 3", "q2 d1#2 3", "q2 q2 2", "q2 d9#1 1"),
        *("q3 d1 1", "q4 d1 1", "q5 d1 1"),
    ],
    "b": ["q1 d3 9", "q1 d1#2 2", "q1 d1#1 1", "q2 q2#1 3"],
}
QRELS = ["q1 d1#1 2", "q1 d1#4 1", "q1 d3 1", "q1 q1 3", "q2 d9 1", "q3 d1 1", "q4 d1 1", "q5 d2 1"]
METRICS = "nDCG@2,RR,AP,NumRet,NumRel"


def test_every_step_acts_on_all_systems_and_the_best_passage_counts(spark, tmp_path):
    """The values are those of a run that was prepared by hand."""
    share = 0.72
    chosen = [query for query in ("q1", "q2", "q3", "q4", "q5") if in_sample(query, share)]
    assert {"q1", "q2"} < set(chosen) < {"q1", "q2", "q3", "q4", "q5"}, "the example must leave something out"
    steps = {"prepare.sample": share, "prepare.self_retrieval": "remove", "prepare.separator": "#"}
    settings = {**write_trec(tmp_path, runs=RUNS, qrels=QRELS), **steps, "judgments.repeated": "max"}
    rows = score(spark, tmp_path / "out", METRICS, settings)
    by_hand = {
        "a": {"q1": {"d2": 9, "d1": 8, "d3": 5}, "q2": {"d1": 3, "d9": 1}, "q3": {"d1": 1}, "q4": {"d1": 1}},
        "b": {"q1": {"d3": 9, "d1": 2}},
    }
    by_hand["a"]["q5"] = {"d1": 1}
    judged = {"q1": {"d1": 2, "d3": 1}, "q2": {"d9": 1}, "q3": {"d1": 1}, "q4": {"d1": 1}, "q5": {"d2": 1}}
    qrels = {query: judged[query] for query in chosen}
    assert [(row["system"], row["query_id"]) for row in rows] == [(system, q) for system in "ab" for q in chosen]
    for system, answers in by_hand.items():
        found = evaluate({query: answers[query] for query in chosen if query in answers}, qrels, METRICS)
        for metric in parse_list(METRICS):
            values = [row[column_name(metric)] for row in rows if row["system"] == system]
            assert values == found.values(metric).tolist(), (system, metric)
    counts = store.read_manifest(tmp_path / "out")["counts"]
    assert (counts["n_self_retrieved"], counts["n_collapsed"], counts["n_duplicates"]) == (3, 4, 0)
    assert counts["n_contradictory"] == 1


def test_a_sample_without_a_judgment_is_refused(spark, tmp_path):
    settings = write_trec(tmp_path, runs=RUNS, qrels=QRELS)
    with pytest.raises(DataRefused, match=r"--qrels: a sample of 1e-06 of the queries has no judgment in .*--sample"):
        score(spark, tmp_path / "out", METRICS, {**settings, "prepare.sample": 1e-6})


def test_what_is_not_asked_for_is_not_in_the_plan(spark):
    frame = spark.createDataFrame([], "query_id string, doc_id string")
    assert prepare.without_self(prepare.documents(frame, Prepare()), Prepare()) is frame


def test_passages_collapse_by_a_column_of_their_documents_too(spark, tmp_path):
    rows = [line.split() for line in RUNS["a"]]
    table = "query_id,passage,parent,score\n" + "".join(
        f"{query},{passage},{passage.partition('#')[0]},{value}\n" for query, passage, value in rows
    )
    (tmp_path / "columns").mkdir()
    (tmp_path / "columns" / "a.csv").write_text(table)
    settings = write_trec(tmp_path, runs={"a": RUNS["a"]}, qrels=QRELS)
    alike = {**settings, "prepare.separator": "#", "judgments.repeated": "max"}
    by_separator = score(spark, tmp_path / "one", METRICS, alike)
    qrels = "query_id,parent,relevance\n" + "".join(
        f"{query},{document.partition('#')[0]},{grade}\n" for query, document, grade in map(str.split, QRELS)
    )
    (tmp_path / "qrels.csv").write_text(qrels)
    by_column = {
        "inputs.runs": [str(tmp_path / "columns" / "a.csv")],
        "inputs.qrels": [str(tmp_path / "qrels.csv")],
        "inputs.columns": {"doc_id": "parent"},
        "inputs.system_from": "file",
        "score.conventions.duplicates": "best_score",
        "judgments.repeated": "max",
    }
    assert score(spark, tmp_path / "other", METRICS, by_column) == by_separator


def test_judgments_of_another_time_are_counted_of_what_is_left_when_all_is_prepared(spark, tmp_path):
    (tmp_path / "qrels.csv").write_text(
        "query_id,doc_id,relevance,time\nq1,q1,1,2026-01-01\nq1,d1,1,2026-01-01\nq1,d2#1,1,2026-03-01\nq1,q1#2,1,2026-03-01\n"
    )
    settings = {
        **write_trec(tmp_path, runs={"a": ["q1 d1 2", "q1 d2 1"]}, qrels=[]),
        "inputs.qrels": [str(tmp_path / "qrels.csv")],
        "prepare.separator": "#",
        "prepare.self_retrieval": "remove",
        "judgments.until": "2026-02-01",
    }
    score(spark, tmp_path / "out", "RR", settings)
    counts = store.read_manifest(tmp_path / "out")["counts"]
    assert (counts["n_qrel_rows"], counts["n_judgments_of_other_times"]) == (1, 1)
