"""The score job: the toy example, what every row of the table holds, and values equal to evalcore's own."""

from __future__ import annotations

import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evalcore import JudgedRankings, column_name, parse_list
from jobs import store
from jobs.config_file import load
from jobs.errors import DataRefused, UsageError
from jobs.pipeline.answers import answers
from jobs.progress import Progress
from tests.support import reference
from tests.support.evaluations import digest, score, scores_of, write_trec
from tests.support.tables import assert_same_table

KEY = ("system", "query_id")
ALL_FAMILIES = (
    "P@5,P,R@5,R,F(beta=2)@5,F,Success@1,Rprec,RR,RR@3,AP,AP@5,CG@5,DCG@5,IDCG@5,nDCG@5,nDCG,nDCG(gain=exp2)@5,"
    "nDCG(gain={1:3.5,2:0.5})@5,DCG(discount=ln),Judged@5,NumRet,NumRel,NumRelRet,P(rel=2)@5"
)


def test_the_toy_example_through_spark(spark, tmp_path):
    found = {2: "a", 5: "b", 9: "c"}
    run = [f"q {found.get(rank, f'x{rank}')} {100 - rank}" for rank in range(1, 11)]
    settings = write_trec(tmp_path, runs={"toy": run}, qrels=[f"q {doc} 1" for doc in "abcd"])
    row = score(spark, tmp_path / "out", "R@10,RR@10,DCG@10,IDCG@10,nDCG@10", settings)[0]
    assert row["r_at_10"] == 0.75
    assert row["rr_at_10"] == 0.5
    assert (round(row["dcg_at_10"], 3), round(row["idcg_at_10"], 3), round(row["ndcg_at_10"], 3)) == (
        1.319,
        2.562,
        0.515,
    )


def test_every_system_has_a_row_for_every_judged_query(spark, tmp_path):
    settings = write_trec(
        tmp_path,
        runs={"A": ["q1 d1 3", "q1 d2 2", "q9 d1 1"], "B": ["q2 d1 1", "q3 d7 1"]},
        qrels=["q1 d1 1", "q1 d3 2", "q2 d1 2", "q3 d1 0"],
    )
    rows = score(spark, tmp_path / "out", "P@2,nDCG@2,Judged@2", settings)
    expected = [
        ("A", "q1", 0.5, 2, 2, 2, "ok"),
        ("A", "q2", 0.0, 0, 1, 1, "unanswered"),
        ("A", "q3", 0.0, 0, 0, 1, "unanswered"),
        ("B", "q1", 0.0, 0, 2, 2, "unanswered"),
        ("B", "q2", 0.5, 1, 1, 1, "ok"),
        ("B", "q3", 0.0, 1, 0, 1, "no_relevant"),
    ]
    shown = ("system", "query_id", "p_at_2", "n_retrieved", "n_relevant", "n_judged", "status")
    assert [tuple(row[key] for key in shown) for row in rows] == expected
    assert [row["ndcg_at_2"] is None for row in rows] == [False, False, True, False, False, True]
    assert [row["judged_at_2"] for row in rows] == [0.5, None, None, None, 1.0, 0.0]
    counts = store.read_manifest(tmp_path / "out")["counts"]
    assert counts["n_rankings_outside_universe"] == 1
    assert (counts["n_ok"], counts["n_unanswered"], counts["n_no_relevant"]) == (2, 3, 1)


def test_queries_are_the_universe_where_they_are_given(spark, tmp_path):
    settings = write_trec(
        tmp_path,
        runs={"A": ["q1 d1 3", "q2 d2 2", "q4 d1 1"]},
        qrels=["q1 d1 1", "q2 d1 1", "q3 d1 1"],
    )
    (tmp_path / "queries.csv").write_text("query_id,user_id,length\nq1,007,2\nq3,u2,3\nq4,u2,1\n")
    rows = score(spark, tmp_path / "out", "RR", {**settings, "inputs.queries": str(tmp_path / "queries.csv")})
    shown = ("query_id", "user_id", "length", "rr", "status")
    assert [tuple(row[key] for key in shown) for row in rows] == [
        ("q1", "007", "2", 1.0, "ok"),
        ("q3", "u2", "3", 0.0, "unanswered"),
        ("q4", "u2", "1", None, "unjudged"),
    ]


