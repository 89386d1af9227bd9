"""What `evaljob gate` and `evaljob power` say."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.text import Text

from jobs.console.terminal import show_table, terminal
from jobs.figures import figure

STYLES = {"passed": "green", "regressed": "red", "invalid": "red", "inconclusive": "yellow"}


def show_gate(verdict: Mapping[str, Any], path: Path) -> None:
    """A row for each guardrail, the reasons, and the answer last."""
    out = terminal()
    buckets = ", in buckets" if verdict["bucketed"] else ""
    title = f"{verdict['candidate']} against {verdict['baseline']}, unit {verdict['unit']}{buckets}"
    if verdict["guardrails"]:
        show_table(out, title, [_cells(row) for row in verdict["guardrails"]])
        out.print()
    for reason in verdict["reasons"]:
        out.print(f"- {reason}", soft_wrap=True)
    answer = verdict["answer"]
    told = Text.assemble((answer, f"bold {STYLES[answer]}"), f", exit code {verdict['exit_code']}: {path}")
    out.print(told, soft_wrap=True)


def _cells(row: Mapping[str, Any]) -> dict[str, str | Text]:
    return {
        "metric": row["metric"],
        "segment": row["segment"] or "",
        "baseline": figure(row["baseline"]),
        "delta": figure(row["delta"], sign="+"),
        "at worst": figure(row["at_worst"], sign="+"),
        "at best": figure(row["at_best"], sign="+"),
        "margin": figure(row["margin"]),
        "margin/se": figure(row["margin_in_standard_errors"], form=".1f"),
        "passes if unchanged": figure(row["p_passed_if_unchanged"], form=".0%"),
        "answer": Text(row["answer"], style=STYLES[row["answer"]]),
    }


def show_power(found: Mapping[str, Any]) -> None:
    """A row for each metric and candidate, and what the columns mean."""
    out, rows = terminal(), found["contrasts"]
    several = len({row["candidate"] for row in rows}) > 1
    title = f"Contrasts with {found['baseline']}, unit {found['unit']} ({max(row['n_units'] for row in rows):,})"
    cells = [
        {
            "metric": row["metric"],
            "candidate": row["candidate"] if several else "",
            "sd": figure(row["standard_deviation"]),
            "correlation": figure(row["correlation"], form=".2f"),
            "design effect": figure(row["design_effect"], form=".1f"),
            "effective units": figure(row["effective_units"], form=",.0f"),
            "at 80 %": figure(row["detectable_effect_80"]),
            "at 90 %": figure(row["detectable_effect_90"]),
            "margin": figure(row["margin"]),
            "margin/se": figure(row["margin_in_standard_errors"], form=".1f"),
            "passes if unchanged": figure(row["p_passed_if_unchanged"], form=".0%"),
            "units to pass": figure(row["units_to_pass"], form=",.0f"),
            "units to detect": figure(row["units_to_detect"], form=",.0f"),
        }
        for row in rows
    ]
    show_table(out, title, cells)
    out.print()
    for line in POWER:
        out.print(line, soft_wrap=True)


POWER = (
    "sd: of the deltas of units; correlation: between the units of the two systems; design effect: times the variance",
    "of queries that are independent; at 80 %, 90 %: the least delta that is told from 0 with that chance",
    "margin/se: a sample of 3.3 or more is large enough; passes if unchanged: how often a candidate that is as good",
    "as the baseline passes a gate; units to pass: with so many it is 90 %; units to detect: with so many a delta of",
    "the margin is told from 0 with a chance of 80 %",
)
