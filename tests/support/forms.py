"""The same rows as tables of every kind that evaluate reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

Rows = Mapping[str, Sequence[Any]]


def _in_chunks(rows: Rows) -> pa.Table:
    table = pa.table(dict(rows))
    return pa.concat_tables([table.slice(0, len(table) // 3), table.slice(0, 0), table.slice(len(table) // 3)])


def _encoded(rows: Rows) -> pa.Table:
    """Texts as dictionaries, one of each chunk's own."""
    table = _in_chunks(rows)
    columns = [
        pa.chunked_array([chunk.dictionary_encode() for chunk in column.chunks])
        if pa.types.is_string(column.type)
        else column
        for column in table.columns
    ]
    return pa.table(dict(zip(table.column_names, columns, strict=True)))


def _cast(rows: Rows, kind: pa.DataType) -> pa.Table:
    table = pa.table(dict(rows))
    texts = [field.with_type(kind) if pa.types.is_string(field.type) else field for field in table.schema]
    return table.cast(pa.schema(texts))


def _duckdb(rows: Rows) -> duckdb.DuckDBPyRelation:
    table = pa.table(dict(rows))
    return duckdb.connect().from_arrow(table)


FORMS: dict[str, Callable[[Rows], Any]] = {
    "lists": dict,
    "numpy": lambda rows: {name: np.array(column) for name, column in rows.items()},
    "numpy objects": lambda rows: {name: np.array(column, dtype=object) for name, column in rows.items()},
    "pandas": lambda rows: pd.DataFrame(dict(rows)),
    "pandas categories": lambda rows: pd.DataFrame(dict(rows)).astype(
        {name: "category" for name, column in rows.items() if column and isinstance(column[0], str)}
    ),
    "polars": lambda rows: pl.DataFrame(dict(rows)),
    "pyarrow": lambda rows: pa.table(dict(rows)),
    "pyarrow in chunks": _in_chunks,
    "pyarrow dictionaries": _encoded,
    "pyarrow large texts": lambda rows: _cast(rows, pa.large_string()),
    "pyarrow views": lambda rows: _cast(rows, pa.string_view()),
    "a slice": lambda rows: pa.concat_tables([pa.table(dict(rows))] * 2).combine_chunks().slice(len(rows["query_id"])),
    "a batch": lambda rows: pa.record_batch(dict(rows)),
    "a reader": lambda rows: pa.table(dict(rows)).to_reader(max_chunksize=3),
    "duckdb": _duckdb,
}
