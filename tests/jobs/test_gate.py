"""The verdict of one night: what decides it, and what cannot be compared."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from tests.support.aggregations import write_aggregation
from tests.support.evaluations import aggregate, score, scores_of, write_trec
from tests.support.gates import SPREAD, N, invalid, values_of, verdict_of
from tests.support.reports import REPORTS, reported

# the answers


@pytest.mark.parametrize(
    ("shift", "answer", "code"),
    [(0.0, "passed", 0), (-0.0625, "regressed", 3), (-0.04, "inconclusive", 5)],
)
def test_the_exit_code_says_the_answer(tmp_path, capsys, shift, answer, code):
    write_aggregation(tmp_path, {"nDCG@10": values_of(new=SPREAD + shift)})
    verdict, found = verdict_of(capsys, tmp_path, "--margin", "nDCG@10=0.05")
    assert (verdict["answer"], verdict["exit_code"], found) == (answer, code, code)


def test_one_guardrail_that_regressed_is_enough(tmp_path, capsys):
    values = {
        "nDCG@10": values_of(new=SPREAD),
        "AP": values_of(new=SPREAD - 0.0625),
        "RR": values_of(new=SPREAD - 0.04),
    }
    write_aggregation(tmp_path, values)
    verdict, code = verdict_of(capsys, tmp_path, *(f"--margin={metric}=0.05" for metric in values))
    assert [(row["metric"], row["answer"]) for row in verdict["guardrails"]] == [
        ("nDCG@10", "passed"), ("AP", "regressed"), ("RR", "inconclusive")
    ]  # fmt: skip
    assert (verdict["answer"], code) == ("regressed", 3)
    assert [reason.split()[0] for reason in verdict["reasons"]] == ["AP", "RR", "nDCG@10", "200"]
    assert "beyond the margin of 0.0500, and at best by -0.0" in verdict["reasons"][0]
    assert verdict["reasons"][3].startswith("200 units cannot tell; with about ")


def test_only_the_guardrails_that_are_named_count(tmp_path, capsys):
    write_aggregation(tmp_path, {"nDCG@10": values_of(new=SPREAD), "AP": values_of(new=SPREAD - 0.0625)})
    verdict, code = verdict_of(capsys, tmp_path, "--guardrails", "ndcg_cut_10", "--margin", "nDCG@10=0.05")
    assert ([row["metric"] for row in verdict["guardrails"]], code) == (["nDCG@10"], 0)


def test_strict_needs_a_loss_beyond_the_margin(tmp_path, capsys):
    write_aggregation(tmp_path, {"AP": values_of(new=SPREAD - 0.0625)})
    assert verdict_of(capsys, tmp_path, "--margin", "AP=0.05")[1] == 3
    assert verdict_of(capsys, tmp_path, "--margin", "AP=0.05", "--strict", "--force")[1] == 5
    assert verdict_of(capsys, tmp_path, "--margin", "AP=0.01", "--strict", "--force")[1] == 3


def test_where_lower_is_better_a_rise_is_the_loss(tmp_path, capsys):
    write_aggregation(tmp_path, {"ZeroResult": values_of(new=SPREAD + 0.0625)})
    verdict, code = verdict_of(capsys, tmp_path, "--margin", "ZeroResult=0.05")
    (row,) = verdict["guardrails"]
    assert (code, row["higher_is_better"], row["delta"]) == (3, False, 0.0625)
    assert 0 < row["at_best"] < 0.0625 < row["at_worst"]


def test_a_sum_has_its_margin_in_its_own_unit(tmp_path, capsys):
    gains = np.tile([1.0, -1.0, 2.0, -2.0], N // 4) - 1
    write_aggregation(tmp_path, {"NumRelRet": {"base": np.full(N, 50.0), "new": 50 + gains}})
    verdict, code = verdict_of(capsys, tmp_path, "--margin", "NumRelRet=150")
    (row,) = verdict["guardrails"]
    assert (code, row["delta"], row["baseline"], row["candidate"]) == (3, -200.0, 10_000.0, 9_800.0)
    assert row["standard_error"] == pytest.approx(np.std(gains, ddof=1) * np.sqrt(N))
    assert verdict_of(capsys, tmp_path, "--force")[0]["guardrails"][0]["margin"] == 50.0  # 0.5 % of the baseline


def test_identical_systems_pass(tmp_path, capsys):
    write_aggregation(tmp_path, {"AP": values_of(new=np.zeros(N))})
    verdict, code = verdict_of(capsys, tmp_path)
    assert (verdict["reasons"], code) == (["AP is the same on all 200 units"], 0)


def test_few_units_that_differ_are_invalid_unless_they_are_too_few_to_matter(tmp_path, capsys):
    gains = np.zeros(N)
    gains[:5] = -0.5
    write_aggregation(tmp_path, {"AP": values_of(new=gains)})
    verdict, code = verdict_of(capsys, tmp_path, "--margin", "AP=0.05")
    assert (verdict["reasons"], code) == (
        ["AP changed by -0.0125; 5 of 200 units differ, and 10 must for an interval"], 4
    )  # fmt: skip
    verdict, code = verdict_of(capsys, tmp_path, "--margin", "AP=0.06", "--force")  # 10.5 of 200 may differ
    assert (verdict["guardrails"][0]["basis"], code) == ("few_differ", 0)


def test_of_a_bucket_only_one_unit_is_lost(tmp_path, capsys):
    gains = np.zeros(N)
    gains[:5] = -0.01
    write_aggregation(tmp_path, {"AP": values_of(new=gains)}, bucketed=True, n_units=100 * N)
    verdict, _ = verdict_of(capsys, tmp_path, "--margin", "AP=0.005")
    (row,) = verdict["guardrails"]
    assert (row["basis"], row["at_worst"]) == ("few_differ", pytest.approx(-10.513 / N / 100))


@reported("B58")
def test_a_loss_below_the_smallest_that_matters_passes_though_every_query_lost(tmp_path, capsys):
    given, expected = REPORTS["B58"]["input"], REPORTS["B58"]["expected"]
    write_aggregation(tmp_path, {"P@1000": {"base": given["baseline"], "new": given["candidate"]}})
    verdict, code = verdict_of(capsys, tmp_path, "--margin", f"P@1000={given['min_effect']}")
    assert (expected["decision"], verdict["answer"], code) == ("pass", "passed", 0)
    assert expected["reason"] == "|delta| 0.001 < 0.01"
    assert verdict["reasons"] == [
        "P@1000 changed by -0.0010; 4 of 4 units differ, too few for an interval, but none got worse by the margin of "
        "0.0100"
    ]
    assert {"seed", "replicates"} <= verdict["settings"].keys()


# what cannot be compared


def test_a_system_or_metric_that_is_missing_is_invalid_and_not_0(tmp_path, capsys):
    write_aggregation(tmp_path, {"nDCG@10": values_of(new=SPREAD)})
    verdict = invalid(capsys, tmp_path, "--candidate", "nwe", "--guardrails", "nDCG@20,nDCG@10")
    assert verdict["reasons"] == [
        'the candidate is missing: unknown system "nwe". Did you mean "new"? Known: base, new.',
        'a guardrail is missing: unknown metric "nDCG@20". Did you mean "nDCG@10"? Known: nDCG@10.',
    ]
    assert verdict["guardrails"] == []


def test_a_candidate_that_answered_fewer_queries_is_invalid(tmp_path, capsys):
    write_aggregation(tmp_path, {"AP": values_of(new=SPREAD)}, answers={"new": 199})
    verdict = invalid(capsys, tmp_path)
    assert verdict["reasons"] == [
        "new answered 199 queries, base 200: is the run whole? gate.coverage wants 99.90% of them"
    ]
    assert verdict_of(capsys, tmp_path, "--set", "gate.coverage=0.995", "--margin", "AP=0.05", "--force")[1] == 0


def test_fewer_judged_documents_are_invalid(tmp_path, capsys):
    shares = {"base": np.full(N, 1.0), "new": np.full(N, 0.96875)}
    write_aggregation(tmp_path, {"AP": values_of(new=SPREAD - 0.0625), "Judged@10": shares})
    verdict = invalid(capsys, tmp_path, "--margin", "AP=0.05")
    assert verdict["reasons"][0].startswith(
        "Judged@10 fell from 1.0000 to 0.9688, by more than 0.02 (gate.judged_drop)"
    )
    assert [row["answer"] for row in verdict["guardrails"]] == ["regressed"]
    assert verdict_of(capsys, tmp_path, "--margin", "AP=0.05", "--force", "--set", "gate.judged_drop=0.04")[1] == 3


def test_systems_that_count_different_queries_are_invalid(spark, tmp_path, capsys):
    runs = {"base": [f"q{n} d1 1" for n in range(40)], "new": [f"q{n} d{n % 2} 1" for n in range(1, 41)]}
    settings = write_trec(tmp_path, runs=runs, qrels=[f"q{n} d1 1" for n in range(41)])
    score(spark, tmp_path / "out", "RR", {**settings, "score.conventions.unanswered": "skip"})
    aggregate(spark, tmp_path / "out", unit="query_id", baseline="base", methods=["t"])
    verdict = invalid(capsys, tmp_path / "out", "--margin", "RR=0.05")
    assert verdict["reasons"][0] == (
        "RR counts 39 queries for both systems, of 40 for base alone: gate.coverage wants 99.90% of them"
    )
    (row,) = verdict["guardrails"]
    assert (row["delta"], row["n_queries"]) == (pytest.approx(-19 / 39), 39)


def test_the_two_arms_of_an_experiment_are_judged_though_no_query_is_in_both(tmp_path, capsys):
    base = np.where(np.arange(N) < 100, 0.5 + np.roll(SPREAD, 1), np.nan)
    new = np.where(np.arange(N) < 100, np.nan, 0.4 + SPREAD)
    write_aggregation(tmp_path, {"AP": {"base": base, "new": new}})
    verdict, code = verdict_of(capsys, tmp_path, "--margin", "AP=0.05")
    (row,) = verdict["guardrails"]
    assert (code, row["basis"], row["n_queries"]) == (3, "bounds", 0)
    assert row["delta"] == pytest.approx(-0.1)
    error = np.sqrt(2 * np.var(SPREAD[:100], ddof=1) / 100)
    assert row["at_worst"] == pytest.approx(-0.1 - stats.t.ppf(0.95, 198) * error, abs=1e-9)


def test_the_gate_judges_the_deltas_of_the_aggregation(spark, tmp_path, capsys):
    generator = np.random.Generator(np.random.Philox(1))
    runs, queries = {"base": [], "new": []}, ["query_id,user_id,country"]
    for query in range(120):
        queries.append(f"q{query},u{query % 30},{'de' if query % 3 else 'fr'}")
        for system in runs:
            order = generator.permutation(8)
            runs[system] += [f"q{query} d{doc} {100 - place}" for place, doc in enumerate(order)]
    settings = write_trec(tmp_path, runs=runs, qrels=[f"q{query} d{doc} 1" for query in range(120) for doc in (0, 1)])
    (tmp_path / "queries.csv").write_text("\n".join(queries))
    score(
        spark, tmp_path / "out", "nDCG,RR,P@3,Judged@5", {**settings, "inputs.queries": str(tmp_path / "queries.csv")}
    )
    asked = {"unit": "user_id", "baseline": "base", "confidence": 0.9, "segments": ["country"], "replicates": 999}
    _, contrasts = aggregate(spark, tmp_path / "out", **asked)
    verdict, _ = verdict_of(capsys, tmp_path / "out")
    expected = [row for row in contrasts.to_pylist() if row["method"] == "auto" and row["metric"] != "Judged@5"]
    found = verdict["guardrails"]
    assert [row["metric"] for row in found] == ["nDCG", "RR", "P@3"]
    for theirs, ours in zip(expected, found, strict=True):
        assert ours["delta"] == pytest.approx(theirs["delta"], rel=1e-11)
        assert ours["standard_error"] == pytest.approx(theirs["standard_error"], rel=1e-11)
        assert ours["margin"] == pytest.approx(theirs["margin"], rel=1e-11)
        assert (ours["n_units"], ours["n_queries"]) == (theirs["n_units"], theirs["n_queries"])
        assert ours["at_worst"] == pytest.approx(theirs["low"], rel=1e-11)
    verdict, _ = verdict_of(capsys, tmp_path / "out", "--guardrails", "RR in country=fr", "--force")
    (row,) = verdict["guardrails"]
    in_france = {(each["system"]): each["rr"] for each in means_of(tmp_path / "out", "country", "fr")}
    assert row["n_queries"] == 40
    assert (row["baseline"], row["candidate"]) == pytest.approx((in_france["base"], in_france["new"]))
    assert row["delta"] == pytest.approx(in_france["new"] - in_france["base"])


def means_of(output, column, value):
    """The mean RR of each system over the queries of a segment."""
    rows = [row for row in scores_of(output) if row[column] == value]
    for system in ("base", "new"):
        yield {"system": system, "rr": np.mean([row["rr"] for row in rows if row["system"] == system])}
