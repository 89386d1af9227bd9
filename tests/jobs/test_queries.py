"""What is known of a query: from a file or the runs; its weight, its length and never its text; segments by bounds."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from jobs import queries as facts
from jobs import store
from jobs.config_file import load
from jobs.errors import DataRefused, UsageError
from tests.support.evaluations import score

CANARY = "kanarienvogel"


def settings_of(**given):
    return load(None, flags={f"queries.{key}": value for key, value in given.items()}).queries


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    """Runs of two systems with what a log knows of a query, and judgments."""
    folder = tmp_path_factory.mktemp("log")
    rows = [
        ("a", "q1", "d1", 2.0, "u1", "s1", f"{CANARY} tief  blau"),
        ("a", "q1", "d2", 1.0, "u1", "s2", f"{CANARY} tief  blau"),
        ("b", "q1", "d2", 1.0, "u1", "s2", f"{CANARY} tief  blau"),
        ("a", "q2", "d1", 2.0, "u2", "s3", f" {CANARY}"),
        ("b", "q3", "d1", 2.0, "u2", "s4", None),
    ]
    names = ("system", "query_id", "doc_id", "score", "user_id", "session", "typed")
    runs = [dict(zip(names, row, strict=True)) for row in rows]
    qrels = [{"query_id": "q1", "doc_id": f"d{number}", "relevance": 1} for number in range(4)]
    qrels.append({"query_id": "q2", "doc_id": "d1", "relevance": 0})
    pq.write_table(pa.Table.from_pylist(runs), folder / "runs.parquet")
    pq.write_table(pa.Table.from_pylist(qrels), folder / "qrels.parquet")
    return {"inputs.runs": [str(folder / "runs.parquet")], "inputs.qrels": [str(folder / "qrels.parquet")]}


BANDS = {
    "n_words": {"short": 1, "long": 3},
    "weight": {"tail": 0, "head": 2},
    "n_relevant": {"none": 0, "few": 1, "many": 4},
}


def test_a_log_tells_clusters_weights_and_lengths_of_its_queries(spark, log, tmp_path):
    chosen = {"columns": ["user_id"], "weight": "session", "text": "typed", "bands": BANDS}
    rows = score(spark, tmp_path / "out", "RR", {**log, **{f"queries.{key}": value for key, value in chosen.items()}})
    assert [row["query_id"] for row in rows] == ["q1", "q2", "q3"] * 2
    of_queries = {
        "user_id": ["u1", "u2", "u2"],
        "weight": [2.0, 1.0, 1.0],
        "n_words": [3, 1, None],
        "n_characters": [len(f"{CANARY} tief  blau"), len(CANARY), None],
        "n_words_band": ["long", "short", None],
        "weight_band": ["head", "tail", "tail"],
        "n_relevant_band": ["many", "none", None],
    }
    for column, values in of_queries.items():
        assert [row[column] for row in rows] == 2 * values, column
    assert store.read_manifest(tmp_path / "out")["query_columns"] == list(of_queries)
    for file in (tmp_path / "out").rglob("*"):
        assert not file.is_file() or CANARY.encode() not in file.read_bytes(), file


def test_a_query_with_two_values_is_refused(spark, log, tmp_path):
    with pytest.raises(DataRefused) as refused:
        score(spark, tmp_path / "out", "RR", {**log, "queries.columns": ["session"]})
    assert str(refused.value) == (
        'the queries of --runs: every query must be one whole row with an id of its own; found "q1" in 2 rows'
    )


def test_columns_are_kept_and_bands_made_as_asked(spark):
    frame = spark.createDataFrame(
        [("q1", "12", "de", 0.5), ("q2", "x", "fr", float("nan")), ("q3", None, "de", -1.0)],
        "query_id string, clicks string, country string, weight double",
    )
    bands = {"clicks": {"some": 1, "more": 12}, "weight": {"low": 0, "high": 0.5}}
    found = facts.described(frame, settings_of(columns=["country"], bands=bands), where="--queries FILE")
    assert [tuple(row) for row in found.orderBy("query_id").collect()] == [
        ("q1", "de", 0.5, "more", "high"),
        ("q2", "fr", pytest.approx(float("nan"), nan_ok=True), None, None),
        ("q3", "de", -1.0, None, "below 0"),
    ]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"columns": ["contry"]}, 'F: unknown column "contry". Did you mean "country"? Known: '),
        ({"text": "typed"}, 'F: unknown column "typed". '),
        (
            {"bands": {"n_word": {"a": 1}}, "text": "Query"},
            'queries.bands: unknown number of a query "n_word". Did you mean "n_words"? ',
        ),
        ({"bands": {"country": {"a": 1}}, "text": "Query"}, "F: there is a column called country_band already"),
        (
            {},
            'F: column "Query" seems to be the text of queries, which is personal: keep its length alone with '
            "--set queries.text=Query, or name the columns to keep with --set queries.columns=[...]",
        ),
    ],
)
def test_settings_that_do_not_fit_the_columns_are_refused(spark, given, message):
    frame = spark.createDataFrame([], "query_id string, Query string, country string, country_band string")
    with pytest.raises(UsageError) as refused:
        facts.described(frame, settings_of(**given), where="F")
    assert str(refused.value).startswith(message)


def test_bands_without_their_numbers_are_refused():
    assert facts.of_judgments(settings_of(bands={"n_relevant": {"few": 0}}), []) == ["n_relevant_band"]
    with pytest.raises(UsageError, match=r"queries.bands: weight: known of no query without --queries FILE"):
        facts.of_judgments(settings_of(bands={"weight": {"tail": 0}}), [])
