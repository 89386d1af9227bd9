"""The job gives what `evalcore.evaluation` gives for the same content as plain mappings, whatever is asked for."""

from __future__ import annotations

import math
import random
from typing import get_args

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evalcore import DataError, column_name, parse_list
from evalcore.conventions import Conventions, Duplicates, Mean, Ties
from evalcore.evaluation import evaluate
from evalcore.scoring import columns_of
from jobs import store
from jobs.errors import DataRefused, UsageError
from tests.support.evaluations import aggregate, score

GRADES = "P@3,R@5,F@5,Success@1,RR,AP,AP(denominator=min(R,k))@3,CG@3,DCG@5,nDCG,nDCG(gain=exp2)@3,NumRelRet@5,Judged@5"
SYSTEMS = ("A", "B")


def content(seed: int, *, repeated: bool = False):
    """Runs with ties and unjudged documents, judgments of 12 queries; (runs, qrels) as plain mappings."""
    rng = random.Random(seed)
    documents = [f"d{i}" for i in range(12)] + ["é", "00"]
    qrels = {f"q{q}": {doc: rng.choice([-1, 0, 0, 1, 1, 2, 3]) for doc in rng.sample(documents, 6)} for q in range(12)}
    runs = {}
    for system in SYSTEMS:
        runs[system] = {}
        for query in rng.sample([*qrels, "q99"], 10):
            shown = rng.sample(documents, rng.randint(1, 9))
            shown += rng.choices(shown, k=2 if repeated else 0)
            runs[system][query] = [(doc, rng.choice([0.1, 0.25, 0.5, 0.5, 0.75, 1.0])) for doc in shown]
    return runs, qrels


def written(folder, runs, qrels, **more_of_qrels):
    """The same as Parquet files; settings that name them. `more_of_qrels` gives a cell for each (query, document)."""
    folder.mkdir(exist_ok=True)
    rows = [
        (system, query, doc, value, rank)
        for system, answers in runs.items()
        for query, ranking in answers.items()
        for rank, (doc, value) in enumerate(ranking)
    ]
    columns = ("system", "query_id", "doc_id", "score", "rank")
    pq.write_table(pa.table(dict(zip(columns, map(list, zip(*rows, strict=True)), strict=True))), folder / "r.parquet")
    judged = [
        {"query_id": query, "doc_id": doc, "relevance": float(grade)}
        | {key: cell(query, doc) for key, cell in more_of_qrels.items()}
        for query, grades in qrels.items()
        for doc, grade in grades.items()
    ]
    pq.write_table(pa.Table.from_pylist(judged), folder / "q.parquet")
    return {"inputs.runs": [str(folder / "r.parquet")], "inputs.qrels": [str(folder / "q.parquet")]}


def assert_same(rows, runs, qrels, metrics, **how):
    """Every cell of SCORES has the bits of the plain evaluation."""
    columns = columns_of(parse_list(metrics), how.get("diagnostics", ()))
    for system in SYSTEMS:
        plain = evaluate(runs[system], qrels, metrics, **how)
        found = {row["query_id"]: row for row in rows if row["system"] == system}
        assert list(found) == sorted(plain.queries)
        for place, query in enumerate(plain.queries):
            assert found[query]["status"] == plain.statuses[place]
            for column in columns:
                expected = plain.columns[column][place].tolist()
                cell = found[query][column]
                cell = math.nan if cell is None else cell
                assert repr(cell) == repr(expected), (system, query, column)


@pytest.mark.parametrize("ties", get_args(Ties))
def test_every_tie_rule(spark, tmp_path, ties):
    runs, qrels = content(1)
    settings = written(tmp_path / "in", runs, qrels)
    metrics = "R@5,Success@1,RR,CG@3,DCG@5,nDCG,nDCG(gain=exp2)@3,NumRelRet@5" if ties == "average_rank" else GRADES
    rows = score(spark, tmp_path / "out", metrics, {**settings, "score.conventions.ties": ties})
    assert_same(rows, runs, qrels, metrics, conventions=Conventions(ties=ties))


@pytest.mark.parametrize("ties", ["doc_id_desc", "average", "optimistic", "average_rank"])
def test_a_tie_at_the_last_rank_that_counts_is_seen_whole(spark, tmp_path, ties):
    runs, qrels = content(2)
    settings = written(tmp_path / "in", runs, qrels)
    metrics = "R@1,RR@2,nDCG@2"
    rows = score(spark, tmp_path / "out", metrics, {**settings, "score.conventions.ties": ties})
    assert_same(rows, runs, qrels, metrics, conventions=Conventions(ties=ties))


