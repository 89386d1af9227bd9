"""Guardrails whose bounds follow from what was inferred before: in segments, and where two kinds of units cross."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import stats

from tests.support.aggregations import write_aggregation
from tests.support.gates import SPREAD, invalid, values_of, verdict_of


def write_segments(directory, rows):
    """ESTIMATES and CONTRASTS of segments, as far as a gate reads them, beside an aggregation."""
    folder = directory / "aggregates" / "query_id"
    estimates, contrasts = [], []
    for segment, metric, row in rows:
        figures = {"standard_error": 0.02, "degrees_of_freedom": 30.0, "n_units": 31, "n_queries": 50, "margin": 0.01}
        figures |= {"flags": [], "p_value": 0.5, "candidate": "new", "baseline": "base"} | row
        contrasts.append({"segment": segment, "metric": metric} | figures)
        values = {"base": 0.5, "new": 0.5 + row["delta"]}
        estimates += [{"segment": segment, "metric": metric, "system": key, "estimate": values[key]} for key in values]
    for part, content in (("estimates", estimates), ("contrasts", contrasts)):
        (folder / f"segment_{part}").mkdir()
        pq.write_table(pa.Table.from_pylist(content), folder / f"segment_{part}" / "part-0.parquet")


def test_a_guardrail_may_be_in_a_segment(tmp_path, capsys):
    write_aggregation(tmp_path, {"AP": values_of(new=SPREAD), "RR": values_of(new=SPREAD)})
    write_segments(tmp_path, [("country=de", "AP", {"delta": -0.09}), ("country=fr", "AP", {"delta": 0.0})])
    guardrails = ("--guardrails", "AP, RR ,map in country=de", "--margin", "AP=0.05", "--margin", "RR=0.05")
    verdict, code = verdict_of(capsys, tmp_path, *guardrails)
    assert code == 3
    assert verdict["settings"]["guardrails"] == ["AP", "RR", "AP in country=de"]
    whole, _, found = verdict["guardrails"]
    assert [(row["segment"], row["answer"]) for row in (whole, found)] == [
        (None, "passed"),
        ("country=de", "regressed"),
    ]
    assert (found["baseline"], found["candidate"], found["margin"]) == (0.5, 0.41, 0.05)
    assert found["at_best"] == pytest.approx(-0.09 + stats.t.ppf(1 - 0.005 / 3, 30) * 0.02, abs=1e-9)
    assert verdict["reasons"][0].startswith("AP in country=de changed by -0.0900, beyond the margin of 0.0500")
    alone, _ = verdict_of(capsys, tmp_path, "--guardrails", "AP,RR", *guardrails[2:], "--force")
    assert alone["guardrails"][0]["at_best"] < whole["at_best"]  # two thirds of the level are left for both


def test_a_segment_that_is_missing_or_tells_nothing_is_invalid(tmp_path, capsys):
    write_aggregation(tmp_path, {"AP": values_of(new=SPREAD)})
    names = ("--guardrails", "AP in country=de", "--margin", "AP=0.05")
    missing = "a guardrail is missing: AP in country=de has too few units, or was not aggregated for these "
    missing += "systems and segments"
    assert invalid(capsys, tmp_path, *names)["reasons"] == [missing]
    write_segments(tmp_path, [("country=fr", "AP", {"delta": 0.0})])
    assert invalid(capsys, tmp_path, *names, "--force")["reasons"] == [missing]


@pytest.mark.parametrize(
    ("row", "answer", "reason"),
    [
        (
            {"delta": 0.0, "p_value": 1.0, "flags": ["degenerate", "insufficient"]},
            "passed",
            "AP in country=de is the same on all 31 units",
        ),
        (
            {"delta": -0.01, "flags": ["insufficient"]},
            "invalid",
            "AP in country=de changed by -0.0100; fewer than 10 of 31 units differ, and 10 must for an interval",
        ),
        (
            {"delta": -0.1, "flags": ["few_clusters"]},
            "invalid",
            "AP in country=de has too few effective units, and 8 are needed",
        ),
        (
            {"delta": 0.09, "candidate": "base", "baseline": "new"},
            "regressed",
            "AP in country=de changed by -0.0900, beyond the margin of 0.0025, and at best by -0.0350",
        ),
    ],
)
def test_flags_of_a_segment_decide_what_can_be_said_of_it(tmp_path, capsys, row, answer, reason):
    write_aggregation(tmp_path, {"AP": values_of(new=SPREAD)})
    write_segments(tmp_path, [("country=de", "AP", row)])
    verdict, _ = verdict_of(capsys, tmp_path, "--guardrails", "AP in country=de")
    assert (verdict["answer"], verdict["reasons"]) == (answer, [reason])


def test_where_two_kinds_of_units_cross_the_error_that_allows_for_both_decides(tmp_path, capsys):
    write_aggregation(tmp_path, {"AP": values_of(new=SPREAD - 0.0625)}, settings={"crossed": "text"})
    folder = tmp_path / "aggregates" / "query_id"
    figures = {"candidate": "new", "baseline": "base", "n_units": 31, "n_queries": 200, "p_value": 0.1, "flags": []}
    figures |= {"segment": "all", "metric": "AP", "degrees_of_freedom": 30.0, "delta": -0.0625, "margin": 0.01}
    errors = [{"method": method, "standard_error": error} for method, error in (("auto", 0.007), ("two_way", 0.05))]
    pq.write_table(pa.Table.from_pylist([figures | each for each in errors]), folder / "contrasts.parquet")
    sides = [{"segment": "all", "metric": "AP", "method": "two_way", "system": "new", "estimate": 0.4375}]
    pq.write_table(pa.Table.from_pylist(sides), folder / "estimates.parquet")
    verdict, code = verdict_of(capsys, tmp_path, "--margin", "AP=0.05")
    (row,) = verdict["guardrails"]
    assert (code, row["standard_error"], row["candidate"], row["baseline"]) == (5, 0.05, 0.4375, None)
    assert row["at_best"] == pytest.approx(-0.0625 + stats.t.ppf(0.995, 30) * 0.05, abs=1e-9)
