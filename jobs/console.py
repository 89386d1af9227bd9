"""Results as a person reads them on a terminal."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import pyarrow as pa
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from jobs import catalogue
from jobs.config import Config
from jobs.errors import number_of
from jobs.tables import NO_RELEVANT, OK, UNANSWERED, UNJUDGED

STYLES = {"improved": "green", "regressed": "red", "equivalent": "cyan", "inconclusive": "dim"}
MOST_ROWS = 60
"""Longer tables are cut on the screen; the files hold everything."""


class Finding(Protocol):
    """What `jobs.doctor.check` returns."""

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def ok(self) -> bool: ...  # noqa: D102
    @property
    def detail(self) -> str: ...  # noqa: D102
    @property
    def advice(self) -> str | None: ...  # noqa: D102


def _console() -> Console:
    """The terminal at its width; a file or pipe gets whole lines."""
    wide = None if sys.stdout.isatty() else 200
    return Console(highlight=False, markup=False, emoji=False, width=wide)


def _show_table(out: Console, title: str, cells: Sequence[Mapping[str, str | Text]]) -> None:
    """A row for each mapping from header to cell; columns without anything to show are left out.

    On a narrow terminal expendable columns go and texts are folded; other cells stay whole whatever it takes.
    """
    widths = {header: max(cell_len(str(row[header])) for row in cells) for header in cells[0]}
    kept = {header: max(width, len(header)) for header, width in widths.items() if width}
    kept |= {header: FOLDED for header in kept if header in TEXTS and kept[header] > FOLDED}
    for header in EXPENDABLE:
        if sum(kept.values()) + 2 * len(kept) > out.width:
            kept.pop(header, None)
    needed = sum(kept.values()) + 2 * len(kept)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for header in kept:
        folded = header in TEXTS
        table.add_column(header, justify="left" if header in LEFT else "right", no_wrap=not folded)
    for row in cells:
        table.add_row(*(row[header] for header in kept))
    out.print(title, style="bold", soft_wrap=True)
    out.width = max(needed, width := out.width)
    if out.is_terminal:
        out.print(table)
    else:  # a file has no use for the spaces that fill lines up
        with out.capture() as shown:
            out.print(table)
        out.out("\n".join(line.rstrip() for line in shown.get().splitlines()))
    out.width = width


def show_score(output: str, manifest: Mapping[str, Any]) -> None:
    """What was scored, what was not, and the next command."""
    counts, out = manifest["counts"], _console()
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
        "n_repeated": "counted once: judgments repeated with the same grade",
        "n_negative_grades": f"negative grades, {treated['negative_grade']}",
        "n_duplicates": "dropped: documents returned more than once, one of each kept",
        "n_non_finite_scores": "ranked last: scores that are NaN or infinite",
    }
    for key, meaning in told.items():
        if counts[key]:
            out.print(f"{counts[key]:>10,} {meaning}")
    _show_notes(out, manifest["notes"])
    _show_diagnostics(out, manifest)
    _show_spread(out, manifest["spread"])
    units = [key for key in manifest["query_columns"] if key != "weight"][:2]
    columns = [key if key.isidentifier() else f'"{key}"' for key in units]
    out.print(f"next: evaljob aggregate {output} --unit {' or '.join(['query_id', *columns])}", soft_wrap=True)


TREATED = {
    "unanswered": {"zero": "counted as an empty ranking", "skip": "left out", "error": "refused"},
    "no_relevant": {
        "zero": "and 0 in estimates",
        "one": "and 1 in estimates",
        "skip": "and left out of estimates",
        "error": "and estimates are refused",
    },
    "negative_grade": {
        "not_relevant": "treated as not relevant",
        "removed": "taken out of rankings and judgments with their documents",
        "error": "refused",
    },
}
"""What each value of a convention does to what is counted."""


def _show_notes(out: Console, notes: Sequence[str]) -> None:
    for note in notes:
        out.print(f"note: {note}", soft_wrap=True)


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
            cells = {side: "" if (value := sides.get(side)) is None else _number(value) for side in CHECKS}
            cells["ties decide"] = _share(sides, "ties_low", "ties_high")
            rows.append({"metric": metric, "system": system, **cells})
    out.print()
    if rows:
        _show_table(out, "Sanity checks, over the queries that count in estimates", rows)
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
    _show_table(out, f"{title}: shares, and bits of information", rows)
    out.print()


def _share(sides: Mapping[str, float | None], low: str, high: str) -> str:
    """How much of the greatest value is undecided, in percent."""
    ends = sides.get(low), sides.get(high)
    if ends[0] is None or ends[1] is None:
        return ""
    return f"{100 * (ends[1] - ends[0]) / abs(ends[1]):.1f} %" if ends[1] else "0.0 %"


CHECKS = {
    "value": "value: the mean of the metric itself; of counts the sum, of geometric means the geometric mean",
    "random": "random: the mean over all orders of the returned documents",
    "ties_low": "ties_low, ties_high: the least and the greatest value over the orders of tied documents",
    "ties_high": "",
    "ties decide": "ties decide: the width between the two, as a share of the greatest",
    "unjudged_low": "unjudged_low, unjudged_high: likewise, over the grades that unjudged documents could have",
    "unjudged_high": "",
    "oracle": "oracle: the value of the best ranking of all judged documents",
}
"""The columns of sanity checks in order, and a line on what each means, with that of its neighbour."""


def show_aggregate(described: Mapping[str, Any], estimates: pa.Table, contrasts: pa.Table) -> None:
    """ESTIMATES and CONTRASTS with one interval method, the first that was asked for, and what they mean."""
    out = _console()
    chosen, mean = described["config"], described["conventions"]["mean"]
    means = f"{MEANS[mean]}, " if mean in MEANS else ""
    kind = f"{means}{chosen['confidence'] * 100:g} % {chosen['methods'][0]} intervals"
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
            if row["method"] == chosen["methods"][0]
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
        out.print(
            "p: two-sided t test; adjusted: Holm, over the contrasts of a metric; verdict: the interval against 0,"
        )
        out.print("and, to be equivalent, inside a margin of 0.5 % of the baseline, at least 0.0005.")
    _show_notes(out, described["notes"])
    for flag in FLAGS:
        if flag in seen:
            out.print(f"{flag}: {FLAGS[flag]}")
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
    _show_table(out, title, [{header: show(row) for header, show in columns.items()} for row in shown])
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
    "p": lambda row: _p(row["p_value"]),
    "adjusted": lambda row: _p(row["p_adjusted"]),
    "win/tie/loss": lambda row: f"{row['wins']}/{row['ties']}/{row['losses']}",
    "verdict": lambda row: Text((row["n_queries"] and row["verdict"]) or "", style=STYLES.get(row["verdict"], "")),
    "flags": lambda row: ", ".join(row["flags"]),
}
LEFT = {"metric", "system", "statistic", "values", "candidate", "baseline", "verdict", "flags"}
TEXTS = {"flags", "values"}
FOLDED = 24
"""Least width of a column of texts."""
EXPENDABLE = ("win/tie/loss", "p", "adjusted", "undefined")
FLAGS = {
    "one_unit": "fewer than 2 units: no interval",
    "degenerate": "all units are alike: the interval has no width",
    "insufficient": "fewer than 10 units tell anything: no verdict, unless every unit has the same value on both sides",
    "few_clusters": "fewer than 10 effective units: intervals are too narrow",
    "no_interval": "a median is told without an interval or a test",
    "bucketed": "units share 4,096 buckets, which adds about 1 % of noise to a standard error",
}


def _value(row: Mapping[str, Any], key: str, *, sign: str = "") -> str:
    value = row[key]
    if value is None or math.isnan(value):
        return "-"
    if row["statistic"] != "sum":
        return _number(value, sign=sign)
    return f"{value:{sign},.{_decimals(row, key)}f}"


def _decimals(row: Mapping[str, Any], key: str) -> int:
    """Of a sum: none of a count, and as many for both ends of its interval."""
    if not row["counts"]:
        return 4
    ends = [abs(row[end]) for end in ("low", "high") if row[end] is not None]
    return 2 if key in ("low", "high") and max(ends) < 100 else 0


def _number(value: float, *, sign: str = "") -> str:
    return f"{value:{sign},.0f}" if abs(value) >= 1000 else f"{value:{sign}.4f}"


def _brief(value: float | None) -> str:
    """To 4 significant digits."""
    if value is None or math.isnan(value):
        return "-"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def _p(value: float | None) -> str:
    if value is None:
        return "-"
    return "<0.0001" if value < 0.0001 else f"{value:.4f}"


def show_metrics(wanted: str | None) -> None:
    """The catalogue, or all that is said of one metric or preset."""
    out = _console()
    width = out.width if out.is_terminal else None
    if wanted is not None:
        first, *lines = catalogue.explained(wanted, width)
        out.print(first, style="bold", soft_wrap=True)
        out.print("\n".join(lines), soft_wrap=True)
        return
    for line in catalogue.listing(width):
        out.print(line, style=None if line.startswith(" ") else "bold", soft_wrap=True)
    out.print()
    out.print(catalogue.HOW_TO_WRITE.replace("`", ""))
    out.print("Names of trec_eval and other programs are read too. In full: evaljob metrics nDCG, evaljob metrics ranx")


def show_findings(findings: Sequence[Finding]) -> None:
    """What the doctor found, a line each, and what to do."""
    out = _console()
    for finding in findings:
        mark = ("ok    ", "green") if finding.ok else ("wrong ", "red")
        out.print(Text.assemble(mark, f"{finding.name}: {finding.detail}"), soft_wrap=True)
        if finding.advice:
            out.print(f"      {finding.advice}", soft_wrap=True)


def show_demo(root: Path, config: Config) -> None:
    """Where things are after the demo, and how to run its two jobs by hand."""
    out = _console()
    options = [f"--{table} {root}/log/{table}.parquet" for table in ("runs", "qrels", "queries")]
    options += [f'--metrics "{",".join(config.score.metrics)}"', "--output my-evaluation"]
    score = " \\\n    ".join(["evaljob score", *options])
    aggregate = f"evaljob aggregate my-evaluation --unit {config.aggregate.unit} --baseline {config.aggregate.baseline}"
    out.print(f"The log is in {root}/log, the evaluation in {root}/evaluation. The same by hand:", soft_wrap=True)
    out.print(f"  {score}\n  {aggregate}", soft_wrap=True)