def content(seed: int, *, systems: int = 3, queries: int = 40) -> tuple[list[dict], list[dict]]:
    """Runs with tied scores and judgments with negative, fractional and missing grades."""
    made = random.Random(seed)
    runs, qrels = [], []
    for query in range(queries):
        for doc in made.sample(range(30), made.randint(1, 12)):
            grade = made.choice([-1, 0, 0, 1, 1, 2, 3, 0.5])
            qrels.append({"query_id": f"q{query}", "doc_id": f"d{doc}", "relevance": float(grade)})
        for system in range(systems):
            if made.random() < 0.9:
                for doc in made.sample(range(30), made.randint(1, 20)):
                    score_ = float(made.randint(0, 6))
                    runs.append({"system": f"s{system}", "query_id": f"q{query}", "doc_id": f"d{doc}", "score": score_})
    made.shuffle(runs)
    made.shuffle(qrels)
    return runs, qrels


def write_parquet(folder, runs, qrels, *, files=1):
    for table, rows in (("runs", runs), ("qrels", qrels)):
        (folder / table).mkdir(parents=True)
        for part in range(files):
            pq.write_table(pa.Table.from_pylist(rows[part::files]), folder / table / f"part-{part}.parquet")
    return {"inputs.runs": [str(folder / "runs")], "inputs.qrels": [str(folder / "qrels")]}


def twin(runs, qrels, metrics):
    """SCORES computed the slow, obvious way."""
    judged: dict = {}
    for row in qrels:
        judged.setdefault(row["query_id"], {})[row["doc_id"]] = row["relevance"]
    expected = []
    for system in sorted({row["system"] for row in runs}):
        for query, grades in judged.items():
            documents = [row for row in runs if row["system"] == system and row["query_id"] == query]
            documents.sort(key=lambda row: (row["score"], row["doc_id"]), reverse=True)
            retrieved = [grades.get(row["doc_id"]) for row in documents]
            values = {
                column_name(metric): reference.value(metric, retrieved, list(grades.values())) for metric in metrics
            }
            values = {column: None if value != value else value for column, value in values.items()}
            expected.append({"system": system, "query_id": query, "n_retrieved": len(documents), **values})
    return expected


@pytest.mark.parametrize("seed", [1, 2])
def test_the_job_equals_the_slow_twin(spark, tmp_path, seed):
    runs, qrels = content(seed)
    rows = score(spark, tmp_path / "out", ALL_FAMILIES, write_parquet(tmp_path, runs, qrels))
    assert_same_table(rows, twin(runs, qrels, parse_list(ALL_FAMILIES)), key=KEY, tolerance=1e-12)


def test_the_job_gives_the_bits_of_evalcore_alone(spark, tmp_path):
    runs, qrels = content(3)
    metrics = parse_list(ALL_FAMILIES)
    rows = score(spark, tmp_path / "out", ALL_FAMILIES, write_parquet(tmp_path, runs, qrels))
    judged: dict = {}
    for row in qrels:
        judged.setdefault(row["query_id"], {})[row["doc_id"]] = row["relevance"]
    for row in rows:
        documents = [run for run in runs if (run["system"], run["query_id"]) == (row["system"], row["query_id"])]
        documents.sort(key=lambda run: (run["score"], run["doc_id"]), reverse=True)
        grades = judged[row["query_id"]]
        alone = JudgedRankings.from_lists(
            retrieved=[[grades.get(run["doc_id"]) for run in documents]], judged=[list(grades.values())]
        )
        for metric in metrics:
            value = float(metric.per_query(alone)[0])
            assert row[column_name(metric)] == (None if value != value else value)


