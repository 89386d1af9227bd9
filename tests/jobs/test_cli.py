"""The command as a person, a script and an orchestrator meet it: what it prints where, and what stopping it leaves."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from importlib.metadata import version
from inspect import signature
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from evalcore import METRICS, PRESETS
from jobs import cli, console, demo
from jobs.cli import commands
from jobs.cli.app import Common
from jobs.config import Demo
from jobs.config_file import load

ROOT = Path(__file__).parents[2]
RUN = "q1 Q0 d1 1 3.0 a\nq1 Q0 d2 2 2.0 a\nq2 Q0 d1 1 1.0 a\n"
QRELS = "q1 0 d1 1\nq1 0 d2 0\nq2 0 d1 2\n"
LOCAL = (
    *("--set", "spark.master=local[2]", "--set", "spark.settings.spark.driver.memory=1g"),
    # a JVM that lives for seconds gains nothing from its second compiler
    *("--set", "spark.settings.spark.driver.extraJavaOptions=-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"),
)
JVM = re.compile(r"WARN|Using Spark|incubator|Traceback|log4j|^\s+at \w", re.MULTILINE)


@pytest.fixture
def files(tmp_path):
    """A run and judgments, and the words that score them into `out`."""
    (tmp_path / "run.txt").write_text(RUN)
    (tmp_path / "qrels.txt").write_text(QRELS)
    paths = {"--runs": "run.txt", "--qrels": "qrels.txt", "--output": "out"}
    return ["score", *(word for option, name in paths.items() for word in (option, str(tmp_path / name)))]


@contextmanager
def process(*arguments: str, **options: object) -> Iterator[subprocess.Popen[str]]:
    """`evaljob` as a process of its own, ended with the block."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("EVALJOB", "SPARK"))}
    running = subprocess.Popen(
        [sys.executable, "-m", "jobs", *arguments],
        env={**inherited, "PYTHONPATH": str(ROOT), "TERM": "xterm"},
        start_new_session=True,
        text=True,
        **options,
    )
    try:
        yield running
    finally:
        running.kill()
        running.wait()


# what is printed where


def test_json_is_the_manifest_and_all_of_standard_output(spark, files, capfd):
    assert cli.main([*files, "--json"]) == 0
    printed = json.loads(capfd.readouterr().out)
    assert (printed["output"], printed["systems"], printed["n_queries"]) == (files[-1], ["a"], 2)
    assert cli.main(["aggregate", files[-1], "--unit", "query_id", "--json"]) == 0
    printed = json.loads(capfd.readouterr().out)
    assert (printed["unit"], printed["n_units"], printed["contrasts"]) == ("query_id", 2, [])
    assert {row["metric"] for row in printed["estimates"]} == {"nDCG@10", "AP", "RR@10"}


def test_quiet_tells_nothing_but_the_result(spark, files, capfd):
    assert cli.main([*files, "--quiet"]) == 0
    out, err = capfd.readouterr()
    assert (out.splitlines()[0], err) == (f"1 system, 2 queries, 3 metrics: 2 rows in {files[-1]}/scores", "")
    assert out.splitlines()[-1] == f"next: evaljob aggregate {files[-1]} --unit query_id"


def test_version_is_that_of_the_package(capsys):
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out.strip() == version("evaljob")


@pytest.mark.parametrize("command", ["score", "aggregate", "gate", "power", "metrics", "doctor", "demo"])
def test_help_tells_what_every_option_is_for(command, capsys):
    parameters = signature(commands.app[command].default_command).parameters
    options = [name for name, each in parameters.items() if each.kind is each.KEYWORD_ONLY and name != "common"]
    options += [field.name for field in fields(Common)] if "common" in parameters else []
    positional = [name for name, each in parameters.items() if each.kind is each.POSITIONAL_ONLY]
    assert cli.main([command, "--help"]) == 0
    told = capsys.readouterr().out
    for name in [f"--{option.strip('_').replace('_', '-')}" for option in options] + [p.upper() for p in positional]:
        assert re.search(rf"│ (\*  )?{name} [ A-Z.]*\w+,? \w+", told), name


