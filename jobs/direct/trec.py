"""TREC files: the twin of `jobs.readers.trec`, which says what is read and what is passed over."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from evalcore.arrays import AnyArray
from evalcore.ids import Ids
from evalcore.texts import WORD, Texts
from jobs.direct.parts import FEW, IDS, WHOLE, Part, column, numbers, whole_numbers
from jobs.errors import number_of

COLUMNS = {
    "runs": ("query", "Q0", "document", "rank", "score", "tag"),
    "qrels": ("query", "iteration", "document", "relevance"),
}
RUNS = {"tag": 5, "query_id": 0, "doc_id": 2, "score": 4, "rank": 3}
QRELS = {"query_id": 0, "doc_id": 2, "subtopic": 1, "relevance": 3}
"""Our columns by their places."""
N_PREFERENCES = 5
NUMBERS = {"score": "a number", "rank": "a whole number", "relevance": "a finite number"}
READ: dict[str, Callable[[Sequence[str]], list[Any]]] = {
    "score": numbers,
    "rank": whole_numbers,
    "relevance": numbers,
}
PLAIN = bytes([*b"\t\n\r", *range(0x20, 0x7F)])
"""What a file of ASCII is made of: the rest of it ends a word to Python, or to nobody."""
SPACE, NEW_LINE, COMMENT = map(ord, " \n#")


def runs(content: bytes, file: str, *, numbers: Sequence[str]) -> Part:
    """RUNS without the system's name, whose tags are in the column `tag`.

    numbers   the columns that must be numbers: score, rank or both
    """
    if (words := _words(content, "runs")) is not None:
        part = Part(file, {key: _column(key, words[place]) for key, place in RUNS.items()})
        if all(part.columns[each].dtype != object for each in numbers):
            return part
    lines = _Lines(content)
    rows = [(at, row) for at, row in zip(lines.at, lines.rows, strict=True) if lines.whole(row, "runs")]
    cells = _cells([row for _, row in rows], RUNS)
    return _usable(lines, file, cells, [at for at, _ in rows], kind="runs", wanted=numbers)


def qrels(content: bytes, file: str, *, preferences: bool) -> Part:
    """QRELS.

    preferences   whether lines of five columns are preferences; a subgroup is "group<TAB>subgroup"
    """
    if (words := _words(content, "qrels")) is not None:
        part = Part(file, {key: _column(key, words[place]) for key, place in QRELS.items()})
        grades = part.columns["relevance"]
        if grades.dtype != object and np.isfinite(grades).all():
            return part
    lines = _Lines(content)
    kept: list[tuple[int, list[str]]] = []
    for at, row in zip(lines.at, lines.rows, strict=True):
        if lines.whole(row, "qrels"):
            kept.append((at, row))
        elif preferences and len(row) == N_PREFERENCES and lines.decoded(row):
            kept.append((at, [row[0], f"{row[1]}\t{row[2]}", row[3], row[4]]))
    cells = _cells([row for _, row in kept], QRELS)
    return _usable(lines, file, cells, [at for at, _ in kept], kind="qrels", wanted=["relevance"])


def _column(key: str, words: Texts) -> Ids | AnyArray:
    """A column of `Part`: every different word is read once, except for scores, which are mostly different."""
    if key == "score":
        return np.asarray(column(key, numbers(words.to_list())))
    ids = Ids(words).distinct()
    if key in IDS:
        return ids
    texts = ids.texts.to_list()
    read: AnyArray = column(key, READ[key](texts) if key in READ else texts)
    return read[ids.codes]


def _cells(rows: Sequence[Sequence[str]], places: Mapping[str, int]) -> dict[str, list[Any]]:
    """The same columns of lines as words, in Python's lists."""
    words = {key: [row[place] for row in rows] for key, place in places.items()}
    return {key: READ[key](cells) if key in READ else cells for key, cells in words.items()}


