"""The rows of one file as columns, and what is wrong with them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

NUMBER = re.compile(
    r"[+-]?(([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|[iI][nN][fF]([iI][nN][iI][tT][yY])?|[nN][aA][nN])"
)
PLAIN = re.compile("[-+.0-9A-Za-z]*")
WHOLE = re.compile(r"[+-]?[0-9]{1,9}")
MANY = 200
"""Rows to look at to know whether numbers repeat."""
FEW = 3
"""How many flaws a message tells."""


@dataclass(slots=True)
class Part:
    """Usable rows of a file.

    columns     by our names; ids are texts, numbers floats, ranks whole numbers or None
    n_flawed    rows that are left out because they cannot be used
    flaws       the place and the fault of the first three of these
    """

    file: str
    columns: dict[str, list[Any]]
    n_flawed: int = 0
    flaws: list[str] = field(default_factory=list)

    @property
    def n_rows(self) -> int:
        """Usable rows."""
        return len(next(iter(self.columns.values()), ()))


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


def keep(part: Part, usable: Sequence[bool], flaw: Callable[[int], str]) -> Part:
    """The part without its unusable rows.

    flaw   says of a row, by its index, where it is and what is wrong
    """
    if all(usable):
        return part
    wrong = [index for index, each in enumerate(usable) if not each]
    return Part(
        part.file,
        {
            key: [cell for cell, each in zip(column, usable, strict=True) if each]
            for key, column in part.columns.items()
        },
        part.n_flawed + len(wrong),
        [*part.flaws, *map(flaw, wrong[:FEW])][:FEW],
    )
