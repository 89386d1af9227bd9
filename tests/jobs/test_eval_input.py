"""What `evaljob eval` reads, and how it tells what is wrong with it."""

from __future__ import annotations

import csv
import gzip
import io
import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import orc

from tests.jobs.test_eval import ROOT, SMALL_RUNS, printed, small

__all__ = ["small"]


# where the rows come from


RUN_ROWS = [
    {"system": "A", "query_id": "01", "doc_id": "é", "score": 1.5},
    {"system": "A", "query_id": "01", "doc_id": "9007199254740993", "score": 2.5},
    {"system": "B", "query_id": "01", "doc_id": "é", "score": 2.0},
]
QREL_ROWS = [
    {"query_id": "01", "doc_id": "9007199254740993", "relevance": 1},
    {"query_id": "01", "doc_id": "é", "relevance": 0},
]


def write(path: str, rows: list[dict]) -> None:
    kind = Path(path.removesuffix(".gz")).suffix
    table = pa.Table.from_pylist(rows)
    if kind == ".parquet":
        pq.write_table(table, path)
    elif kind == ".orc":
        orc.write_table(table, path)
    elif kind == ".jsonl":
        Path(path).write_bytes(gzip.compress("".join(json.dumps(row) + "\n" for row in rows).encode()))
    else:
        with Path(path).open("w", newline="", encoding="utf-8-sig") as file:
            writer = csv.DictWriter(file, list(rows[0]), delimiter="\t" if kind == ".tsv" else ",")
            writer.writeheader()
            writer.writerows(rows)


@pytest.mark.parametrize("name", ["x.parquet", "x.orc", "x.csv", "x.tsv", "x.jsonl.gz"])
def test_the_same_content_in_every_format_gives_the_same_answer(small, capsys, name):
    Path("run.txt").write_text("".join("{query_id} Q0 {doc_id} 1 {score} {system}\n".format(**row) for row in RUN_ROWS))
    Path("qrels.txt").write_text("".join("{query_id} 0 {doc_id} {relevance}\n".format(**row) for row in QREL_ROWS))
    write(f"run-{name}", RUN_ROWS)
    write(f"qrels-{name}", QREL_ROWS)
    told = [
        json.loads(printed(capsys, *files, "--metrics", "RR", "--json"))
        for files in (("qrels.txt", "run.txt"), (f"qrels-{name}", f"run-{name}"))
    ]
    assert told[0]["estimates"] == told[1]["estimates"]
    assert told[0]["per_query"] == told[1]["per_query"]
    assert {row["system"]: row["value"] for row in told[0]["per_query"]} == {"A": 1.0, "B": 0.0}


def test_standard_input_is_a_dash(small, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(SMALL_RUNS["new"].encode())))
    told = json.loads(printed(capsys, "qrels", "-", "--metrics", "RR", "--json"))
    assert told["estimates"][0]["estimate"] == 0.25