def test_help_lists_every_command(capsys):
    assert cli.main(["--help"]) == 0
    told = capsys.readouterr().out
    commands = ("score", "aggregate", "gate", "power", "metrics", "doctor", "demo")
    assert all(re.search(rf"│ {name} +[A-Z]\w+ ", told) for name in commands)


def test_metrics_lists_every_metric(capsys):
    assert cli.main(["metrics"]) == 0
    told = capsys.readouterr().out
    rows = [re.split(r"[ (@]", line.strip())[0] for line in told.splitlines() if line.startswith("  ")]
    assert sorted(rows) == sorted([*METRICS, *PRESETS])


def test_a_metric_is_explained_with_formula_and_source(capsys):
    assert cli.main(["metrics", "nDCG@10"]) == 0
    told = capsys.readouterr().out
    assert "    nDCG@c = DCG@c / IDCG@c\n" in told
    assert "doi:10.1145/582415.582418" in told
    assert ">>>" not in told


def test_an_unknown_metric_is_told_the_known_ones(capsys):
    assert cli.main(["metrics", "nope"]) == 2
    out, err = capsys.readouterr()
    assert (out, err[:40]) == ("", 'evaljob: unknown metric "nope". Known: P')


def test_an_unexpected_error_is_one_line_with_the_way_to_its_traceback(monkeypatch, capsys):
    def break_down(_):
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr(console, "show_metrics", break_down)
    assert cli.main(["metrics"]) == 1
    assert capsys.readouterr().err == (
        "evaljob: unexpected error: ZeroDivisionError: by zero; set EVALJOB_TRACEBACK=1 and run again to see where\n"
    )
    monkeypatch.setenv("EVALJOB_TRACEBACK", "1")
    with pytest.raises(ZeroDivisionError):
        cli.main(["metrics"])


# the command without its extras


WITHOUT = """
import sys
class Refuse:
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] == {package!r}:
            raise ModuleNotFoundError("No module named " + name, name=name)
sys.meta_path.insert(0, Refuse)
from jobs.cli import main
sys.exit(main({arguments!r}))
"""


def run_without(package: str, arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
    program = WITHOUT.format(package=package, arguments=list(arguments))
    return subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)


@pytest.mark.parametrize(
    ("package", "arguments", "message"),
    [
        ("cyclopts", ["score"], "the command line needs cyclopts; install it with: pip install 'evaljob[cli]'"),
        ("rich", ["score"], "the command line needs rich; install it with: pip install 'evaljob[cli]'"),
        ("pyspark", ["score"], "this command needs pyspark; install it with: pip install 'evaljob[spark]'"),
        ("pyspark", ["demo"], "this command needs pyspark; install it with: pip install 'evaljob[spark]'"),
    ],
)
def test_a_missing_package_is_told_with_the_extra_that_brings_it(package, arguments, message):
    done = run_without(package, arguments)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"evaljob: {message}\n")


def test_metrics_need_no_spark():
    done = run_without("pyspark", ["metrics", "AP"])
    assert (done.returncode, done.stderr) == (0, "")


# the demo


def test_the_demo_has_the_settings_of_its_file():
    assert load(None, defaults=demo.SETTINGS) == load(str(ROOT / "conf" / "demo.yaml"))


def test_settings_of_a_person_win_over_those_of_the_demo():
    chosen = Common(set_=["score.metrics=[AP]"]).load({}, defaults=demo.SETTINGS)
    assert (chosen.score.metrics, chosen.aggregate.unit) == (["AP"], "user_id")


def test_the_demo_log_depends_on_its_seed_alone(tmp_path):
    for name, seed in (("one", 7), ("same", 7), ("other", 8)):
        demo.generate(tmp_path / name, Demo(queries=50, users=10, depth=5, seed=seed))
    for table in ("runs", "qrels", "queries"):
        log = {name: pq.read_table(tmp_path / name / "log" / f"{table}.parquet") for name in ("one", "same", "other")}
        assert log["one"] == log["same"]
        assert log["one"] != log["other"]


def test_the_demo_leaves_other_files_alone(tmp_path):
    (tmp_path / "log").mkdir()
    (tmp_path / "log" / "mine.txt").write_text("mine")
    demo.generate(tmp_path, Demo(queries=5, users=2, depth=3))
    assert (tmp_path / "log" / "mine.txt").read_text() == "mine"


