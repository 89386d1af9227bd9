"""Every wrong thing is one clear message with its place and the next step, and leaves nothing behind."""

from __future__ import annotations

import gzip
import json
import math
import re
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from py4j.protocol import Py4JError

from evalcore import METRICS
from jobs import cli
from jobs.errors import DataRefused, JobError, UsageError
from jobs.spark_errors import told
from tests.support.data import DATA

USAGE, REFUSED = 2, 4
RUN = "q1 Q0 d1 1 3.0 a\nq1 Q0 d2 2 2.0 a\nq2 Q0 d1 1 1.0 a\n"
QRELS = "q1 0 d1 1\nq1 0 d2 0\nq2 0 d1 2\n"
RUN_COLUMNS = {
    "system": ["a", "a", "a"],
    "query_id": ["q1", "q1", "q2"],
    "doc_id": ["d1", "d2", "d1"],
    "score": [3.0, 2.0, 1.0],
}
QREL_COLUMNS = {"query_id": ["q1", "q2"], "doc_id": ["d1", "d1"], "relevance": [1, 2]}


@pytest.fixture
def command(command):
    """A good run, good judgments, and the command, which must not come to start Spark."""
    command.write("run.txt", RUN)
    command.write("qrels.txt", QRELS)
    return command


@pytest.fixture
def evaljob(spark, command, monkeypatch):
    """The same with Spark."""
    monkeypatch.setattr("jobs.session.session", lambda **_: spark)
    return command


def convention(choice: str) -> tuple[str, str]:
    return "--set", f"score.conventions.{choice}"


# the command line: refused before Spark starts


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("score --runs nope.txt --qrels qrels.txt --output out", "--runs: no such file or folder: nope.txt"),
        ("score --runs run.txt --qrels nope.txt --output out", "--qrels: no such file or folder: nope.txt"),
        ("score --runs run.txt nope/ --qrels qrels.txt --output out", "--runs: no such file or folder: nope/"),
        ("score --runs r*.gz --qrels qrels.txt --output out", "--runs: nothing matches r*.gz"),
        (
            "score --runs https://example.org/run.txt --qrels qrels.txt --output out",
            "--runs: Spark does not read from the web; download https://example.org/run.txt first",
        ),
        ("score --qrels qrels.txt --output out", "no runs given; name files, folders or patterns with --runs"),
        ("score --runs run.txt --output out", "no qrels given; name files, folders or patterns with --qrels"),
        ("score --runs run.txt --qrels qrels.txt", "no output directory is given; name one with --output"),
        (
            "score --runs run.txt --qrels qrels.txt --output s3://bucket/out",
            "--output s3://bucket/out: an evaluation is a folder of this machine, or of a mounted file system",
        ),
        (
            "score --runs run.txt --qrels qrels.txt --output out[1]",
            "--output out[1]: Spark would read this as a pattern; choose a name without *?[]{}\\",
        ),
        ("score --rnus run.txt", "Unknown option: --rnus. Did you mean --runs? See: evaljob score --help"),
        ("score run.txt", "run.txt belongs to no option. See: evaljob score --help"),
        ("score --output", 'Command "score" parameter --output requires an argument. See: evaljob score --help'),
        ("aggregate", "name an evaluation, or a table of values with --scores"),
    ],
)
def test_a_wrong_command_line_is_refused_before_spark_starts(command, arguments, message):
    assert command.refused(USAGE, *arguments.split()) == message


def test_an_unknown_command_is_told_the_nearest(command):
    assert command.refused(USAGE, "scroe").startswith('Unknown command "scroe". Did you mean "score"?')


def test_all_that_is_wrong_before_spark_starts_is_told_at_once(command):
    message = command.score_refused(USAGE, "--metrics", "nDGC@10", runs="nope.run", qrels="nope.txt")
    assert [line.split(": ")[0] for line in message.splitlines()] == [
        "--runs",
        f'unknown metric "nDGC". Did you mean "nDCG"? There are {len(METRICS)} known names.',
        "--qrels",
    ]