def test_ids_of_ir_datasets_are_read_where_the_package_is(small, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    assert "irds:toy needs the package ir_datasets" in printed(capsys, "irds:toy", "old", code=2)
    judged = [SimpleNamespace(query_id="q1", doc_id="a", relevance=1, iteration="0")]
    toy = SimpleNamespace(has_qrels=lambda: True, qrels_iter=lambda: judged, has_scoreddocs=lambda: False)
    monkeypatch.setitem(sys.modules, "ir_datasets", SimpleNamespace(load={"toy": toy}.__getitem__))
    assert json.loads(printed(capsys, "irds:toy", "old", "--metrics", "RR", "--json"))["estimates"][0]["estimate"] == 1
    assert "ir_datasets has no scored documents of toy" in printed(capsys, "qrels", "irds:toy", code=4)
    assert "ir_datasets knows no other" in printed(capsys, "irds:other", "old", code=2)


# what is refused


USAGE, REFUSED = 2, 4


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["qrels"], USAGE, "name the judgments and at least one run"),
        (["qrels", "old", "--metric", "RR"], USAGE, "unrecognized arguments: --metric"),
        (["qrels", "old", "--metrics", "nDGC@10"], USAGE, 'Did you mean "nDCG"'),
        (["qrels", "old", "--baseline", "olld"], USAGE, 'unknown system "olld". Did you mean "old"?'),
        (["qrels", "old", "--unit", "user"], USAGE, "give --queries FILE"),
        (["qrels", "nowhere"], USAGE, "runs: no such file or folder: nowhere"),
        (["qrels", "x" * 999], USAGE, "runs: no such file or folder: xxx"),
        (["qrels", "old", "--preset", "trec"], USAGE, 'Did you mean "trec_eval"?'),
        (
            ["qrels", "old", "--set", "aggregate.segments=[a]"],
            USAGE,
            "aggregate.segments: evaljob eval does not",
        ),
        (["qrels", "old", "--set", "inputs.format=svmlight"], USAGE, "inputs.format: svmlight: evaljob eval does not"),
        (["qrels", "old", "-m", "mapp"], USAGE, 'unknown measure "mapp". Did you mean "map"?'),
        (["qrels", "old", "-q", "--format", "latex"], USAGE, "--format with flags of trec_eval"),
        (["qrels", "old", "--margin", "RR"], USAGE, "--margin RR: write the metric and a number"),
        (["qrels", "old", "--metrics", "RR", "--format", "xml"], USAGE, "invalid choice: 'xml'"),
        (["qrels", "old", "old"], REFUSED, 'runs: 2 files have a system "old"'),
        (["old", "qrels"], REFUSED, "runs: 3 rows cannot be used: qrels line 1: 4 columns, not the 6"),
        (["old", "qrels"], REFUSED, "(judgments have 4, and are named before the runs)"),
    ],
)
def test_a_wrong_command_line_is_told_with_the_next_step(small, capsys, words, code, message):
    told = printed(capsys, *words, code=code)
    assert told.startswith("evaljob: ")
    assert message in told


def parquet(*columns: tuple[str, str]) -> bytes:
    """A file with these columns of one row."""
    out = io.BytesIO()
    pq.write_table(
        pa.Table.from_arrays([pa.array([cell]) for _, cell in columns], names=[key for key, _ in columns]), out
    )
    return out.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("run", "q1 Q0 a 1 0.9\n", 'run line 1: 5 columns, not the 6 of "query Q0 document rank score tag"'),
        ("run", "q1 Q0 a 1 0.9 s\n\n# no\nq1 Q0 b 2 x s\n", 'run line 4: score is "x", which is not a number'),
        ("run", "q1 Q0 a 1 1_0 s\n", 'score is "1_0", which is not a number'),
        ("run", "1 qid:1 1:0 2:1 3:1 4:0 5:1\n", 'line 1: "2:1" looks like a feature of SVMlight, which evaljob score'),
        ("run", "q1 Q0 a b 1 0.9 s\n", '7 columns, and the rank is "b"; is there a space in an id?'),
        ("run", b"q1 Q0 \xff 1 0.9 s\n", "run line 1: bytes that are not UTF-8"),
        ("run", "q1 Q0 a 1 nan s\n", '1 NaN or infinite score: system "s", query "q1", document "a", score nan'),
        ("run", "q1 Q0 a 1 2 s\nq1 Q0 a 2 1 s\n", 'returned more than once for a query: system "s", query "q1"'),
        ("run", "", "runs: no row in run"),
        ("run", "q9 Q0 a 1 2 s\n", 'the runs have "q9", the judgments "q1", "q2"'),
        ("run.gz", gzip.compress(b"q1 Q0 a 1 2 s\n" * 99, mtime=0)[:-9], "a gzip file that is damaged or ends early"),
        (
            "run.csv",
            "query_id,doc_id,score\nq1,a,1\n",
            "Known: query_id, doc_id, score. Name the file's own",
        ),
        (
            "run.csv",
            "system,query_id,doc_id,score\ns,q1,a,x\n",
            'run.csv line 2: system "s", query_id "q1", doc_id "a", score "x"',
        ),
        ("run.csv", "system,query_id,doc_id,score\ns,q1\n", "run.csv line 2: 2 cells, and the header has 4"),
        ("run.jsonl", '{"system": "s"\n', "run.jsonl line 1 is no JSON"),
        ("run.json", '[{"system": "s"}]\n', "run.json line 1 is no object"),
        (
            "run.jsonl",
            '{"system":"s","query_id":1.0,"doc_id":"a","score":1}\n',
            'column "query_id" is numbers with a point',
        ),
        (
            "run.jsonl",
            '{"system":"s","query_id":"q1","doc_id":"a","score":1%s}\n' % ("0" * 400),
            "1 NaN or infinite score",
        ),
        ("run.jsonl", f'{{"system":{"[" * 99_999}\n', "run.jsonl line 1 is nested too deep"),
        ("run.jsonl", '{"system":"s","query_id":"q\\ud800","doc_id":"a","score":1}\n', "run.jsonl line 1 is no JSON"),
        ("run.parquet", b"PAR1 and then nothing", "run.parquet cannot be read"),
        (
            "run.parquet",
            parquet(("system", "s"), ("doc_id", "a"), ("doc_id", "b")),
            "more than one column called doc_id",
        ),
    ],
)
def test_a_run_that_cannot_be_used_is_told_with_its_place(small, capsys, name, content, message):
    Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
    code = USAGE if name != "run" and ("Known" in message or "column " in message) else REFUSED
    assert message in printed(capsys, "qrels", name, code=code)


