"""The command `evaljob gate`: its settings, the file it writes and reads again, what a person and a scheduler see."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from evalcore import Conventions
from jobs import cli, guardrails
from tests.support.aggregations import write_aggregation
from tests.support.gates import SPREAD, refusal_of, values_of, verdict_of

ROOT = Path(__file__).parents[2]


# settings


def test_the_gate_goes_by_what_the_aggregation_was_made_with(tmp_path, capsys):
    made = {"baseline": "base", "margins": {"AP": 0.05, "RR": 0.25}, "replicates": 199, "seed": 7}
    write_aggregation(tmp_path, {"AP": values_of(new=SPREAD), "RR": values_of(new=SPREAD)}, settings=made)
    assert cli.main(["gate", str(tmp_path), "--margin", "AP=0.5", "--set", "aggregate.seed=8", "--json"]) == 0
    verdict = json.loads(capsys.readouterr().out)
    assert {key: verdict["settings"][key] for key in made} == made | {"margins": {"AP": 0.5, "RR": 0.25}, "seed": 8}
    assert [row["margin"] for row in verdict["guardrails"]] == [0.5, 0.25]


def test_without_a_margin_it_is_half_a_percent_of_the_baseline(tmp_path, capsys):
    write_aggregation(tmp_path, {"AP": values_of(new=SPREAD)})
    assert verdict_of(capsys, tmp_path)[0]["guardrails"][0]["margin"] == 0.0025


def test_settings_that_cannot_work_are_refused_with_the_next_step(tmp_path, capsys):
    values = {
        metric: values_of(new=SPREAD, other=SPREAD) for metric in ("AP", "RR", "P@1", "P@2", "P@3", "P@4", "NumRet")
    }
    write_aggregation(tmp_path, values)
    base = ("--baseline", "base")
    new = (*base, "--candidate", "new")
    for arguments, message in {
        (): "compared with which system? Give --baseline SYSTEM",
        base: "which system is to pass? Give --candidate SYSTEM, one of: new, other",
        (*base, "--candidate", "base"): "candidate and baseline are both base; a gate compares two systems",
        new: 'which metrics must not get worse? Name a few with --guardrails "METRIC,METRIC", of: '
        "AP, RR, P@1, P@2, P@3, P@4",
        (*new, "--guardrails", "NumRet"): "NumRet cannot be a guardrail: neither direction of it is better",
        (*new, "--margin", "AP"): '--margin AP: write the metric and a number, such as "nDCG@10=0.005"',
        (*new, "--margin", "P@5=0.1"): 'a margin: unknown metric "P@5". Did you mean "P@4"? '
        "Known: AP, RR, P@1, P@2, P@3, P@4, NumRet.",
        (*base, "--name", "users"): 'unknown aggregation "users". Known: query_id.',
    }.items():
        assert refusal_of(capsys, tmp_path, *arguments) == (message, 2)
    text, code = refusal_of(capsys, tmp_path, *base, "--candidate", "new", "--margin", "AP=0")
    assert (text.startswith("command line: aggregate.margins.AP"), code) == (True, 2)


def test_a_candidate_that_never_came_is_no_question_of_usage(tmp_path, capsys):
    write_aggregation(tmp_path, {"AP": {"base": values_of()["base"]}})
    text, code = refusal_of(capsys, tmp_path, "--baseline", "base")
    assert (text.endswith("has no system but base: is the candidate's run missing?"), code) == (True, 4)


def test_a_median_cannot_be_a_guardrail(tmp_path, capsys):
    write_aggregation(tmp_path, {"AP": values_of(new=SPREAD)}, conventions=Conventions(mean="median"))
    text, code = refusal_of(capsys, tmp_path, "--baseline", "base", "--guardrails", "AP")
    assert (text, code) == ("AP cannot be a guardrail: a difference of medians has no interval; use another mean", 2)


def test_the_aggregation_is_the_only_one_or_the_one_that_is_named(tmp_path, capsys):
    write_aggregation(tmp_path, {"AP": values_of(new=SPREAD)})
    write_aggregation(tmp_path, {"AP": values_of(new=SPREAD - 0.25)}, name="users")
    text, code = refusal_of(capsys, tmp_path, "--baseline", "base")
    assert (text, code) == (f"{tmp_path} has several aggregations: query_id, users; choose one with --name", 2)
    assert verdict_of(capsys, tmp_path, "--name", "users")[1] == 3
    assert verdict_of(capsys, tmp_path / "aggregates" / "users")[1] == 3


def test_an_evaluation_without_an_aggregation_is_told_the_command_that_makes_one(tmp_path, capsys):
    write_aggregation(tmp_path, {"AP": values_of(new=SPREAD)})
    (tmp_path / "aggregates" / "query_id" / "manifest.json").unlink()
    text, code = refusal_of(capsys, tmp_path, "--baseline", "base")
    assert (text, code) == (
        f"{tmp_path} has no aggregation; `evaljob aggregate {tmp_path} --unit ...` makes one", 2
    )  # fmt: skip


# verdict.json


def test_a_verdict_that_exists_is_read_and_its_code_returned(tmp_path, capsys, monkeypatch):
    write_aggregation(tmp_path, {"AP": values_of(new=SPREAD - 0.0625)})
    first, _ = verdict_of(capsys, tmp_path, "--margin", "AP=0.05")
    monkeypatch.setattr(guardrails, "judge", None)  # nothing is judged again
    assert verdict_of(capsys, tmp_path, "--margin", "AP=0.05") == (first, 3)


def test_a_verdict_on_another_question_is_not_an_answer(tmp_path, capsys):
    write_aggregation(tmp_path, {"AP": values_of(new=SPREAD - 0.0625)})
    verdict_of(capsys, tmp_path, "--margin", "AP=0.05")
    text, code = refusal_of(capsys, tmp_path, "--baseline", "base", "--margin", "AP=0.07")
    path = tmp_path / "aggregates" / "query_id" / "verdict.json"
    assert code == 2
    assert text == (
        f"{path} was made with margins {{'AP': 0.05}}, now {{'AP': 0.07}}; replicates 999, now 9999: judge anew with "
        "--force, or ask as before"
    )
    assert verdict_of(capsys, tmp_path, "--margin", "AP=0.07", "--force")[1] == 5


@pytest.mark.parametrize(
    ("damage", "message", "code"),
    [
        (lambda text: text[:50], "is damaged", 4),
        (lambda text: "[]", "is damaged", 4),
        (lambda text: text.replace('"schema": 1', '"schema": 2'), "has schema 2, and this version writes 1", 2),
        (lambda text: text.replace('"sha256": "', '"sha256": "0'), "was made from other sums than are there now", 2),
    ],
)
def test_a_verdict_that_cannot_be_trusted_is_refused(tmp_path, capsys, damage, message, code):
    write_aggregation(tmp_path, {"AP": values_of(new=SPREAD)})
    verdict_of(capsys, tmp_path)
    path = tmp_path / "aggregates" / "query_id" / "verdict.json"
    path.write_text(damage(path.read_text()))
    text, found = refusal_of(capsys, tmp_path, "--baseline", "base", "--set", "aggregate.replicates=999")
    assert (text.startswith(f"{path} {message}"), text.endswith("judge anew with --force"), found) == (True, True, code)
    assert verdict_of(capsys, tmp_path, "--force")[0]["schema"] == 1


def test_the_same_sums_and_settings_give_the_same_bytes_and_keys_in_this_order(tmp_path, capsys):
    write_aggregation(tmp_path, {"AP": values_of(new=SPREAD - 0.0625)})
    texts = []
    for _ in range(2):
        verdict_of(capsys, tmp_path, "--force")
        texts.append((tmp_path / "aggregates" / "query_id" / "verdict.json").read_text())
    assert texts[0] == texts[1]
    verdict = json.loads(texts[0])
    assert list(verdict) == [
        *("schema", "answer", "exit_code", "reasons", "baseline", "candidate", "unit", "bucketed", "guardrails"),
        *("settings", "inputs", "version"),
    ]
    assert list(verdict["guardrails"][0]) == [
        *("metric", "segment", "answer", "basis", "reason", "higher_is_better", "margin", "baseline", "candidate"),
        *("delta", "at_worst", "at_best", "standard_error", "degrees_of_freedom", "effective_units", "seed_matters"),
        *(
            "informative_units",
            "n_units",
            "n_queries",
            "margin_in_standard_errors",
            "p_passed_if_unchanged",
            "units_to_pass",
        ),
        *("units_to_detect", "detectable_effect_80", "detectable_effect_90"),
    ]
    assert list(verdict["settings"]) == [
        *("baseline", "candidate", "guardrails", "margins", "strict", "level", "coverage", "judged_drop"),
        *("replicates", "seed"),
    ]
    assert [path.name for path in (tmp_path / "aggregates" / "query_id").glob(".*")] == []


def test_a_verdict_that_cannot_be_written_is_no_verdict(tmp_path, capsys, monkeypatch):
    write_aggregation(tmp_path, {"AP": values_of(new=SPREAD)})

    def fail(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("os.replace", fail)
    text, code = refusal_of(capsys, tmp_path, "--baseline", "base", "--set", "aggregate.replicates=99")
    assert (text.endswith("verdict.json cannot be written: Permission denied"), code) == (True, 2)
    assert not list((tmp_path / "aggregates" / "query_id").glob("*verdict*"))


def test_damaged_sums_are_refused(tmp_path, capsys):
    write_aggregation(tmp_path, {"AP": values_of(new=SPREAD)})
    file = tmp_path / "aggregates" / "query_id" / "unit_sums" / "part-0.parquet"
    file.write_bytes(file.read_bytes()[:100])
    text, code = refusal_of(capsys, tmp_path, "--baseline", "base")
    assert (text.startswith(f"{file.parent} is damaged"), text.endswith("; aggregate again"), code) == (True, True, 4)


# the command


WITHOUT_SPARK = """
import sys
class Refuse:
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] in ("pyspark", "py4j", "pandas"):
            raise ModuleNotFoundError("No module named " + name, name=name)
