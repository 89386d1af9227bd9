"""The command `evaljob datasets`: each data set, the means over them, what cannot stand beside each other."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import stats

from evalcore import Conventions
from evalcore.inference import UnitSums
from evalcore.inference.two_way import two_way
from jobs import cli, store
from tests.jobs.test_verdict_file import WITHOUT_SPARK
from tests.support.aggregations import write_aggregation
from tests.support.evaluations import aggregate, score, write_trec

ROOT = Path(__file__).parents[2]
QUICK = ("--set", "aggregate.replicates=99", "--set", "aggregate.methods=[t]")


@pytest.fixture
def rng():
    return np.random.default_rng(91)


def write(folder, values, **settings):
    """A data set whose queries have names of their own."""
    n = len(next(iter(next(iter(values.values())).values())))
    return write_aggregation(folder, values, units=[f"{folder.name}-{i:03d}" for i in range(n)], **settings)


def leave_out(folder, *, system, fewest=0):
    """Of a system all queries of an aggregation but the first few count no more."""
    path = folder / "aggregates" / "query_id" / "unit_sums" / "part-0.parquet"
    table = pq.read_table(path)
    rows = table.to_pylist()
    for row in [row for row in rows if row["system"] == system][fewest:]:
        row |= dict.fromkeys((key for key in row if key.endswith(("_n", "_hi", "_lo"))), 0)
    pq.write_table(pa.Table.from_pylist(rows, table.schema), path)


def pair(rng, n, moved, metric="AP"):
    """Two systems, of which the new one gains so much on average."""
    base = rng.random(n)
    return {metric: {"base": base, "new": base + rng.normal(moved, 0.1, n)}}


def told(capsys, *arguments, quick=QUICK):
    assert cli.main(["datasets", *arguments, *quick, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def refusal(capsys, *arguments):
    code = cli.main(["datasets", *arguments])
    out, err = capsys.readouterr()
    assert not out
    return err.strip().removeprefix("evaljob: "), code


# numbers


def test_each_data_set_has_its_own_paired_contrast_and_the_mean_is_welch_s(tmp_path, capsys, rng):
    values = {"x": pair(rng, 60, 0.05), "y": pair(rng, 15, -0.02)}
    sets = [f"{name}={write(tmp_path / name, each)}" for name, each in values.items()]
    found = told(capsys, *sets, "--baseline", "base")
    deltas = [each["AP"]["new"] - each["AP"]["base"] for each in values.values()]
    for row, delta in zip(found["contrasts"], deltas, strict=True):
        ends = stats.ttest_1samp(delta, 0).confidence_interval()
        assert (row["delta"], row["low"], row["high"]) == pytest.approx((delta.mean(), ends.low, ends.high), rel=1e-9)
    assert [row["data_set"] for row in found["contrasts"]] == ["x", "y"]
    (mean,) = found["mean_contrasts"]
    expected = stats.ttest_ind(deltas[0], -deltas[1], equal_var=False)  # the sum of both means
    ends = expected.confidence_interval()
    assert (mean["delta"], mean["low"], mean["high"]) == pytest.approx(
        (np.mean([delta.mean() for delta in deltas]), ends.low / 2, ends.high / 2), rel=1e-9
    )
    assert (mean["p_value"], mean["degrees_of_freedom"]) == pytest.approx((expected.pvalue, expected.df), rel=1e-9)
    base = [each["AP"]["base"].mean() for each in values.values()]
    assert mean["relative_delta"] == pytest.approx(mean["delta"] / np.mean(base))
    assert mean["margin"] == pytest.approx(0.005 * np.mean(base))
    estimate = found["mean_estimates"][0]
    assert (estimate["system"], estimate["n_queries"]) == ("base", 75)
    assert estimate["estimate"] == pytest.approx(np.mean(base))


def test_a_data_set_has_one_vote_however_many_queries_it_has(tmp_path, capsys):
    for name, n, value in (("large", 100, 0.25), ("small", 4, 0.75)):
        write(tmp_path / name, {"AP": {"base": np.full(n, value), "new": np.full(n, value)}})
    found = told(capsys, f"large={tmp_path / 'large'}", f"small={tmp_path / 'small'}", "--systems", "base")
    assert [row["estimate"] for row in found["mean_estimates"]] == [0.5]
    assert found["contrasts"] == found["mean_contrasts"] == []


def test_data_sets_are_counted_by_their_verdicts(tmp_path, capsys, rng):
    moved = {"a": 0.3, "b": -0.3, "c": 0.3, "d": 0.0}
    sets = []
    for name, delta in moved.items():
        values = {**pair(rng, 60, delta), **pair(rng, 60, delta, "ZeroResult"), **pair(rng, 60, delta, "NumRet")}
        sets.append(f"{name}={write(tmp_path / name, values)}")
    found = told(capsys, *sets, "--baseline", "base")
    rise, fall, neutral = found["mean_contrasts"]
    assert rise["data_sets"] == {"improved": 2, "regressed": 1, "equivalent": 0, "inconclusive": 1}
    assert fall["data_sets"] == {"improved": 1, "regressed": 2, "equivalent": 0, "inconclusive": 1}
    assert (rise["verdict"], fall["verdict"]) == ("improved", "regressed")
    assert neutral["verdict"] is None
    assert "data_sets" not in neutral


def test_several_candidates_are_adjusted_for_by_holm(tmp_path, capsys, rng):
    sets = []
    for name in ("x", "y"):
        values = pair(rng, 40, 0.03)
        values["AP"]["other"] = values["AP"]["base"] + rng.normal(0.02, 0.1, 40)
        sets.append(f"{name}={write(tmp_path / name, values)}")
    rows = told(capsys, *sets, "--baseline", "base")["mean_contrasts"]
    smaller, larger = sorted(rows, key=lambda row: row["p_value"])
    assert smaller["p_adjusted"] == pytest.approx(2 * smaller["p_value"])
    assert larger["p_adjusted"] == pytest.approx(max(larger["p_value"], smaller["p_adjusted"]))
    pairs = [(row["candidate"], row["baseline"]) for row in told(capsys, *sets)["mean_contrasts"]]
    assert pairs == [("new", "base"), ("other", "base"), ("other", "new")]


def test_margins_methods_and_confidence_are_those_of_the_aggregations(tmp_path, capsys, rng):
    sets = []
    for name, margin in (("x", 0.25), ("y", 0.75)):
        made = {"baseline": "base", "margins": {"AP": margin}, "methods": ["hall", "t"], "confidence": 0.9}
        sets.append(f"{name}={write(tmp_path / name, pair(rng, 40, 0.0), settings=made)}")
    found = told(capsys, *sets, quick=())
    assert (found["baseline"], found["methods"], found["confidence"]) == ("base", ["hall"], 0.9)
    assert [row["margin"] for row in found["contrasts"]] == [0.25, 0.75]
    (mean,) = found["mean_contrasts"]
    assert (mean["margin"], mean["verdict"]) == (0.5, "equivalent")
    reach = stats.t.ppf(0.95, mean["degrees_of_freedom"]) * mean["standard_error"]
    assert mean["high"] == pytest.approx(mean["delta"] + reach, rel=1e-9)


def test_the_mean_of_sums_is_in_their_unit(tmp_path, capsys):
    for name, n in (("x", 40), ("y", 20)):
        base = np.tile([1.0, 3.0], n // 2)
        write(tmp_path / name, {"NumRelRet": {"base": base, "new": base + np.tile([0.0, 1.0, 2.0, 1.0], n // 4)}})
    found = told(capsys, f"x={tmp_path / 'x'}", f"y={tmp_path / 'y'}", "--baseline", "base")
    assert [row["estimate"] for row in found["mean_estimates"]] == [60.0, 90.0]  # of 80 and 40, of 120 and 60
    assert found["mean_contrasts"][0]["delta"] == 30.0


def test_a_data_set_on_which_too_few_units_differ_leaves_the_mean_open_unless_none_does(tmp_path, capsys, rng):
    clear = write(tmp_path / "clear", pair(rng, 60, 0.3))
    few = np.zeros(60)
    few[:5] = 0.5
    same = write(tmp_path / "same", {"AP": {"base": np.zeros(60), "new": np.zeros(60)}})
    some = write(tmp_path / "some", {"AP": {"base": np.zeros(60), "new": few}})
    for other, verdict in ((same, "improved"), (some, "inconclusive")):
        (mean,) = told(capsys, f"clear={clear}", f"other={other}", "--baseline", "base")["mean_contrasts"]
        assert (mean["verdict"], mean["low"] > 0, "insufficient" in mean["flags"]) == (verdict, True, True)


def test_a_data_set_without_a_value_leaves_no_mean(tmp_path, capsys, rng):
    full = write(tmp_path / "full", pair(rng, 40, 0.1))
    empty = write(tmp_path / "empty", pair(rng, 5, 0.1))
    leave_out(empty, system="base")
    found = told(capsys, f"full={full}", f"empty={empty}", "--baseline", "base")
    (mean,) = found["mean_contrasts"]
    assert (mean["delta"], mean["low"], mean["p_value"], mean["verdict"]) == (None, None, None, "inconclusive")
    assert [row["estimate"] is None for row in found["mean_estimates"]] == [True, False]


def test_systems_that_count_different_queries_are_contrasted_over_those_that_both_count(spark, tmp_path, capsys):
    runs = {"base": [f"q{i} d1 1" for i in range(30)], "new": [f"q{i} d{i % 2} 1" for i in range(1, 31)]}
    settings = write_trec(tmp_path / "trec", runs=runs, qrels=[f"q{i} d1 1" for i in range(31)])
    score(spark, tmp_path / "x", "RR", {**settings, "score.conventions.unanswered": "skip"})
    aggregate(spark, tmp_path / "x", unit="query_id", baseline="base", methods=["t"])
    shutil.copytree(tmp_path / "x", tmp_path / "y")
    found = told(capsys, f"x={tmp_path / 'x'}", f"y={tmp_path / 'y'}")
    assert [(row["n_queries"], row["delta"]) for row in found["contrasts"]] == [(29, pytest.approx(-14 / 29))] * 2
    (mean,) = found["mean_contrasts"]
    # the baseline's estimate is over 30 queries
    assert (mean["n_queries"], mean["delta"], mean["relative_delta"]) == (58, pytest.approx(-14 / 29), None)
    assert found["notes"] == [
        "31 units of the same name in several data sets: if they are the same users or queries, intervals of means may "
        "be too narrow, for data sets are taken as independent"
    ]


# what data sets share


def test_what_is_not_shared_is_told_and_left_out(tmp_path, capsys, rng):
    one = {**pair(rng, 30, 0.0), **pair(rng, 30, 0.0, "RR")}
    for values in one.values():
        values["only"] = rng.random(30)
    x, y = write(tmp_path / "x", one), write(tmp_path / "y", {**pair(rng, 20, 0.0), **pair(rng, 20, 0.0, "P@5")})
    found = told(capsys, f"x={x}", f"y={y}", "--baseline", "base")
    assert (found["systems"], found["metrics"]) == (["base", "new"], ["AP"])
    assert found["notes"] == [
        "left out, for not all data sets have the system: only (not in y)",
        "left out, for not all data sets have the metric: RR (not in y), P@5 (not in x)",
    ]
    for arguments, message in {
        ("--metrics", "recip_rank"): "the metric RR is asked for and not in y",
        ("--metrics", "nDCG"): 'unknown metric "nDCG". Known: AP, RR, P@5.',
        ("--systems", "only"): "the system only is asked for and not in y",
        ("--baseline", "only"): 'the baseline: unknown system "only". Known: base, new.',
    }.items():
        assert refusal(capsys, f"x={x}", f"y={y}", *arguments) == (message, 2)
    chosen = told(capsys, f"x={x}", f"y={y}", "--metrics", "map", "--systems", "new")
    assert (chosen["metrics"], chosen["systems"], chosen["notes"]) == (["AP"], ["new"], [])


def test_data_sets_that_share_nothing_are_refused(tmp_path, capsys, rng):
    x, y = write(tmp_path / "x", pair(rng, 20, 0.0)), write(tmp_path / "y", pair(rng, 20, 0.0, "RR"))
    assert refusal(capsys, f"x={x}", f"y={y}") == ("no metric is in all data sets: x has AP; y has RR", 4)
    z = write(tmp_path / "z", {"AP": {"third": rng.random(20)}})
    message = "no system is in all data sets: x has base, new; z has third"
    assert refusal(capsys, f"x={x}", f"z={z}") == (message, 4)


def test_data_sets_that_measure_something_else_are_refused_with_all_differences(tmp_path, capsys, rng):
    x = write(tmp_path / "x", pair(rng, 20, 0.0))
    other = Conventions(no_relevant="skip", mean="geometric")
    y = write(tmp_path / "y", pair(rng, 20, 0.5), conventions=other)
    assert refusal(capsys, f"x={x}", f"y={y}") == (
        "x and y do not measure the same: no_relevant is zero and skip; mean is queries and geometric; "
        "statistic of AP is mean and geometric",
        4,
    )
    manifest = json.loads((x / "aggregates" / "query_id" / "manifest.json").read_text())
    del manifest["conventions"]["ties"]
    manifest["measures"][0]["higher_is_better"] = False
    z = write(tmp_path / "z", pair(rng, 20, 0.0))
    store.write_manifest(z / "aggregates" / "query_id", manifest)
    assert refusal(capsys, f"x={x}", f"z={z}") == (
        "x and z do not measure the same: ties is doc_id_desc and not stated; higher_is_better of AP is True and False",
        4,
    )


def test_medians_have_no_mean_with_an_interval(tmp_path, capsys, rng):
    median = Conventions(mean="median")
    sets = []
    for name in ("x", "y"):
        values = {**pair(rng, 20, 0.0), **pair(rng, 20, 0.0, "NumRelRet")}
        sets.append(f"{name}={write(tmp_path / name, values, conventions=median)}")
    found = told(capsys, *sets)
    assert found["metrics"] == ["NumRelRet"]
    assert found["notes"] == ["left out, for a mean of vectors or medians has no interval: AP"]


def test_aggregations_made_in_different_ways_need_a_word_unless_each_can_have_its_own(tmp_path, capsys, rng):
    sets = []
    for name, made in (("x", {"baseline": "base", "confidence": 0.9, "methods": ["hall"]}), ("y", {"methods": ["t"]})):
        sets.append(f"{name}={write(tmp_path / name, pair(rng, 20, 0.0), settings=made)}")
    given = ["--baseline=base", "--set=aggregate.confidence=0.99"]
    messages = [
        "aggregate.baseline is base in x, none in y; give one for all with --baseline SYSTEM",
        "aggregate.confidence is 0.9 in x, 0.95 in y; give one for all with --set aggregate.confidence=0.95",
    ]
    for place, message in enumerate(messages):
        assert refusal(capsys, *sets, *given[:place]) == (message, 2)
    found = told(capsys, *sets, *given, quick=())
    assert (found["confidence"], found["methods"]) == (0.99, ["hall", "t"])
    assert [row["method"] for row in (*found["contrasts"], *found["mean_contrasts"])] == ["hall", "t", "t"]


def test_units_of_two_kinds_that_cross_are_both_allowed_for(tmp_path, capsys, rng):
    values = pair(rng, 60, 0.1)
    users, texts = ([f"{kind}{i}" for i in rng.integers(0, 15, 60)] for kind in "ut")
    both = [f"{user} {text}" for user, text in zip(users, texts, strict=True)]
    crossing = tmp_path / "x" / "aggregates" / "query_id"
    for folder, units in (("x", users), ("texts", texts), ("both", both)):
        write_aggregation(tmp_path / folder, values, units=units, settings={"crossed": "text"})
    for folder, table in (("texts", "crossed_sums"), ("both", "both_sums")):
        shutil.copytree(tmp_path / folder / "aggregates" / "query_id" / "unit_sums", crossing / table)
    y = write(tmp_path / "y", pair(rng, 20, 0.0))
    row = told(capsys, f"x={tmp_path / 'x'}", f"y={y}", "--baseline", "base")["contrasts"][0]
    columns = np.column_stack([values["AP"]["new"], values["AP"]["base"]])
    ways = [UnitSums.from_values(units, columns, contrasts=[(0, 1)]) for units in (users, texts, both)]
    expected = two_way(*ways, contrasts=[(0, 1)])[1][0]
    assert (row["method"], row["low"], row["standard_error"]) == (
        "two_way", pytest.approx(expected.intervals["two_way"].low), pytest.approx(expected.standard_error)
    )  # fmt: skip


# the command


def test_names_and_directories_that_cannot_be_are_refused_with_the_next_step(tmp_path, capsys, rng):
    x = write(tmp_path / "x", pair(rng, 20, 0.0))
    write(x / "aggregates", pair(rng, 20, 0.0), name="users")
    usual = "write the data set's name and its evaluation, such as robust04=out/robust04"
    for arguments, message in {
        (): "name two data sets or more, such as robust04=out/robust04 web12=out/web12",
        (f"x={x}",): "name two data sets or more, such as robust04=out/robust04 web12=out/web12",
        (str(x),): f"{x}: {usual}",
        (f"={x}", f"y={x}"): f"={x}: {usual}",
        (f"x={x}", f"x={x}"): "two data sets are called x",
        (f"x={x}", f"y={x}"): "x and y are one evaluation: its queries would count twice",
        (f"x={x}", "y=/nowhere"): "y: /nowhere does not exist; name the folder that `evaljob score --output` made",
        (f"x={x}", "y=/nowhere", "--name", "user"): 'x: unknown aggregation "user". Known: query_id.',
    }.items():
        assert refusal(capsys, *arguments) == (message, 2)


def test_damaged_sums_are_refused(tmp_path, capsys, rng):
    x, y = (write(tmp_path / name, pair(rng, 20, 0.0)) for name in ("x", "y"))
    part = y / "aggregates" / "query_id" / "unit_sums" / "part-0.parquet"
    part.write_bytes(part.read_bytes()[:100])
    message, code = refusal(capsys, f"x={x}", f"y={y}")
    assert (message.startswith(f"{part.parent} is damaged ("), message.endswith("aggregate again"), code) == (
        True, True, 4
    )  # fmt: skip


def test_neither_spark_nor_java_is_needed(tmp_path, rng):
    sets = [f"{name}={write(tmp_path / name, pair(rng, 20, 0.0))}" for name in ("x", "y")]
    program = [sys.executable, "-c", WITHOUT_SPARK, "datasets", *sets, *QUICK]
    done = subprocess.run(program, cwd=ROOT, capture_output=True, text=True, env={"PATH": "/nowhere"})
    assert (done.returncode, done.stderr) == (0, "")


def test_a_person_reads_the_data_sets_and_their_mean(tmp_path, capsys, rng):
    moved = {"web": (60, 0.3), "tv": (5, 0.0)}
    sets = [f"{name}={write(tmp_path / name, pair(rng, *how))}" for name, how in moved.items()]
    assert cli.main(["datasets", *sets, "--baseline", "base", *QUICK]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Estimates, 95 % t intervals (of means: t)"
    assert lines[1].split() == ["metric", "system", "data", "set", "estimate", "interval", "queries", "flags"]
    assert [line.split()[2] for line in lines[2:8]] == ["web", "tv", "mean"] * 2
    assert lines[9] == "Contrasts, candidate - base, 95 % t intervals (of means: t)"
    assert lines[10].split()[:5] == ["metric", "candidate", "data", "set", "delta"]
    assert lines[11].split()[-1] == "improved"
    assert lines[13].split()[:5] == ["AP", "new", "mean", "of", "2"]
    assert "inconclusive                 1/0/1  insufficient" in lines[13]
    assert lines[15] == "units: web 60 of query_id, tv 5 of query_id; in a mean each data set has one vote"
    assert lines[-1].startswith("few_clusters: ")


def test_a_long_table_is_cut(tmp_path, capsys, rng):
    sets = []
    for name in ("x", "y"):
        values = {"AP": {f"s{i:02d}": rng.random(12) for i in range(21)}}
        sets.append(f"{name}={write(tmp_path / name, values)}")
    assert cli.main(["datasets", *sets, "--baseline", "s00", *QUICK]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[62] == "… and 3 more rows: --json tells all"
