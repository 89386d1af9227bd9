"""Tables of runs and judgments, one row a document: what counts as a table, and its columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from evalcore.errors import DataError, unknown

Table: TypeAlias = Any
"""A mapping of arrays, or a table of Arrow, pandas, polars or DuckDB; see `is_table`."""
KEYS = ("query_id", "doc_id")


def is_table(given: object) -> bool:
    """Whether this is a table, and no mapping from queries.

    A mapping is one if it has the columns of `KEYS`.

    >>> is_table({"query_id": ["q1"], "doc_id": ["a"]}), is_table({"q1": ["a"]})
    (True, False)
    """
    if isinstance(given, Mapping):
        return all(key in given for key in KEYS)
    return hasattr(given, "__arrow_c_stream__") or hasattr(given, "iloc")


def names_of(table: Table) -> list[str]:
    """The names of the columns."""
    return list(table if isinstance(table, Mapping) else getattr(table, "column_names", None) or table.columns)


def cells(table: Table, column: str, *, whose: str) -> list[Any]:
    """The cells of a column.  Raises DataError where there is none."""
    names = names_of(table)
    if column not in names:
        raise DataError(unknown(f"column of {whose}", column, names))
    found = table[column]
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(found, method):
            return list(getattr(found, method)())
    return list(found)


def run_of(table: Table, *, whose: str) -> dict[str, dict[Any, list[tuple[Any, Any]]]]:
    """System -> query -> [(document, score)]; without a column `system` the one system is called ""."""
    names = names_of(table)
    number = "score" if "score" in names else "rank"
    columns = [cells(table, column, whose=whose) for column in (*KEYS, number)]
    systems = cells(table, "system", whose=whose) if "system" in names else [""] * len(columns[0])
    found: dict[str, dict[Any, list[tuple[Any, Any]]]] = {}
    for system, query, document, value in zip(systems, *columns, strict=True):
        row = (document, value if number == "score" else -value)
        found.setdefault(str(system), {}).setdefault(query, []).append(row)
    return found


def qrels_of(table: Table, value: str = "relevance", *, whose: str = "the judgments") -> dict[Any, dict[Any, Any]]:
    """Query -> {document: grade}, or {document: {subtopic: grade}}."""
    names = names_of(table)
    columns = [cells(table, column, whose=whose) for column in (*KEYS, value)]
    found: dict[Any, dict[Any, Any]] = {}
    if "subtopic" not in names or value != "relevance":
        for query, document, grade in zip(*columns, strict=True):
            found.setdefault(query, {})[document] = grade
        return found
    for query, document, grade, subtopic in zip(*columns, cells(table, "subtopic", whose=whose), strict=True):
        found.setdefault(query, {}).setdefault(document, {})[subtopic or ""] = grade
    return found