sys.meta_path.insert(0, Refuse)
from jobs.cli import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize("command", ["gate", "power"])
def test_neither_spark_nor_java_is_needed(tmp_path, command):
    write_aggregation(tmp_path, {"AP": values_of(new=SPREAD)})
    program = [sys.executable, "-c", WITHOUT_SPARK, command, str(tmp_path), "--baseline", "base"]
    done = subprocess.run(program, cwd=ROOT, capture_output=True, text=True, env={"PATH": "/nowhere"})
    assert (done.returncode, done.stderr) == ({"gate": 5, "power": 0}[command], "")


def test_a_person_reads_a_table_the_reasons_and_the_answer_last(tmp_path, capsys):
    write_aggregation(tmp_path, {"AP": values_of(new=SPREAD - 0.0625), "RR": values_of(new=SPREAD)})
    margins = ("--margin", "AP=0.05", "--margin", "RR=0.05")
    assert cli.main(["gate", str(tmp_path), "--baseline", "base", *margins]) == 3
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == [
        "new against base, unit query_id",
        "metric  baseline    delta  at worst  at best  margin  margin/se  passes if unchanged     answer",
    ]
    assert lines[2].split()[:3] == ["AP", "0.5000", "-0.0625"]
    assert lines[3].split()[-4:] == ["0.0500", "7.1", "100%", "passed"]
    assert lines[4] == ""
    assert [line.split()[1] for line in lines[5:7]] == ["AP", "RR"]
    assert lines[7] == f"regressed, exit code 3: {tmp_path / 'aggregates' / 'query_id' / 'verdict.json'}"