@pytest.mark.parametrize(
    ("metrics", "message"),
    [
        ("AP,nDGC@10", 'unknown metric "nDGC". Did you mean "nDCG"? There are '),
        ("AP,goodness", 'unknown metric "goodness". Known: P, R, F, '),
        ("nDCG@0", "nDCG@0: cutoff is 0; it must be a whole number from 1"),
        ("nDCG@-1", "nDCG@-1: cutoff is -1; it must be a whole number from 1"),
        ("P(rell=2)@5", 'P(rell=2)@5: P has no parameter "rell=2". Known: denominator, rel.'),
        ("AP,RR,map", '"map" and "AP" are the same metric; name it once'),
        ("", "no metric is named; for example: nDCG@10,AP,RR@10"),
    ],
)
def test_a_wrong_metric_is_refused_with_what_would_be_right(command, metrics, message):
    assert command.score_refused(USAGE, "--metrics", metrics).startswith(message)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--preset", "treceval"), 'unknown preset "treceval". Did you mean "trec_eval"? Known: default, '),
        (("--system-from", "name"), "inputs.system_from is \"name\"; it should be 'tag' or 'file'"),
        (convention("ties=doc_id"), "score.conventions.ties is \"doc_id\"; it should be 'doc_id_desc', 'doc_id_asc', "),
        (("--set", "score.preset"), "--set score.preset: there is no value; write section.key=value"),
        (("--config", "nope.yaml"), "nope.yaml: the configuration cannot be read: No such file or directory"),
        (("--config", "own.yaml"), 'own.yaml line 3: score has no setting "metrcs". Did you mean "metrics"? Known: '),
    ],
)
def test_a_wrong_setting_is_refused_with_its_place(command, options, message):
    command.write("own.yaml", "# own\nscore:\n  metrcs: [AP]\n")
    assert message in command.score_refused(USAGE, *options)


def test_an_output_that_exists_is_refused(command):
    (command.folder / "out").mkdir()
    assert command.score_refused(USAGE) == "out exists; choose another --output, or replace it with --force"


@pytest.mark.parametrize("name", ["out/notes.txt", "out"])
def test_force_replaces_nothing_but_an_evaluation(command, name):
    command.write(name, "mine")
    message = command.score_refused(USAGE, "--force")
    assert message.startswith("out exists and is no evaluation, and --force replaces nothing else")


def test_files_of_two_formats_are_refused(command):
    command.write("b.parquet", RUN_COLUMNS)
    assert command.score_refused(USAGE, runs="run.txt b.parquet") == (
        "--runs: some paths are parquet and some trec; give one format at a time, or say which all are with "
        "--set inputs.format=..."
    )


def test_a_compressed_file_that_is_not_called_gz_is_told_its_name(command):
    command.write("input.bm25", gzip.compress(RUN.encode()))
    assert command.score_refused(USAGE, runs="input.bm25") == (
        "--runs: input.bm25 is compressed; Spark knows that by the name, so call it input.bm25.gz"
    )


def test_a_name_that_spark_would_read_as_a_pattern_is_refused(command):
    command.write("run[1].txt", RUN)
    assert command.score_refused(USAGE, runs="run[1].txt") == (
        "--runs: Spark would read the brackets in run[1].txt as a pattern; rename it"
    )


# the output


def test_force_replaces_an_evaluation_by_a_new_one(evaljob):
    arguments = ["score", "--runs", "run.txt", "--qrels", "qrels.txt", "--output", "out", "--metrics"]
    assert evaljob.run(*arguments, "AP")[0] == 0
    assert evaljob.run(*arguments, "RR", "--force")[0] == 0
    names = [metric["name"] for metric in json.loads((evaljob.folder / "out" / "manifest.json").read_text())["metrics"]]
    assert names == ["RR"]
    assert {path.name for path in evaljob.folder.iterdir()} == {"out", "run.txt", "qrels.txt"}


def test_an_output_that_cannot_be_written_is_refused(evaljob):
    message = evaljob.refused(USAGE, "score", "--runs", "run.txt", "--qrels", "qrels.txt", "--output", "run.txt/out")
    assert message == "run.txt/out cannot be written: Not a directory; choose another place"


def test_folders_on_the_way_to_a_refused_output_are_not_left(evaljob):
    evaljob.write("empty.txt", "")
    evaljob.refused(REFUSED, "score", "--runs", "empty.txt", "--qrels", "qrels.txt", "--output", "a/b/out")


# runs and judgments in TREC files


