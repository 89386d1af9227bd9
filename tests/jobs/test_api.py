"""jobs.api: both jobs on DataFrames give what the command line and evalcore.evaluate give."""

import numpy as np
import pyarrow as pa
import pytest

from evalcore import evaluate_runs
from jobs import api
from jobs.errors import DataRefused, UsageError
from tests.support.strategies import same_bits

METRICS = "nDCG@10,nDCG(gain=exp2),AP,RR,P@2,R@5,Bpref,Judged@5"


def content(n_queries: int) -> tuple[pa.Table, pa.Table, pa.Table]:
    """Two systems with many ties, documents without judgments and ids of every kind; queries of seven users."""
    rng = np.random.default_rng(3)
    ids = np.array(["d", "é", "00", "0", "doc \U0001f600", "a document with a long id", *map(str, range(1, 30))])
    runs, qrels = [], []
    for query in range(n_queries):
        for document in rng.choice(ids, 12, replace=False):
            qrels.append((f"q{query}", str(document), float(rng.choice([-1, 0, 0, 0.5, 1, 2]))))
        for system in ("old", "new"):
            if rng.random() < 0.9:
                shown = rng.choice(ids, rng.integers(1, 15), replace=False)
                runs += [(system, f"q{query}", str(each), float(rng.choice([0.1, 0.5, 0.7]))) for each in shown]
    runs.append(("old", "nobody asked", "d", 1.0))
    of_queries = {"query_id": [f"q{query}" for query in range(n_queries)], "user": [q % 7 for q in range(n_queries)]}
    return (
        table(runs, "system", "query_id", "doc_id", "score"),
        table(qrels, "query_id", "doc_id", "relevance"),
        pa.table(of_queries),
    )


def table(rows, *names) -> pa.Table:
    return pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))


@pytest.fixture(scope="module")
def tables():
    return content(60)


@pytest.fixture(scope="module")
def found(spark, tables):
    runs, qrels, queries = (spark.createDataFrame(each) for each in tables)
    return api.score(runs, qrels, METRICS, queries=queries)


def test_values_of_dataframes_tables_and_mappings_are_the_same_to_the_last_bit(found, tables):
    runs, qrels, _ = tables
    by_query = {}
    for row in qrels.to_pylist():
        by_query.setdefault(row["query_id"], {})[row["doc_id"]] = row["relevance"]
    by_system = {"old": {}, "new": {}}
    for row in runs.to_pylist():
        answer = by_system[row["system"]].setdefault(row["query_id"], [])
        answer.append((row["doc_id"], row["score"]))
    rows = {(row["system"], row["query_id"]): row for row in found.scores.collect()}
    for evaluated in (evaluate_runs(runs, qrels, METRICS), evaluate_runs(by_system, by_query, METRICS)):
        assert sorted(evaluated) == ["new", "old"]
        for system, values in evaluated.items():
            of_spark = [rows[system, query] for query in values.queries]
            assert [row["status"] for row in of_spark] == list(values.statuses)
            for column, here in values.columns.items():
                there = [np.nan if row[column] is None else row[column] for row in of_spark]
                assert same_bits(here, there), column
    assert {row["status"] for row in rows.values()} >= {"ok", "unanswered"}


def test_an_evaluation_shows_what_was_scored(found):
    assert repr(found).startswith("2 systems, 60 queries, 8 metrics: 120 rows in ")
    assert "left out: rankings of queries not judged" in repr(found)
    assert found._repr_html_().startswith("<pre>2 systems")


def test_an_evaluation_is_aggregated_by_any_column_of_queries(found):
    summed = found.aggregate(unit="user", baseline="old", methods=["t"], metrics=["AP"])
    (contrast,) = summed.contrasts.to_dict("records")
    assert (contrast["candidate"], contrast["baseline"], contrast["n_units"]) == ("new", "old", 7)
    means = summed.estimates.set_index("system")["estimate"]
    assert contrast["delta"] == pytest.approx(means["new"] - means["old"], abs=1e-15)
    assert repr(summed).startswith("Estimates, 95 % t intervals, unit user (7)")
    assert "Contrasts, candidate - old" in summed._repr_html_()


def test_settings_and_frames_that_cannot_work_are_told_in_words_of_the_caller(spark, tables, tmp_path):
    before = {view.name for view in spark.catalog.listTables()}
    runs, qrels = (spark.createDataFrame(each) for each in tables[:2])
    with pytest.raises(UsageError, match=r'^score has no setting "presett"\. Did you mean "preset"\?'):
        api.score(runs, qrels, "AP", presett="trec_eval")
    with pytest.raises(UsageError, match=r"^runs: .*score"):
        api.score(runs.drop("score"), qrels, "AP")
    twice = qrels.unionByName(qrels.withColumn("relevance", qrels["relevance"] + 1))
    with pytest.raises(DataRefused, match=r"^qrels: 720 documents judged more than once"):
        api.score(runs, twice, "AP", output=tmp_path / "evaluation", settings={"inputs.format": "auto"})
    assert list(tmp_path.iterdir()) == []
    assert {view.name for view in spark.catalog.listTables()} == before


def test_systems_may_be_frames_of_their_own_and_the_session_keeps_its_settings(spark, tables, tmp_path):
    runs, qrels = (spark.createDataFrame(each) for each in tables[:2])
    by_system = {name: runs.where(runs["system"] == name).drop("system") for name in ("old", "new")}
    key = "spark.sql.execution.arrow.maxRecordsPerBatch"
    spark.conf.set(key, "7777")
    try:
        one = api.score(by_system, qrels, ["P@2"], output=tmp_path / "evaluation", conventions={"ties": "doc_id_asc"})
        assert spark.conf.get(key) == "7777"
    finally:
        spark.conf.set(key, "10000")
    assert one.manifest["systems"] == ["new", "old"]
    assert one.manifest["conventions"]["ties"] == "doc_id_asc"
    assert (tmp_path / "evaluation" / "manifest.json").exists()
