"""What an aggregation can show, and what it would take to show more."""

from __future__ import annotations

import json
import math

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import stats

from evalcore import Conventions
from jobs import cli
from tests.support.aggregations import write_aggregation
from tests.support.gates import SPREAD, N, refusal_of, values_of

ERROR = np.std(SPREAD, ddof=1) / math.sqrt(N)


def planned(capsys, directory, *arguments):
    assert cli.main(["power", str(directory), "--baseline", "base", "--json", *arguments]) == 0
    return json.loads(capsys.readouterr().out)["contrasts"]


def test_what_units_like_these_can_show(tmp_path, capsys):
    write_aggregation(tmp_path, {"AP": values_of(new=SPREAD + 0.01)}, settings={"margins": {"AP": 0.02}})
    (row,) = planned(capsys, tmp_path)
    expected = {
        "metric": "AP",
        "candidate": "new",
        "baseline": "base",
        "standard_deviation": np.std(SPREAD, ddof=1),
        "effective_units": 200,
        "n_units": 200,
        "n_queries": 200,
        "standard_error": ERROR,
        "margin": 0.02,
        "margin_in_standard_errors": 0.02 / ERROR,
        "p_passed_if_unchanged": stats.t.cdf(0.02 / ERROR - stats.t.ppf(0.95, 199), 199),
        "detectable_effect_80": (stats.t.ppf(0.975, 199) + stats.t.ppf(0.8, 199)) * ERROR,
        "detectable_effect_90": (stats.t.ppf(0.975, 199) + stats.t.ppf(0.9, 199)) * ERROR,
    }
    assert row["design_effect"] == pytest.approx(1, abs=1e-3)
    for key, value in expected.items():
        assert row[key] == (pytest.approx(value, rel=1e-6) if isinstance(value, float) else value), key
    assert row["correlation"] is None  # the baseline has the same value everywhere


@pytest.mark.parametrize(
    ("level", "confidence", "power"), [("units_to_pass", 0.9, 0.9), ("units_to_detect", 0.95, 0.8)]
)
def test_with_as_many_units_as_are_needed_the_margin_is_told_and_with_one_less_it_is_not(
    tmp_path, capsys, level, confidence, power
):
    write_aggregation(tmp_path, {"AP": values_of(new=SPREAD)}, settings={"margins": {"AP": 0.01}})
    (row,) = planned(capsys, tmp_path)

    def detectable(n):
        multiple = stats.t.ppf((1 + confidence) / 2, n - 1) + stats.t.ppf(power, n - 1)
        return multiple * np.std(SPREAD, ddof=1) / math.sqrt(n)

    assert detectable(row[level]) <= 0.01 < detectable(row[level] - 1)


def test_the_correlation_of_two_systems_is_that_of_their_units(tmp_path, capsys):
    generator = np.random.Generator(np.random.Philox(2))
    base, new = generator.random((2, 80))
    new = (base + new) / 2
    write_aggregation(tmp_path, {"AP": {"base": base, "new": new}})
    (row,) = planned(capsys, tmp_path)
    assert row["correlation"] == pytest.approx(np.corrcoef(base, new)[0, 1])