@pytest.mark.parametrize("content", ["", "# nothing\n\n  \n# yet\n"])
def test_a_run_without_a_row_is_refused(evaljob, content):
    evaljob.write("empty.txt", content)
    assert evaljob.score_refused(REFUSED, runs="empty.txt") == "--runs: no row can be used: there is none in empty.txt"


@pytest.mark.parametrize("content", ["", "# nothing\n\n  \n# yet\n"])
def test_judgments_without_a_row_are_refused(evaljob, content):
    evaljob.write("empty.txt", content)
    assert evaljob.score_refused(REFUSED, qrels="empty.txt") == "--qrels: there is no judgment in empty.txt"


def test_a_file_without_rows_among_others_is_refused(evaljob):
    evaljob.write("empty.txt", "")
    message = evaljob.score_refused(REFUSED, runs="run.txt empty.txt")
    assert message == "--runs: no row in empty.txt; write empty files again or leave them out"


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("q1 Q0 d2 2 2.0", '5 columns, not the 6 of "query Q0 document rank score tag"'),
        ("q1 Q0 d2 2 high a", 'score is "high", which is not a number'),
        ("q1 Q0 d2 2 1.0d a", 'score is "1.0d", which is not a number'),
        ("q1 Q0 d2 2 1f a", 'score is "1f", which is not a number'),
        ("q1 Q0 d2 2 0x1F a", 'score is "0x1F", which is not a number'),
    ],
)
def test_a_line_of_a_run_that_cannot_be_read_is_named_by_its_number(evaljob, line, problem):
    evaljob.write("bad.txt", f"# a comment\r\n\r\nq1 Q0 d1 1 3.0 a\r\n{line}\r\n")
    assert evaljob.score_refused(REFUSED, runs="bad.txt") == (
        f"--runs: 1 row cannot be used: bad.txt line 4: {problem}; mend them or leave them out"
    )


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("q1 0 d2 1 more", '5 columns, not the 4 of "query iteration document relevance"'),
        ("q1 0 d2", '3 columns, not the 4 of "query iteration document relevance"'),
        ("q1 0 d2 good", 'relevance is "good", which is not a finite number'),
        ("q1 0 d2 inf", 'relevance is "inf", which is not a finite number'),
    ],
)
def test_a_line_of_judgments_that_cannot_be_read_is_named_by_its_number(evaljob, line, problem):
    evaljob.write("bad.txt", f"\n# a comment\nq1 0 d1 1\n\n{line}\n")
    assert evaljob.score_refused(REFUSED, qrels="bad.txt") == (
        f"--qrels: 1 row cannot be used: bad.txt line 5: {problem}; mend them or leave them out"
    )


def test_line_numbers_are_right_in_files_that_spark_splits(evaljob, spark):
    lines = [f"q1 Q0 d{number} 1 {number} a" for number in range(400)]
    lines[3], lines[123], lines[399] = "# a comment", "q1 Q0 d123 1 x a", "q1 Q0 d399 1 y"
    evaljob.write("first.txt", "\n".join(lines) + "\n")
    lines[123] = "q1 Q0 d123 1 z b"
    evaljob.write("second.txt", "\n".join(line.removesuffix("a") + "b" for line in lines[:300]))
    saved = spark.conf.get("spark.sql.files.maxPartitionBytes")
    try:
        spark.conf.set("spark.sql.files.maxPartitionBytes", "1000")
        assert spark.read.text(str(evaljob.folder / "first.txt")).rdd.getNumPartitions() > 5
        message = evaljob.score_refused(REFUSED, runs="first.txt second.txt")
    finally:
        spark.conf.set("spark.sql.files.maxPartitionBytes", saved)
    assert message.startswith("--runs: 3 rows cannot be used: ")
    assert re.findall(r"(\w+\.txt) line (\d+)", message) == [
        ("first.txt", "124"),
        ("first.txt", "400"),
        ("second.txt", "124"),
    ]


@pytest.mark.parametrize("score", ["NaN", "-inf"])
def test_a_score_that_is_not_finite_is_refused(evaljob, score):
    evaljob.write("bad.txt", f"q1 Q0 d1 1 3.0 a\nq1 Q0 d2 2 {score} a\n")
    assert evaljob.score_refused(REFUSED, runs="bad.txt") == (
        f'--runs: 1 NaN or infinite score: system "a", query "q1", document "d2", score {score.lower()}; mend the '
        "runs, or rank such documents last with --set score.conventions.non_finite_score=last"
    )


