"""The command `evaljob select`: how candidates compare, which one is chosen, which cannot be told from it."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from evalcore import Conventions
from evalcore.inference import infer, simultaneous_intervals
from evalcore.inference.selection import best_of
from evalcore.inference.simultaneous import max_t
from jobs import cli
from tests.evalcore.inference.support import sums_of
from tests.jobs.test_datasets import leave_out
from tests.jobs.test_verdict_file import WITHOUT_SPARK
from tests.support.aggregations import write_aggregation
from tests.support.gates import SPREAD, N, values_of

ROOT = Path(__file__).parents[2]
QUICK = ("--set", "aggregate.replicates=199")


@pytest.fixture
def rng():
    return np.random.default_rng(92)


def chosen(capsys, directory, *arguments, baseline="base"):
    given = () if baseline is None else ("--baseline", baseline)
    assert cli.main(["select", str(directory), *given, *QUICK, "--json", *arguments]) == 0
    return json.loads(capsys.readouterr().out)


def refusal(capsys, directory, *arguments):
    code = cli.main(["select", str(directory), *arguments])
    out, err = capsys.readouterr()
    assert not out
    return err.strip().removeprefix("evaljob: "), code


def by_system(found):
    return {row["system"]: row for row in found["candidates"]}


# comparisons


def test_candidates_are_ranked_and_compared_with_the_baseline_at_once(tmp_path, capsys, rng):
    base = rng.random(60)
    values = {"base": base} | {f"s{i}": base + rng.normal(0.02 * i, 0.2, 60) for i in range(5)}
    write_aggregation(tmp_path, {"AP": values})
    found = chosen(capsys, tmp_path, "--metric", "map")
    assert (found["metric"], found["baseline_estimate"]) == ("AP", pytest.approx(base.mean()))
    rows = found["candidates"]
    assert [row["rank"] for row in rows] == [1, 2, 3, 4, 5]
    assert all(one["delta"] >= other["delta"] for one, other in pairwise(rows))
    sums = sums_of(*values.values())
    expected = infer(sums, contrasts=[(i, 0) for i in range(1, 6)], methods=["t"], replicates=199)
    intervals, p_values = simultaneous_intervals(expected.joint, confidence=0.95), max_t(expected.joint)
    for i, row in enumerate(by_system(found)[f"s{i}"] for i in range(5)):
        assert row["estimate"] == pytest.approx(values[row["system"]].mean())
        assert (row["low"], row["high"]) == pytest.approx(intervals[i], rel=1e-9)
        assert row["p_adjusted"] == pytest.approx(p_values[i])
        ends = stats.ttest_1samp(values[row["system"]] - base, 0).confidence_interval()
        assert row["low"] < ends.low < ends.high < row["high"]
    best = best_of(sums, range(1, 6), baseline=0, replicates=199)
    assert found["chosen"] == {
        "system": f"s{best.place - 1}",
        "estimate": rows[0]["estimate"],
        "among": 5,
        "naive": pytest.approx(best.naive),
        "corrected": pytest.approx(best.corrected),
    }
    assert best.corrected < best.naive


def test_without_a_baseline_candidates_are_compared_with_the_chosen_one_alone(tmp_path, capsys, rng):
    values = {f"s{i}": rng.random(60) + moved for i, moved in enumerate((0.0, 1.0, 1.02))}
    write_aggregation(tmp_path, {"AP": values})
    found = chosen(capsys, tmp_path, "--metric", "AP", baseline=None)
    rows = by_system(found)
    best = max(values, key=lambda system: values[system].mean())
    assert (found["chosen"]["system"], found["chosen"]["among"], found["baseline"]) == (best, 3, None)
    assert [row["delta"] for row in rows.values()] == [None] * 3
    worst = rows["s0"]["less_chosen"]
    assert worst["delta"] == pytest.approx(values["s0"].mean() - values[best].mean())
    assert worst["low"] < worst["delta"] < worst["high"] < 0
    assert {system: row["told_from_chosen"] for system, row in rows.items() if system != best} == {
        "s0": True, ({"s1", "s2"} - {best}).pop(): False
    }  # fmt: skip
    assert found["chosen"]["corrected"] == pytest.approx(found["chosen"]["naive"], abs=0.05)


def test_where_lower_is_better_the_lowest_is_chosen(tmp_path, capsys):
    write_aggregation(tmp_path, {"ZeroResult": values_of(low=SPREAD - 0.25, high=SPREAD + 0.25)})
    found = chosen(capsys, tmp_path, "--metric", "ZeroResult", "--auxiliary", "ZeroResult", "--margin=ZeroResult=0.1")
    assert [(row["system"], row["verdict"], row["admissible"]) for row in found["candidates"]] == [
        ("low", "improved", True), ("high", "regressed", False)
    ]  # fmt: skip
    (aux,) = by_system(found)["high"]["auxiliary"]
    assert (aux["answer"], aux["delta"], aux["at_worst"] > 0.25) == ("regressed", 0.25, True)
    assert found["chosen"]["system"] == "low"


def test_a_sum_is_told_in_its_own_unit(tmp_path, capsys):
    gains = np.tile([1.0, -1.0, 2.0, -2.0], N // 4) + 1
    write_aggregation(tmp_path, {"NumRelRet": {"base": np.full(N, 50.0), "new": 50 + gains}})
    found = chosen(capsys, tmp_path, "--metric", "NumRelRet", "--auxiliary", "NumRelRet")
    (row,) = found["candidates"]
    assert (row["estimate"], row["delta"], row["margin"]) == (51 * N, N, 50.0)
    reach = stats.t.ppf(0.975, N - 1) * np.std(gains, ddof=1) * np.sqrt(N)
    assert row["high"] == pytest.approx(N + reach, rel=1e-3)
    assert row["auxiliary"][0]["at_worst"] == pytest.approx(N - reach * 1.6525 / 1.9720, rel=1e-3)
    assert (found["chosen"]["naive"], found["chosen"]["corrected"]) == (N, N)


# who may be chosen


def test_a_candidate_on_which_another_metric_falls_is_not_chosen_however_good(tmp_path, capsys):
    values = {
        "nDCG@10": values_of(first=SPREAD + 0.25, second=SPREAD + 0.125, third=SPREAD + 0.0625),
        "RR": values_of(first=SPREAD - 0.0625, second=SPREAD - 0.04, third=SPREAD),
        "AP": values_of(first=SPREAD, second=SPREAD, third=SPREAD),
    }
    write_aggregation(tmp_path, values)
    keep = ("--auxiliary", "recip_rank, AP", "--margin", "RR=0.05", "--margin", "AP=0.05")
    found = chosen(capsys, tmp_path, "--metric", "nDCG@10", *keep)
    assert [
        (row["system"], row["admissible"], [each["answer"] for each in row["auxiliary"]]) for row in found["candidates"]
    ] == [
        ("first", False, ["regressed", "passed"]),
        ("second", False, ["inconclusive", "passed"]),
        ("third", True, ["passed", "passed"]),
    ]
    lower = -0.0625 - stats.t.ppf(0.95, N - 1) * stats.sem(SPREAD)
    assert by_system(found)["first"]["auxiliary"][0]["at_worst"] == pytest.approx(lower, rel=1e-3)
    of_one = dict.fromkeys(("naive", "corrected"), 0.0625)
    assert found["chosen"] == {"system": "third", "estimate": 0.5625, "among": 1} | of_one
    assert [row["less_chosen"] for row in found["candidates"]] == [None] * 3
    assert found["reasons"][0] == "third is the best by nDCG@10: 0.5625, +0.0625 against base"
    assert found["reasons"][1].startswith("it is better than base: between +0.0")
    assert found["reasons"][2:] == [
        "out, for a metric that got worse: first (RR)", "out, for a metric that may be worse by the margin: second (RR)"
    ]  # fmt: skip
    assert chosen(capsys, tmp_path, "--metric", "nDCG@10")["chosen"]["system"] == "first"


def test_nobody_is_chosen_where_nobody_is_admissible(tmp_path, capsys):
    values = {"AP": values_of(a=SPREAD + 0.25, b=SPREAD), "RR": values_of(a=SPREAD - 0.25, b=SPREAD)}
    write_aggregation(tmp_path, values)
    found = chosen(capsys, tmp_path, "--metric", "AP", "--auxiliary", "RR", "--margin", "RR=0.0001")
    assert found["chosen"] is None
    assert found["reasons"] == [
        "no candidate is admissible, so none is chosen",
        "out, for a metric that got worse: a (RR)",
        "out, for a metric that may be worse by the margin: b (RR)",
    ]


def test_of_few_units_that_differ_nothing_is_known_unless_none_does(tmp_path, capsys):
    gains = np.zeros(N)
    gains[:5] = -0.001
    values = {"AP": values_of(few=SPREAD + 0.25, same=SPREAD), "RR": values_of(few=gains, same=0 * gains)}
    write_aggregation(tmp_path, values)
    found = chosen(capsys, tmp_path, "--metric", "AP", "--auxiliary", "RR", "--margin", "RR=0.05")
    answers = {system: row["auxiliary"][0]["answer"] for system, row in by_system(found).items()}
    assert answers == {"few": "inconclusive", "same": "passed"}
    assert "insufficient" in by_system(found)["few"]["auxiliary"][0]["flags"]
    found = chosen(capsys, tmp_path, "--metric", "RR", "--margin", "RR=0.05")
    assert {system: row["verdict"] for system, row in by_system(found).items()} == {
        "few": "inconclusive", "same": "equivalent"
    }  # fmt: skip
    assert by_system(found)["few"]["told_from_chosen"] is False


# what the choice comes to, in words


def test_the_reasons_name_who_is_as_good_for_all_that_is_known(tmp_path, capsys):
    gains = {f"close{i:02d}": np.roll(SPREAD, i) + 0.249 for i in range(12)}
    write_aggregation(tmp_path, {"AP": values_of(best=SPREAD + 0.25, far=SPREAD, **gains)})
    found = chosen(capsys, tmp_path, "--metric", "AP")
    assert (found["chosen"]["system"], found["chosen"]["among"]) == ("best", 14)
    assert [reason.partition(":")[0] for reason in found["reasons"]] == [
        "best is the best of 14 by AP",
        "the best of many is lucky as well",
        "it is better than base",
        "at 95 % it cannot be told from " + ", ".join(f"close{i:02d}" for i in range(12) if i % 4),
    ]


@pytest.mark.parametrize(
    ("shift", "words"),
    [
        (0.25, "it is better than base: between +0.2"),
        (-0.25, "it is worse than base: between -0.2"),
        (0.0, "it is not shown to be better than base: between -0.0"),
    ],
)
def test_the_best_of_all_may_still_be_worse_than_what_is_there(tmp_path, capsys, shift, words):
    write_aggregation(tmp_path, {"AP": values_of(a=SPREAD + shift, b=SPREAD - 0.5)})
    found = chosen(capsys, tmp_path, "--metric", "AP")
    assert found["reasons"][2].startswith(words)
    assert found["reasons"][2].endswith(", at 95 % for all candidates together")
    assert found["reasons"][3:] == ["at 95 % it is better than every other candidate"]


def test_the_aggregation_s_settings_hold_unless_others_are_given(tmp_path, capsys):
    made = {"baseline": "base", "margins": {"AP": 0.2}, "confidence": 0.9, "replicates": 99, "seed": 7}
    write_aggregation(tmp_path, {"AP": values_of(new=SPREAD, other=SPREAD + 0.1)}, settings=made)
    assert cli.main(["select", str(tmp_path), "--metric", "AP", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {key: found[key] for key in ("baseline", "confidence", "replicates", "seed")} == {
        key: made[key] for key in ("baseline", "confidence", "replicates", "seed")
    }
    assert found["candidates"][1]["verdict"] == "equivalent"
    found = chosen(capsys, tmp_path, "--metric", "AP", "--margin", "AP=0.001", "--systems", "new", baseline="other")
    assert [(row["system"], row["delta"], row["margin"]) for row in found["candidates"]] == [
        ("new", pytest.approx(-0.1), 0.001)
    ]  # fmt: skip


# what cannot be


def test_settings_that_cannot_work_are_refused_with_the_next_step(tmp_path, capsys):
    write_aggregation(tmp_path, {metric: values_of(new=SPREAD) for metric in ("AP", "RR", "NumRet")})
    base, ap = ("--baseline", "base"), ("--metric", "AP")
    for arguments, message in {
        (*base, "--metric", "P@5"): 'unknown metric "P@5". Known: AP, RR, NumRet.',
        (*base, "--metric", "NumRet"): "nobody can choose by NumRet: neither direction of it is better",
        (*base, *ap, "--auxiliary", "NumRet"): "nobody can choose by NumRet: neither direction of it is better",
        (*base, *ap, "--auxiliary", "P@5"): 'unknown metric "P@5". Known: AP, RR, NumRet.',
        (*ap, "--auxiliary", "RR"): "auxiliary metrics must not fall below those of which system? "
        "Give --baseline SYSTEM",
        (*ap, "--baseline", "bas"): 'unknown system "bas". Did you mean "base"? Known: base, new.',
        (*base, *ap, "--systems", "neu"): 'unknown system "neu". Did you mean "new"? Known: base, new.',
        (*base, *ap, "--systems", "base"): "there is nothing to choose from: base is alone",
        (*base, *ap, "--margin", "P@5=0.1"): 'a margin: unknown metric "P@5". Known: AP, RR, NumRet.',
        (*base, *ap, "--name", "users"): 'unknown aggregation "users". Known: query_id.',
    }.items():
        assert refusal(capsys, tmp_path, *arguments) == (message, 2)
    assert refusal(capsys, tmp_path)[1] == 2
    assert refusal(capsys, tmp_path / "nothing", *ap) == (
        f"{tmp_path / 'nothing'} does not exist; name the folder that `evaljob score --output` made",
        2,
    )


def test_nobody_is_chosen_by_a_median(tmp_path, capsys):
    write_aggregation(tmp_path, {"AP": values_of(new=SPREAD)}, conventions=Conventions(mean="median"))
    assert refusal(capsys, tmp_path, "--metric", "AP") == (
        "nobody can choose by AP: a difference of medians has no interval; use another mean", 2
    )  # fmt: skip


def test_units_of_two_kinds_are_too_many_for_intervals_that_hold_together(tmp_path, capsys):
    write_aggregation(tmp_path, {"AP": values_of(new=SPREAD)}, settings={"crossed": "text"})
    assert refusal(capsys, tmp_path, "--metric", "AP") == (
        f"{tmp_path / 'aggregates' / 'query_id'} has units of two kinds, for aggregate.crossed is text, and intervals "
        "that hold together allow for one kind; aggregate without it",
        2,
    )


def test_candidates_on_different_queries_are_refused(tmp_path, capsys):
    write_aggregation(tmp_path, {"AP": values_of(new=SPREAD, other=SPREAD)})
    leave_out(tmp_path, system="new", fewest=150)
    assert refusal(capsys, tmp_path, "--metric", "AP") == (
        "AP counts other queries for new (150) than for base (200), and the best is chosen on the same for all: score "
        "with --set score.conventions.unanswered=zero, or choose among others with --systems",
        4,
    )
    found = chosen(capsys, tmp_path, "--metric", "AP", "--systems", "other")
    assert found["chosen"]["system"] == "other"


def test_where_nothing_is_counted_nothing_is_chosen(tmp_path, capsys):
    write_aggregation(tmp_path, {"AP": values_of(new=SPREAD)})
    for system in ("base", "new"):
        leave_out(tmp_path, system=system)
    assert refusal(capsys, tmp_path, "--metric", "AP") == ("AP counts no query of base, new", 4)


def test_damaged_sums_are_refused(tmp_path, capsys):
    write_aggregation(tmp_path, {"AP": values_of(new=SPREAD)})
    part = tmp_path / "aggregates" / "query_id" / "unit_sums" / "part-0.parquet"
    part.write_bytes(part.read_bytes()[:100])
    message, code = refusal(capsys, tmp_path, "--metric", "AP")
    assert (message.startswith(f"{part.parent} is damaged"), message.endswith("; aggregate again"), code) == (
        True, True, 4
    )  # fmt: skip


# the command


def test_neither_spark_nor_java_is_needed(tmp_path):
    write_aggregation(tmp_path, {"AP": values_of(new=SPREAD)})
    program = [sys.executable, "-c", WITHOUT_SPARK, "select", str(tmp_path), "--metric", "AP", *QUICK]
    done = subprocess.run(program, cwd=ROOT, capture_output=True, text=True, env={"PATH": "/nowhere"})
    assert (done.returncode, done.stderr) == (0, "")


def test_a_person_reads_a_table_and_what_it_comes_to(tmp_path, capsys):
    values = {"AP": values_of(a=SPREAD + 0.25, b=SPREAD), "RR": values_of(a=SPREAD, b=SPREAD - 0.25)}
    write_aggregation(tmp_path, values)
    arguments = ["--metric", "AP", "--auxiliary", "RR", "--margin", "RR=0.05", "--baseline", "base"]
    assert cli.main(["select", str(tmp_path), *arguments]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Candidates by AP, against base (0.5000), 95 % intervals that hold together, unit query_id (200)"
    assert lines[1].split() == ["rank", "candidate", "estimate", "delta", "interval", "adjusted", "verdict", "RR"]
    assert lines[2].split()[:4] == ["1", "a", "0.7500", "+0.2500"]
    assert lines[2].split()[-2:] == ["improved", "-0.0116"]
    assert lines[3].split()[-3:] == ["inconclusive", "-0.2616", "fell"]
    assert lines[5] == "- a is the best by AP: 0.7500, +0.2500 against base"
    assert lines[7] == "- out, for a metric that got worse: b (RR)"
    assert lines[8] == "RR: the change at worst (a bound of 95 %), to be within the margin"


def test_of_many_candidates_a_person_sees_the_best(tmp_path, capsys, rng):
    write_aggregation(tmp_path, {"AP": {f"s{i:02d}": rng.random(20) for i in range(25)}})
    assert cli.main(["select", str(tmp_path), "--metric", "AP", *QUICK]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split() == ["rank", "candidate", "estimate", "less", "the", "chosen"]
    assert lines[22] == "… and 5 more rows: --json tells all"