@pytest.mark.parametrize("duplicates", [each for each in get_args(Duplicates) if each != "error"])
def test_every_rule_for_duplicates(spark, tmp_path, duplicates):
    runs, qrels = content(3, repeated=True)
    settings = written(tmp_path / "in", runs, qrels)
    chosen = {"score.conventions.duplicates": duplicates, "score.conventions.ties": "input_order"}
    rows = score(spark, tmp_path / "out", GRADES, {**settings, **chosen})
    assert_same(rows, runs, qrels, GRADES, conventions=Conventions(duplicates=duplicates, ties="input_order"))


def test_all_diagnostics_and_values_rounded(spark, tmp_path):
    runs, qrels = content(4)
    settings = written(tmp_path / "in", runs, qrels)
    diagnostics = ["ties", "unjudged", "random", "oracle"]
    chosen = {"score.diagnostics": diagnostics, "score.conventions.rounding": 4}
    rows = score(spark, tmp_path / "out", GRADES, {**settings, **chosen})
    best = max(grade for grades in qrels.values() for grade in grades.values())
    assert best == 3
    assert_same(
        rows, runs, qrels, GRADES, conventions=Conventions(rounding=4, unanswered="zero"), diagnostics=diagnostics
    )
    told = store.read_manifest(tmp_path / "out")["diagnostics"]
    assert told["A"]["nDCG"]["oracle"] == 1
    assert told["A"]["AP"]["ties_low"] <= told["A"]["AP"]["ties_high"]


def test_metrics_that_read_scores(spark, tmp_path):
    runs, qrels = content(5)
    settings = written(tmp_path / "in", runs, qrels)
    metrics = "AUC,PairwiseAccuracy,LogLoss,Brier,ECE,Spearman,KendallTau,RankNetLoss,RR"
    assert_same(score(spark, tmp_path / "out", metrics, settings), runs, qrels, metrics)


def test_metrics_that_compare_with_a_system_need_no_judgments(spark, tmp_path):
    runs, qrels = content(6)
    settings = written(tmp_path / "in", runs, qrels)
    metrics = "RBO,Overlap@3,Jaccard@3,ZeroResult,NumRet"
    chosen = {"score.reference": "A"}
    rows = score(spark, tmp_path / "out", metrics, {**settings, **chosen})
    assert_same(rows, runs, qrels, metrics, reference=runs["A"])
    counts = store.read_manifest(tmp_path / "out")["counts"]
    assert counts["n_rankings"] == sum(map(len, runs.values()))  # A's are not counted again for being the reference
    without = score(spark, tmp_path / "out2", metrics, {**settings, **chosen, "inputs.qrels": []})
    asked = set(runs["A"]) | set(runs["B"])
    assert {row["query_id"] for row in without} == asked
    assert {row["status"] for row in without} == {"ok", "unanswered"}
    known = {(row["system"], row["query_id"]): row["rbo"] for row in rows}
    for row in without:
        if row["query_id"] in qrels:
            assert row["rbo"] == known[row["system"], row["query_id"]]
    estimates, _ = aggregate(spark, tmp_path / "out2", unit="query_id", methods=["t"])
    rate = {row["system"]: row["estimate"] for row in estimates.to_pylist() if row["metric"] == "ZeroResult"}
    assert rate["A"] == pytest.approx(1 - len(runs["A"]) / len(asked))


def test_without_judgments_a_metric_that_reads_them_is_refused(spark, tmp_path):
    settings = written(tmp_path / "in", *content(6))
    with pytest.raises(UsageError, match="no qrels given; name files"):
        score(spark, tmp_path / "out", "Overlap@3,AP", {**settings, "inputs.qrels": [], "score.reference": "A"})


def test_a_reference_that_is_missing_or_unknown_is_refused(spark, tmp_path):
    settings = written(tmp_path / "in", *content(6))
    with pytest.raises(UsageError, match=r"RBO: compared with which system\? Give --set score.reference=SYSTEM"):
        score(spark, tmp_path / "out", "RBO", settings)
    with pytest.raises(UsageError, match='unknown system "C"'):
        score(spark, tmp_path / "out", "RBO", {**settings, "score.reference": "C"})


def by_subtopic(qrels):
    """Each document with up to two subtopics."""
    return {
        query: {
            doc: {f"s{len(doc + query) % 3}": grade, f"s{hash_of(doc) % 4}": grade} for doc, grade in grades.items()
        }
        for query, grades in qrels.items()
    }


def hash_of(text: str) -> int:
    return sum(text.encode())


def written_by_subtopic(folder, runs, qrels):
    settings = written(folder, runs, qrels)
    rows = [
        {"query_id": query, "doc_id": doc, "relevance": float(grade), "subtopic": subtopic}
        for query, grades in by_subtopic(qrels).items()
        for doc, subtopics in grades.items()
        for subtopic, grade in subtopics.items()
    ]
    pq.write_table(pa.Table.from_pylist(rows), folder / "q.parquet")
    return settings


