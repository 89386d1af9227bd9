"""What the other commands show: metrics, the machine, the demo."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from rich.text import Text

from jobs import pages
from jobs.config import Config
from jobs.console.terminal import terminal


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


def show_metrics(wanted: str | None) -> None:
    """The catalogue, or all that is said of one metric or preset."""
    out = terminal()
    width = out.width if out.is_terminal else None
    if wanted is not None:
        first, *lines = pages.explained(wanted, width)
        out.print(first, style="bold", soft_wrap=True)
        out.print("\n".join(lines), soft_wrap=True)
        return
    for line in pages.listing(width):
        out.print(line, style=None if line.startswith(" ") else "bold", soft_wrap=True)
    out.print()
    out.print(pages.HOW_TO_WRITE.replace("`", ""))
    out.print("Names of trec_eval and other programs are read too. In full: evaljob metrics nDCG, evaljob metrics ranx")


def show_findings(findings: Sequence[Finding]) -> None:
    """What the doctor found, a line each, and what to do."""
    out = terminal()
    for finding in findings:
        mark = ("ok    ", "green") if finding.ok else ("wrong ", "red")
        out.print(Text.assemble(mark, f"{finding.name}: {finding.detail}"), soft_wrap=True)
        if finding.advice:
            out.print(f"      {finding.advice}", soft_wrap=True)


def show_demo(root: Path, config: Config) -> None:
    """Where things are after the demo, and how to run its two jobs by hand."""
    out = terminal()
    options = [f"--{table} {root}/log/{table}.parquet" for table in ("runs", "qrels", "queries")]
    options += [f'--metrics "{",".join(config.score.metrics)}"', "--output my-evaluation"]
    score = " \\\n    ".join(["evaljob score", *options])
    aggregate = f"evaljob aggregate my-evaluation --unit {config.aggregate.unit} --baseline {config.aggregate.baseline}"
    out.print(f"The log is in {root}/log, the evaluation in {root}/evaluation. The same by hand:", soft_wrap=True)
    out.print(f"  {score}\n  {aggregate}", soft_wrap=True)
