"""The nested layout: a row is a ranking, its documents in arrays, the first one at rank 1.

    system   query_id   doc_id       relevance    judged
    bm25     q1         [d7, d2]     [1, null]    [2, 1, 0]      judged: the grades of all judged documents of the query

Arrays of structs are such arrays too: `results.id` is the field id of every element of results. The order of the
arrays is the ranking, whatever scores stand beside. Arrays of one row must be of one length.
"""

from __future__ import annotations

from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from jobs.readers.columns import Columns
from jobs.readers.formats import FILE, PLACE, UNREAD
from jobs.readers.layouts import TORN, system_of

ALIGNED = ("doc_id", "relevance", "score", "propensity")
"""What stands in arrays beside each other."""


def is_graded(columns: Columns) -> bool:
    """Whether rankings hold the grades of their documents as numbers."""
    kind = columns.type_of("relevance")
    return isinstance(kind, T.ArrayType) and isinstance(kind.elementType, T.NumericType)


def rankings(columns: Columns, *, by_file: bool, ids: bool) -> DataFrame:
    """A row for each ranking: system, query_id, grades, and doc_ids and judged where there are any.

    ids  whether to look at the documents

    Null where a cell cannot be used; all arrays are null where their lengths differ. Moves nothing.
    """
    lists = [ours for ours in ("relevance", "doc_id") if columns.has(ours) and (ours != "doc_id" or ids)]
    more = ["judged"] if columns.has("judged") else []
    _check(columns, lists, by_file=by_file, more=more)
    named = {"relevance": "grades", "doc_id": "doc_ids", "judged": "judged"}
    torn = _torn(columns, lists)
    return columns.table.frame.select(
        system_of(columns, by_file=by_file).alias("system"),
        columns.value("query_id").alias("query_id"),
        *(F.when(~torn, columns.value(ours)).alias(named[ours]) for ours in lists),
        *(columns.value(ours).alias(named[ours]) for ours in more),
    )


def documents(columns: Columns, *, by_file: bool) -> DataFrame:
    """A row for each document: what the layout `long` has, with scores that descend along the array."""
    rows = _exploded(columns, ["doc_id"], by_file=by_file)
    return rows.withColumns({"score": -F.col("rank"), "raw_score": -F.col("rank"), "raw_rank": F.col("rank")})


def judgments(columns: Columns) -> DataFrame:
    """A row for each document and its label."""
    more = [ours for ours in ("propensity",) if columns.has(ours)]
    return _exploded(columns, ["doc_id", "relevance", *more], by_file=None)


def flaws(columns: Columns) -> DataFrame:
    """The rows whose arrays are missing or of different lengths: query_id, FILE and the length of each array."""
    lists = [ours for ours in ALIGNED if isinstance(columns.type_of(ours), T.ArrayType)]
    sizes = (F.size(columns.raw(ours)).alias(columns.theirs(ours)) for ours in lists)
    rows = columns.table.frame.where(_torn(columns, lists) | F.col(UNREAD).isNotNull())
    return rows.select(columns.raw("query_id").cast("string").alias("query_id"), F.col(FILE).alias("file"), *sizes)


def _exploded(columns: Columns, lists: list[str], *, by_file: bool | None) -> DataFrame:
    _check(columns, lists, by_file=by_file)
    frame = columns.table.frame
    # an empty list is a ranking without documents; a missing one must not vanish: its row has no document
    rows = frame.where(F.coalesce(F.size(columns.raw("doc_id")) != 0, F.lit(True)))
    rows = rows.withColumns({f"_{ours}": columns.raw(ours) for ours in lists})
    zipped = F.arrays_zip(*(F.col(f"_{ours}") for ours in lists))
    rows = rows.select("*", F.posexplode_outer(zipped).alias("_index", "_item"))
    items = {ours: F.col(f"_item._{ours}") for ours in lists}
    place = [F.struct(PLACE, "_index").alias(PLACE)] if PLACE in frame.columns else []
    return rows.select(
        *([] if by_file is None else [system_of(columns, by_file=by_file).alias("system")]),
        columns.value("query_id").alias("query_id"),
        *(columns.convert(ours, item).alias(ours) for ours, item in items.items()),
        *(item.alias(f"raw_{ours}") for ours, item in items.items()),
        (F.col("_index") + 1.0).alias("rank"),
        (_torn(columns, lists) | F.col(UNREAD).isNotNull()).alias(TORN),
        FILE,
        *place,
    )


def _check(columns: Columns, lists: list[str], *, by_file: bool | None, more: list[str] | None = None) -> None:
    columns.check(
        *(["system"] if by_file is False else []), "query_id", *lists, *(more or []), arrays=[*lists, "judged"]
    )


def _torn(columns: Columns, lists: list[str]) -> Column:
    """Whether an array is missing, or not as long as the first."""
    sizes = [F.size(columns.raw(ours)) for ours in lists]
    first = F.coalesce(sizes[0], F.lit(-1))
    return reduce(
        lambda one, other: one | other, (F.coalesce(size, F.lit(-2)) != first for size in sizes[1:]), first < 0
    )
