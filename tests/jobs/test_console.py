"""What the two jobs print: tables made by hand, and the lines that a reader needs beside them."""

from __future__ import annotations

from typing import Any, get_args, get_type_hints

import pyarrow as pa
import pytest
from rich.console import Console

from evalcore import Conventions
from evalcore.scoring import SIDES
from jobs import console
from jobs.console import aggregates, scores, terminal
from jobs.tables import CONTRASTS, ESTIMATES

COUNTS = {
    "n_ok": 2,
    **dict.fromkeys(("n_unanswered", "n_no_relevant", "n_unjudged", "n_rankings_outside_universe"), 0),
    **dict.fromkeys(("n_repeated", "n_negative_grades", "n_duplicates", "n_non_finite_scores"), 0),
}


def scored(
    capsys: pytest.CaptureFixture[str],
    *,
    metrics: tuple[str, ...] = ("AP",),
    systems: tuple[str, ...] = ("a", "b"),
    asked: tuple[str, ...] = (),
    diagnostics: dict[str, Any] | None = None,
    conventions: dict[str, str] | None = None,
    columns: tuple[str, ...] = (),
    **counts: int,
) -> list[str]:
    """The lines after a scoring run."""
    defaults = Conventions()
    manifest = {
        "counts": COUNTS | counts,
        "systems": list(systems),
        "n_queries": 2,
        "metrics": [{"name": name, "column": name.casefold()} for name in metrics],
        "query_columns": list(columns),
        "conventions": {key: getattr(defaults, key) for key in Conventions.__slots__} | (conventions or {}),
        "config": {"score": {"diagnostics": list(asked)}},
        "diagnostics": diagnostics or {},
        "notes": [],
        "audit": {"gates": []},
        "spread": [],
    }
    console.show_score("ev", manifest)
    return capsys.readouterr().out.splitlines()


def estimate(metric: str, system: str, value: float | None, **changed: Any) -> dict[str, Any]:
    row = dict.fromkeys(ESTIMATES.names) | {"metric": metric, "system": system, "estimate": value, "method": "t"}
    return (
        row | {"statistic": "mean", "n_queries": 50, "n_undefined": 0, "flags": [], "low": 0.1, "high": 0.4} | changed
    )


def contrast(metric: str, delta: float | None, **changed: Any) -> dict[str, Any]:
    row = dict.fromkeys(CONTRASTS.names) | {"metric": metric, "delta": delta, "candidate": "b", "baseline": "a"}
    row |= {"statistic": "mean", "method": "t", "n_queries": 50, "wins": 3, "ties": 4, "losses": 5, "flags": []}
    return row | {"low": -0.1, "high": 0.2, "p_value": 0.5, "p_adjusted": 0.5, "verdict": "inconclusive"} | changed


def aggregated(
    capsys: pytest.CaptureFixture[str],
    estimates: list[dict[str, Any]],
    contrasts: list[dict[str, Any]] | None = None,
    *,
    mean: str = "queries",
) -> list[str]:
    """The lines after an aggregation."""
    described = {
        "unit": "query_id",
        "n_units": 50,
        "bucketed": False,
        "notes": [],
        "audit": {"gates": []},
        "conventions": {"mean": mean, "no_relevant": "zero"},
        "config": {"confidence": 0.95, "methods": ["t"]},
        "directory": "ev/aggregates/query_id",
    }
    tables = pa.Table.from_pylist(estimates, ESTIMATES), pa.Table.from_pylist(contrasts or [], CONTRASTS)
    console.show_aggregate(described, *tables)
    return capsys.readouterr().out.splitlines()


def row_of(lines: list[str], *words: str) -> list[str]:
    """The cells of the only line that begins with these words."""
    (found,) = [line.split() for line in lines if line.split()[: len(words)] == list(words)]
    return found[len(words) :]


# what estimates are


def test_plain_means_of_queries_have_neither_a_word_in_the_title_nor_a_column(capsys):
    lines = aggregated(capsys, [estimate("AP", "a", 0.25)])
    assert lines[:3] == [
        "Estimates, 95 % t intervals, unit query_id (50)",
        "metric  system  estimate          interval  queries",
        "AP      a         0.2500  0.1000 to 0.4000       50",
    ]


@pytest.mark.parametrize("mean", sorted({*get_args(get_type_hints(Conventions)["mean"])} - {"queries"}))
def test_any_other_mean_is_in_the_titles(capsys, mean):
    lines = aggregated(
        capsys, [estimate("AP", "a", 0.2, statistic=mean)], [contrast("AP", 0.1, statistic=mean)], mean=mean
    )
    words = aggregates.MEANS[mean]
    assert lines[0] == f"Estimates, {words}, 95 % t intervals, unit query_id (50)"
    assert f"Contrasts, candidate - a, {words}, 95 % t intervals, unit query_id (50)" in lines
    assert "statistic" not in lines[1]


