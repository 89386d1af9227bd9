"""Values of another tool that cannot be used are refused: what was found, where, and what to do."""

from __future__ import annotations

import pytest

from jobs import cli
from jobs.errors import DataRefused, UsageError
from tests.support.score_files import WIDE, long_rows, run, write

HEADER = "system,query_id,user,nDCG@10\n"
MEND = "mend them, or leave a cell empty where a metric has no value"
REFUSED = {
    "a value that is there twice": (
        WIDE + "B,q3,u2,0.5,250\n",
        {},
        '1 answer there more than once: {file}, system "B", query "q3", nDCG@10; keep one row of each',
    ),
    "a value twice in a long table": (
        long_rows() + "A,q2,latency_ms,3\nB,q1,latency_ms,3\n",
        {},
        '2 answers there more than once: {file}, system "A", query "q2", latency_ms; {file}, system "B", query "q1", '
        "latency_ms; keep one row of each",
    ),
    "NaN": (
        WIDE.replace("0.75", "NaN"),
        {},
        '1 answer that cannot be used: {file}, system "B", query "q1", nDCG@10 is "NaN"; ' + MEND,
    ),
    "an infinite value": (
        long_rows().replace("120.0", "-inf"),
        {},
        '1 answer that cannot be used: {file}, system "A", query "q1", latency_ms is "-inf"; ' + MEND,
    ),
    "text in a metric that is named": (
        WIDE.replace("0.75", '"0,75"'),
        {"metrics": ["nDCG@10"]},
        '1 answer that cannot be used: {file}, system "B", query "q1", nDCG@10 is "0,75"; ' + MEND,
    ),
    "no system": (
        WIDE.replace("B,q1", ",q1"),
        {},
        '1 answer that cannot be used: {file}, query "q1", without a system; ' + MEND,
    ),
    "rows of other lengths": (
        WIDE.replace("0.75,100", "0.75"),
        {},
        "1 answer that cannot be used: {file} line 5: not the 5 columns of the header; " + MEND,
    ),
    "no unit": (
        WIDE.replace("q3,u2", "q3,"),
        {"unit": "user"},
        '2 answers without a value of user, the unit: {file}, system "A", query "q3"; {file}, system "B", query "q3"; '
        "fill that column, or leave these queries out",
    ),
    "systems that disagree on a unit": (
        WIDE.replace("B,q3,u2", "B,q3,u3"),
        {"unit": "user"},
        'systems disagree on user of 1 query: "q3"; a query has one value of each',
    ),
    "a unit that changes inside an answer": (
        "system,query,user,metric,value\nA,q1,u1,AP,1\nA,q1,u2,RR,1\n",
        {"unit": "user"},
        '1 answer whose rows disagree on user: {file}, system "A", query "q1"; a query has one value of each',
    ),
    "a metric missing for one system": (
        WIDE.replace("0.75,100", "0.75,").replace("0.25,90", "0.25,").replace("0.5,250", "0.5,"),
        {},
        "no value of latency_ms for B, and others have some; add them, or leave out the metric (--metrics) or the "
        "system (--systems)",
    ),
    "a metric without values": (
        WIDE.replace("nDCG@10", "AP").replace("user", "nDCG@10").replace(",u1,", ",,").replace(",u2,", ",,"),
        {"metrics": ["AP", "nDCG@10"]},
        "there is no value of nDCG@10; choose others with --metrics",
    ),
    "no rows": (HEADER, {"metrics": ["nDCG@10"]}, "there is no row of a query"),
    "a weight that is none": (
        HEADER.replace("user", "weight") + "A,q1,-2,1\nA,q2,1,1\n",
        {"metrics": ["nDCG@10"], "mean": "weighted"},
        '1 answer without a weight that is a number from 0: {file}, system "A", query "q1"; fill the column weight, or '
        "leave these queries out",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_values_that_cannot_be_used_are_refused_with_their_place(spark, tmp_path, case):
    content, settings, message = REFUSED[case]
    with pytest.raises(DataRefused) as refused:
        run(spark, tmp_path, {"a.csv": content}, **settings)
    file = str(tmp_path / "a.csv")
    assert str(refused.value) == f"--scores {file}: {message.format(file=file)}"
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]


def test_a_ratio_of_what_is_below_0_is_refused(spark, tmp_path):
    log = {"a.csv": "system,query_id,clicks,impressions\nA,q1,1,4\nA,q2,1,-6\n"}
    with pytest.raises(DataRefused, match='1 row with a denominator of a ratio below 0: system "A", query "q2"'):
        run(spark, tmp_path, log, ratios={"CTR": ["clicks", "impressions"]})
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]


