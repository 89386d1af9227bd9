"""Judgments and runs that the optional package ir_datasets knows by an id."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from jobs.direct.parts import Part
from jobs.errors import DataRefused, UsageError

PREFIX = "irds:"
"""What a path begins with that is such an id."""
COLUMNS = {"runs": ("query_id", "doc_id", "score"), "qrels": ("query_id", "doc_id", "relevance")}


def part(path: str, *, kind: str) -> Part:
    """The judgments of a data set, or the scored documents that it comes with as a run called by the id.

    Raises UsageError without the package or for an id that it does not know, DataRefused where the data set has none.
    """
    try:
        import ir_datasets
    except ModuleNotFoundError:
        raise UsageError(f"{path} needs the package ir_datasets; install it with: pip install ir_datasets") from None
    name = path.removeprefix(PREFIX)
    try:
        dataset: Any = ir_datasets.load(name)
    except KeyError:
        raise UsageError(f"{path}: ir_datasets knows no {name}; see https://ir-datasets.com") from None
    has, rows = ("has_qrels", "qrels_iter") if kind == "qrels" else ("has_scoreddocs", "scoreddocs_iter")
    if not getattr(dataset, has)():
        what = "judgments" if kind == "qrels" else "scored documents"
        raise DataRefused(f"{path}: ir_datasets has no {what} of {name}; name a file")
    found: Iterable[Any] = getattr(dataset, rows)()
    query_id, doc_id, number = COLUMNS[kind]
    cells = [(getattr(row, query_id), getattr(row, doc_id), float(getattr(row, number))) for row in found]
    columns = dict(zip(COLUMNS[kind], ([row[place] for row in cells] for place in range(3)), strict=True))
    if kind == "runs":
        columns["system"] = [name] * len(cells)
    return Part.of(path, columns)
