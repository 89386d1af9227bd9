"""The terminal, tables on it, and numbers in them."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

MOST_ROWS = 60
"""Longer tables are cut on the screen; the files hold everything."""


def terminal() -> Console:
    """The terminal at its width; a file or pipe gets whole lines."""
    wide = None if sys.stdout.isatty() else 200
    return Console(highlight=False, markup=False, emoji=False, width=wide)


def show_table(out: Console, title: str, cells: Sequence[Mapping[str, str | Text]]) -> None:
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


def show_notes(out: Console, notes: Sequence[str]) -> None:
    """A line for each."""
    for note in notes:
        out.print(f"note: {note}", soft_wrap=True)


LEFT = {
    "metric",
    "system",
    "statistic",
    "values",
    "candidate",
    "baseline",
    "data set",
    "verdict",
    "flags",
    "gate",
    "outcome",
}
TEXTS = {"flags", "values"}
FOLDED = 24
"""Least width of a column of texts."""
EXPENDABLE = (
    *("win/tie/loss", "p", "adjusted", "undefined", "design effect", "effective units", "correlation"),
    *("units to detect", "at 90 %", "passes if unchanged", "margin/se", "sd"),
)