def test_documents_returned_twice_are_refused_with_three_examples(evaljob):
    evaljob.write("bad.txt", "".join(f"q{n} Q0 d7 1 3.0 a\nq{n} Q0 d7 2 2.0 a\n" for n in range(1, 6)))
    evaljob.write("judged.txt", "q1 0 d7 1\n")
    assert evaljob.score_refused(REFUSED, runs="bad.txt", qrels="judged.txt") == (
        "--runs: 5 documents returned more than once for a query: "
        + "; ".join(f'system "a", query "q{n}", document "d7"' for n in (1, 2, 3))
        + "; mend the runs, or keep one of each with --set score.conventions.duplicates=first (or best_score, last)"
    )


def test_judgments_that_contradict_each_other_are_refused(evaljob):
    evaljob.write("bad.txt", "q1 0 d1 1\nq1 0 d1 2\nq2 0 d1 0\nq2 0 d1 0\n")
    assert evaljob.score_refused(REFUSED, qrels="bad.txt") == (
        '--qrels: 1 document judged more than once with different grades: query "q1", document "d1", grades 1 and 2; '
        "keep one judgment of each, or choose a rule with --set judgments.repeated=max (or mean, latest, majority)"
    )


def test_judgments_of_subtopics_are_refused_by_name(evaljob):
    qrels = DATA / "qrels" / "qrels.web.201-250.ndeval.txt"
    if not qrels.is_file():
        pytest.skip("../shared/data/qrels is not there")
    evaljob.write("run.txt", "201 Q0 clueweb12-0000tw-05-12114 1 3.0 a\n")
    message = evaljob.score_refused(REFUSED, qrels=str(qrels))
    assert message.count('query "201", document "clueweb12-') == 3
    assert "would need one grade for each document. Use metrics of subtopics" in message


def test_runs_and_judgments_without_a_common_query_are_refused(evaljob):
    evaljob.write("run.txt", "x1 Q0 d1 1 1.0 a\nx2 Q0 d1 1 1.0 a\n")
    assert evaljob.score_refused(REFUSED) == (
        'runs and judgments have no query in common: the runs have "x1", "x2", the judgments "q1", "q2", '
        'to be scored are "q1", "q2"; do all use the same ids?'
    )


def test_a_tag_in_two_files_is_refused_and_file_names_are_offered(evaljob):
    evaljob.write("more/run2.txt", RUN)
    message = evaljob.score_refused(REFUSED, runs="run.txt more/run2.txt")
    assert message.startswith(
        '--runs: 2 files have a system "a": more/run2.txt, run.txt; '
        "if each file is a system of its own, use --system-from file;"
    )


def test_two_files_of_one_name_are_refused_where_the_name_is_the_system(evaljob):
    evaljob.write("more/run.txt", RUN)
    message = evaljob.score_refused(REFUSED, "--system-from", "file", runs="run.txt more/run.txt")
    assert message.startswith('--runs: 2 files have a system "run": ')
    assert message.endswith("give each file a name of its own")


# files that are not what they seem


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("bad.txt.gz", gzip.compress(RUN.encode() * 2000)[:200], "Unexpected end of input stream"),
        ("bad.txt.gz", RUN.encode(), "not a gzip file"),
        ("bad.parquet", RUN.encode() * 3, "it is not a Parquet file"),
    ],
)
def test_a_file_that_cannot_be_read_is_named_with_the_reason(evaljob, name, content, problem):
    evaljob.write(name, content)
    expected = f"{name} cannot be read: {problem}; it is damaged, or not what its name says: "
    assert evaljob.score_refused(REFUSED, runs=name).startswith(expected)
    assert evaljob.score_refused(REFUSED, qrels=name).startswith(expected)


def test_a_parquet_file_that_ends_early_is_named(evaljob):
    whole = evaljob.write("bad.parquet", RUN_COLUMNS)
    whole.write_bytes(whole.read_bytes()[:-20])
    assert evaljob.score_refused(REFUSED, runs="bad.parquet").startswith("bad.parquet cannot be read: ")


def test_an_empty_parquet_file_is_named(evaljob):
    evaljob.write("bad.parquet", b"")
    message = evaljob.score_refused(REFUSED, runs="bad.parquet")
    assert message == "--runs: no Parquet file in bad.parquet, or an empty one"


