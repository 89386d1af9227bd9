"""Long tables: Parquet and ORC through pyarrow; CSV, TSV and JSON lines line by line, so that a fault has its line.

A column of ids is text or whole numbers, which are the same ids as their texts; a cell of CSV is the text that is
there, and an empty one is null.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from evalcore.errors import unknown
from jobs.direct import parts
from jobs.direct.parts import FEW, Part, keep
from jobs.errors import DataRefused, UsageError

IDS = ("system", "query_id", "doc_id", "subtopic")
RUNS = {"system": True, "query_id": True, "doc_id": True, "score": False, "rank": False}
QRELS = {"query_id": True, "doc_id": True, "relevance": True, "subtopic": False, "propensity": False}
"""Columns, and whether there must be one; which of score and rank a run needs is for the conventions to say."""


def part(
    content: bytes, file: str, *, format: str, kind: str, columns: Mapping[str, str], numbers: Sequence[str]
) -> Part:
    """RUNS or QRELS of one file.

    format    parquet, orc, csv, tsv or jsonl
    columns   our name -> the file's name of a column
    numbers   the columns that must be numbers: of runs score, rank or both, else relevance

    Raises UsageError for a column that is missing or of a wrong type, DataRefused for what is not of this format.
    """
    known = RUNS if kind == "runs" else QRELS
    wanted = {**known, **dict.fromkeys(numbers, True)}
    names = {key: columns.get(key, key) for key in wanted}
    found, n_rows, place = FORMATS[format](content, file, list(names.values()))
    problems = [
        f"{unknown('column', names[key], found)} {_hint(key)}"
        for key, needed in wanted.items()
        if (needed or key in columns) and names[key] not in found
    ]
    there = {key: found[name] for key, name in names.items() if name in found and found[name] is not None}
    cells: dict[str, list[Any]] = {}
    for key, column in there.items():
        try:
            cells[key] = _ids(column) if key in IDS else _numbers(column, whole=key == "rank")
        except TypeError as error:
            wrong = "text or whole numbers" if key in IDS else "numbers"
            problems.append(f'column "{names[key]}" is {error}; it must be {wrong}')
    if problems:
        raise UsageError(f"{file}: {'; '.join(problems)}")
    ids = [key for key in ("system", "query_id", "doc_id") if key in known]
    usable = [None not in given for given in zip(*(cells[key] for key in numbers), strict=True)]
    if kind == "qrels":
        usable = [cell is not None and abs(cell) < math.inf for cell in cells["relevance"]]
    for key in ids:
        usable = [good and bool(cell) and not cell.isspace() for good, cell in zip(usable, cells[key], strict=True)]

    def flaw(row: int) -> str:
        told = {key: cells[key][row] for key in ids} | {key: _raw(there[key], row) for key in numbers}
        return f"{place(row)}: " + ", ".join(f"{key} {_shown(cell)}" for key, cell in told.items())

    del n_rows
    return keep(file, cells, usable, flaw)


def rows(content: bytes, file: str, *, format: str) -> tuple[dict[str, list[Any]], Callable[[int], str]]:
    """Every column of a table, and the place of a row."""
    found, _, place = FORMATS[format](content, file, None)
    return {
        key: column.to_pylist() if isinstance(column, pa.ChunkedArray) else list(column or [])
        for key, column in found.items()
    }, place


Found = tuple[dict[str, Any], int, Callable[[int], str]]
"""Columns by the file's names (those that nobody wants may be None), how many rows, and the place of a row."""


def _parquet(content: bytes, file: str, wanted: Sequence[str] | None) -> Found:
    import pyarrow.parquet as pq

    return _arrow(pq.ParquetFile, content, file, wanted, lambda opened: opened.schema_arrow)


def _orc(content: bytes, file: str, wanted: Sequence[str] | None) -> Found:
    from pyarrow import orc

    return _arrow(orc.ORCFile, content, file, wanted, lambda opened: opened.schema)


def _arrow(
    open_: Callable[[Any], Any],
    content: bytes,
    file: str,
    wanted: Sequence[str] | None,
    schema: Callable[[Any], pa.Schema],
) -> Found:
    try:
        opened = open_(pa.BufferReader(content))
        names = schema(opened).names
        table = opened.read(columns=[name for name in names if wanted is None or name in wanted])
    except (pa.ArrowException, OSError) as error:
        raise DataRefused(f"{file} cannot be read: {str(error).splitlines()[0]}; write it again") from None
    _check_names(names, file)
    found = {name: table[name] if name in table.column_names else None for name in names}
    return found, table.num_rows, lambda _: file


