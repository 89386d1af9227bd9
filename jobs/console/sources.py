"""What `evaljob inspect` shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from jobs.console.terminal import terminal

ROWS = {
    "long": "a row for each document",
    "nested": "a row for each ranking",
    "wide": "a row for each document, a column of scores for each system",
    "log": "a row for each item shown",
}
MOST_SHOWN = 30
"""Columns that are shown of each source; the others are counted."""


def show_sources(found: Sequence[Mapping[str, Any]], configuration: str) -> None:
    """Each source with its columns, and the configuration."""
    out = terminal()
    for each in found:
        what = "judgments" if each["kind"] == "qrels" else "runs"
        told = ROWS[each["layout"]] if each["kind"] == "runs" else "a row for each judgment"
        out.print(f"{', '.join(each['paths'])}: {each['format']}, {what}, {told}", style="bold", soft_wrap=True)
        width = max(len(column["name"]) for column in each["columns"])
        shown = [column for column in each["columns"] if column["role"]]
        others = [column for column in each["columns"] if not column["role"]]
        for column in [*shown, *others][:MOST_SHOWN]:
            role = column["role"] or "-"
            sample = "  ".join(column["sample"])
            out.print(f"  {column['name']:{width}}  {role:10}  {column['type']:14}  {sample}", soft_wrap=True)
        if (more := len(each["columns"]) - MOST_SHOWN) > 0:
            out.print(f"  and {more} more columns")
        if each["words"]:
            out.print("  labels are words: say what each is worth with judgments.grades")
        out.print()
    out.print("# Save as my.yaml, then: evaljob score --config my.yaml", soft_wrap=True)
    out.print(configuration, end="", soft_wrap=True, highlight=False, markup=False)
