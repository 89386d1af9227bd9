"""Results as a person reads them on a terminal."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
from rich.console import Console
from rich.table import Table
from rich.text import Text

from evalcore import METRICS, name, parse
from jobs.config import Config
from jobs.errors import counted
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


WIDE = 100
"""Columns of a terminal that show wins, ties and losses too."""


def _console() -> Console:
    """The terminal at its width; a file or pipe gets whole lines."""
    out = Console(highlight=False)
    return out if out.is_terminal else Console(highlight=False, width=200)


def _table(title: str, columns: Mapping[str, str], rows: Iterable[Sequence[Any]]) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for header, justify in columns.items():
        table.add_column(header, justify="right" if justify == "right" else "left", no_wrap=True)
    for row in rows:
        table.add_row(*(cell if isinstance(cell, Text) else str(cell) for cell in row))
    return table


def show_score(output: str, manifest: Mapping[str, Any]) -> None:
    """What was scored, what was not, and the next command."""
    counts, out = manifest["counts"], _console()
    of = {"system": len(manifest["systems"]), "query": manifest["n_queries"], "metric": len(manifest["metrics"])}
    rows = counted(of["query"] * of["system"], "row")
    out.print(f"{', '.join(counted(number, noun) for noun, number in of.items())}: {rows} in {output}/scores")
    told = {
        f"n_{OK}": "complete",
        f"n_{UNANSWERED}": "unanswered: judged, but the system returned nothing",
        f"n_{NO_RELEVANT}": "without a relevant document: metrics that need one are null",
        f"n_{UNJUDGED}": "unjudged: every metric is null, and no estimate counts them",
        "n_rankings_outside_universe": "left out: rankings of queries not judged, or not in --queries",
        "n_repeated": "counted once: judgments repeated with the same grade",
        "n_negative_grades": "negative grades, treated as the convention negative_grade says",
        "n_duplicates": "dropped: documents returned more than once, one of each kept",
        "n_non_finite_scores": "ranked last: scores that are NaN or infinite",
    }
    for key, meaning in told.items():
        if counts[key]:
            out.print(f"{counts[key]:>10,} {meaning}")
    columns = [key if key.isidentifier() else f'"{key}"' for key in manifest["query_columns"][:2]]
    out.print(f"next: evaljob aggregate {output} --unit {' or '.join(['query_id', *columns])}", markup=False)


def show_aggregate(described: Mapping[str, Any], estimates: pa.Table, contrasts: pa.Table) -> None:
    """ESTIMATES and CONTRASTS with one interval method: the first that was asked for."""
    out = _console()
    chosen = described["config"]
    kind = f"{chosen['confidence'] * 100:g} % {chosen['methods'][0]} intervals"
    units = f"unit {described['unit']} ({described['n_units']:,}{', in buckets' if described['bucketed'] else ''})"
    for title, table, columns in (
        (f"Estimates, {kind}, {units}", estimates, ESTIMATE_COLUMNS),
        (f"Contrasts, candidate - baseline, {kind}, {units}", contrasts, CONTRAST_COLUMNS),
    ):
        rows = [row for row in table.to_pylist() if row["method"] == chosen["methods"][0]]
        if not rows:
            continue
        cells = [{header: show(row) for header, show in columns.items()} for row in rows[:MOST_ROWS]]
        kept = [header for header in columns if any(str(cell[header]) for cell in cells)]
        if out.width < WIDE and "win/tie/loss" in kept:
            kept.remove("win/tie/loss")
        justify = {header: "left" if header in LEFT else "right" for header in kept}
        out.print(_table(title, justify, ([cell[header] for header in kept] for cell in cells)))
        if len(rows) > MOST_ROWS:
            out.print(f"… and {len(rows) - MOST_ROWS} more rows; the Parquet files hold all of them")
        out.print()


def _interval(row: Mapping[str, Any], *, sign: str = "") -> str:
    return f"{_number(row['low'], sign=sign)} to {_number(row['high'], sign=sign)}"


ESTIMATE_COLUMNS: dict[str, Callable[[Mapping[str, Any]], str | Text]] = {
    "metric": lambda row: row["metric"],
    "system": lambda row: row["system"],
    "estimate": lambda row: _number(row["estimate"]),
    "interval": _interval,
    "queries": lambda row: f"{row['n_queries']:,}",
    "undefined": lambda row: f"{row['n_undefined']:,}" if row["n_undefined"] else "",
    "flags": lambda row: ", ".join(row["flags"]),
}
CONTRAST_COLUMNS: dict[str, Callable[[Mapping[str, Any]], str | Text]] = {
    "metric": lambda row: row["metric"],
    "candidate": lambda row: row["candidate"],
    "baseline": lambda row: row["baseline"],
    "delta": lambda row: _number(row["delta"], sign="+"),
    "interval": lambda row: _interval(row, sign="+"),
    "p": lambda row: _p(row["p_value"]),
    "win/tie/loss": lambda row: f"{row['wins']}/{row['ties']}/{row['losses']}",
    "verdict": lambda row: Text(row["verdict"], style=STYLES[row["verdict"]]),
    "flags": lambda row: ", ".join(row["flags"]),
}
"""Each column and what it shows of a row; a column without anything to show is left out."""
LEFT = {"metric", "system", "candidate", "baseline", "verdict", "flags"}


def _number(value: float | None, *, sign: str = "") -> str:
    if value is None or math.isnan(value):
        return "-"
    return f"{value:{sign},.0f}" if abs(value) >= 1000 else f"{value:{sign}.4f}"


def _p(value: float | None) -> str:
    if value is None:
        return "-"
    return "<0.0001" if value < 0.0001 else f"{value:.4f}"


def show_metrics(wanted: str | None) -> None:
    """The catalogue, or all that is said of one metric."""
    out = _console()
    if wanted is not None:
        metric = type(parse(wanted))
        out.print(name(metric()), style="bold")
        out.print(inspect.cleandoc(metric.__doc__ or ""), markup=False)
        return
    out.print(_table("Metrics", {"name": "left", "what it is": "left"}, catalogue()))
    out.print("Each takes a cutoff (nDCG@10) where that makes sense, and parameters in brackets: P(rel=2)@5,")
    out.print("F(beta=2), nDCG(gain=exp2,discount=ln). trec_eval's names work too. One in full: evaljob metrics nDCG")


def catalogue() -> list[tuple[str, str]]:
    """Name and first sentence, then the formula, of every metric."""
    rows = []
    for family, metric in METRICS.items():
        lines = inspect.cleandoc(metric.__doc__ or "").splitlines()
        formula = [line.strip() for line in lines if line.startswith("    ") and not line.strip().startswith(">>>")]
        rows += [(family, lines[0]), *(("", f"  {line}") for line in formula)]
    return rows


def show_findings(findings: Sequence[Finding]) -> None:
    """What the doctor found, a line each, and what to do."""
    out = _console()
    for finding in findings:
        mark = Text("ok  ", style="green") if finding.ok else Text("wrong ", style="red")
        out.print(mark + Text(f"{finding.name}: {finding.detail}"))
        if finding.advice:
            out.print(f"      {finding.advice}", markup=False)


def show_demo(root: Path, config: Config) -> None:
    """Where things are after the demo, and how to run its two jobs by hand."""
    out = _console()
    out.print()
    out.print(f"The log is in {root}/log, the evaluation in {root}/evaluation. The same by hand:", markup=False)
    files = " ".join(f"--{table} {root}/log/{table}.parquet" for table in ("runs", "qrels", "queries"))
    metrics = ",".join(config.score.metrics)
    out.print(f'  evaljob score {files} \\\n    --metrics "{metrics}" --output my-evaluation', markup=False)
    out.print(
        f"  evaljob aggregate my-evaluation --unit {config.aggregate.unit} --baseline {config.aggregate.baseline}",
        markup=False,
    )