# Parquet columns


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        (
            {"score": None},
            'there is no column "score" (columns: system, query_id, doc_id); '
            "name another with --set inputs.columns.score=COLUMN",
        ),
        (
            {"system": None},
            'there is no column "system" (columns: query_id, doc_id, score); '
            "name another with --set inputs.columns.system=COLUMN, or take the names of files with --system-from file",
        ),
        ({"score": ["3", "2", "1"]}, 'column "score" is string; it must be numbers'),
        (
            {"query_id": [1.0, 1.0, 2.0]},
            'column "query_id" is double; it must be text or whole numbers; write them as text, for numbers with a '
            "point do not keep every id above 2**53 apart",
        ),
    ],
)
def test_a_column_that_is_missing_or_of_a_wrong_type_is_named(evaljob, changed, problem):
    columns = {key: values for key, values in {**RUN_COLUMNS, **changed}.items() if values is not None}
    evaljob.write("bad.parquet", columns)
    assert evaljob.score_refused(USAGE, runs="bad.parquet") == f"--runs bad.parquet: {problem}"


@pytest.mark.parametrize(
    ("changed", "row"),
    [
        ({"query_id": ["q1", " ", "q2"]}, 'system "a", query_id " ", doc_id "d2", score 2.0'),
        ({"doc_id": ["d1", None, "d1"]}, 'system "a", query_id "q1", doc_id null, score 2.0'),
        ({"system": ["a", None, "a"]}, 'system null, query_id "q1", doc_id "d2", score 2.0'),
        ({"score": [3.0, None, 1.0]}, 'system "a", query_id "q1", doc_id "d2", score null'),
    ],
)
def test_a_row_of_a_run_with_a_blank_or_null_cell_is_shown(evaljob, changed, row):
    evaljob.write("bad.parquet", {**RUN_COLUMNS, **changed})
    assert evaljob.score_refused(REFUSED, runs="bad.parquet") == (
        f"--runs: 1 row cannot be used: bad.parquet: {row}; mend them or leave them out"
    )


@pytest.mark.parametrize(
    ("changed", "row"),
    [
        ({"query_id": ["q1", ""]}, 'query_id "", doc_id "d1", relevance 2'),
        ({"doc_id": ["d1", None]}, 'query_id "q2", doc_id null, relevance 2'),
        ({"relevance": [1, None]}, 'query_id "q2", doc_id "d1", relevance null'),
        ({"relevance": [1, math.nan]}, 'query_id "q2", doc_id "d1", relevance nan'),
    ],
)
def test_a_judgment_with_a_blank_or_null_cell_is_shown(evaljob, changed, row):
    evaljob.write("bad.parquet", {**QREL_COLUMNS, **changed})
    assert evaljob.score_refused(REFUSED, qrels="bad.parquet") == (
        f"--qrels: 1 row cannot be used: bad.parquet: {row}; mend them or leave them out"
    )


def test_ids_in_the_names_of_folders_keep_their_zeros(evaljob):
    evaljob.write("runs/system=1/query_id=007/part.parquet", {"doc_id": ["d1"], "score": [1.0]})
    evaljob.write("judged.parquet", {"query_id": ["007"], "doc_id": ["d1"], "relevance": [1]})
    evaljob.names.add("runs")
    assert evaljob.run("score", "--runs", "runs", "--qrels", "judged.parquet", "--output", "out")[0] == 0
    assert json.loads((evaljob.folder / "out" / "manifest.json").read_text())["counts"]["n_ok"] == 1


# QUERIES


@pytest.mark.parametrize(
    ("content", "code", "problem"),
    [
        ("query_id,user\nq1,a\nq1,b\nq2,c\n", REFUSED, 'with an id of its own; found "q1" in 2 rows'),
        ("query_id,user\n,a\nq2,c\n", REFUSED, "with an id of its own; found null in 1 row"),
        ("query_id,user\n", REFUSED, "there is no query; leave --queries out to score every judged query"),
        ("query,user\nq1,a\n", USAGE, 'there is no column "query_id" (columns: query, user)'),
        ("query_id,Status\nq1,a\n", USAGE, "scoring has columns of its own called status; rename them"),
        ("query_id,documents\nq1,a\n", USAGE, "scoring has columns of its own called documents; rename them"),
        ("query_id,segment\nq1,a\n", USAGE, "scoring has columns of its own called segment; rename them"),
        ("query_id,user,USER\nq1,a,b\n", USAGE, "there is more than one column called user"),
        ("query_id,\nq1,a\n", USAGE, "there is a column without a name, or with a backtick in it"),
    ],
)
def test_queries_that_cannot_be_used_are_refused(evaljob, content, code, problem):
    evaljob.write("queries.csv", content)
    message = evaljob.score_refused(code, "--queries", "queries.csv")
    assert message.startswith("--queries queries.csv: ")
    assert message.endswith(problem)


