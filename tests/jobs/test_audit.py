"""The audit: counts, levels, differences of queries, judgments and systems, alone and on the way to scores."""

from __future__ import annotations

import json

import pytest

from jobs import cli, pipeline, store
from jobs.config_file import load
from jobs.config_input import AboveNone, Audit, Levels
from jobs.errors import DataRefused
from jobs.input_gates import GATES, findings, sentence
from tests.support.evaluations import QUIET, score, write_trec

RUNS = {
    "a": [
        *("q1 d1 3", "q1 d2 3", "q1 d2 1", "q1 d3 nan"),
        *("q2 d1 1", "q3 d1 1", "q7 d1 2", "q8 d1 1", "q9 d1 1"),
    ],
    "b": ["q1 d1 1", "q1 d2 5", "q9 d1 1"],
}
QRELS = [
    *("q1 d1 1", "q1 d1 1", "q1 d2 4", "q1 d3 -1"),
    *("q2 d1 0", "q3 d1 1", "q4 d1 1", "q5 d1 1", "q5 d1 2"),
]
QUERIES = ["q1", "q2", "q3", "q4", "q7"]
ALLOWED = {
    "score.conventions.duplicates": "counted",
    "score.conventions.non_finite_score": "last",
    "judgments.repeated": "max",
    "audit.grades": [0.0, 3.0],
}
LOW = {f"audit.{gate}": {"warn": 0.0} for gate in (*GATES, "unanswered")}


@pytest.fixture(scope="module")
def settings(tmp_path_factory):
    folder = tmp_path_factory.mktemp("audit")
    queries = folder / "queries.csv"
    queries.write_text("\n".join(["query_id", *QUERIES]))
    return {**write_trec(folder, runs=RUNS, qrels=QRELS), "inputs.queries": str(queries), "score.metrics": ["AP"]}


@pytest.fixture(scope="module")
def audited(spark, settings):
    return pipeline.audit(spark, load(None, flags={**settings, **ALLOWED, **LOW}), QUIET)


def test_queries_judgments_and_systems_are_told_apart(audited):
    assert (audited["n_queries"], audited["n_judged_queries"], audited["n_judged_unasked"]) == (5, 5, 1)
    assert audited["systems"] == [
        {"system": "a", "answered": 3, "unanswered": 1, "unjudged": 1, "outside": 2},
        {"system": "b", "answered": 1, "unanswered": 3, "unjudged": 0, "outside": 1},
    ]


def test_every_gate_has_its_count_share_and_examples(audited):
    told = {(gate["gate"], gate["where"]): gate for gate in audited["gates"]}
    expected = {
        "duplicates": (1, 12, ['system "a", query "q1", document "d2"']),
        "non_finite": (1, 12, ['system "a", query "q1", document "d3", score nan']),
        "ties": (1, 12, ['system "a", query "q1"']),
        "misordered": (1, 8, ['system "b", query "q1"']),
        "outside": (3, 8, [f'system "{answer[0]}", query "{answer[1:]}"' for answer in ("aq8", "aq9", "bq9")]),
        "unjudged": (2, 10, ['system "a", query "q7"', 'system "b", query "q7"']),
        "unasked": (1, 5, ['query "q5"']),
        "no_relevant": (1, 4, ['system "a", query "q2"']),
        "repeated": (1, 9, ['query "q1", document "d1"']),
        "negative": (1, 9, ['query "q1", document "d3", grade -1']),
        "odd_grades": (2, 9, ['query "q1", document "d2", grade 4', 'query "q1", document "d3", grade -1']),
    }
    for gate, (count, of, examples) in expected.items():
        found = told[gate, None]
        assert (found["count"], found["of"], found["examples"]) == (count, of, examples), gate
        assert (found["share"], found["outcome"]) == (count / of, "warned")
    assert told["unanswered", "a"]["examples"] == ['system "a", query "q4"']
    assert told["unanswered", "b"]["examples"] == [f'system "b", query "q{number}"' for number in (2, 3, 4)]
    assert told["contradictory", None]["count"] == 0, "those of a query that is not to be scored do not count"
    assert {gate for gate, _ in told} == {*GATES, "unanswered"}
    assert (audited["outcome"], audited["refusals"]) == ("warned", [])