def test_layout_of_files_partitions_aqe_and_transport_change_no_bit(spark, tmp_path):
    runs, qrels = content(4)
    one = score(spark, tmp_path / "one", ALL_FAMILIES, write_parquet(tmp_path / "a", runs, qrels))
    shuffled = random.Random(5)
    shuffled.shuffle(runs)
    shuffled.shuffle(qrels)
    settings = write_parquet(tmp_path / "b", runs, qrels, files=7)
    expected = digest(one)
    saved = {key: spark.conf.get(key) for key in ("spark.sql.shuffle.partitions", "spark.sql.adaptive.enabled")}
    try:
        for partitions in (1, 7):
            for adaptive in ("true", "false"):
                for how in ("arrow", "pandas"):
                    spark.conf.set("spark.sql.shuffle.partitions", partitions)
                    spark.conf.set("spark.sql.adaptive.enabled", adaptive)
                    found = score(spark, tmp_path / "other", ALL_FAMILIES, {**settings, "score.udf": how})
                    assert digest(found) == expected, (partitions, adaptive, how)
    finally:
        for key, value in saved.items():
            spark.conf.set(key, value)


@pytest.mark.parametrize("metrics", ["AP,nDCG@10", "alpha_nDCG@10", "RBO"])
@pytest.mark.parametrize("form", ["parquet", "trec"])
def test_every_row_of_runs_and_of_judgments_moves_once(spark, tmp_path, form, metrics, capsys):
    runs, qrels = content(4)
    if form == "parquet":
        settings = write_parquet(tmp_path, runs, qrels)
    else:
        settings = write_trec(tmp_path, runs={"s0": ["q d 1"], "s1": ["q e 1"]}, qrels=["q d 1"])
    if metrics == "RBO":
        settings["score.reference"] = "s0"
    flags = {**settings, "score.metrics": [metrics], "output.dir": str(tmp_path / "out")}
    config = load(None, flags=flags)
    adaptive = spark.conf.get("spark.sql.adaptive.enabled")
    try:
        spark.conf.set("spark.sql.adaptive.enabled", "false")  # so that the plan is shown as it will run
        found = answers(spark, config, parse_list(metrics), Progress(quiet=True))
        capsys.readouterr()
        found.rankings.explain()
    finally:
        spark.conf.set("spark.sql.adaptive.enabled", adaptive)
    moved = [line for line in capsys.readouterr().out.splitlines() if "Exchange" in line and "Reused" not in line]
    reads_runs_twice = metrics == "RBO"
    assert len(moved) == 2 + reads_runs_twice, moved


def test_depth_auto_changes_no_value(spark, tmp_path):
    runs, qrels = content(6)
    settings = write_parquet(tmp_path, runs, qrels)
    cut = "nDCG@3,P@5,RR@2,AP@5"
    automatic = score(spark, tmp_path / "auto", cut, settings)
    assert store.read_manifest(tmp_path / "auto")["depth"] == 5
    every = score(spark, tmp_path / "all", cut, {**settings, "score.conventions.depth": 1000})
    assert [{**row, "n_retrieved": 0} for row in automatic] == [{**row, "n_retrieved": 0} for row in every]
    assert max(row["n_retrieved"] for row in automatic) == 5


@pytest.mark.parametrize(
    ("ties", "expected"),
    [("doc_id_desc", 1.0), ("doc_id_asc", 1 / 3), ("input_order", 1 / 2), ("rank_column", 1 / 2)],
)
@pytest.mark.parametrize("metrics", ["RR", "RR@3"])
def test_the_tie_rule_orders_documents_of_one_score(spark, tmp_path, ties, expected, metrics):
    settings = write_trec(tmp_path, runs={"A": ["q b 1", "q z 1", "q a 1"]}, qrels=["q z 1"])
    rows = score(spark, tmp_path / "out", metrics, {**settings, "score.conventions.ties": ties})
    assert next(iter(rows[0].values())) == "A"
    assert rows[0][column_name(parse_list(metrics)[0])] == expected


def test_scores_that_differ_only_beyond_32_bits_tie_under_float32(spark, tmp_path):
    settings = write_trec(tmp_path, runs={"A": ["q a 16777217", "q b 16777216"]}, qrels=["q a 1"])
    assert score(spark, tmp_path / "a", "RR", settings)[0]["rr"] == 1.0
    assert score(spark, tmp_path / "b", "RR", {**settings, "score.preset": "trec_eval"})[0]["rr"] == 0.5


