"""What `evaljob audit` found, and the gates that warned while scoring."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from jobs.console.terminal import show_table, terminal
from jobs.errors import number_of
from jobs.input_gates import Finding, sentence

STYLES = {"passed": "green", "warned": "yellow", "refused": "red"}


def show_audit(found: Mapping[str, Any]) -> None:
    """Queries, judgments and each system; a row for each gate; what was noticed, with examples; the outcome."""
    out = terminal()
    asked = f"{number_of(found['n_queries'], 'query')} to be scored, {found['n_judged_queries']:,} judged"
    unasked = f", {found['n_judged_unasked']:,} of them not to be scored" if found["n_judged_unasked"] else ""
    show_table(out, f"{asked}{unasked}", [_system(row) for row in found["systems"]])
    out.print()
    show_table(out, "Gates", [_gate(gate) for gate in found["gates"]])
    out.print()
    show_warnings(out, found["gates"])
    for refusal in found["refusals"]:
        out.print(f"refused: {refusal}", soft_wrap=True)
    out.print(Text.assemble("audit: ", (found["outcome"], f"bold {STYLES[found['outcome']]}")))


def show_warnings(out: Console, gates: Sequence[Finding]) -> None:
    """A line for each gate that warned."""
    for gate in gates:
        if gate["outcome"] == "warned":
            out.print(f"warning: {sentence(gate)}", soft_wrap=True)


def _system(row: Mapping[str, Any]) -> dict[str, str | Text]:
    return {key: row[key] if key == "system" else f"{row[key]:,}" for key in row}


def _gate(gate: Finding) -> dict[str, str | Text]:
    return {
        "gate": gate["gate"],
        "system": gate["where"] or "",
        "count": f"{gate['count']:,.0f}",
        "of": f"{gate['of']:,.0f}",
        "share": f"{gate['share']:.2%}",
        "warn above": _level(gate["warn"]),
        "refuse above": _level(gate["refuse"]),
        "outcome": Text(gate["outcome"], style=STYLES[gate["outcome"]]),
    }


def _level(level: float | None) -> str:
    return "" if level is None else f"{level:.2%}"