def _words(content: bytes, kind: str) -> list[Texts] | None:
    """The columns of a plain file; None for one that has to be looked at line by line.

    Plain is ASCII where every line has exactly the columns or nothing, and none is a comment.
    """
    n_columns = len(COLUMNS[kind])
    odd = content.translate(None, delete=PLAIN)
    if odd or content.count(b"\r") != content.count(b"\r\n"):
        return None
    letters = np.frombuffer(content + bytes(WORD), dtype=np.uint8)
    blank = np.append(True, letters <= SPACE)
    bounds = np.flatnonzero(blank[1:] != blank[:-1])
    starts, stops = bounds[::2], bounds[1::2]
    before = np.searchsorted(starts, np.append(np.flatnonzero(letters == NEW_LINE), len(letters)))
    if not np.isin(np.diff(before, prepend=0), (0, n_columns)).all() or not len(starts):
        return None
    lengths = stops - starts
    if (letters[starts[::n_columns]] == COMMENT).any():
        return None
    return [Texts(letters, starts[place::n_columns], lengths[place::n_columns]) for place in range(n_columns)]


class _Lines:
    """The lines that are no comments and not empty, as words.

    at     their numbers, from 1
    rows   their words
    """

    def __init__(self, content: bytes) -> None:
        text = content.decode("utf-8", errors="replace")
        lines = re.split("\r\n|\r|\n", text) if "\r" in text else text.split("\n")
        plain = not content.translate(None, delete=PLAIN)
        split = str.split if plain else _split
        words = list(map(split, lines))
        if plain and all(words) and "#" not in text:
            self.at: Sequence[int] = range(1, len(words) + 1)
            self.rows = words
            return
        kept = [(at, row) for at, row in enumerate(words, start=1) if row and not row[0].startswith("#")]
        self.at, self.rows = [at for at, _ in kept], [row for _, row in kept]

    @staticmethod
    def decoded(row: Sequence[str]) -> bool:
        """Whether both ids are UTF-8: other bytes would make one id of several."""
        return "\ufffd" not in row[0] and "\ufffd" not in row[2]

    def whole(self, row: Sequence[str], kind: str) -> bool:
        """Whether the columns are all there; words after the tag of a run are passed over if the rank is one."""
        n = len(COLUMNS[kind])
        if len(row) != n and (kind == "qrels" or len(row) < n or not WHOLE.fullmatch(row[3])):
            return False
        return self.decoded(row)


def _split(line: str) -> list[str]:
    line = line.strip("\ufeff \t\r")
    return re.split("[ \t]+", line) if line else []


def _usable(
    lines: _Lines, file: str, cells: Mapping[str, list[Any]], at: Sequence[int], *, kind: str, wanted: Sequence[str]
) -> Part:
    """The rows of which every number can be used, and the flaws of all lines that are left out."""
    finite = kind == "qrels"
    good = [
        all(cell is not None and not (finite and not math.isfinite(cell)) for cell in row)
        for row in zip(*(cells[each] for each in wanted), strict=True)
    ]
    if len(at) == len(lines.rows) and all(good):
        return Part.of(file, cells)
    kept = {key: [cell for cell, usable in zip(column, good, strict=True) if usable] for key, column in cells.items()}
    fine = {line for line, usable in zip(at, good, strict=True) if usable}
    wrong = [(line, row) for line, row in zip(lines.at, lines.rows, strict=True) if line not in fine]
    flaws = [f"{file} line {line}: {_flaw(row, kind, wanted)}" for line, row in wrong[:FEW]]
    return Part.of(file, kept, len(wrong), flaws)


def _flaw(row: Sequence[str], kind: str, wanted: Sequence[str]) -> str:
    columns = COLUMNS[kind]
    if any("\ufffd" in row[place] for place in (0, 2) if place < len(row)):
        return "bytes that are not UTF-8"
    if re.fullmatch("[0-9]+:[^:]+", "".join(row[3:4])):
        return f'"{row[3]}" looks like a feature of SVMlight, which evaljob score reads, and evaljob eval does not'
    if len(row) < len(columns) or (kind == "qrels" and len(row) > len(columns)):
        swapped = " (judgments have 4, and are named before the runs)" if kind == "runs" and len(row) == 4 else ""
        return f'{number_of(len(row), "column")}, not the {len(columns)} of "{" ".join(columns)}"{swapped}'
    if len(row) > len(columns) and not WHOLE.fullmatch(row[3]):
        return f'{len(row)} columns, and the rank is "{row[3]}"; is there a space in an id?'
    told = {each: row[columns.index(each)] for each in wanted}
    number = next((each for each, text in told.items() if READ[each]([text]) == [None]), wanted[-1])
    return f'{number} is "{told[number]}", which is not {NUMBERS[number]}'