DIVERSITY = "alpha_nDCG@5,ERR_IA@5,StRecall@5,P_IA@5,MAP_IA,NRBP"


def test_metrics_of_subtopics(spark, tmp_path):
    runs, qrels = content(7)
    settings = written_by_subtopic(tmp_path / "in", runs, qrels)
    rows = score(spark, tmp_path / "out", DIVERSITY, settings)
    assert_same(rows, runs, by_subtopic(qrels), DIVERSITY)


def test_judgments_of_subtopics_are_refused_for_metrics_of_one_grade(spark, tmp_path):
    settings = written_by_subtopic(tmp_path / "in", *content(7))
    message = r"judged for several subtopics or groups: query \"q0\", .*nDCG@5 would need one grade for each document"
    for metrics in ("nDCG@5", "alpha_nDCG@5,nDCG@5"):
        with pytest.raises(DataRefused, match=message):
            score(spark, tmp_path / "out", metrics, settings)
    runs, qrels = content(7)
    with pytest.raises(DataError, match=r"several subtopics or groups, and nDCG@5 would need one grade"):
        evaluate(runs["A"], by_subtopic(qrels), "alpha_nDCG@5,nDCG@5")


def test_clicks_weighed_by_propensity_are_aggregated_as_a_ratio(spark, tmp_path):
    runs, qrels = content(8)
    propensity = {doc: 1 / (1 + i % 4) for i, doc in enumerate([*(f"d{j}" for j in range(12)), "é", "00"])}
    settings = written(tmp_path / "in", runs, qrels, propensity=lambda query, doc: propensity[doc])
    rows = score(spark, tmp_path / "out", "IPS@5,SNIPS@5", settings)
    chances = {query: {doc: propensity[doc] for doc in grades} for query, grades in qrels.items()}
    assert_same(rows, runs, qrels, "IPS@5,SNIPS@5", propensities=chances)
    assert {"ips_at_5", "snips_at_5", "snips_at_5_above", "snips_at_5_below"} <= set(rows[0])
    estimates, contrasts = aggregate(spark, tmp_path / "out", unit="query_id", methods=["t", "percentile"])
    for system in SYSTEMS:
        sides = [
            math.fsum(row[f"snips_at_5_{side}"] or 0.0 for row in rows if row["system"] == system)
            for side in ("above", "below")
        ]
        found = [row for row in estimates.to_pylist() if (row["system"], row["metric"]) == (system, "SNIPS@5")]
        assert {row["statistic"] for row in found} == {"ratio"}
        assert all(row["estimate"] == pytest.approx(sides[0] / sides[1], abs=1e-12) for row in found)
        assert all(row["low"] < row["estimate"] < row["high"] for row in found)
    assert all(row["low"] < row["delta"] < row["high"] for row in contrasts.to_pylist())


@pytest.mark.parametrize("mean", get_args(Mean))
def test_every_mean(spark, tmp_path, mean):
    runs, qrels = content(9)
    settings = written(tmp_path / "in", runs, qrels)
    weight = {query: float(1 + place % 3) for place, query in enumerate(qrels)}
    user = {query: f"u{place % 5}" for place, query in enumerate(qrels)}
    table = {"query_id": list(qrels), "weight": list(weight.values()), "user": list(user.values())}
    pq.write_table(pa.table(table), tmp_path / "queries.parquet")
    chosen = {"inputs.queries": str(tmp_path / "queries.parquet"), "score.conventions.mean": mean}
    metrics = "nDCG@5,AP,NumRelRet,IPrecCurve"
    rows = score(spark, tmp_path / "out", metrics, {**settings, **chosen})
    estimates, contrasts = aggregate(spark, tmp_path / "out", unit="user", methods=["t", "percentile", "bca"])
    found = {(row["system"], row["metric"], row["method"]): row for row in estimates.to_pylist()}
    for system in SYSTEMS:
        if mean == "units":
            values: dict[str, list[float]] = {}
            for row in rows:
                if row["system"] == system:
                    values.setdefault(user[row["query_id"]], []).append(row["ap"] or 0.0)
            expected = sum(sum(each) / len(each) for each in values.values()) / len(values)
            assert found[system, "AP", "t"]["estimate"] == pytest.approx(expected, abs=1e-12)
            continue
        plain = evaluate(runs[system], qrels, metrics, conventions=Conventions(mean=mean), queries=weight).mean()
        curve = plain.pop("IPrecCurve")
        expected = {**plain, "IPrecCurve[0.3]": curve[3]}
        for metric, value in expected.items():
            method = "woodruff" if (system, metric, "woodruff") in found else "t"
            assert found[system, metric, method]["estimate"] == pytest.approx(value, abs=1e-12), metric
    for row in found.values():
        assert row["low"] <= row["estimate"] <= row["high"]
        assert (row["standard_error"] is None) == (row["statistic"] == "median")
    assert {row["statistic"] for row in contrasts.to_pylist()} == {
        "queries": {"mean", "sum"}, "sum": {"sum"}
    }.get(mean, {mean, "sum"})  # fmt: skip


