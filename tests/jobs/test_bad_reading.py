"""Tables that cannot be read, each with the message of a golden file."""

from __future__ import annotations

import gzip
import io
import json
import shlex

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.support.commands import Case, Command, cases

RUN = "system,query_id,doc_id,score\na,q1,d1,3\na,q1,d2,2\n"
LOG = [("a", "q1", "d1", 1), ("a", "q1", "d2", 2), ("b", "q1", "d1", 1), ("b", "q1", "d2", 4)]


def parquet(**columns: object) -> bytes:
    """The bytes of a Parquet file."""
    out = io.BytesIO()
    pq.write_table(pa.table(columns), out)
    return out.getvalue()


def lines(*rows: object) -> str:
    """JSON lines."""
    return "".join(json.dumps(row) + "\n" for row in rows)


WHOLE = parquet(system=["a"], query_id=["q1"], doc_id=["d1"], score=[1.0])
NESTED = {"system": "a", "query_id": "q1", "doc_id": ["d1", "d2"], "relevance": [1, 0]}
FILES: dict[str, str | bytes] = {
    "run.csv": RUN,
    "qrels.csv": "query_id,doc_id,relevance\nq1,d1,1\n",
    "qrels.txt": "q1 0 d1 1\n",
    "torn.csv.gz": gzip.compress(RUN.encode() * 2000)[:150],
    "torn.parquet": WHOLE[:-30],
    "empty.csv": "",
    "header.csv": "system,query_id,doc_id,score\n",
    "words.csv": "just some words\nand more\n",
    "values.csv": "a,q1,d1,3\n",
    "twice.csv": "system,query_id,doc_id,Score,score\na,q1,d1,3,4\n",
    "mixed.csv": "system,query_id,doc_id,score\na,q1,d1,3\na;q1;d2;2\n",
    "cells.csv": "system,query_id,doc_id,score\na,q1,d1,3\na,q1,d2\na,q1,d3,1,9\n",
    "comma.csv": 'system;query_id;doc_id;score\na;q1;d1;"3,5"\n',
    "suffix.csv": "system,query_id,doc_id,score\na,q1,d1,1.0d\n",
    "latin.csv": "system,query_id,doc_id,score\na,q1,d\xe9,1\n".encode("latin-1"),
    "nulls.csv": "system,query_id,doc_id,score\na,q1,,1\n,q1,d2,\na, ,d3,1\n",
    "typo.csv": "system,query_id,dcoid,score\na,q1,d1,1\n",
    "bom.csv": "\ufeffsystem,query_id,doc_id,score\na,q1,,1\n".encode(),
    "parts/one.csv": RUN,
    "parts/two.csv": "system,query_id,document,score\na,q1,d1,3\n",
    "longer/one.csv": RUN,
    "longer/two.csv": "system,query_id,doc_id,score,rank\na,q1,d1,3,1\n",
    "broken.jsonl": lines({"system": "a", "query_id": "q1", "doc_id": "d1", "score": 1}) + '{"system": "a", \n',
    "list.jsonl": "[1, 2]\n",
    "leading.jsonl": '{"system": "a", "query_id": 007, "doc_id": "d1", "score": 1}\n',
    "typed.jsonl": lines({"system": "a", "query_id": "q1", "doc_id": {"id": 1}, "score": 1}),
    "high.jsonl": lines({"system": "a", "query_id": "q1", "doc_id": "d1", "score": "high"}),
    "doubles.parquet": parquet(system=["a"], query_id=[float(2**53 + 1)], doc_id=["d1"], score=[1.0]),
    "bytes.parquet": parquet(system=["a"], query_id=[b"q1"], doc_id=["d1"], score=[1.0]),
    "types/one.parquet": WHOLE,
    "types/two.parquet": parquet(system=["a"], query_id=["q2"], doc_id=["d1"], score=["high"]),
    "ragged.jsonl": lines(NESTED, NESTED | {"query_id": "q2", "relevance": [1]}),
    "missing.jsonl": lines(NESTED, {"system": "a", "query_id": "q2", "doc_id": ["d1"]}),
    "plain.jsonl": lines(NESTED | {"relevance": 1}),
    "twins.parquet": parquet(system=["a", "a"], query_id=["q1", "q1"], relevance=[[1], [0]]),
    "several.parquet": parquet(system=["a", "b"], query_id=["q1", "q1"], relevance=[[1], [0]]),
    "nan.parquet": parquet(system=["a"], query_id=["q1"], relevance=[[1.0, float("nan")]]),
    "wide.csv": "query_id,doc_id,relevance,bm25\nq1,d1,1,high\n",
    "log.csv": "system,query_id,doc_id,position\n" + "".join(",".join(map(str, row)) + "\n" for row in LOG),
    "place.csv": "system,query_id,doc_id,position\na,q1,d1,first\n",
    "torn.svm": "# LETOR\n1 qid:1 1:0.5 2:abc\n\n0 qid:1 1:0.5 3\n1 qid:2 1:1 2:0 1:1\n1:0.5 2:1\n0 qid:2 4:1\n",
    "some.svm": "1 qid:1 1:0.5\n0 1:0.25 # docid = d2\n",
    "few.svm": "1 qid:1 bm25:0.5 12:3\nhigh qid:1 bm25:0.25\n",
    "none.svm": "# nothing\n\n",
    "sizes/less.svm": "1 1:0.5\n0 2:0.25\n0 3:1\n",
    "sizes/less.svm.query": "1\n1\n",
    "sizes/word.svm": "1 1:0.5\n",
    "sizes/word.svm.group": "\none\n",
    "sizes/without.svm": "1 1:0.5\n",
}
CASES = cases("reading")


def refused(command: Command, case: Case) -> None:
    for name, content in FILES.items():
        if name in case.words or name.partition("/")[0] in case.words:
            command.write(name, content)
    command.names |= {"parts", "longer", "types"}
    assert command.refused(case.code, *shlex.split(case.words)) == case.message


@pytest.mark.parametrize("case", [case for case in CASES if not case.spark], ids=lambda case: case.words)
def test_what_a_name_or_a_setting_shows_is_refused_before_spark_starts(command, case):
    refused(command, case)


@pytest.mark.parametrize("case", [case for case in CASES if case.spark], ids=lambda case: case.words)
def test_a_table_that_cannot_be_read_is_refused_with_its_place(spark, command, case, monkeypatch):
    monkeypatch.setattr("jobs.session.session", lambda **_: spark)
    refused(command, case)


def test_every_file_is_in_a_case():
    told = " ".join(case.words for case in CASES)
    assert [name for name in FILES if name.partition("/")[0] not in told] == []
    assert len(CASES) >= 40