@pytest.mark.parametrize(
    ("content", "words", "message"),
    [
        (
            "q1 0 a 1\nq1 0 a 2\n",
            [],
            '1 document judged more than once with different grades: query "q1", document "a", grades 1 and 2',
        ),
        (
            "q1 0 a 1\nq1 1 a 1\n",
            [],
            'judged for several subtopics or groups: query "q1", document "a", subtopics "0" and "1"',
        ),
        ("q1 0 a inf\n", [], 'qrels line 1: relevance is "inf", which is not a finite number'),
        (
            "q1 0 a -1\n",
            ["--set", "score.conventions.negative_grade=error"],
            "1 negative grade, and negative_grade is error",
        ),
        ("q1 0 a 1\nq5 0 a 1\n", ["--set", "score.conventions.unanswered=error"], 'system "old", query "q5"'),
        (
            "q1 0 a 1\n",
            ["--set", "score.conventions.unjudged_query=error"],
            'queries without judgments, and unjudged_query is error: "q2"',
        ),
        ("q1 0 a 0\n", ["--set", "score.conventions.no_relevant=error"], "without a relevant judged document"),
        ("", [], "there is no judgment in qrels"),
    ],
)
def test_judgments_that_cannot_be_used_are_told(small, capsys, content, words, message):
    Path("qrels").write_text(content)
    assert message in printed(capsys, "qrels", "old", *words, code=REFUSED)


BY_RANK = ("--set", "score.conventions.ties=rank_column", "--metrics", "RR,PairwiseAccuracy")


def test_ranks_that_decide_beside_metrics_of_scores_must_be_there(small, capsys):
    Path("run").write_text("q1 Q0 a - 2 s\nq1 Q0 b 2 1 s\nq2 Q0 b 1 x s\n")
    told = printed(capsys, "qrels", "run", *BY_RANK, code=REFUSED)
    assert 'run line 1: rank is "-", which is not a whole number; run line 3: score is "x", which is not a num' in told
    write("run.csv", RUN_ROWS)
    assert 'unknown column "rank". Known: system' in printed(capsys, "qrels", "run.csv", *BY_RANK, code=USAGE)
    write("run.csv", [{**row, "rank": place or None} for place, row in enumerate(RUN_ROWS)])
    told = printed(capsys, "qrels", "run.csv", *BY_RANK, code=REFUSED)
    assert 'run.csv line 2: system "A", query_id "01", doc_id "é", rank null, score "1.5";' in told


