"""What `evaljob datasets` and `evaljob select` say."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from rich.console import Console
from rich.text import Text

from jobs.console.aggregates import STYLES
from jobs.console.terminal import MOST_ROWS, show_notes, show_table, terminal
from jobs.figures import figure, p_value
from jobs.flags import FLAGS

Row: TypeAlias = Mapping[str, Any]
Cells: TypeAlias = dict[str, str | Text]
MOST_CANDIDATES = 20
"""Of many only the best are of interest."""
NOT_KEPT = {"passed": "", "regressed": " fell", "inconclusive": " unsure"}


def show_datasets(found: Row) -> None:
    """Of each metric and system, and each contrast, a row for every data set and one for their mean."""
    out, sets, level = terminal(), found["data_sets"], f"{found['confidence'] * 100:g} %"
    kind = f"{level} {' and '.join(found['methods'])} intervals (of means: t)"
    estimates = _with_means(found["estimates"], found["mean_estimates"], len(sets))
    contrasts = _with_means(found["contrasts"], found["mean_contrasts"], len(sets))
    _show(out, f"Estimates, {kind}", estimates, _estimate)
    shown = [{**row, "baseline": ""} for row in contrasts] if found["baseline"] else contrasts
    _show(out, f"Contrasts, candidate - {found['baseline'] or 'baseline'}, {kind}", shown, _contrast)
    sizes = [f"{each['name']} {each['n_units']:,} of {each['unit']}" for each in sets]
    out.print(f"units: {', '.join(sizes)}; in a mean each data set has one vote", soft_wrap=True)
    if contrasts:
        out.print("adjusted: Holm, over the contrasts of a metric; better/worse/neither: how many data sets say so")
    show_notes(out, found["notes"])
    _explain(out, (*estimates, *contrasts))


def _with_means(rows: Sequence[Row], means: Sequence[Row], n_sets: int) -> list[Row]:
    """The rows of the data sets, and after those of which it is the mean each mean."""
    mixed: list[Row] = []
    for place, mean in enumerate(means):
        mixed += [*rows[place * n_sets : (place + 1) * n_sets], {**mean, "data_set": None, "sets": n_sets}]
    return mixed


def _estimate(row: Row) -> Cells:
    return {
        "metric": row["metric"],
        "system": row["system"],
        "data set": _data_set(row),
        "estimate": figure(row["estimate"]),
        "interval": _interval(row),
        "queries": f"{row['n_queries']:,}",
        "flags": ", ".join(row["flags"]),
    }


def _contrast(row: Row) -> Cells:
    verdicts = row.get("data_sets")
    return {
        "metric": row["metric"],
        "candidate": row["candidate"],
        "baseline": row["baseline"],
        "data set": _data_set(row),
        "delta": figure(row["delta"], sign="+"),
        "interval": _interval(row, sign="+"),
        "p": p_value(row["p_value"]),
        "adjusted": p_value(row["p_adjusted"]),
        "verdict": _verdict(row),
        "better/worse/neither": _of_verdicts(verdicts) if verdicts else "",
        "flags": ", ".join(row["flags"]),
    }


def _data_set(row: Row) -> str | Text:
    return row["data_set"] or Text(f"mean of {row['sets']}", style="bold")


def _of_verdicts(verdicts: Mapping[str, int]) -> str:
    return f"{verdicts['improved']}/{verdicts['regressed']}/{verdicts['equivalent'] + verdicts['inconclusive']}"


def show_selection(found: Row) -> None:
    """A row for each candidate, the best first, and what the choice comes to."""
    out, rows, baseline = terminal(), found["candidates"], found["baseline"]
    against = f", against {baseline} ({figure(found['baseline_estimate'])})" if baseline else ""
    level, unit = f"{found['confidence'] * 100:g} %", f"unit {found['unit']} ({found['n_units']:,})"
    title = f"Candidates by {found['metric']}{against}, {level} intervals that hold together, {unit}"
    _show(out, title, rows, _candidate, most=MOST_CANDIDATES)
    for reason in found["reasons"]:
        out.print(f"- {reason}", soft_wrap=True)
    if metrics := ", ".join(found["auxiliary"]):
        out.print(f"{metrics}: the change at worst (a bound of 95 %), to be within the margin", soft_wrap=True)
    _explain(out, rows[:MOST_CANDIDATES])


def _candidate(row: Row) -> Cells:
    less = row["less_chosen"]
    return {
        "rank": str(row["rank"]),
        "candidate": row["system"],
        "estimate": figure(row["estimate"]),
        "delta": figure(row["delta"], sign="+") if row["delta"] is not None else "",
        "interval": _interval(row, sign="+") if row["delta"] is not None else "",
        "adjusted": p_value(row["p_adjusted"]) if row["delta"] is not None else "",
        "verdict": _verdict(row),
        **{each["metric"]: _kept(each) for each in row["auxiliary"]},
        "less the chosen": _interval(less, sign="+") if less else "",
        "flags": ", ".join(row["flags"]),
    }


def _kept(auxiliary: Row) -> Text:
    told = figure(auxiliary["at_worst"], sign="+") + NOT_KEPT[auxiliary["answer"]]
    return Text(told, style="" if auxiliary["answer"] == "passed" else "red")


def _show(
    out: Console, title: str, rows: Sequence[Row], cells: Callable[[Row], Cells], *, most: int = MOST_ROWS
) -> None:
    if not rows:
        return
    show_table(out, title, [cells(row) for row in rows[:most]])
    if len(rows) > most:
        out.print(f"… and {len(rows) - most} more rows: --json tells all")
    out.print()


def _explain(out: Console, rows: Sequence[Row]) -> None:
    """The flags that are seen."""
    for flag in dict.fromkeys(flag for row in rows[:MOST_ROWS] for flag in row["flags"]):
        out.print(f"{flag}: {FLAGS.get(flag, 'see docs/statistics.md')}")


def _verdict(row: Row) -> Text:
    return Text(row["verdict"] or "", style=STYLES.get(row["verdict"], ""))


def _interval(row: Row, *, sign: str = "") -> str:
    return f"{figure(row['low'], sign=sign)} to {figure(row['high'], sign=sign)}"