@pytest.mark.spark
def test_the_demo_finds_the_planted_regression_and_logs_plain_lines(tmp_path):
    with process(
        "demo", "--output", "here", "--json", *LOCAL, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        out, err = running.communicate(timeout=300)
    assert running.returncode == 0, err
    verdicts = {
        row["candidate"]: row["verdict"]
        for row in json.loads(out)["contrasts"]
        if (row["metric"], row["baseline"], row["method"]) == ("nDCG@10", "production", "percentile")
    }
    assert verdicts == {"reranked": "improved", "truncated": "regressed"}
    assert not JVM.search(err)
    stages = [re.fullmatch(r"\d\d:\d\d:\d\d (.+): \d+\.\d s", line) for line in err.splitlines()]
    assert [stage and stage[1] for stage in stages] == [
        "generating a log of 2,000 queries in here",
        "starting Spark",
        "looking at the input",
        "scoring 3 systems with 5 metrics",
        "checking",
        "summing by user_id",
        "9,999 bootstrap replicates",
    ]
    assert {path.name for path in (tmp_path / "here").iterdir()} == {"log", "evaluation"}


# a terminal


@pytest.mark.spark
def test_a_terminal_shows_a_live_line_for_each_stage_and_a_mark_when_it_is_done(files, tmp_path):
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    with process(*files, *LOCAL, cwd=tmp_path, stdin=theirs, stdout=theirs, stderr=theirs) as running:
        os.close(theirs)
        shown = b"".join(iter(lambda: read(ours), b"")).decode()
        assert running.wait() == 0, shown
    os.close(ours)
    assert not JVM.search(shown)
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown)
    for stage in ("starting Spark", "looking at the input", "scoring 1 system with 3 metrics"):
        assert f"{stage} …" in text
        assert re.search(rf"✓ {stage} \d+\.\d s", text)
    assert "1 system, 2 queries, 3 metrics: 2 rows in " in text


def read(terminal: int) -> bytes:
    """What a terminal has to show; nothing when the other side is gone."""
    try:
        return os.read(terminal, 4096)
    except OSError:
        return b""


# being stopped


def score_until_written(folder: Path, how: signal.Signals) -> tuple[int, str]:
    """Start scoring, send a signal when the first scores are written; exit code and standard error."""
    demo.generate(folder, Demo(queries=2_000, depth=20))
    tables = [word for name in ("runs", "qrels") for word in (f"--{name}", f"log/{name}.parquet")]
    with process("score", *tables, "--output", "out", *LOCAL, cwd=folder, stderr=subprocess.PIPE) as running:
        until = time.monotonic() + 120
        while not any(folder.glob(".out.*.unfinished/scores/*")):
            assert running.poll() is None, "it ended before it could be stopped"
            assert time.monotonic() < until
            time.sleep(0.01)
        running.send_signal(how)
        err = running.communicate(timeout=60)[1]
    return running.returncode, err


@pytest.mark.spark
def test_an_interrupted_score_leaves_nothing_behind(tmp_path):
    code, err = score_until_written(tmp_path, signal.SIGINT)
    assert (code, err.splitlines()[-1]) == (130, "evaljob: stopped")
    assert not JVM.search(err)
    assert [path.name for path in tmp_path.iterdir()] == ["log"]


def test_what_a_killed_score_leaves_is_no_evaluation_and_hinders_no_other(spark, tmp_path, capfd):
    code, _ = score_until_written(tmp_path, signal.SIGKILL)
    assert code == -signal.SIGKILL
    (left,) = tmp_path.glob(".out.*")
    for folder, told in ((tmp_path / "out", "does not exist"), (left, "is not an evaluation")):
        assert cli.main(["aggregate", str(folder), "--unit", "query_id"]) == 2
        assert f"{folder} {told}" in capfd.readouterr().err
    tables = [word for name in ("runs", "qrels") for word in (f"--{name}", str(tmp_path / "log" / f"{name}.parquet"))]
    assert cli.main(["score", *tables, "--output", str(tmp_path / "out"), "--quiet"]) == 0
    assert (tmp_path / "out" / "manifest.json").is_file()
