"""The rows of one file as columns, and what is wrong with them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from evalcore.arrays import AnyArray, IntArray
from evalcore.ids import Ids
from evalcore.texts import Texts

IDS = ("system", "tag", "query_id", "doc_id")
"""Columns of ids, none of which is ever null."""
NUMBER = re.compile(
    r"[+-]?(([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|[iI][nN][fF]([iI][nN][iI][tT][yY])?|[nN][aA][nN])"
)
PLAIN = re.compile("[-+.0-9A-Za-z]*")
WHOLE = re.compile(r"[+-]?[0-9]{1,9}")
MANY = 200
"""Rows to look at to know whether numbers repeat."""
FEW = 3
"""How many flaws a message tells."""


Columns: TypeAlias = dict[str, Any]
"""Name -> `Ids` for those of IDS, else (n_rows,) an array of numbers; of objects where a cell may be None or text."""


@dataclass(slots=True)
class Part:
    """Usable rows of a file.

    columns     by our names
    n_flawed    rows that are left out because they cannot be used
    flaws       the place and the fault of the first three of these
    """

    file: str
    columns: Columns
    n_flawed: int = 0
    flaws: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, file: str, cells: Mapping[str, Sequence[Any]], n_flawed: int = 0, flaws: Sequence[str] = ()) -> Part:
        """From Python's texts and numbers."""
        return cls(file, {key: column(key, each) for key, each in cells.items()}, n_flawed, list(flaws))

    @property
    def n_rows(self) -> int:
        """Usable rows."""
        return n_rows(self.columns)


def column(key: str, cells: Sequence[Any]) -> Any:  # noqa: ANN401 (Ids or an array)
    """Cells as one of `Columns`."""
    if key in IDS:
        return Ids(Texts.of(cells)).distinct()
    return np.array(cells, dtype=object if key == "subtopic" or None in cells else None)


def n_rows(columns: Columns) -> int:
    """How many there are."""
    return len(next(iter(columns.values()), ()))


def taken(columns: Columns, rows: IntArray) -> Columns:
    """Some rows, in this order."""
    return {key: cells.taken(rows) if isinstance(cells, Ids) else cells[rows] for key, cells in columns.items()}


def joined(several: Sequence[Columns]) -> Columns:
    """One after another; a column that one of them lacks is None there."""
    filled = [columns for columns in several if n_rows(columns)] or several[:1]
    if len(filled) == 1:
        return filled[0]
    return {key: _joined(key, filled) for key in dict.fromkeys(key for columns in filled for key in columns)}


def _joined(key: str, several: Sequence[Columns]) -> Ids | AnyArray:
    if key in IDS:
        return Ids.joined([columns[key] for columns in several])
    return np.concatenate([columns.get(key, np.full(n_rows(columns), None)) for columns in several])


def numbers(texts: Sequence[str]) -> list[float | None]:
    """What the texts say, None where one is no number: `1_0` and `1d` are none, `inf` and `nan` are."""
    few = len(set(texts[:MANY])) < MANY // 2
    distinct = list(set(texts)) if few else texts
    try:
        found = list(map(float, distinct))
    except ValueError:
        found = None
    # float takes more than NUMBER: blanks around it, digits of other scripts, and underscores between digits
    plain = found is not None and PLAIN.fullmatch("".join(distinct))
    read = found if found and plain else [float(text) if NUMBER.fullmatch(text) else None for text in distinct]
    if not few:
        return list(read)
    return list(map(dict(zip(distinct, read, strict=True)).__getitem__, texts))


def whole_numbers(texts: Sequence[str]) -> list[int | None]:
    """Likewise for ranks, of up to 9 digits."""
    known = {text: int(text) if WHOLE.fullmatch(text) else None for text in set(texts)}
    return list(map(known.__getitem__, texts))


def keep(file: str, cells: Mapping[str, list[Any]], usable: Sequence[bool], flaw: Callable[[int], str]) -> Part:
    """The usable rows.

    flaw   says of a row, by its index, where it is and what is wrong
    """
    if all(usable):
        return Part.of(file, cells)
    wrong = [index for index, each in enumerate(usable) if not each]
    kept = {key: [cell for cell, each in zip(column, usable, strict=True) if each] for key, column in cells.items()}
    return Part.of(file, kept, len(wrong), list(map(flaw, wrong[:FEW])))