def test_a_row_of_queries_with_other_cells_than_the_header_is_named_by_its_line(evaljob):
    evaljob.write("queries.csv", "query_id,user,place\nq1,a,x\n\nq2\nq3,b,y,z\n")
    message = evaljob.score_refused(REFUSED, "--queries", "queries.csv")
    assert message.endswith(
        "queries.csv line 4: not the 3 columns of the header; queries.csv line 5: not the 3 columns of the header"
    )


def test_a_column_of_queries_called_like_a_metric_is_refused(evaljob):
    evaljob.write("queries.csv", "query_id,nDCG_at_10\nq1,5\n")
    assert evaljob.score_refused(USAGE, "--queries", "queries.csv") == (
        "--queries: metrics have columns called ndcg_at_10; rename those of the queries"
    )


def test_numbers_with_a_point_are_no_query_ids(evaljob):
    evaljob.write("queries.parquet", {"query_id": [1.0, 2.0]})
    assert evaljob.score_refused(USAGE, "--queries", "queries.parquet") == (
        '--queries queries.parquet: column "query_id" is double; it must be text or whole numbers'
    )


def test_queries_that_are_neither_run_nor_judged_are_refused(evaljob):
    evaljob.write("queries.csv", "query_id\nx1\n")
    message = evaljob.score_refused(REFUSED, "--queries", "queries.csv")
    assert message.startswith("runs and judgments have no query in common: ")
    assert 'to be scored are "x1"' in message


# what a convention forbids


def test_negative_grades_are_refused_where_they_are_an_error(evaljob):
    evaljob.write("bad.txt", "q1 0 d1 -1\nq1 0 d2 1\nq2 0 d1 -2\n")
    assert evaljob.score_refused(REFUSED, *convention("negative_grade=error"), qrels="bad.txt") == (
        '--qrels: 2 negative grades, and negative_grade is error: query "q1", document "d1", grade -1; '
        'query "q2", document "d1", grade -2; mend them, or use '
        "--set score.conventions.negative_grade=not_relevant (or removed)"
    )


def test_a_missing_rank_is_refused_where_ranks_decide(evaljob):
    evaljob.write("bad.txt", "q1 Q0 d1 1 x a\nq1 Q0 d2 - 2.0 a\n")
    message = evaljob.score_refused(REFUSED, *convention("ties=rank_column"), runs="bad.txt")
    assert message.startswith("--runs: 1 row cannot be used: ")
    assert 'bad.txt line 2: rank is "-", which is not a whole number' in message


@pytest.mark.parametrize("ranks", [[1, None, 1], [1.0, 1.5, 1.0], [1.0, math.nan, 1.0]])
def test_a_rank_that_is_no_whole_number_is_refused_where_ranks_decide(evaljob, ranks):
    evaljob.write("bad.parquet", {**RUN_COLUMNS, "rank": ranks})
    message = evaljob.score_refused(REFUSED, *convention("ties=rank_column"), runs="bad.parquet")
    assert message.startswith("--runs: 1 row cannot be used: ")
    assert f'query_id "q1", doc_id "d2", rank {ranks[1] or "null"};' in message


def test_ranks_that_decide_beside_metrics_of_scores_must_be_there(evaljob):
    both = (*convention("ties=rank_column"), "--metrics", "RR,PairwiseAccuracy")
    evaljob.write("bad.parquet", RUN_COLUMNS)
    message = evaljob.score_refused(USAGE, *both, runs="bad.parquet")
    assert "ties: rank_column needs the column rank, and there is none; name it with --set inputs.columns" in message
    evaljob.write("bad.txt", "q1 Q0 d1 1 3.0 a\nq1 Q0 d2 - 2.0 a\n")
    message = evaljob.score_refused(REFUSED, *both, runs="bad.txt")
    assert 'bad.txt line 2: rank is "-", which is not a whole number' in message