def test_the_manifest_of_scores_has_the_same_audit(spark, settings, audited, tmp_path):
    score(spark, tmp_path / "out", "AP", {**settings, **ALLOWED, **LOW})
    written = store.read_manifest(tmp_path / "out")["audit"]
    assert {key: written[key] for key in written if key != "gates"} == {
        key: audited[key] for key in written if key != "gates"
    }
    assert written["gates"] == [{**gate, "examples": []} for gate in audited["gates"]]
    earlier = {"audit.earlier": [str(tmp_path / "o*")], "audit.rows.refuse": 0.1}
    again = load(None, flags={**settings, **ALLOWED, **earlier, "inputs.runs": settings["inputs.runs"][:1]})
    rows = [gate for gate in pipeline.audit(spark, again, QUIET)["gates"] if gate["gate"] == "rows"]
    assert [(gate["count"], gate["of"], gate["outcome"]) for gate in rows] == [
        (9, 6, "refused"),
        (9, 9, "passed"),
        (5, 5, "passed"),
    ]


def test_a_gate_above_its_level_ends_scoring_with_examples_and_leaves_nothing(spark, settings, tmp_path):
    refused = {**settings, **ALLOWED, "audit.outside.refuse": 0.3, "audit.unanswered.refuse": 0.5}
    with pytest.raises(DataRefused) as message:
        score(spark, tmp_path / "out", "AP", refused)
    outside, unanswered = str(message.value).splitlines()
    assert outside == (
        "the audit refuses: rankings of queries that are not to be scored: 3 of 8, 37.5%, above audit.outside.refuse "
        'of 30.0%: system "a", query "q8"; system "a", query "q9"; system "b", query "q9"'
    )
    assert unanswered == (
        "the audit refuses: b: judged queries without an answer: 3 of 4, 75.0%, above audit.unanswered.refuse of "
        '50.0%: system "b", query "q2"; system "b", query "q3"; system "b", query "q4"'
    )
    assert list(tmp_path.iterdir()) == []


def test_the_command_tells_all_that_would_be_refused_and_exits_with_4(spark, settings, monkeypatch, capsys):
    monkeypatch.setattr("jobs.session.session", lambda **_: spark)
    files = ["--runs", *settings["inputs.runs"], "--qrels", *settings["inputs.qrels"], "--quiet", "--metrics", "AP"]
    assert cli.main(["audit", *files, "--set", "audit.ties.refuse=0.05"]) == 4
    out = capsys.readouterr().out
    assert "audit: refused" in out
    refusals = [line.split(":")[1:3] for line in out.splitlines() if line.startswith("refused: ")]
    assert refusals == [
        [" --runs", " 1 NaN or infinite score"],
        [" --qrels", " 1 document judged more than once with different grades"],
        [
            " documents with the score of another one of their ranking",
            " 1 of 12, 8.3%, above audit.ties.refuse of 5.0%",
        ],
    ]


def test_what_was_found_is_printed_or_is_json(audited, monkeypatch, capsys):
    monkeypatch.setattr("jobs.pipeline.audit", lambda *_: audited)
    monkeypatch.setattr("jobs.session.session", lambda **_: None)
    monkeypatch.setattr("jobs.checks.check_input", lambda _: [])
    assert cli.main(["audit", "--quiet", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == audited
    assert cli.main(["audit", "--quiet"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == [
        "5 queries to be scored, 5 judged, 1 of them not to be scored",
        "system  answered  unanswered  unjudged  outside",
        "a              3           1         1        2",
    ]
    assert "unanswered     b           3   4  75.00%       0.00%  warned" in lines
    assert lines[-1] == "audit: warned"


def counts(**given):
    keys = {key for gate in GATES.values() for key in (gate.count, gate.of)} - {"n_judged_answered"}
    return dict.fromkeys((*keys, "n_ok", "n_no_relevant"), 0) | given


@pytest.mark.parametrize(
    ("share", "outcome"), [(0, "passed"), (1, "passed"), (2, "warned"), (5, "warned"), (6, "refused")]
)
def test_a_level_is_passed_at_it_and_not_above(share, outcome):
    settings = Audit(ties=Levels(warn=0.1, refuse=0.5))
    (found,) = [
        each
        for each in findings(counts(n_tied=share, n_documents=10), [], settings, n_systems=1)
        if each["gate"] == "ties"
    ]
    assert found["outcome"] == outcome


def test_nothing_of_nothing_is_no_share():
    assert {each["outcome"] for each in findings(counts(), [], Audit(), n_systems=1)} == {"passed"}


def test_a_finding_says_the_level_that_it_is_above():
    given = counts(n_duplicates=3, n_documents=4)
    found = findings(given, [], Audit(duplicates=AboveNone(refuse=0.5)), n_systems=1)[0]
    assert sentence(found) == (
        "documents returned more than once for a query: 3 of 4, 75.0%, above audit.duplicates.refuse of 50.0%"
    )