def test_weights_that_are_missing_or_cannot_be_are_refused(spark, tmp_path):
    runs, qrels = content(9)
    settings = {**written(tmp_path / "in", runs, qrels), "score.conventions.mean": "weighted"}
    with pytest.raises(UsageError, match='mean: weighted needs a column "weight" in --queries'):
        score(spark, tmp_path / "out", "AP", settings)
    weights = [-1.0, None, *[1.0] * (len(qrels) - 2)]
    pq.write_table(pa.table({"query_id": list(qrels), "weight": weights}), tmp_path / "queries.parquet")
    score(spark, tmp_path / "out", "AP", {**settings, "inputs.queries": str(tmp_path / "queries.parquet")})
    with pytest.raises(DataRefused, match=r"4 rows without a weight that is a number from 0: queries \"q0\", \"q1\""):
        aggregate(spark, tmp_path / "out", unit="query_id")


def test_how_documents_spread_over_the_catalogue(spark, tmp_path):
    runs = {"A": {"q1": [("a", 2.0), ("b", 1.0)], "q2": [("a", 2.0), ("c", 1.0)]}, "B": {"q1": [("d", 1.0)]}}
    settings = written(tmp_path / "in", runs, {"q1": {"a": 1}, "q2": {"b": 1}})
    score(spark, tmp_path / "out", "AP", {**settings, "score.spread_at": 1})
    a, b = store.read_manifest(tmp_path / "out")["spread"]
    # with one rank: A shows a twice, B shows d once; three rankings show something
    assert (a["n_catalogue"], a["coverage"], b["coverage"]) == (2, 0.5, 0.5)
    assert (a["gini"], a["entropy"]) == (0.5, 0.0)
    assert a["novelty"] == pytest.approx(-math.log2(2 / 3))
    assert b["novelty"] == pytest.approx(-math.log2(1 / 3))


def test_notes_say_what_is_easily_overlooked(spark, tmp_path):
    runs = {
        "A": {"q1": [("a", 3.0), ("b", 2.0), ("c", 1.0)], "q2": [("a", 2.0), ("b", 1.5), ("c", 1.0)]},
        "B": {"q1": [("c", 3.0), ("b", 2.0), ("a", 1.0)], "q2": [("c", 2.0), ("a", 1.5), ("b", 1.0)]},
    }
    qrels = {"q1": {"a": 0, "b": 2, "c": 1}, "q2": {"a": 1, "b": 1, "c": 2}}
    settings = written(tmp_path / "in", runs, qrels)
    score(spark, tmp_path / "out", "AP,P@2,nDCG@2,DCG(gain=exp2)@1,DCG(gain=exp2)@3", settings)
    graded, sampled = store.read_manifest(tmp_path / "out")["notes"]
    assert "Judgments are graded, up to 2; every grade from 1 counts alike in AP, P@2. " in graded
    assert "with sampled candidates P@2 depends on how many were sampled" in sampled


def test_a_difference_that_changes_its_sign_with_the_cutoff_is_noted(spark, tmp_path):
    runs = {
        "A": {f"q{i}": [("a", 3.0), ("x", 2.0), ("y", 1.0)] for i in range(3)},
        "B": {f"q{i}": [("x", 3.0), ("b", 2.0), ("c", 1.0)] for i in range(3)},
    }
    settings = written(tmp_path / "in", runs, {f"q{i}": {"a": 1, "b": 1, "c": 1} for i in range(3)})
    score(spark, tmp_path / "out", "R@1,R@3,AP", settings)
    aggregate(spark, tmp_path / "out", unit="query_id", methods=["t"])
    described = store.read_manifest(tmp_path / "out" / "aggregates" / "query_id")
    assert described["notes"] == ["R: which of B and A is better depends on the cutoff: -0.3333 @1, +0.3333 @3."]


def test_column_names_of_diagnostics_are_kept_from_those_of_queries(spark, tmp_path):
    runs, qrels = content(9)
    settings = written(tmp_path / "in", runs, qrels)
    table = {"query_id": list(qrels), "ap_oracle": [1] * len(qrels)}
    pq.write_table(pa.table(table), tmp_path / "queries.parquet")
    chosen = {"inputs.queries": str(tmp_path / "queries.parquet"), "score.diagnostics": ["oracle"]}
    with pytest.raises(UsageError, match="metrics have columns called ap_oracle; rename those of the queries"):
        score(spark, tmp_path / "out", "AP", {**settings, **chosen})
    assert column_name(parse_list("AP")[0]) == "ap"