def test_runs_with_ranks_alone_are_told_the_convention_that_reads_ranks(evaljob):
    columns = {key: values for key, values in RUN_COLUMNS.items() if key != "score"}
    evaljob.write("bad.parquet", {**columns, "rank": [1, 2, 1]})
    message = evaljob.score_refused(USAGE, runs="bad.parquet")
    assert 'there is no column "score" (columns: system, query_id, doc_id, rank)' in message
    assert "or rank by the column rank with --set score.conventions.ties=rank_column" in message


def test_missing_answers_are_refused_where_they_are_an_error(evaljob):
    evaljob.write("run2.txt", "q1 Q0 d1 1 3.0 b\n")
    assert evaljob.score_refused(REFUSED, *convention("unanswered=error"), runs="run.txt run2.txt") == (
        '--runs: 1 ranking missing, and unanswered is error: system "b", query "q2"; complete the runs, or use '
        "--set score.conventions.unanswered=zero (or skip)"
    )


def test_unjudged_queries_are_refused_where_they_are_an_error(evaljob):
    evaljob.write("queries.csv", "query_id\nq1\nq2\nq3\n")
    assert evaljob.score_refused(REFUSED, "--queries", "queries.csv", *convention("unjudged_query=error")) == (
        '--queries: there are queries without judgments, and unjudged_query is error: "q3"; leave them out, or use '
        "--set score.conventions.unjudged_query=skip"
    )


# what goes wrong inside Spark

IN_A_WORKER = """An exception was thrown from the Python worker:
Traceback (most recent call last):
  File "udfs.py", line 5, in values
    fail()
{error}

\tat org.apache.spark.Executor.run(Executor.scala:1)
"""
CRASHED = """An error occurred while calling o280.parquet.
: org.apache.spark.SparkException: Job aborted due to stage failure: Lost task 0.0
Caused by: org.apache.spark.SparkException: Python worker exited unexpectedly (crashed). Consider setting
Caused by: java.io.EOFException
\t... 28 more
"""


@pytest.mark.parametrize(
    ("raised", "kind", "message"),
    [
        (
            Py4JError(IN_A_WORKER.format(error="evalcore.errors.DataError: grades are wrong")),
            DataRefused,
            "grades are wrong",
        ),
        (
            Py4JError(IN_A_WORKER.format(error="MemoryError: no memory")),
            JobError,
            "Spark could not finish: MemoryError: no memory; set EVALJOB_TRACEBACK=1 and run again to see where",
        ),
        (
            Py4JError(CRASHED),
            JobError,
            "Spark could not finish: Python worker exited unexpectedly (crashed); "
            "set EVALJOB_TRACEBACK=1 and run again to see where",
        ),
        (
            Py4JError('it\n: org.apache.hadoop.fs.UnsupportedFileSystemException: No FileSystem for scheme "s3"'),
            UsageError,
            "Spark here cannot read s3:// paths; add the file system's package with "
            "--set spark.settings.spark.jars.packages=...",
        ),
        (
            ConnectionRefusedError(111, "Connection refused"),
            JobError,
            "Spark's Java process has ended, perhaps for want of memory: see how much there is with `evaljob doctor`, "
            "or set spark.settings.spark.driver.memory",
        ),
    ],
)
def test_an_error_of_spark_is_told_in_one_line(raised, kind, message):
    with pytest.raises(JobError) as error, told():
        raise raised
    assert (type(error.value), str(error.value)) == (kind, message)


# aggregation


@pytest.fixture(scope="module")
def scored(spark, tmp_path_factory):
    """An evaluation of one query with and one without a relevant document, the second of no user."""
    folder = tmp_path_factory.mktemp("scored")
    (folder / "run.txt").write_text(RUN)
    (folder / "qrels.txt").write_text("q1 0 d1 1\nq2 0 d1 0\n")
    (folder / "queries.csv").write_text("query_id,user\nq1,u1\nq2,\n")
    inputs = [part for name in ("run.txt", "qrels.txt", "queries.csv") for part in (str(folder / name),)]
    options = ["--output", str(folder / "out"), "--metrics", "AP,RR", *convention("no_relevant=error"), "--quiet"]
    flags = [part for pair in zip(("--runs", "--qrels", "--queries"), inputs, strict=True) for part in pair]
    assert cli.main(["score", *flags, *options]) == 0
    return folder / "out"


