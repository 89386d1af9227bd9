"""Formats of input: the same rows however they are written, and ids that no format changes."""

from __future__ import annotations

import gzip
import json

import pyarrow as pa
import pyarrow.orc as orc
import pyarrow.parquet as pq
import pytest

from tests.support.evaluations import digest, score, write_trec

METRICS = "nDCG@2,AP,RR,Judged@2"
RUNS = [
    ("bm25", "007", "d1", 3.0),
    ("bm25", "007", "naïve", 2.5),
    ("bm25", "9007199254740993", "d1", 1.0),
    ("dense", "007", "naïve", 1.5),
    ("dense", "007", "d2", -1e-3),
    ("dense", "9007199254740992", "d3", 2.0),
]
QRELS = [("007", "d1", 1), ("007", "naïve", 2), ("9007199254740993", "d1", 1), ("9007199254740992", "d3", 1)]
RUN_NAMES, QREL_NAMES = ("system", "query_id", "doc_id", "score"), ("query_id", "doc_id", "relevance")


def divided(names, rows, divider=","):
    return "".join(divider.join(map(str, row)) + "\n" for row in (names, *rows))


def table(names, rows):
    return pa.table({name: list(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)})


@pytest.fixture(scope="module")
def as_trec(spark, tmp_path_factory):
    """The digest of SCORES of the rows above, read from TREC files."""
    folder = tmp_path_factory.mktemp("trec")
    lines: dict[str, list[str]] = {}
    for system, query, doc, value in RUNS:
        lines.setdefault(system, []).append(f"{query} {doc} {value}")
    settings = write_trec(folder, runs=lines, qrels=[" ".join(map(str, row)) for row in QRELS])
    return digest(score(spark, folder / "out", METRICS, settings))


def csv_of(folder, names, rows):
    (folder / "a.csv.gz").write_bytes(gzip.compress(("\ufeff" + divided(names, rows).replace("\n", "\r\n")).encode()))
    return str(folder / "a.csv.gz")


def tsv_of(folder, names, rows):
    (folder / "a.tsv").write_text(divided(names, rows, "\t"), encoding="utf-8")
    return str(folder / "a.tsv")


def jsonl_of(folder, names, rows):
    """Ids of digits without leading zeros are written as numbers in every second row."""
    lines = []
    for place, row in enumerate(rows):
        cells = dict(zip(names, row, strict=True))
        if place % 2 and not cells["query_id"].startswith("0"):
            cells["query_id"] = int(cells["query_id"])
        lines.append(json.dumps(cells))
    (folder / "a.jsonl").write_text("\n".join(lines) + "\n")
    return str(folder / "a.jsonl")


def orc_of(folder, names, rows):
    (folder / "o").mkdir()
    orc.write_table(table(names, rows), folder / "o" / "part-0.orc")
    return str(folder / "o")


def parquet_of(folder, names, rows):
    for place, row in enumerate(rows):
        part = folder / "p" / f"day={place % 2}"
        part.mkdir(parents=True, exist_ok=True)
        pq.write_table(table(names, [row]), part / f"{place}.parquet")
    return str(folder / "p")


@pytest.mark.parametrize("write", [csv_of, tsv_of, jsonl_of, orc_of, parquet_of])
def test_every_format_gives_the_bytes_of_the_trec_files(spark, tmp_path, as_trec, write):
    for kind in ("runs", "qrels"):
        (tmp_path / kind).mkdir()
    settings = {
        "inputs.runs": [write(tmp_path / "runs", RUN_NAMES, RUNS)],
        "inputs.qrels": [write(tmp_path / "qrels", QREL_NAMES, QRELS)],
    }
    assert digest(score(spark, tmp_path / "out", METRICS, settings)) == as_trec


def as_log(folder):
    """Positions for scores; they are counted in the order of the rows, which is that of the scores."""
    place: dict[tuple[str, str], int] = {}
    rows = []
    for system, query, doc, _ in RUNS:
        place[system, query] = place.get((system, query), 0) + 1
        rows.append((system, query, doc, place[system, query]))
    (folder / "log.csv").write_text(divided(("system", "query_id", "doc_id", "position"), rows), encoding="utf-8")
    return {"inputs.runs": [str(folder / "log.csv")]}