@pytest.mark.parametrize(("duplicates", "expected"), [("first", 1 / 3), ("last", 1 / 2), ("best_score", 1.0)])
@pytest.mark.parametrize("metrics", ["RR", "RR@10"])
def test_one_of_each_duplicate_is_kept_by_the_convention(spark, tmp_path, duplicates, expected, metrics):
    lines = ["q r 1", "q a 5", "q b 3", "q r 9", "q r 4"]
    settings = write_trec(tmp_path, runs={"A": lines}, qrels=["q r 1"])
    rows = score(spark, tmp_path / "out", metrics, {**settings, "score.conventions.duplicates": duplicates})
    assert rows[0][column_name(parse_list(metrics)[0])] == expected
    assert rows[0]["n_retrieved"] == 3
    assert store.read_manifest(tmp_path / "out")["counts"]["n_duplicates"] == 2


@pytest.mark.parametrize("metrics", ["RR", "RR@3"])
@pytest.mark.parametrize("ties", ["doc_id_desc", "doc_id_asc", "input_order"])
def test_a_score_that_is_not_finite_ranks_last_where_that_is_allowed(spark, tmp_path, ties, metrics):
    settings = write_trec(tmp_path, runs={"A": ["q r -5", "q n nan", "q i inf", "q j -inf"]}, qrels=["q r 1"])
    settings |= {"score.conventions.ties": ties, "score.conventions.non_finite_score": "last"}
    rows = score(spark, tmp_path / "out", metrics, settings)
    assert rows[0][column_name(parse_list(metrics)[0])] == 1.0


def test_removed_documents_make_room_above_the_cutoff(spark, tmp_path):
    settings = write_trec(tmp_path, runs={"A": ["q u 9", "q n 8", "q r 7"]}, qrels=["q r 1", "q n -2"])
    assert score(spark, tmp_path / "a", "P@1", settings)[0]["p_at_1"] == 0.0
    removed = {"score.conventions.unjudged": "removed", "score.conventions.negative_grade": "removed"}
    assert score(spark, tmp_path / "b", "P@1", {**settings, **removed})[0]["p_at_1"] == 1.0


def test_words_after_the_tag_of_a_run_are_passed_over(spark, tmp_path):
    settings = write_trec(tmp_path, runs={"A": ["q r 2", "q s 1"]}, qrels=["q s 1"])
    (tmp_path / "A.run").write_text("\ufeff# made by hand\r\n\r\nq\tQ0 r 1 2 A and more\r\nq  Q0  s\t2  1  A\r\n")
    assert score(spark, tmp_path / "out", "RR", settings)[0]["rr"] == 0.5


def test_the_same_judgment_twice_counts_once(spark, tmp_path):
    settings = write_trec(tmp_path, runs={"A": ["q r 1", "q s 2"]}, qrels=["q r 1", "q r 1", "q s 1"])
    rows = score(spark, tmp_path / "out", "R,NumRel", settings)
    assert (rows[0]["r"], rows[0]["numrel"]) == (1.0, 2.0)
    assert store.read_manifest(tmp_path / "out")["counts"]["n_repeated"] == 1


def test_integer_ids_are_the_same_ids_as_text_and_leading_zeros_survive(spark, tmp_path):
    runs = [{"system": "A", "query_id": 7, "doc_id": 12, "score": 1.5}]
    qrels = [{"query_id": "7", "doc_id": "12", "relevance": 1}, {"query_id": "007", "doc_id": "12", "relevance": 1}]
    rows = score(spark, tmp_path / "out", "RR", write_parquet(tmp_path, runs, qrels))
    assert [(row["query_id"], row["rr"]) for row in rows] == [("007", 0.0), ("7", 1.0)]


def test_the_manifest_tells_files_rows_metrics_and_conventions(spark, tmp_path):
    settings = write_trec(tmp_path, runs={"A": ["q r 1"]}, qrels=["q r 1"])
    score(spark, tmp_path / "out", "nDCG(gain=exp2)@10", settings)
    manifest = store.read_manifest(tmp_path / "out")
    assert manifest["metrics"] == [{"name": "nDCG(gain=exp2)@10", "column": "ndcg_gain_exp2_at_10"}]
    assert manifest["conventions"]["ties"] == "doc_id_desc"
    assert sum(file["rows"] for file in manifest["files"]) == len(scores_of(tmp_path / "out")) == 1
    assert manifest["versions"].keys() == {"evaljob", "numpy", "pyarrow", "pyspark"}


