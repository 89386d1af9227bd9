"""What is refused of judgments, queries, preparation and audit, each with the message of a golden file."""

from __future__ import annotations

import shlex

import pytest

from tests.support.commands import Case, Command, cases

FILES = {
    "run.txt": "q1 Q0 d1 1 3.0 a\nq1 Q0 d2 2 2.0 a\nq2 Q0 d1 1 1.0 a\nq3 Q0 d1 1 1.0 a\n",
    "qrels.txt": "q1 0 d1 1\nq1 0 d2 0\nq2 0 d1 0\n",
    "others.txt": "7 0 d1 1\n8 0 d2 0\n",
    "passages.txt": "q1 0 d1#1 1\nq1 0 d1#2 0\nq2 0 d1#1 1\nq2 0 d1#2 1\n",
    "labels.csv": (
        "query_id,doc_id,relevance,time\nq1,d1,Exakt,2026-11-29\nq1,d2,none,soon\nq2,d1,Substitute,2026-11-29\n"
    ),
    "queries.csv": "query_id,query,user_id\nq1,kanarienvogel blau,u1\nq2,kanarienvogel,u2\n",
    "blank.parquet": {
        "system": ["a", "a", "a"],
        "query_id": ["q1", " ", None],
        "doc_id": ["", "d2", "d3"],
        "score": [3.0, 2.0, 1.0],
    },
}


CASES = cases("preparation")


def refused(command: Command, case: Case) -> None:
    for name, content in FILES.items():
        command.write(name, content)
    message = command.refused(case.code, *shlex.split(case.words))
    assert message == case.message
    assert "kanarienvogel" not in message


@pytest.mark.parametrize("case", [case for case in CASES if not case.spark], ids=lambda case: case.words)
def test_what_cannot_work_is_refused_before_spark_starts(command, case):
    refused(command, case)


@pytest.mark.parametrize("case", [case for case in CASES if case.spark], ids=lambda case: case.words)
def test_what_is_wrong_with_the_data_is_refused(spark, command, monkeypatch, case):
    monkeypatch.setattr("jobs.session.session", lambda **_: spark)
    refused(command, case)


def test_there_are_twenty_of_them_and_none_twice():
    assert len({case.words for case in CASES}) == len(CASES) >= 20