def as_nested(folder):
    lists: dict[tuple[str, str], list[str]] = {}
    for system, query, doc, _ in RUNS:
        lists.setdefault((system, query), []).append(doc)
    rows = [{"system": system, "query_id": query, "doc_id": docs} for (system, query), docs in lists.items()]
    (folder / "nested.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return {"inputs.runs": [str(folder / "nested.jsonl")]}


def as_nested_with_grades(folder):
    """Judgments are in the rows, and judged brings those of what was not returned."""
    grades = {(query, doc): grade for query, doc, grade in QRELS}
    lists: dict[tuple[str, str], list[str]] = {}
    for system, query, doc, _ in RUNS:
        lists.setdefault((system, query), []).append(doc)
    rows = [
        {
            "system": system,
            "query_id": query,
            "doc_id": docs,
            "relevance": [float(grades[query, doc]) if (query, doc) in grades else None for doc in docs],
            "judged": [float(grade) for (asked, _), grade in grades.items() if asked == query],
        }
        for (system, query), docs in lists.items()
    ]
    pq.write_table(pa.Table.from_pylist(rows), folder / "graded.parquet")
    return {"inputs.runs": [str(folder / "graded.parquet")], "inputs.qrels": []}


def as_wide(folder):
    cells: dict[tuple[str, str], dict[str, float]] = {}
    for system, query, doc, value in RUNS:
        cells.setdefault((query, doc), {})[system] = value
    rows = [(*key, values.get("bm25", ""), values.get("dense", "")) for key, values in cells.items()]
    (folder / "wide.csv").write_text(divided(("query_id", "doc_id", "bm25", "dense"), rows), encoding="utf-8")
    return {"inputs.runs": [str(folder / "wide.csv")], "inputs.layout": "wide"}


@pytest.mark.parametrize("layout", [as_log, as_nested, as_nested_with_grades, as_wide])
def test_every_layout_gives_the_bytes_of_the_trec_files(spark, tmp_path, as_trec, layout):
    (tmp_path / "qrels.csv").write_text(divided(QREL_NAMES, QRELS), encoding="utf-8")
    settings = {"inputs.qrels": [str(tmp_path / "qrels.csv")], **layout(tmp_path)}
    assert digest(score(spark, tmp_path / "out", METRICS, settings)) == as_trec


def test_tables_of_a_catalog_and_other_names_of_columns(spark, tmp_path, as_trec):
    nested = spark.createDataFrame(
        [(query, {"system": system, "doc": doc}, value) for system, query, doc, value in RUNS],
        "topic string, hit struct<system string, doc string>, score double",
    )
    nested.createOrReplaceTempView("evaljob_runs")
    qrels = tmp_path / "judged.csv"
    qrels.write_text(divided(("topic", "docno", "relevance"), QRELS, ";"), encoding="utf-8")
    spark.read.csv(f"file:{qrels}", header=True, sep=";").selectExpr(
        "topic", "struct('' as system, docno as doc) as hit", "relevance"
    ).createOrReplaceTempView("evaljob_qrels")
    settings = {
        "inputs.runs": ["table:evaljob_runs"],
        "inputs.qrels": ["table:evaljob_qrels"],
        "inputs.columns": {"query_id": "topic", "doc_id": "hit.doc", "system": "hit.system"},
    }
    assert digest(score(spark, tmp_path / "out", METRICS, settings)) == as_trec


def test_the_wide_layout_is_pivoted_on_reading(spark, tmp_path):
    rows = [("007", "d1", 1, 3.0, 0.5), ("007", "d2", 2, 2.0, 1.5), ("8", "d1", 0, 1.0, ""), ("8", "d3", "", 2.0, 1.0)]
    (tmp_path / "wide.csv").write_text(divided(("query_id", "doc_id", "label", "bm25", "dense"), rows))
    judged = [f"{query} {doc} {label}" for query, doc, label, *_ in rows if label != ""]
    by_system = {
        system: [f"{row[0]} {row[1]} {row[place]}" for row in rows if row[place] != ""]
        for system, place in (("bm25", 3), ("dense", 4))
    }
    settings = {
        "inputs.runs": [str(tmp_path / "wide.csv")],
        "inputs.layout": "wide",
        "inputs.columns": {"relevance": "label"},
    }
    expected = score(spark, tmp_path / "e", METRICS, write_trec(tmp_path / "t", runs=by_system, qrels=judged))
    assert digest(score(spark, tmp_path / "out", METRICS, settings)) == digest(expected)


def test_a_log_ranks_by_position_and_brings_its_own_judgments(spark, tmp_path):
    rows = [
        ("A", "r1", "d1", 2, "true"),
        ("A", "r1", "d2", 1, "false"),
        ("A", "r1", "d10", 10, "true"),
        ("B", "r2", "d1", 1, "true"),
        ("B", "r2", "d2", 2, ""),
    ]
    lines = [
        json.dumps({"variant": v, "request": r, "doc_id": d, "position": p} | ({"click": c == "true"} if c else {}))
        for v, r, d, p, c in rows
    ]
    (tmp_path / "log.jsonl").write_text("\n".join(lines))
    settings = {
        "inputs.runs": [str(tmp_path / "log.jsonl")],
        "inputs.columns": {"system": "variant", "query_id": "request", "relevance": "click"},
        "inputs.gaps": "close",
        "judgments.grades": {"true": 1.0, "false": 0.0},
    }
    rows = score(spark, tmp_path / "out", "RR,P@1,NumRel,Judged@2", settings)
    found = {(row["system"], row["query_id"]): (row["rr"], row["p_at_1"], row["numrel"]) for row in rows}
    assert (found["A", "r1"], found["B", "r2"]) == ((0.5, 0.0, 2.0), (1.0, 1.0, 1.0))
    assert {row["judged_at_2"] for row in rows if row["query_id"] == "r2" and row["system"] == "B"} == {0.5}