def test_queries_of_one_user_that_move_together_count_less(tmp_path, capsys):
    units = [f"u{query // 4:02d}" for query in range(N)]
    gains = np.repeat(SPREAD[: N // 4], 4)  # all four of a user alike
    write_aggregation(tmp_path, {"AP": values_of(new=gains)}, units=units)
    (row,) = planned(capsys, tmp_path)
    assert (row["n_units"], row["n_queries"], row["effective_units"]) == (50, 200, pytest.approx(50))
    assert row["design_effect"] == pytest.approx(
        4 * 199 / 196, rel=1e-3
    )  # 4, but for what a sample's variance divides by


def test_units_in_buckets_are_counted_as_units(tmp_path, capsys):
    write_aggregation(tmp_path / "units", {"AP": values_of(new=SPREAD)})
    write_aggregation(tmp_path / "buckets", {"AP": values_of(new=SPREAD)}, bucketed=True, n_units=10 * N)
    (few,), (many,) = planned(capsys, tmp_path / "units"), planned(capsys, tmp_path / "buckets")
    assert many["n_units"] == 10 * few["n_units"]
    assert many["units_to_pass"] == pytest.approx(10 * few["units_to_pass"], rel=0.01)
    assert many["standard_deviation"] == pytest.approx(few["standard_deviation"] * math.sqrt(10))


def test_a_margin_of_a_metric_that_is_not_there_is_refused(tmp_path, capsys):
    write_aggregation(tmp_path, {"AP": values_of(new=SPREAD)})
    arguments = ["power", str(tmp_path), "--baseline", "base", "--set"]
    assert cli.main([*arguments, "aggregate.margins={AQ: 0.1}"]) == 2
    assert 'a margin: unknown metric "AQ". Known: AP.' in capsys.readouterr().err
    assert cli.main([*arguments, "aggregate.margins={map: 0.1}"]) == 0  # as another tool names it


def test_where_two_kinds_of_units_cross_the_error_that_allows_for_both_counts(tmp_path, capsys):
    write_aggregation(tmp_path, {"AP": values_of(new=SPREAD)}, settings={"crossed": "text"})
    folder = tmp_path / "aggregates" / "query_id"
    row = {"segment": "all", "metric": "AP", "method": "two_way"}
    contrast = {"candidate": "new", "baseline": "base", "standard_error": 2 * ERROR, "n_units": 31}
    figures = row | contrast | {"degrees_of_freedom": 30.0}
    pq.write_table(pa.Table.from_pylist([figures]), folder / "contrasts.parquet")
    pq.write_table(pa.Table.from_pylist([row | {"system": "new", "estimate": 0.5}]), folder / "estimates.parquet")
    (found,) = planned(capsys, tmp_path)
    assert (found["standard_error"], found["n_units"]) == (pytest.approx(2 * ERROR), 31)
    assert found["design_effect"] == pytest.approx(4, rel=1e-3)


def test_every_candidate_is_planned_and_a_sum_has_its_own_unit(tmp_path, capsys):
    values = {"AP": values_of(new=SPREAD, other=2 * SPREAD), "NumRelRet": values_of(new=SPREAD, other=SPREAD)}
    write_aggregation(tmp_path, values)
    rows = {(row["metric"], row["candidate"]): row for row in planned(capsys, tmp_path)}
    assert list(rows) == [("AP", "new"), ("AP", "other"), ("NumRelRet", "new"), ("NumRelRet", "other")]
    assert rows["AP", "other"]["standard_error"] == pytest.approx(2 * ERROR, rel=1e-6)
    assert rows["NumRelRet", "new"]["standard_error"] == pytest.approx(N * ERROR, rel=1e-6)
    assert rows["NumRelRet", "new"]["margin"] == 0.005 * N / 2


def test_where_nothing_differs_nothing_can_be_planned(tmp_path, capsys):
    write_aggregation(tmp_path, {"AP": values_of(new=np.zeros(N))})
    (row,) = planned(capsys, tmp_path)
    sizes = ("margin_in_standard_errors", "p_passed_if_unchanged", "units_to_pass", "units_to_detect")
    assert {row[key] for key in (*sizes, "detectable_effect_80", "detectable_effect_90")} == {None}
    assert row["standard_error"] == 0.0


def test_a_person_reads_a_row_for_each_contrast_and_what_the_columns_mean(tmp_path, capsys):
    write_aggregation(tmp_path, {"AP": values_of(new=SPREAD, other=SPREAD)})
    assert cli.main(["power", str(tmp_path), "--baseline", "base"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Contrasts with base, unit query_id (200)"
    headers = ["metric", "candidate", "sd", "correlation", "design effect", "effective units", "at 80 %", "at 90 %"]
    headers += ["margin", "margin/se", "passes if unchanged", "units to pass", "units to detect"]
    assert lines[1].split() == " ".join(headers).split()
    assert [line.split()[:2] for line in lines[2:4]] == [["AP", "new"], ["AP", "other"]]
    told = " ".join(lines[5:])
    for header in ("sd", "correlation", "design effect", "margin/se", *headers[-3:]):
        assert f"{header}: " in told


def test_what_cannot_be_planned_is_refused(tmp_path, capsys):
    write_aggregation(tmp_path / "one", {"AP": {"base": np.full(N, 0.5)}})
    write_aggregation(tmp_path / "median", {"AP": values_of(new=SPREAD)}, conventions=Conventions(mean="median"))
    for folder in ("one", "median"):
        text, code = refusal_of(capsys, tmp_path / folder, "--baseline", "base", command="power")
        assert text.endswith("holds no contrast: one system alone, or medians, which have no interval")
        assert code == 2
    text, code = refusal_of(capsys, tmp_path / "median", command="power")
    assert (text, code) == ("compared with which system? Give --baseline SYSTEM. Known: base, new.", 2)
    text, code = refusal_of(capsys, tmp_path / "median", "--baseline", "bose", command="power")
    assert (text, code) == ('unknown system "bose". Did you mean "base"? Known: base, new.', 2)