def _separated(separators: str) -> Callable[[bytes, str, Sequence[str] | None], Found]:
    """Reads cells that are divided by the one of some characters that the first line has most of."""

    def read(content: bytes, file: str, wanted: Sequence[str] | None) -> Found:
        text = _text(content, file)
        separator = max(separators, key=text.partition("\n")[0].count)
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
        at: list[int] = []
        cells: list[list[str]] = []
        try:
            header = next(reader, [])
            for row in reader:
                if not row:
                    continue
                if len(row) != len(header):
                    raise DataRefused(
                        f"{file} line {reader.line_num}: {len(row)} cells, and the header has {len(header)}: "
                        f"{separator.join(header)}"
                    )
                cells.append(row)
                at.append(reader.line_num)
        except csv.Error as error:
            raise DataRefused(f"{file} line {reader.line_num}: {error}") from None
        _check_names(header, file)
        columns = zip(*cells, strict=True) if cells else [()] * len(header)
        found = {
            name: [cell or None for cell in column] if wanted is None or name in wanted else None
            for name, column in zip(header, columns, strict=True)
        }
        return found, len(cells), lambda row: f"{file} line {at[row]}"

    return read


def _json_lines(content: bytes, file: str, wanted: Sequence[str] | None) -> Found:
    at: list[int] = []
    objects: list[dict[str, Any]] = []
    for number, line in enumerate(_text(content, file).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            read = json.loads(line)
            if "\\u" in line:
                json.dumps(read, ensure_ascii=False).encode()  # half a pair of surrogates is no text
        except RecursionError:
            raise DataRefused(f"{file} line {number} is nested too deep; each line is one row") from None
        except ValueError as error:
            raise DataRefused(f"{file} line {number} is no JSON: {error}") from None
        if not isinstance(read, dict):
            raise DataRefused(f'{file} line {number} is no object; each line is one row, such as {{"query_id": …}}')
        objects.append(read)
        at.append(number)
    names = dict.fromkeys(key for each in objects for key in each)
    found = {name: [each.get(name) for each in objects] if wanted is None or name in wanted else None for name in names}
    return found, len(objects), lambda row: f"{file} line {at[row]}"


FORMATS: dict[str, Callable[[bytes, str, Sequence[str] | None], Found]] = {
    "parquet": _parquet,
    "orc": _orc,
    "csv": _separated(",;|\t"),
    "tsv": _separated("\t"),
    "jsonl": _json_lines,
}


def _check_names(names: Sequence[str], file: str) -> None:
    if twice := [name for name, times in Counter(names).items() if times > 1]:
        raise UsageError(f"{file}: there is more than one column called {', '.join(twice)}; rename them")


def _text(content: bytes, file: str) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise DataRefused(f"{file} line {line}: bytes that are not UTF-8; save the file as UTF-8") from None


def _ids(column: Any) -> list[str | None]:  # noqa: ANN401 (an Arrow column, or a list of cells)
    """Raises TypeError, with the type, for what is neither text nor whole numbers."""
    if isinstance(column, pa.ChunkedArray):
        kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
        if not (pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_integer(kind)):
            raise TypeError(str(kind))
        return list(column.cast(pa.string()).to_pylist())
    for kind in set(map(type, column)) - {str, int, type(None)}:
        raise TypeError(JSON_TYPES.get(kind, kind.__name__))
    return [None if cell is None else str(cell) for cell in column]


JSON_TYPES = {float: "numbers with a point", bool: "true or false", list: "lists", dict: "objects"}


def _numbers(column: Any, *, whole: bool) -> list[Any]:  # noqa: ANN401
    """Raises TypeError, with the type, for a column of an Arrow table that holds no numbers."""
    if isinstance(column, pa.ChunkedArray):
        kind = column.type
        is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
        if not is_number and not pa.types.is_null(kind):
            raise TypeError(str(kind))
        found = list(column.cast(pa.float64()).to_pylist())
    elif set(map(type, column)) <= {str, type(None)}:
        return (parts.whole_numbers if whole else parts.numbers)([cell or "" for cell in column])
    else:
        found = [_double(cell) if isinstance(cell, (int, float)) and cell is not True else None for cell in column]
    return [int(cell) if cell is not None and cell == cell // 1 else None for cell in found] if whole else found


def _double(number: float) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def _raw(column: Any, row: int) -> object:  # noqa: ANN401
    """A cell as it is in the file."""
    return column[row].as_py() if isinstance(column, pa.ChunkedArray) else column[row]


def _hint(key: str) -> str:
    if key == "score":
        return "To rank by the column rank use --set score.conventions.ties=rank_column"
    return f"Name the file's own with --set inputs.columns.{key}=NAME"


def _shown(cell: object) -> str:
    return "null" if cell is None else f'"{cell}"' if isinstance(cell, str) else str(cell)


__all__ = ["FEW", "FORMATS", "part", "rows"]