@pytest.mark.parametrize("mean", ["queries", "median"])
def test_a_metric_that_keeps_its_own_statistic_says_so(capsys, mean):
    usual = "mean" if mean == "queries" else mean
    rows = [
        estimate("AP", "a", 0.2, statistic=usual),
        estimate("GMAP", "a", 0.1, statistic="geometric"),
        estimate("NumRet", "a", 7.0, statistic="sum"),
    ]
    lines = aggregated(capsys, rows, mean=mean)
    assert lines[1].split()[:3] == ["metric", "system", "statistic"]
    assert row_of(lines, "AP", "a")[0] == "0.2000"
    assert row_of(lines, "GMAP", "a")[:2] == ["geometric", "0.1000"]
    assert row_of(lines, "NumRet", "a")[:2] == ["sum", "7"]


# numbers


@pytest.mark.parametrize(
    ("value", "low", "high", "told"),
    [
        (398.0, 347.4, 452.0, "398 347 to 452"),
        (12_345.0, 11_000.25, 13_000.0, "12,345 11,000 to 13,000"),
        (42.0, 35.0, 48.254, "42 35.00 to 48.25"),
        (95.0, 88.6, 101.2, "95 89 to 101"),
        (7.0, None, None, "7 - to -"),
    ],
)
def test_counts_are_whole_and_both_ends_of_an_interval_have_as_many_decimals(capsys, value, low, high, told):
    lines = aggregated(capsys, [estimate("NumRelRet", "a", value, statistic="sum", low=low, high=high)])
    assert row_of(lines, "NumRelRet", "a", "sum") == [*told.split(), "50"]


def test_a_sum_of_fractions_has_4_decimals_in_every_row_of_its_metric(capsys):
    ends = {"statistic": "sum", "low": 110.0, "high": 1234.5}
    estimates = [estimate("nDCG", "a", 1012.0, **ends), estimate("nDCG", "b", 1012.25, **ends)]
    lines = aggregated(capsys, estimates, [contrast("nDCG", 0.25, **ends)], mean="sum")
    assert row_of(lines, "nDCG", "a")[:4] == ["1,012.0000", "110.0000", "to", "1,234.5000"]
    assert row_of(lines, "nDCG", "b", "+0.2500")[:3] == ["+110.0000", "to", "+1,234.5000"]


def test_a_delta_of_counts_is_whole(capsys):
    counted = {"statistic": "sum", "low": -20.0, "high": 120.0}
    lines = aggregated(capsys, [estimate("NumRet", "a", 398.0, **counted)], [contrast("NumRet", 5.0, **counted)])
    assert row_of(lines, "NumRet", "b")[:4] == ["+5", "-20", "to", "+120"]


# vectors


def curve(system: str, *values: float | None) -> list[dict[str, Any]]:
    return [estimate(f"IPrecCurve[0.{i}]", system, value, flags=["few_clusters"]) for i, value in enumerate(values)]


def test_a_vector_is_one_row_of_values_below_the_scalars(capsys):
    rows = [estimate("AP", "a", 0.25), *curve("a", 1.0, 0.123456, None, 12345.6), *curve("b", 0.5, 0.00001234)]
    lines = aggregated(capsys, rows)
    assert lines[2:] == [
        "AP      a         0.2500  0.1000 to 0.4000       50",
        "",
        "Vectors, the elements in order",
        "metric      system  values",
        "IPrecCurve  a       1 0.1235 - 12,346",
        "IPrecCurve  b       0.5 1.234e-05",
        "",
        "All columns, and a row for each of t: ev/aggregates/query_id/*.parquet",
    ]


def test_contrasts_of_vectors_are_told_to_be_in_the_files(capsys):
    lines = aggregated(capsys, curve("a", 0.5), [contrast("AP", 0.1), contrast("IPrecCurve[0.0]", 0.1)])
    assert sum(line.startswith("IPrecCurve") for line in lines) == 1
    assert "contrasts of the elements of IPrecCurve are in the files" in lines
    lines = aggregated(capsys, curve("a", 0.5), [contrast("IPrecCurve[0.0]", 0.1)])
    assert not any(line.startswith(("Estimates", "Contrasts", "p: ")) for line in lines)


def test_long_vectors_fold_on_a_narrow_terminal(capsys, monkeypatch):
    narrow = Console(highlight=False, markup=False, emoji=False, width=50)
    monkeypatch.setattr(aggregates, "terminal", lambda: narrow)
    lines = aggregated(capsys, curve("a", *(1 / (i + 3) for i in range(9))))
    assert max(len(line) for line in lines[:4]) <= 50
    shown = " ".join(lines).split("a       ", 1)[1].split()
    assert shown[:9] == [f"{1 / (i + 3):.4g}" for i in range(9)]


# what is not shown


def test_long_tables_are_cut_those_of_contrasts_too(capsys):
    n = terminal.MOST_ROWS + 5
    estimates = [estimate("AP", f"s{i}", 0.5) for i in range(n + 2)]
    contrasts = [contrast("AP", 0.1, candidate=f"s{i}") for i in range(n)]
    lines = aggregated(capsys, estimates, contrasts)
    assert sum(line.startswith("AP ") for line in lines) == 2 * terminal.MOST_ROWS
    assert [line for line in lines if line.startswith("…")] == [
        f"… and {more} more rows in the files" for more in (7, 5)
    ]


