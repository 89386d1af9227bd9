"""Tables, one row a document: what counts as a table, and its columns as ids and numbers."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from evalcore.arrays import FloatArray
from evalcore.arrow import Column, columns_of
from evalcore.errors import DataError, unknown
from evalcore.given import Place, numbers, texts
from evalcore.ids import Ids
from evalcore.texts import Texts

Table: TypeAlias = Any
"""A mapping of arrays; a table of pandas; anything with `__arrow_c_stream__`: of pyarrow, polars, DuckDB and others.

A column of ids in a mapping may be `Ids` too, as one has them who read them from bytes.
"""
QUERY, DOCUMENT = "query_id", "doc_id"


def is_table(given: object) -> bool:
    """Whether this is a table of documents, and no mapping from queries.

    A mapping is one if it has the columns of both ids.

    >>> is_table({"query_id": ["q1"], "doc_id": ["a"]}), is_table({"q1": ["a"]})
    (True, False)
    """
    if isinstance(given, Mapping):
        return QUERY in given and DOCUMENT in given
    return hasattr(given, "__arrow_c_stream__") or hasattr(given, "iloc")


def is_table_of_queries(given: object) -> bool:
    """Whether this is a table with a row for each query, and neither a list of them nor a mapping to weights.

    >>> is_table_of_queries({"query_id": ["q1"]}), is_table_of_queries({"query_id": 0.5})
    (True, False)
    """
    if isinstance(given, Mapping):
        return isinstance(given.get(QUERY), Collection) and not isinstance(given[QUERY], str)
    return is_table(given) and (hasattr(given, "columns") or hasattr(given, "schema"))  # a single column has neither


@dataclass(frozen=True, slots=True)
class Columns:
    """Some columns of a table.

    whose   what the table is to the caller, for messages: "the run"
    names   of all columns
    cells   those that were wanted and are there
    """

    whose: str
    names: list[str]
    cells: Mapping[str, Any]

    @classmethod
    def of(cls, table: Table, wanted: Collection[str], *, whose: str) -> Columns:
        """Raises DataError for what cannot be read."""
        if isinstance(table, Mapping):
            names = list(table)
            cells = {name: _array(name, table[name], whose) for name in wanted if name in table}
        elif hasattr(table, "iloc"):  # pandas gives Arrow no column that holds texts and numbers, which ids may be
            names = list(table.columns)
            cells = {name: _of_pandas(table.iloc[:, names.index(name)]) for name in wanted if name in names}
        else:
            names, cells = columns_of(table, wanted)
        if twice := [name for name in wanted if names.count(name) > 1]:
            raise DataError(f"{whose} has more than one column called {', '.join(twice)}")
        lengths = {name: len(column) for name, column in cells.items()}
        if len(set(lengths.values())) > 1:
            raise DataError(f"the columns of {whose} have different lengths: {lengths}")
        return cls(whose, names, cells)

    def __contains__(self, name: str) -> bool:
        return name in self.cells

    def ids(self, name: str, *, null: str | None = None) -> Ids:
        """Raises DataError where there is no such column, or a cell is no id.

        null   the id that a null stands for; none, and nulls are refused
        """
        cells = self._column(name)
        if isinstance(cells, Ids):
            return cells
        if isinstance(cells, Column):
            if cells.nulls is not None and cells.nulls.any():
                return self._filled(name, cells, null)
            if isinstance(cells.values, Texts):
                return Ids(cells.values, cells.codes)
            cells = cells.values
        if isinstance(cells, np.ndarray):
            if cells.dtype.kind in "iu":
                return Ids.of_numbers(cells)
            cells = cells.tolist()
        given = list(cells)
        missing = [row for row, cell in enumerate(given) if cell is None]
        if missing and null is None:
            raise self._without_id(name, missing)
        for row in missing:
            given[row] = null
        return Ids(Texts.of(texts(given, f"{name} of {self.whose}:")))

    def _filled(self, name: str, cells: Column, null: str | None) -> Ids:
        rows = np.flatnonzero(np.asarray(cells.nulls))
        if null is None:
            raise self._without_id(name, rows.tolist())
        if len(rows) == len(cells):
            return Ids(Texts.of([null]), np.zeros(len(cells), dtype=np.int64))
        there = replace(self, cells={name: replace(cells, nulls=None)}).ids(name)
        codes = np.arange(len(there)) if there.codes is None else there.codes.copy()
        codes[rows] = len(there.texts)
        return Ids(Texts.joined([there.texts, Texts.of([null])]), codes)

    def numbers(self, name: str, place: Place) -> FloatArray:
        """(n_rows,), NaN where there is none.  Raises DataError where there is no such column, or a cell is no number.

        place   says in words where the number of a row was given
        """
        cells = self._column(name)
        if isinstance(cells, Column):
            if isinstance(cells.values, Texts):
                raise DataError(f"column {name} of {self.whose} holds texts; it must hold numbers")
            found = cells.values.astype(np.float64)
            if cells.nulls is not None:
                found[cells.nulls] = np.nan
            return found
        if isinstance(cells, np.ndarray):
            if cells.dtype.kind in "iufb":
                return cells.astype(np.float64)
            cells = cells.tolist()
        return numbers([np.nan if cell is None else cell for cell in cells], place)

    def _column(self, name: str) -> Any:  # noqa: ANN401 (a Column, Ids, an array or a list)
        if name not in self.cells:
            raise DataError(unknown(f"column of {self.whose}", name, map(str, self.names)))
        return self.cells[name]

    def _without_id(self, name: str, rows: list[int]) -> DataError:
        shown = ", ".join(map(str, rows[:3]))
        return DataError(f"{name} is null in {len(rows)} rows of {self.whose}, the first of them at {shown} (from 0)")


def _array(name: str, given: Any, whose: str) -> Any:  # noqa: ANN401 (Ids, an array or a list)
    """A column of a mapping."""
    if isinstance(given, Ids):
        return given
    for method in ("to_pylist", "to_numpy"):  # of Arrow, of pandas and polars
        if hasattr(given, method):
            return getattr(given, method)()
    if isinstance(given, np.ndarray):
        if given.ndim != 1:
            raise DataError(f"column {name} of {whose} has {given.ndim} dimensions; it must have one")
        # numpy imports its masked arrays only where they are spoken of
        return given.tolist() if type(given) is not np.ndarray and np.ma.isMaskedArray(given) else given
    if isinstance(given, (str, bytes, Mapping)) or not isinstance(given, Collection):
        raise DataError(f"column {name} of {whose} is {given!r}; it must be an array or a list")
    return list(given)


def _of_pandas(series: Any) -> Any:  # noqa: ANN401 (an array)
    """A column of pandas, None where it has any of its marks for what is missing."""
    missing = series.isna().to_numpy()
    if series.dtype.kind == "f" or not missing.any():
        return series.to_numpy()
    values = series.to_numpy(dtype=object, copy=True)  # whole numbers stay whole beside what is missing
    values[missing] = None
    return values
