"""The page on gates tells the truth, and a gate is as often right as it says: the quick form of its simulation."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import norm

from benchmarks.gate import HEAD, LEAST_FOUND, MOST_FALSE, SETTINGS, Setting, simulate
from jobs import cli
from jobs.cli.commands import app
from jobs.config_file import load
from jobs.gate import EXIT_CODES
from tests.support.aggregations import write_aggregation
from tests.support.evaluations import write_trec
from tests.support.gates import SPREAD, values_of, verdict_of

PAGE = (Path(__file__).parents[1] / "docs" / "gate.md").read_text(encoding="utf-8")
BLOCKS = {kind: re.findall(rf"^```{kind}\n(.*?)^```$", PAGE, flags=re.DOTALL | re.MULTILINE) for kind in ("sh", "yaml")}


def table(header: str) -> list[list[str]]:
    """The cells of the rows below a header."""
    rows = PAGE.partition(f"\n{header}\n")[2].splitlines()[1:]
    cut = next(place for place, row in enumerate(rows) if not row.startswith("|"))
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows[:cut]]


# commands and settings


def commands() -> list[list[str]]:
    lines = "".join(BLOCKS["sh"]).splitlines()
    return [shlex.split(line.partition("||")[0])[1:] for line in lines if line.startswith("evaljob")]


@pytest.mark.parametrize("command", commands(), ids=lambda words: " ".join(words[:2]))
def test_every_command_has_options_that_exist(command):
    found, bound, *_ = app.parse_args(command, exit_on_error=False, print_error=False)
    assert found is app[command[0]].default_command
    assert bound.arguments


def test_the_configuration_of_the_page_is_one(tmp_path):
    file = tmp_path / "nightly.yaml"
    file.write_text(BLOCKS["yaml"][0])
    config = load(str(file))
    assert (config.aggregate.baseline, config.gate.guardrails) == ("released", ["nDCG@10", "RR@10"])
    assert config.aggregate.margins == {"nDCG@10": 0.005, "RR@10": 0.008}


def test_the_first_commands_of_the_page_run_on_files_like_those_they_name(spark, tmp_path, monkeypatch, capsys):
    generator = np.random.Generator(np.random.Philox(1))
    runs: dict[str, list[str]] = {"released": [], "nightly": []}
    for query in range(60):
        for system in runs:
            order = generator.permutation(5)
            runs[system] += [f"q{query} d{doc} {100 - place}" for place, doc in enumerate(order)]
    write_trec(tmp_path, runs=runs, qrels=[f"q{query} d{doc} {doc % 2}" for query in range(60) for doc in range(5)])
    (tmp_path / "runs").mkdir()
    for system in runs:
        (tmp_path / f"{system}.run").rename(tmp_path / "runs" / f"{system}.gz.run")
    monkeypatch.chdir(tmp_path)
    score, aggregate, gate, *_ = commands()
    assert cli.main([word.replace("runs/*.gz", "runs/*.run") for word in score]) == 0
    assert cli.main([*aggregate, "--set", "aggregate.replicates=199"]) == 0
    capsys.readouterr()
    code = cli.main([*gate, "--json"])
    verdict = json.loads(capsys.readouterr().out)
    assert (code, verdict["exit_code"]) == (EXIT_CODES[verdict["answer"]],) * 2
    assert verdict["guardrails"][0]["margin"] == 0.005
    assert cli.main(["gate", "tonight", *gate[2:]]) == code


# verdict.json


def test_every_exit_code_is_told():
    told = [(answer.strip("`"), int(code)) for answer, code, _ in table("| answer | exit code | when |")]
    assert dict(told[:4]) == EXIT_CODES
    assert told[4:] == [("(none)", 2), ("(none)", 4)]


def test_every_key_of_a_verdict_is_told_in_its_order(tmp_path, capsys):
    write_aggregation(tmp_path, {"AP": values_of(new=SPREAD)})
    verdict, _ = verdict_of(capsys, tmp_path)
    whole, _, guardrail = PAGE.partition("Of each guardrail, null")
    told = [
        [key for row in re.findall(r"^\| (`.*?) \|", part, flags=re.MULTILINE) for key in re.findall(r"`(\w+)`", row)]
        for part in (whole.partition("## verdict.json")[2], guardrail.partition("## ")[0])
    ]
    assert told[0] == list(verdict)
    assert sorted(told[1]) == sorted(verdict["guardrails"][0])


# how large, how often right


def test_the_chances_by_the_size_of_the_sample_are_those_of_normal_deltas():
    bound, drop = norm.ppf(0.995), 1.5
    for row in table("| margin/se | no change: passed | a loss of the margin: passed | of 1.5 margins: regressed |"):
        ratio = float(row[0])
        chances = [norm.cdf(ratio - norm.ppf(0.95)), 0.05, norm.cdf(drop * ratio - max(bound, ratio))]
        assert row[1:] == [f"{chance:.0%}".replace("%", " %") for chance in chances]


def test_the_page_holds_the_table_of_the_simulation_and_every_share_is_as_wanted():
    rows = table(HEAD.splitlines()[0])
    assert [(row[0], row[1], float(row[2])) for row in rows] == [
        (setting.name, setting.what, setting.ratio) for setting in SETTINGS
    ]
    for row, setting in zip(rows, SETTINGS, strict=True):
        share, error = (float(part.strip(" %")) / 100 for part in row[4].split("±"))
        if setting.drop is None:
            assert share <= MOST_FALSE + 2 * error
        elif setting.held:
            assert share >= LEAST_FOUND - 2 * error


def test_nights_without_a_change_are_hardly_ever_called_regressed():
    found = simulate(Setting(queries=200, ratio=1.0, pilot=150), nights=200, replicates=199)
    assert found.shares["regressed"] <= 3 / 200  # one is expected, and four or more come up in 2 % of such samples
    assert found.shares["passed"] < 0.3


def test_a_guardrail_that_falls_by_one_and_a_half_margins_is_found():
    found = simulate(Setting(queries=200, ratio=3.0, drop="nDCG@10", pilot=150), nights=60, replicates=199)
    assert found.shares["regressed"] > LEAST_FOUND - 2 * found.error("regressed")
    assert found.shares["passed"] <= 1 / 60