def test_a_score_that_is_not_finite_is_never_the_best_of_duplicates(spark, tmp_path):
    settings = write_trec(tmp_path, runs={"A": ["q r 9", "q r nan", "q r inf", "q b 5"]}, qrels=["q r 1"])
    settings |= {"score.conventions.duplicates": "best_score", "score.conventions.non_finite_score": "last"}
    assert score(spark, tmp_path / "out", "RR", settings)[0]["rr"] == 1.0


def test_a_plus_in_the_name_of_a_file_stays(spark, tmp_path):
    settings = write_trec(tmp_path, runs={"bm25+rm3 b": ["q r 9"]}, qrels=["q r 1"])
    (tmp_path / "bm25+rm3 b.run").write_text("q Q0 r 1 9 x\n")
    assert score(spark, tmp_path / "out", "RR", {**settings, "inputs.system_from": "file"})[0]["system"] == "bm25+rm3 b"


def test_every_spelling_of_nan_is_not_finite(spark, tmp_path):
    settings = write_trec(tmp_path, runs={"A": ["q r -5", "q a -nan", "q b +NaN"]}, qrels=["q r 1"])
    assert (
        score(spark, tmp_path / "out", "RR", {**settings, "score.conventions.non_finite_score": "last"})[0]["rr"] == 1
    )


def test_paths_are_those_of_the_caller_whatever_folder_the_jvm_works_in(spark, tmp_path, monkeypatch):
    write_trec(tmp_path, runs={"A": ["q r 1"]}, qrels=["q r 1"])
    monkeypatch.chdir(tmp_path)
    settings = {"inputs.runs": ["*.run"], "inputs.qrels": ["qrels.txt"]}
    assert score(spark, tmp_path / "out", "RR", settings)[0]["rr"] == 1.0


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"q Q0 my doc 1 9 A", r'line 2: 7 columns, and the rank is "doc"; is there a space in an id'),
        (b"q Q0 caf\xe9 1 9 A", r"line 2: bytes that are not UTF-8"),
    ],
)
def test_a_line_that_would_be_another_document_is_refused(spark, tmp_path, line, message):
    settings = write_trec(tmp_path, runs={"A": ["q r 1"]}, qrels=["q r 1"])
    (tmp_path / "A.run").write_bytes(b"q Q0 r 1 1 A\n" + line + b"\n")
    with pytest.raises(DataRefused, match=message):
        score(spark, tmp_path / "out", "RR", settings)


@pytest.mark.parametrize(
    ("name", "message"), [("_b.run", "names that begin with _"), ("more/b.run", "a folder in a folder")]
)
def test_a_file_that_spark_would_pass_over_is_refused(spark, tmp_path, name, message):
    settings = write_trec(tmp_path / "in", runs={"A": ["q r 1"]}, qrels=["q r 1"])
    hidden = tmp_path / "in" / name
    hidden.parent.mkdir(exist_ok=True)
    hidden.write_text("q Q0 r 1 1 B\n")
    given = [str(hidden)] if name.startswith("_") else [str(tmp_path / "in")]
    with pytest.raises(UsageError, match=message):
        score(spark, tmp_path / "out", "RR", {**settings, "inputs.runs": given})


def test_what_appeared_meanwhile_or_is_of_another_program_is_not_replaced(tmp_path):
    publishing = store.publish(tmp_path / "mine", replace=False)
    publishing.__enter__()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").touch()
    with pytest.raises(UsageError, match="exists"):
        publishing.__exit__(None, None, None)
    assert (tmp_path / "mine" / "thesis.txt").exists()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "manifest.json").write_text('{"metadata": {}}')
    with pytest.raises(UsageError, match="no evaluation"), store.publish(tmp_path / "other", replace=True):
        pass
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine", "other"]
