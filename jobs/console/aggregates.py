"""What `evaljob aggregate` found: estimates and contrasts."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import pyarrow as pa
from rich.console import Console
from rich.text import Text

from jobs.console.terminal import MOST_ROWS, show_notes, show_table, terminal
from jobs.figures import figure, p_value
from jobs.flags import ADJUSTED, FLAGS
from jobs.inferred import WOODRUFF

STYLES = {"improved": "green", "regressed": "red", "equivalent": "cyan", "inconclusive": "dim"}


def show_aggregate(described: Mapping[str, Any], estimates: pa.Table, contrasts: pa.Table) -> None:
    """ESTIMATES and CONTRASTS with one interval method, the first that was asked for, and what they mean."""
    out = terminal()
    chosen, mean = described["config"], described["conventions"]["mean"]
    means = f"{MEANS[mean]}, " if mean in MEANS else ""
    shown = "two_way" if chosen.get("crossed") else chosen["methods"][0]
    kind = f"{means}{chosen['confidence'] * 100:g} % {shown} intervals"
    units = f"unit {described['unit']} ({described['n_units']:,}{', in buckets' if described['bucketed'] else ''})"
    baselines = set(contrasts["baseline"].to_pylist())
    contrast_columns = {key: show for key, show in CONTRAST_COLUMNS.items() if key != "baseline" or len(baselines) > 1}
    against = baselines.pop() if len(baselines) == 1 else "baseline"
    fractional = {row["metric"] for row in estimates.to_pylist() if not (row["estimate"] or 0.0).is_integer()}
    estimated, contrasted = (
        [
            {
                **row,
                "own": "" if row["statistic"] in ("mean", mean) else row["statistic"],
                "counts": row["statistic"] == "sum" and row["metric"] not in fractional,
            }
            for row in table.to_pylist()
            if row["method"] in (shown, WOODRUFF)
        ]
        for table in (estimates, contrasts)
    )
    seen = _show_rows(out, f"Estimates, {kind}, {units}", _scalars(estimated), ESTIMATE_COLUMNS)
    _show_vectors(out, f"Vectors, {means}the elements in order", [row for row in estimated if _is_vector(row)])
    title = f"Contrasts, candidate - {against}, {kind}, {units}"
    seen |= _show_rows(out, title, _scalars(contrasted), contrast_columns)
    _show_left_out(out, contrasted)
    if any(estimates["n_undefined"].to_pylist()):
        convention = described["conventions"]["no_relevant"]
        out.print(f"undefined: for want of a relevant document, and then no_relevant: {convention}; else left out.")
    if _scalars(contrasted):
        how = ADJUSTED.get(chosen.get("adjust", "holm"), "")
        out.print(
            f"p: two-sided t test; adjusted: {how}, over the contrasts of a metric; verdict: the interval against 0,"
        )
        usual = "0.5 % of the baseline, at least 0.0005"
        margin = f"the margin that is set, else {usual}" if chosen.get("margins") else f"a margin of {usual}"
        out.print(f"and, to be equivalent, inside {margin}.")
    show_notes(out, described["notes"])
    for flag in FLAGS:
        if flag in seen:
            out.print(f"{flag}: {FLAGS[flag]}")
    if told := described.get("segments"):
        left_out = f", {told['n_small']:,} with too few units are left out" if told["n_small"] else ""
        where = f"{described['directory']}/segment_estimates, segment_contrasts"
        out.print(f"{told['n_shown']:,} segments{left_out}: {where}", soft_wrap=True)
    methods = ", ".join(chosen["methods"])
    out.print(f"All columns, and a row for each of {methods}: {described['directory']}/*.parquet")


MEANS = {
    "weighted": "weighted means",
    "geometric": "geometric means",
    "median": "medians",
    "sum": "sums",
    "units": "means of the means of units",
}
"""What estimates are under the convention ``mean``, where they are not means of queries."""
Columns: TypeAlias = Mapping[str, Callable[[Mapping[str, Any]], str | Text]]
"""Each column and what it shows of a row."""


def _show_rows(out: Console, title: str, rows: Sequence[Mapping[str, Any]], columns: Columns) -> set[str]:
    """The table of the first rows.  Returns the flags that it shows."""
    if not rows:
        return set()
    shown = rows[:MOST_ROWS]
    show_table(out, title, [{header: show(row) for header, show in columns.items()} for row in shown])
    if len(rows) > MOST_ROWS:
        out.print(f"… and {len(rows) - MOST_ROWS} more rows in the files")
    out.print()
    return {flag for row in shown for flag in row["flags"]}


def _show_vectors(out: Console, title: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """The estimates of all elements of a metric and system in one row."""
    vectors: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for row in rows:
        vectors.setdefault((_whole(row), row["system"]), []).append(row)
    _show_rows(
        out,
        title,
        [{**elements[0], "elements": elements} for elements in vectors.values()],
        {
            "metric": _whole,
            "system": lambda row: row["system"],
            "statistic": lambda row: row["own"],
            "values": lambda row: " ".join(_brief(each["estimate"]) for each in row["elements"]),
        },
    )


def _show_left_out(out: Console, contrasts: Sequence[Mapping[str, Any]]) -> None:
    """Contrasts that are not on the screen, and those that there cannot be."""
    if vectors := dict.fromkeys(_whole(row) for row in contrasts if _is_vector(row)):
        out.print(f"contrasts of the elements of {', '.join(vectors)} are in the files", soft_wrap=True)
    apart: dict[tuple[str, str], dict[str, None]] = {}
    for row in contrasts:
        if row["delta"] is None and not row["n_queries"]:
            apart.setdefault((row["candidate"], row["baseline"]), {})[_whole(row)] = None
    for pair, metrics in apart.items():
        out.print(f"no query is counted for both: {' and '.join(pair)} ({', '.join(metrics)})", soft_wrap=True)


def _scalars(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [row for row in rows if not _is_vector(row)]


def _is_vector(row: Mapping[str, Any]) -> bool:
    """Whether it is of one element: no other name ends in a square bracket."""
    return bool(row["metric"].endswith("]"))


def _whole(row: Mapping[str, Any]) -> str:
    """The name of the metric, without the element."""
    return str(row["metric"].rpartition("[")[0] if _is_vector(row) else row["metric"])


def _interval(row: Mapping[str, Any], *, sign: str = "") -> str:
    return f"{_value(row, 'low', sign=sign)} to {_value(row, 'high', sign=sign)}"


ESTIMATE_COLUMNS: Columns = {
    "metric": lambda row: row["metric"],
    "system": lambda row: row["system"],
    "statistic": lambda row: row["own"],
    "estimate": lambda row: _value(row, "estimate"),
    "interval": _interval,
    "queries": lambda row: f"{row['n_queries']:,}",
    "undefined": lambda row: f"{row['n_undefined']:,}" if row["n_undefined"] else "",
    "flags": lambda row: ", ".join(row["flags"]),
}
CONTRAST_COLUMNS: Columns = {
    "metric": lambda row: row["metric"],
    "candidate": lambda row: row["candidate"],
    "baseline": lambda row: row["baseline"],
    "delta": lambda row: _value(row, "delta", sign="+"),
    "interval": lambda row: _interval(row, sign="+"),
    "p": lambda row: p_value(row["p_value"]),
    "adjusted": lambda row: p_value(row["p_adjusted"]),
    "win/tie/loss": lambda row: f"{row['wins']}/{row['ties']}/{row['losses']}" if _compared(row) else "",
    "verdict": lambda row: Text(
        (row["delta"] is not None and row["verdict"]) or "", style=STYLES.get(row["verdict"], "")
    ),
    "flags": lambda row: ", ".join(row["flags"]),
}


def _compared(row: Mapping[str, Any]) -> bool:
    """Whether queries were compared one by one: two arms have none in common, and sums of another pair tell nothing."""
    return any(row[key] for key in ("wins", "ties", "losses"))


def _value(row: Mapping[str, Any], key: str, *, sign: str = "") -> str:
    value = row[key]
    if value is None or math.isnan(value):
        return "-"
    if row["statistic"] != "sum":
        return figure(value, sign=sign)
    return f"{value:{sign},.{_decimals(row, key)}f}"


def _decimals(row: Mapping[str, Any], key: str) -> int:
    """Of a sum: none of a count, and as many for both ends of its interval."""
    if not row["counts"]:
        return 4
    ends = [abs(row[end]) for end in ("low", "high") if row[end] is not None]
    return 2 if key in ("low", "high") and max(ends) < 100 else 0


def _brief(value: float | None) -> str:
    """To 4 significant digits."""
    if value is None or math.isnan(value):
        return "-"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