@pytest.fixture
def evaluation(scored, command):
    """A copy of it to damage."""
    shutil.copytree(scored, command.folder / "ev")
    return command.folder / "ev"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("ev", "what resampling draws has no default, because it changes the claim: give --unit query_id if queries"),
        ("ev --unit usr", 'unknown unit "usr". Did you mean "user"? Known: query_id, user.'),
        ("ev --unit user --baseline aa", 'unknown system "aa". Did you mean "a"? Known: a.'),
        ("ev --unit user --name ../x", 'an aggregation cannot be called "../x"; give it a plain name with --name'),
        (". --unit query_id", ". is not an evaluation: there is no manifest.json; `evaljob score --output` makes one"),
        ("nope --unit query_id", "nope does not exist; name the folder that `evaljob score --output` made"),
    ],
)
def test_a_wrong_aggregation_is_refused_before_spark_starts(command, evaluation, arguments, message):
    del evaluation
    assert command.refused(USAGE, "aggregate", *arguments.split()).startswith(message)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"format": 1, ', "ev/manifest.json is damaged (Expecting property name"),
        ('{"format": 1, "kind": "evaluation"}', "ev/manifest.json is damaged (it lacks systems, metrics, "),
        ('{"format": 99}', "ev/manifest.json has format 99, and this version reads format 1; score again"),
        ("[]", "ev/manifest.json has format None, "),
    ],
)
def test_a_damaged_manifest_is_refused(command, evaluation, content, message):
    (evaluation / "manifest.json").write_text(content)
    assert command.refused(REFUSED, "aggregate", "ev", "--unit", "query_id").startswith(message)


def test_an_aggregate_is_no_evaluation(command, evaluation):
    (evaluation / "manifest.json").write_text('{"format": 1, "kind": "aggregate"}')
    message = command.refused(USAGE, "aggregate", "ev", "--unit", "query_id")
    assert message == "ev is no evaluation, but part of one; name the folder that `evaljob score` wrote"


def part_of(evaluation: Path) -> Path:
    return next((evaluation / "scores").glob("*.parquet"))


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        (lambda part: part.unlink(), "is named in the manifest and is not there; score again"),
        (lambda part: part.write_bytes(part.read_bytes()[:-10]), "is damaged ("),
        (lambda part: part.write_bytes(b""), "is damaged ("),
        (lambda part: pq.write_table(pq.read_table(part)[:0], part), "does not have the rows and columns that"),
        (lambda part: pq.write_table(pq.read_table(part).drop_columns("ap"), part), "does not have the rows and"),
    ],
)
def test_a_part_file_that_is_not_as_it_was_written_is_refused(evaljob, evaluation, damage, problem):
    part = part_of(evaluation)
    damage(part)
    message = evaljob.refused(REFUSED, "aggregate", "ev", "--unit", "query_id")
    assert message.startswith(f"ev/scores/{part.name} {problem}")


def test_a_part_file_with_damaged_pages_is_refused(evaljob, evaluation):
    part = part_of(evaluation)
    content = part.read_bytes()
    part.write_bytes(content[:4] + b"\xff" * 40 + content[44:])
    message = evaljob.refused(REFUSED, "aggregate", "ev", "--unit", "query_id")
    assert message.startswith(f"ev/scores/{part.name} cannot be read: ")


def test_rows_without_a_unit_are_refused(evaljob, evaluation):
    del evaluation
    assert evaljob.refused(REFUSED, "aggregate", "ev", "--unit", "user") == (
        '1 row without a value of user, the unit: queries "q2"; fill that column in --queries or leave these queries '
        "out, and score again"
    )


def test_queries_without_a_relevant_document_are_refused_where_they_are_an_error(evaljob, evaluation):
    del evaluation
    assert evaljob.refused(REFUSED, "aggregate", "ev", "--unit", "query_id") == (
        '1 row without a relevant judged document, and no_relevant is error: system "a", query "q2"; judge more, or '
        "score again with --set score.conventions.no_relevant=zero (or skip, one)"
    )
