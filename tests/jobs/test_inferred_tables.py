"""What ESTIMATES and CONTRASTS tell of sums, without Spark: margins, flags, p-values, rounding."""

from __future__ import annotations

import numpy as np
import pyarrow.parquet as pq
import pytest

from evalcore.verdict import default_margin
from jobs import store
from jobs.aggregate import aggregate
from jobs.config import Aggregate
from jobs.inferred import Settings
from jobs.measures import Measure
from tests.support.aggregations import write_aggregation

RNG = np.random.default_rng(12)
HARD = RNG.random(80)
BASE = np.round(np.clip(HARD + RNG.normal(0, 0.1, 80), 0, 1), 3)
BETTER = np.round(np.clip(BASE + RNG.normal(0.03, 0.1, 80), 0, 1), 3)
SAME = np.round(np.clip(BASE + RNG.normal(0.0, 0.1, 80), 0, 1), 3)


def inferred(folder, values, **settings):
    directory = write_aggregation(folder, values) / "aggregates" / "query_id"
    manifest = store.read_manifest(directory)
    chosen = {"methods": ["auto"], "confidence": 0.95, "replicates": 999, "seed": 0, "baseline": "a"}
    return aggregate(
        pq.read_table(directory / "unit_sums"),
        pq.read_table(directory / "pairs"),
        systems=manifest["systems"],
        measures=[Measure(**measure) for measure in manifest["measures"]],
        exponents=manifest["exponents"],
        settings=Settings(**chosen | {"bucketed": False, "restricted": False} | settings),
    )


def contrast(folder, values=None, **settings):
    values = {"AP": {"a": BASE, "b": BETTER}} if values is None else values
    return inferred(folder, values, **settings)[1].to_pylist()[0]


def test_a_margin_that_is_set_decides_the_verdict(tmp_path):
    usual = contrast(tmp_path / "usual", {"AP": {"a": BASE, "b": SAME}})
    wide = contrast(tmp_path / "wide", {"AP": {"a": BASE, "b": SAME}}, margins={"AP": 0.5})
    assert (usual["margin"], usual["verdict"]) == (default_margin(BASE.mean()), "inconclusive")
    assert (wide["margin"], wide["verdict"]) == (0.5, "equivalent")
    assert (wide["low"], wide["high"]) == (usual["low"], usual["high"])


def test_an_end_of_an_interval_near_the_margin_is_flagged_only_if_a_seed_could_move_it(tmp_path):
    first = contrast(tmp_path / "first", methods=["percentile"])
    near = {"AP": first["high"] + 0.5 * first["end_error"]}
    assert "monte_carlo" not in first["flags"]
    assert "monte_carlo" in contrast(tmp_path / "near", methods=["percentile"], margins=near)["flags"]
    analytic = contrast(tmp_path / "analytic", methods=["t"], margins={"AP": first["high"]})
    assert (analytic["end_error"], "monte_carlo" in analytic["flags"]) == (0.0, False)


def test_ties_that_could_move_an_estimate_beyond_the_margin_are_flagged(tmp_path):
    margin = default_margin(BASE.mean())
    for part, most in enumerate((0.9, 1.1)):
        row = contrast(tmp_path / str(part), tie_ranges={("a", "AP"): most * margin, ("b", "AP"): 0.0})
        assert ("ties_matter" in row["flags"]) == (most > 1)


@pytest.mark.parametrize(("judged", "flagged"), [(0.95, False), (0.85, True)])
def test_systems_judged_to_different_shares_are_flagged_in_every_metric(tmp_path, judged, flagged):
    values = {"AP": {"a": BASE, "b": BETTER}, "Judged@10": {"a": [0.96] * 80, "b": [judged] * 80}}
    rows = inferred(tmp_path, values)[1].to_pylist()
    assert ["judged_gap" in row["flags"] for row in rows] == [flagged, flagged]


def test_p_values_that_are_not_asked_for_are_null(tmp_path):
    row = contrast(tmp_path, tests=["sign_flip"])
    assert 0 < row["p_sign_flip"] <= 1
    assert (row["p_max_t"], row["p_tukey_hsd"], row["p_wilcoxon"]) == (None, None, None)


@pytest.mark.parametrize("adjust", ["holm", "max_t", "tukey_hsd", "bonferroni", "benjamini_hochberg"])
def test_adjusted_p_values_are_never_below_the_others(tmp_path, adjust):
    values = {"AP": {"a": BASE, "b": BETTER, "c": SAME}, "RR": {"a": BASE, "b": SAME, "c": BETTER}}
    rows = inferred(tmp_path, values, adjust=adjust, baseline=None)[1].to_pylist()
    assert len(rows) == 6
    for row in rows:
        assert row["p_adjusted"] >= min(row["p_value"], 1 / 1000)


def test_holm_adjusts_over_the_contrasts_of_a_metric_and_not_over_metrics(tmp_path):
    values = {"AP": {"a": BASE, "b": BETTER}, "RR": {"a": BASE, "b": SAME}}
    for row in inferred(tmp_path, values)[1].to_pylist():
        assert row["p_adjusted"] == row["p_value"]


def test_the_relative_delta_has_an_interval_that_holds_it(tmp_path):
    row = contrast(tmp_path)
    assert row["relative_delta"] == pytest.approx(BETTER.mean() / BASE.mean() - 1)
    assert row["relative_low"] < row["relative_delta"] < row["relative_high"]
    assert row["relative_low"] == pytest.approx(row["low"] / BASE.mean(), abs=0.02)


def test_what_passes_through_the_c_library_has_twelve_digits(tmp_path):
    row = contrast(tmp_path)
    for key in ("low", "high", "p_value", "effect_size", "degrees_of_freedom"):
        assert row[key] == float(f"{row[key]:.11e}")


def test_an_interval_without_width_is_the_estimate_to_the_last_bit(tmp_path):
    third = [1 / 3] * 80
    (estimate,) = (row for row in inferred(tmp_path, {"AP": {"a": third, "b": BETTER}})[0].to_pylist()[:1])
    assert estimate["low"] == estimate["estimate"] == estimate["high"]
    assert "degenerate" in estimate["flags"]


def test_margins_may_be_named_as_other_tools_name_the_metric():
    chosen = Aggregate(unit="query_id", margins={"map": 0.1, "latency_ms": 5})
    assert Settings.of(chosen, bucketed=False, restricted=False).margins == {"AP": 0.1, "latency_ms": 5}