MISUSED = {
    "an unknown unit": (WIDE, {"unit": "usr"}, 'unknown column "usr". Did you mean "user"? Known: system, query_id,'),
    "an unknown column": (
        WIDE,
        {"columns": {"system": "sytem"}},
        'aggregate.columns.system: unknown column "sytem". Did you mean "system"?',
    ),
    "an unknown metric": (WIDE, {"metrics": ["nDCG@10", "latency"]}, 'unknown metric "latency". Did you mean "lat'),
    "an unknown part": (WIDE, {"ratios": {"CTR": ["click", "user"]}}, 'unknown column "click"'),
    "two names of a metric": (
        "system,query_id,map,AP\nA,q1,1,1\n",
        {},
        "map and AP are both AP; name one of them with --metrics",
    ),
    "two columns for one role": (
        WIDE.replace("system", "run").replace("user", "model"),
        {},
        "system may be run or model; say which with --set aggregate.columns.system=run",
    ),
    "no column of values": (
        "system,query_id,metric,result\nA,q1,AP,1\n",
        {},
        'there is no column "value" (columns: system, query_id, metric, result). Say which it is with '
        "--set aggregate.columns.value=COLUMN",
    ),
    "no query": ("system,AP\nA,1\n", {}, 'there is no column "query_id" (columns: system, AP). Say which it is with'),
    "no system": (
        "query_id,AP,RR\nq1,1,1\n",
        {},
        'there is no column "system" (columns: query_id, AP, RR). Say which it is with --set '
        "aggregate.columns.system=COLUMN; or, if each file is a system, use --system-from file; or, if each column is "
        "a system, name what their values are with --metrics METRIC",
    ),
    "numbers and text": (
        WIDE.replace("0.75", "0.75x"),
        {},
        'nDCG@10 ("0.75x"): numbers and other text; mend what is no number, or say which columns are metrics with '
        "--metrics",
    ),
    "no header": ("A,q1,0.5\nA,q2,0.25\n", {}, "the first line holds values; give the table a header"),
    "a column twice": ("system,query_id,AP,ap\nA,q1,1,1\n", {}, "there is more than one column called ap"),
    "metrics as queries": (
        "metric,query_id,system,value\n" + "".join(f"m{n},q1,A,1\n" for n in range(1_001)),
        {},
        'column "metric" holds more than 1,000 different names, such as m0, m1, m10; say which column holds the metric',
    ),
    "a column that has a meaning": (
        WIDE.replace("user", "segment"),
        {"segments": ["segment"]},
        '"segment" has a meaning of its own here; give the column another name with --set '
        "aggregate.columns.NAME=segment",
    ),
    "an unknown baseline": (WIDE, {"baseline": "C"}, 'unknown system "C"'),
    "a margin of an unknown metric": (
        WIDE,
        {"margins": {"nDCG@1": 0.1}},
        'a margin: unknown metric "nDCG@1". Did you mean "nDCG@10"?',
    ),
    "an unknown system": (WIDE, {"systems": ["A", "D"]}, 'unknown system "D"'),
}  # fmt: skip


@pytest.mark.parametrize("case", MISUSED)
def test_columns_that_cannot_be_told_are_asked_for(spark, tmp_path, case):
    content, settings, message = MISUSED[case]
    with pytest.raises(UsageError) as refused:
        run(spark, tmp_path, {"a.csv": content}, **settings)
    assert message in str(refused.value)
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]


def test_files_of_one_table_have_one_header(spark, tmp_path):
    with pytest.raises(
        UsageError, match=r"b\.csv has other columns than .*a\.csv; files of one table begin with the same"
    ):
        run(spark, tmp_path, {"a.csv": WIDE, "b.csv": "query_id,system,AP\nq1,A,1\n"})


def test_a_file_without_a_line_is_refused(spark, tmp_path):
    with pytest.raises(DataRefused, match=r"there is no row in .*a\.csv"):
        run(spark, tmp_path, {"a.csv": ""})


def test_output_without_a_header_whose_columns_cannot_be_told_is_refused(spark, tmp_path):
    with pytest.raises(
        UsageError, match='there is no header, and which of "q1" and "zap" is the metric cannot be told'
    ):
        run(spark, tmp_path, {"a.txt": "q1 zap 0.5\n"})


def test_parquet_that_is_not_what_columns_say_is_refused(spark, tmp_path):
    table = {"system": ["A", "A"], "query_id": ["q1", "q2"], "AP": [0.5, float("nan")]}
    with pytest.raises(DataRefused, match='system "A", query "q2", AP is "NaN"'):
        run(spark, tmp_path, {"a.parquet": table})
    one = {"system": ["A"], "query_id": ["q1"], "AP": [0.5]}
    other = {"system": ["B"], "query_id": ["q1"], "RR": [0.5]}
    with pytest.raises(DataRefused, match="no value of AP for B, and others have some"):
        run(spark, tmp_path, {"a.parquet": one, "b.parquet": other})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--scores nope.csv --unit query_id --output out", "--scores: no such file or folder: nope.csv"),
        ("--scores a.csv --output out", "what resampling draws has no default"),
        ("--scores a.csv --unit query_id", "no output directory is given; name one with --output"),
        ("--unit query_id --output out", "name an evaluation, or a table of values with --scores"),
        ("ev --scores a.csv --unit query_id", "name an evaluation, or a table of values with --scores, and not both"),
        (
            "--scores a.csv --unit query_id --output out --set aggregate.ratios.CTR=[clicks]",
            "a ratio is of two columns, [above, below], not of 1",
        ),
    ],
)
def test_a_wrong_command_is_refused_before_spark_starts(tmp_path, monkeypatch, capsys, arguments, message):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("jobs.session.session", lambda **_: pytest.fail("Spark was started"))
    write(tmp_path, {"a.csv": WIDE})
    assert cli.main(["aggregate", *arguments.split()]) == 2
    assert message in capsys.readouterr().err
