"""Rankings that are rows: the same values without moving a document, and only the columns that are needed."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evalcore import Conventions
from jobs import nested, readers
from jobs.config_file import load
from jobs.errors import DataRefused, UsageError
from tests.support.evaluations import digest, score

METRICS = "nDCG@2,AP,RR,Judged@2,NumRet"
ROWS = [
    {"system": "A", "query_id": 7, "doc_id": ["d1", "d2", "d3"], "relevance": [0, None, 2], "judged": [2, 0, 1]},
    {"system": "B", "query_id": 7, "doc_id": ["d9", "d3"], "relevance": [1, 2], "judged": [0, 1, 2]},
    {"system": "A", "query_id": 8, "doc_id": ["d1"], "relevance": [None], "judged": []},
    {"system": "A", "query_id": 9, "doc_id": ["d1", "d2"], "relevance": [-1, 0], "judged": [-1, 0]},
    {"system": "B", "query_id": 10, "doc_id": [], "relevance": [], "judged": [3]},
    {"system": "B", "query_id": 9, "doc_id": ["d2"], "relevance": [0], "judged": [0, -1]},
]


def write(folder, rows):
    folder.mkdir(parents=True, exist_ok=True)
    lists = pa.list_(pa.int32())
    kinds = {
        "system": pa.string(),
        "query_id": pa.int64(),
        "doc_id": pa.list_(pa.string()),
        "relevance": lists,
        "judged": lists,
    }
    schema = pa.schema([(key, kind) for key, kind in kinds.items() if any(key in row for row in rows)])
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), folder / "nested.parquet")
    return {"inputs.runs": [str(folder / "nested.parquet")]}


def as_long(folder, rows):
    """The same content, a row for each document, and judgments in a file of their own."""
    folder.mkdir(parents=True, exist_ok=True)
    runs = [
        {"system": row["system"], "query_id": str(row["query_id"]), "doc_id": doc, "score": -float(place)}
        for row in rows
        for place, doc in enumerate(row["doc_id"])
    ]
    pq.write_table(pa.Table.from_pylist(runs), folder / "runs.parquet")
    graded = {(7, "d1"): 0, (7, "d9"): 1, (7, "d3"): 2, (9, "d1"): -1, (9, "d2"): 0, (10, "x"): 3}
    judged = [{"query_id": str(query), "doc_id": doc, "relevance": grade} for (query, doc), grade in graded.items()]
    pq.write_table(pa.Table.from_pylist(judged), folder / "qrels.parquet")
    return {"inputs.runs": [str(folder / "runs.parquet")], "inputs.qrels": [str(folder / "qrels.parquet")]}


@pytest.mark.parametrize("queries", [None, "query_id,user\n7,u1\n8,u2\n10,u2\n11,u3\n"])
def test_nested_rows_give_the_bytes_of_long_rows_with_every_status(spark, tmp_path, queries):
    more = {"score.diagnostics": ["oracle"]}
    if queries:
        (tmp_path / "queries.csv").write_text(queries)
        more["inputs.queries"] = str(tmp_path / "queries.csv")
    found = score(spark, tmp_path / "n", METRICS, write(tmp_path / "nested", ROWS) | more)
    expected = score(spark, tmp_path / "l", METRICS, as_long(tmp_path / "long", ROWS) | more)
    assert digest(found) == digest(expected)
    statuses = {row["status"] for row in found}
    assert statuses == ({"ok", "unanswered", "unjudged"} if queries else {"ok", "unanswered", "no_relevant"})


def test_without_a_column_of_all_judgments_documents_bring_them_together(spark, tmp_path):
    """What another system returned is judged too: grades of a row alone would make its best ranking too short."""
    rows = [{key: value for key, value in row.items() if key != "judged"} for row in ROWS]
    found = score(spark, tmp_path / "n", METRICS, write(tmp_path / "nested", rows))
    judged = {(row["system"], row["query_id"]): row["n_judged"] for row in found}
    assert judged == {("A", "7"): 3, ("B", "7"): 3, ("A", "9"): 2, ("B", "9"): 2}
    for row in rows:
        del row["doc_id"]
    with pytest.raises(UsageError, match="rows of several systems, without documents, do not tell all judgments of a"):
        score(spark, tmp_path / "u", METRICS, write(tmp_path / "undocumented", rows))


def test_arrays_of_structs_are_arrays_side_by_side(spark, tmp_path):
    items = "array<struct<id: bigint, clicks: int>>"
    frame = spark.createDataFrame([("r1", [(5, 0), (6, 1)]), ("r2", [(5, 1)])], f"request string, shown {items}")
    frame.coalesce(1).write.json(str(tmp_path / "log-of-A"))
    settings = {
        "inputs.runs": [str(tmp_path / "log-of-A")],
        "inputs.system_from": "file",
        "inputs.columns": {"query_id": "request", "doc_id": "shown.id", "relevance": "shown.clicks"},
    }
    rows = score(spark, tmp_path / "out", "RR", settings)
    assert [(row["system"], row["query_id"], row["rr"]) for row in rows] == [
        ("log-of-A", "r1", 0.5),
        ("log-of-A", "r2", 1.0),
    ]


def test_only_the_columns_that_are_needed_are_read_and_nothing_is_shuffled(spark, tmp_path, capsys):
    settings = write(tmp_path, ROWS)
    reader = readers.open_input(spark, load(None, flags=settings).inputs, "runs", order="score")
    for ids in (False, True):
        arrays = reader.arrays(ids=ids)
        rows = nested.rankings(nested.judged(arrays), depth=2)
        nested.complete(rows, None, systems=["A", "B"], absent=False).explain()
        plan = capsys.readouterr().out
        assert "Exchange" not in plan
        assert ("doc_id:array" in plan.split("ReadSchema")[1]) == ids
    assert Conventions().duplicates == "error"  # the default looks at documents, where there are any


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (
            {"relevance": [0, 1]},
            r'1 row cannot be used: .* query_id "7": .* doc_id of 3, relevance of 2; mend',
        ),
        ({"relevance": None}, r"doc_id of 3, relevance null; mend"),
        ({"doc_id": ["d1", "d1", "d3"]}, r'1 document returned more than once .*system "A", query "7", document "d1";'),
        ({"judged": [3]}, r'judgments of 1 query differ between its rows: queries "7"; every row must hold'),
        ({"system": "B"}, r'1 ranking more than one of a system and query: system "B", query "7"; keep one row'),
    ],
)
def test_rows_that_cannot_be_rankings_are_refused(spark, tmp_path, changed, message):
    rows = [ROWS[0] | changed, *ROWS[1:]]
    with pytest.raises(DataRefused, match=message):
        score(spark, tmp_path / "out", METRICS, write(tmp_path / "nested", rows))
