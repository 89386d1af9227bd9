"""SVMlight files: the rows that plain splitting finds, however Spark divides the files, and the values of JSON."""

from __future__ import annotations

import gzip
import json
import re
import subprocess

import pytest

from jobs import cli
from tests.support.evaluations import digest, score
from tests.test_docs import PAGES, blocks

FEATURES = ["1", "3", "10", "bm25"]
LINES = [
    *("2 qid:10 1:0.5 10:1e-1", "0 qid:10 3:1", "1 qid:010", "0 qid:9 bm25:-3 3:2.5", "1 qid:9 1:.5\t10:7"),
    *("3 qid:10 1:+2 3:3 10:4 bm25:5", "0 qid:é bm25:inf", "1 qid:é 1:0", "1 qid:é 10:2"),
]
QUERIES = [re.search("qid:([^ ]+)", line)[1] for line in LINES]
NAMELESS = [re.sub(" qid:[^ ]+", "", line) for line in LINES]


def by_hand(lines):
    """The label and the features of each line, by plain splitting."""
    found = []
    for line in lines:
        label, *words = line.split()
        cells = dict(word.split(":") for word in words)
        found.append((label, *(cells.get(name, "0") for name in FEATURES)))
    return found


@pytest.fixture
def rows(spark, tmp_path):
    """The rows of a file in the order of their places: ids, labels, features."""
    from jobs.readers.formats import PLACE, read

    def read_rows(name, content):
        (tmp_path / name).write_bytes(content)
        table = read(spark, [str(tmp_path / name)], format="svmlight", option="runs").placed()
        assert table.columns == ["query_id", "doc_id", "relevance", *FEATURES]
        found = sorted(table.frame.select(*table.columns, PLACE).collect(), key=lambda row: row[PLACE])
        return [tuple(row)[:2] for row in found], [tuple(row)[2:-1] for row in found]

    return read_rows


def test_lines_are_numbered_however_spark_divides_the_file(spark, tmp_path, rows):
    spark.conf.set("spark.sql.files.maxPartitionBytes", "500b")
    try:
        text = "\ufeff# a comment\r\n\r\n" + "".join(f"{line}  # see {n}\r\n" for n, line in enumerate(LINES * 9))
        ids, cells = rows("file.txt", text.encode())
        blocks = spark.read.text(str(tmp_path / "file.txt")).select("_metadata.file_block_start").distinct().count()
    finally:
        spark.conf.unset("spark.sql.files.maxPartitionBytes")
    assert ids == [(query, str(n)) for n, query in enumerate(QUERIES * 9, start=1)]
    assert cells == by_hand(NAMELESS * 9)
    assert blocks > 3


def test_documents_are_called_as_every_comment_says(rows):
    lines = [f"{line} #docid = GX{n}-0{n} inc = 1 prob = 0.5" for n, line in enumerate(LINES)]
    ids, cells = rows("letor.txt", "\n".join(lines).encode())
    assert [document for _, document in ids] == [f"GX{n}-0{n}" for n in range(len(LINES))]
    assert cells == by_hand(NAMELESS)
    ids, _ = rows("one.txt", "\n".join([*lines[:-1], LINES[-1]]).encode())
    assert [document for _, document in ids] == [str(n) for n in range(1, len(LINES) + 1)]


@pytest.mark.parametrize("beside", ["rank.svm.gz.group", "rank.svm.query"])
def test_queries_are_numbered_by_their_sizes(spark, tmp_path, rows, beside):
    (tmp_path / beside).write_text("2\n0\n\n6\n1\n")
    ids, cells = rows("rank.svm.gz", gzip.compress("\n".join(["# LightGBM", *NAMELESS]).encode()))
    assert ids == [(query, str(n)) for n, query in enumerate("113333334", start=1)]
    assert cells == by_hand(NAMELESS)


def test_predictions_become_a_feature_as_the_page_shows(spark, tmp_path):
    from jobs.readers.formats import read

    (commands,) = [each for each in blocks(PAGES["input.md"], "text") if "paste" in each]
    (tmp_path / "rank.test").write_text("2 1:0.5\n0 12:0.25\n1\n")
    (tmp_path / "rank.test.query").write_text("2\n1\n")
    (tmp_path / "predictions.txt").write_text("0.7\n-1e-05\n2\n")
    subprocess.run(commands, shell=True, check=True, cwd=tmp_path)
    table = read(spark, [str(tmp_path / "scored.svm")], format="svmlight", option="runs")
    rows = table.frame.select("query_id", "doc_id", "lambdamart", "`12`").orderBy("doc_id").collect()
    assert [tuple(row) for row in rows] == [("1", "1", "0.7", "0"), ("1", "2", "-1e-05", "0.25"), ("2", "3", "2", "0")]


def test_a_file_gives_the_bytes_of_the_same_content_as_json(spark, tmp_path):
    (tmp_path / "rank.txt").write_text("\n".join(LINES[:6]))
    names = ["query_id", "doc_id", "relevance", *FEATURES]
    rows = zip(QUERIES[:6], range(1, 7), by_hand(NAMELESS[:6]), strict=True)
    objects = [dict(zip(names, [query, document, *cells], strict=True)) for query, document, cells in rows]
    (tmp_path / "rank.jsonl").write_text("\n".join(map(json.dumps, objects)))

    def digested(name):
        given = {"inputs.runs": [str(tmp_path / name)], "inputs.layout": "wide", "inputs.systems": [10, "bm25"]}
        found = score(spark, tmp_path / "out", "nDCG@2,AP,AUC", given | {"score.preset": "lightgbm"})
        assert {row["system"] for row in found} == {"10", "bm25"}
        return digest(found)

    assert digested("rank.txt") == digested("rank.jsonl")


def test_a_file_that_no_name_explains_is_recognised(spark, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("jobs.session.session", lambda **_: spark)
    (tmp_path / "train.txt").write_text("\n".join(LINES))
    assert cli.main(["inspect", str(tmp_path / "train.txt"), "--json", "--quiet"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["sources"]
    assert (found["format"], found["layout"], found["systems"]) == ("svmlight", "wide", FEATURES)