def test_two_systems_without_a_common_query_have_no_verdict_and_a_line_that_says_why(capsys):
    nothing: dict[str, Any] = {"n_queries": 0, "low": None, "high": None, "p_value": None, "p_adjusted": None}
    contrasts = [contrast(metric, None, **nothing) for metric in ("AP", "P@5")] + [contrast("AP", 0.1, candidate="c")]
    lines = aggregated(capsys, [estimate("AP", "a", 0.5)], contrasts)
    assert row_of(lines, "P@5", "b") == ["-", "-", "to", "-", "-", "-", "3/4/5"]
    assert row_of(lines, "AP", "c")[-1] == "inconclusive"
    assert [line for line in lines if line.startswith("no query")] == [
        "no query is counted for both: b and a (AP, P@5)"
    ]


def test_too_few_units_are_explained_as_they_are_judged(capsys):
    lines = aggregated(capsys, [], [contrast("AP", 0.0, flags=["insufficient"], verdict="equivalent")])
    assert any(line.endswith(": no verdict, unless every unit has the same value on both sides") for line in lines)


# after scoring


@pytest.mark.parametrize(
    ("conventions", "counts", "told"),
    [
        ({}, {"n_negative_grades": 858}, "858 negative grades, treated as not relevant"),
        (
            {"negative_grade": "removed"},
            {"n_negative_grades": 2},
            "2 negative grades, taken out of rankings and judgments with their documents",
        ),
        (
            {},
            {"n_unanswered": 150},
            "150 unanswered: judged, but the system returned nothing; counted as an empty ranking",
        ),
        (
            {"unanswered": "skip"},
            {"n_unanswered": 150},
            "150 unanswered: judged, but the system returned nothing; left out",
        ),
        (
            {"no_relevant": "one"},
            {"n_no_relevant": 3},
            "3 without a relevant document: metrics that need one are null, and 1 in estimates",
        ),
    ],
)
def test_what_was_noticed_says_how_it_was_treated(capsys, conventions, counts, told):
    assert told in [line.strip() for line in scored(capsys, conventions=conventions, **counts)]


@pytest.mark.parametrize("convention", scores.TREATED)
def test_every_value_of_a_convention_that_is_told_has_its_words(convention):
    assert set(scores.TREATED[convention]) == set(get_args(get_type_hints(Conventions)[convention]))


def test_a_weight_is_never_offered_as_a_unit(capsys):
    lines = scored(capsys, columns=("weight", "user id", "segment", "country"))
    assert lines[-1] == 'next: evaljob aggregate ev --unit query_id or "user id" or segment'


def test_sanity_checks_keep_the_order_asked_and_say_what_they_are(capsys):
    checks = {"value": 0.4, "random": 0.1, "ties_low": 0.3, "ties_high": 0.5, "unjudged_low": 0.4}
    checks |= {"unjudged_high": 0.8, "oracle": 1.0}
    diagnostics = {system: {"AP": checks, "P@5": {"value": 0.2, "oracle": 2000.4}} for system in ("a", "b")}
    asked = ("random", "ties", "unjudged", "oracle")
    lines = scored(capsys, metrics=("P@5", "Judged", "AP"), asked=asked, diagnostics=diagnostics)
    table = lines.index("Sanity checks, over the queries that count in estimates") + 1
    assert lines[table].replace("ties decide", "decide").split() == [
        *("metric", "system", "value", "random", "ties_low", "ties_high", "decide"),
        *("unjudged_low", "unjudged_high", "oracle"),
    ]
    assert [line.split()[:3] for line in lines[table + 1 : table + 5]] == [
        ["P@5", "a", "0.2000"],
        ["P@5", "b", "0.2000"],
        ["AP", "a", "0.4000"],
        ["AP", "b", "0.4000"],
    ]
    assert row_of(lines, "P@5", "a") == ["0.2000", "2,000"]
    assert " ".join(row_of(lines, "AP", "b")) == "0.4000 0.1000 0.3000 0.5000 40.0 % 0.4000 0.8000 1.0000"
    assert [line.split(":")[0] for line in lines[table + 5 : -2]] == [
        *("value", "random", "ties_low, ties_high", "ties decide", "unjudged_low, unjudged_high", "oracle"),
        "no sanity checks for",
    ]
    assert lines[-3] == "no sanity checks for: Judged"


def test_only_columns_that_are_shown_are_explained(capsys):
    diagnostics = {system: {"AP": {"value": 0.4, "random": 0.1}} for system in ("a", "b")}
    lines = scored(capsys, asked=("random",), diagnostics=diagnostics)
    assert sum(line.startswith(("ties", "unjudged_", "oracle", "no sanity")) for line in lines) == 0


def test_where_no_metric_has_the_checks_asked_for_it_is_told(capsys):
    lines = scored(capsys, asked=("random",), diagnostics={"a": {"AP": {"value": 0.4}}})
    assert "no sanity checks for: AP" in lines
    assert not any(line.startswith("Sanity") for line in lines)


def test_every_side_of_every_diagnostic_has_a_column():
    assert {side for sides in SIDES.values() for side in sides} <= set(scores.CHECKS)