def test_a_judgment_that_is_repeated_may_lack_its_propensity(small, capsys):
    row = {"query_id": "q1", "doc_id": "a", "relevance": 1}
    rows = [{**row, "propensity": each} for each in (None, 0.5, None)]
    write("qrels.csv", rows)
    for metrics in ("RR", "RR,IPS"):
        told = json.loads(printed(capsys, "qrels.csv", "old", "--metrics", metrics, "--json"))
        assert told["audit"]["n_repeated"] == 2
    assert {each["metric"]: each["value"] for each in told["per_query"]} == {"RR": 1.0, "IPS": 2.0}
    write("qrels.csv", [*rows, {**row, "propensity": 0.25}])
    printed(capsys, "qrels.csv", "old", "--metrics", "RR")
    told = printed(capsys, "qrels.csv", "old", "--metrics", "IPS", code=REFUSED)
    assert 'with different propensities: query "q1", document "a", propensities 0.25 and 0.5' in told


def test_judgments_that_contradict_each_other_are_told_where_some_name_no_subtopic(small, capsys):
    row = {"query_id": "q1", "doc_id": "a"}
    write("qrels.csv", [{**row, "relevance": grade, "subtopic": each} for each in (None, "x") for grade in (1, 2)])
    told = printed(capsys, "qrels.csv", "old", "--metrics", "alpha_nDCG@5", code=REFUSED)
    assert "2 documents judged more than once with different grades" in told


def test_a_line_of_blanks_is_empty_whatever_follows_the_tags(small, capsys):
    Path("run").write_text("q1 Q0 b 1 2 s more\n   \nq1 Q0 a 2 1 s more")
    assert json.loads(printed(capsys, "qrels", "run", "--metrics", "RR", "--json"))["audit"]["n_run_rows"] == 2


def test_trec_files_may_be_called_tsv_and_lie_in_parts(small, capsys):
    Path("qrels").rename("qrels.TSV")
    Path("bm25.tsv").mkdir()
    Path("bm25.tsv/part-0000.tsv").write_text(SMALL_RUNS["old"])
    for run in ("bm25.tsv", "bm25.tsv/part-0000.tsv"):
        told = json.loads(printed(capsys, "qrels.TSV", run, "--metrics", "RR", "--json", "--system-from", "file"))
        assert [row["system"] for row in told["estimates"]] == ["bm25"]


def test_weights_are_numbers_as_everywhere(small, capsys):
    write("queries.csv", [{"query_id": "q1", "weight": " 2 "}, {"query_id": "q2", "weight": "1_0"}])
    words = ("--queries", "queries.csv", "--set", "score.conventions.mean=weighted")
    assert '1 query without a weight that is a number from 0: "q2"' in printed(
        capsys, "qrels", "old", *words, code=REFUSED
    )


def test_ids_are_printed_in_utf_8_whatever_the_locale(small):
    Path("qrels").write_text("é 0 a 1\n")
    Path("run").write_text("é Q0 a 1 1 s\n")
    words = [sys.executable, "-m", "jobs", "eval", "qrels", "run", "--metrics", "RR", "--per-query", "--json"]
    environment = {"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(words, capture_output=True, env=environment)
    assert json.loads(done.stdout.decode())["per_query"][0]["query_id"] == "é", done.stderr


def test_no_big_package_is_imported_for_trec_files(small):
    program = (
        "import sys; from jobs.cli import main; assert main(['eval', 'qrels', 'old']) == 0\n"
        "big = ('pyspark', 'pandas', 'pyarrow', 'cyclopts', 'rich', 'scipy', 'ruamel.yaml', 'numpy.ma')\n"
        "print([each for each in big if each in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env={"PYTHONPATH": str(ROOT)}
    )
    assert done.stdout.splitlines()[-1] == "[]", done.stderr


def test_columns_may_have_other_names(small, capsys):
    write("run.csv", [{"model": "m", "q": "q1", "doc": "b", "s": 1}])
    names = {"system": "model", "query_id": "q", "doc_id": "doc", "score": "s"}
    words = [word for key, name in names.items() for word in ("--set", f"inputs.columns.{key}={name}")]
    write("qrels.tsv", [{"q": "q1", "doc": "b", "relevance": 1}])
    told = json.loads(printed(capsys, "qrels.tsv", "run.csv", "--metrics", "RR", "--json", *words))
    assert told["estimates"][0]["estimate"] == 1
    wrong = printed(capsys, "qrels.tsv", "run.csv", *words[:-1], "inputs.columns.score=scor", code=USAGE)
    assert 'unknown column "scor"' in wrong
