"""What `evaljob score` did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from evalcore.scoring import MEANINGS, SIDES
from evalcore.statuses import NO_RELEVANT, OK, UNANSWERED, UNJUDGED
from jobs.console.audits import show_warnings
from jobs.console.terminal import show_notes, show_table, terminal
from jobs.errors import number_of
from jobs.figures import figure


def show_score(output: str, manifest: Mapping[str, Any]) -> None:
    """What was scored, what was not, and the next command."""
    show_answers(output, manifest)
    units = [key for key in manifest["query_columns"] if key != "weight"][:2]
    columns = [key if key.isidentifier() else f'"{key}"' for key in units]
    command = f"evaljob aggregate {output} --unit {' or '.join(['query_id', *columns])}"
    terminal().print(f"next: {command}", soft_wrap=True)


def show_answers(output: str, manifest: Mapping[str, Any]) -> None:
    """What was scored, and what was not."""
    counts, out = manifest["counts"], terminal()
    treated = {key: meanings[manifest["conventions"][key]] for key, meanings in TREATED.items()}
    of = {"system": len(manifest["systems"]), "query": manifest["n_queries"], "metric": len(manifest["metrics"])}
    rows = number_of(of["query"] * of["system"], "row")
    out.print(
        f"{', '.join(number_of(number, noun) for noun, number in of.items())}: {rows} in {output}/scores",
        soft_wrap=True,
    )
    told = {
        f"n_{OK}": "complete",
        f"n_{UNANSWERED}": f"unanswered: judged, but the system returned nothing; {treated['unanswered']}",
        f"n_{NO_RELEVANT}": f"without a relevant document: metrics that need one are null, {treated['no_relevant']}",
        f"n_{UNJUDGED}": "unjudged: every metric is null, and no estimate counts them",
        "n_rankings_outside_universe": "left out: rankings of queries not judged, or not in --queries",
        "n_repeated": "counted once: judgments of a document that is judged already",
        "n_judgments_of_other_times": "left out: judgments of another time",
        "n_negative_grades": f"negative grades, {treated['negative_grade']}",
        "n_duplicates": f"documents returned more than once, {treated['duplicates']}",
        "n_collapsed": "passages of documents that have one of a better rank",
        "n_self_retrieved": "removed: documents whose id is the query's",
        "n_non_finite_scores": "ranked last: scores that are NaN or infinite",
    }
    for key, meaning in told.items():
        if counts.get(key):
            out.print(f"{counts[key]:>10,} {meaning}")
    show_warnings(out, manifest["audit"]["gates"])
    show_notes(out, manifest["notes"])
    _show_diagnostics(out, manifest)
    _show_spread(out, manifest["spread"])


TREATED = {
    "unanswered": {"zero": "counted as an empty ranking", "skip": "left out", "error": "refused"},
    "no_relevant": {
        "zero": "and 0 in estimates",
        "one": "and 1 in estimates",
        "skip": "and left out of estimates",
        "error": "and estimates are refused",
    },
    "duplicates": {
        "error": "refused",
        "first": "of which the first is kept",
        "best_score": "of which the one with the best score is kept",
        "last": "of which the last is kept",
        "counted": "each copy of which counts",
    },
    "negative_grade": {
        "not_relevant": "treated as not relevant",
        "removed": "taken out of rankings and judgments with their documents",
        "error": "refused",
    },
}
"""What each value of a convention does to what is counted."""


def _show_diagnostics(out: Console, manifest: Mapping[str, Any]) -> None:
    """A row for each metric, as asked, and system; what the columns mean; metrics without any check."""
    if not manifest["config"]["score"]["diagnostics"]:
        return
    rows: list[dict[str, str | Text]] = []
    without = []
    for metric in (each["name"] for each in manifest["metrics"]):
        found = {system: metrics[metric] for system, metrics in manifest["diagnostics"].items() if metric in metrics}
        if not any(set(sides) - {"value"} for sides in found.values()):
            without.append(metric)
            continue
        for system, sides in found.items():
            cells = {side: "" if (value := sides.get(side)) is None else figure(value) for side in CHECKS}
            cells["ties decide"] = _share(sides, "ties_low", "ties_high")
            rows.append({"metric": metric, "system": system, **cells})
    out.print()
    if rows:
        show_table(out, "Sanity checks, over the queries that count in estimates", rows)
        for side, meaning in CHECKS.items():
            if meaning and any(row[side] for row in rows):
                out.print(meaning, soft_wrap=True)
    if without:
        out.print(f"no sanity checks for: {', '.join(without)}", soft_wrap=True)
    out.print()


def _show_spread(out: Console, spread: Sequence[Mapping[str, Any]]) -> None:
    if not spread:
        return
    title = f"The first {spread[0]['cutoff']} documents over a catalogue of {spread[0]['n_catalogue']:,}"
    shown = ("coverage", "gini", "entropy", "novelty")
    rows = [{"system": row["system"], **{key: f"{row[key]:.4f}" for key in shown}} for row in spread]
    out.print()
    show_table(out, f"{title}: shares, and bits of information", rows)
    out.print()


def _share(sides: Mapping[str, float | None], low: str, high: str) -> str:
    """How much of the greatest value is undecided, in percent."""
    ends = sides.get(low), sides.get(high)
    if ends[0] is None or ends[1] is None:
        return ""
    return f"{100 * (ends[1] - ends[0]) / abs(ends[1]):.1f} %" if ends[1] else "0.0 %"


OF_SIDES = {
    diagnostic: {sides[0]: f"{', '.join(sides)}: {MEANINGS[diagnostic]}", **dict.fromkeys(sides[1:], "")}
    for diagnostic, sides in SIDES.items()
}
CHECKS = {
    "value": "value: the mean of the metric itself; of counts the sum, of geometric means the geometric mean",
    **OF_SIDES["random"],
    **OF_SIDES["ties"],
    "ties decide": "ties decide: the width between the two, as a share of the greatest",
    **OF_SIDES["unjudged"],
    **OF_SIDES["oracle"],
}
"""The columns of sanity checks in order, and a line on what each means, with that of its neighbour."""
