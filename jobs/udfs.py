"""Metrics as columns: the one place that knows both Arrow and evalcore.

    rankings.withColumn("values", metric_udf(parse_list("nDCG@10,AP"))("grades", "judged"))

A row is a ranking, so a batch of rows is one numpy call for thousands of rankings; only the arrays that the
metrics need travel to Python and back. What runs here needs numpy and pyarrow alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as T

from evalcore import Conventions, Grades, JudgedRankings, Metric
from evalcore.arrays import FloatArray, IntArray, Offsets
from evalcore.entries import Entries, group_codes
from evalcore.scoring import Diagnostic, by_column, columns_of, needs_of, score
from evalcore.segments import offsets_of
from jobs.tables import EXTRAS

if TYPE_CHECKING:
    import pandas as pd

How = Literal["auto", "arrow", "pandas"]


def inputs(
    metrics: Sequence[Metric], conventions: Conventions, diagnostics: Sequence[Diagnostic] = ()
) -> tuple[str, ...]:
    """The columns of RANKINGS that the metrics read, in the order in which their UDF takes them."""
    needs = needs_of(metrics, conventions, diagnostics)
    wanted = [column for need, columns in EXTRAS.items() if need in needs for column in columns]
    return ("grades", "judged", *dict.fromkeys(wanted))


def metric_udf(
    metrics: Sequence[Metric],
    *,
    conventions: Conventions | None = None,
    diagnostics: Sequence[Diagnostic] = (),
    best_grade: float = 1.0,
    how: How = "auto",
) -> Callable[..., Column]:
    """A column of structs, one field for each column of `evalcore.scoring.score`, from array columns.

    grades   array<double> in rank order, null = unjudged; a null array is an empty ranking
    judged   array<double>, the grades of all judged documents of the query, best first

    and those of `inputs`, where metrics, ties or diagnostics need more. A field is named by ``column_name``
    and is null where the metric is undefined; of a metric whose value is a vector it is array<double>.
    ``how`` chooses the transport: ``arrow`` (``arrow_udf``, Spark 4.1 and later) or ``pandas``
    (``pandas_udf``, any Spark 3.5 or later); ``auto`` takes Arrow where Spark has it. Both run the same
    function. A batch of rankings must fit in a worker's memory. Of the conventions, those act here that
    concern the documents of a ranking: ``ties`` by score, ``unjudged``, ``negative_grade`` and ``rounding``.
    """
    rules = conventions or Conventions()
    names = inputs(metrics, rules, diagnostics)
    named = by_column(metrics)  # here, where the names of a user's own metrics are known
    returns = T.StructType(
        [
            T.StructField(column, T.ArrayType(T.DoubleType()) if vector else T.DoubleType())
            for column, vector in columns_of(metrics, diagnostics).items()
        ]
    )

    def scored(columns: Sequence[pa.Array]) -> pa.Array:
        rankings = rankings_of(dict(zip(names, columns, strict=True)))
        found = score(named, rankings, rules, diagnostics=diagnostics, best_grade=best_grade)
        return pa.StructArray.from_arrays([_column(values) for values in found.values()], names=list(found))

    make: Any = F  # arrow_udf and pandas_udf are there at run time, but not for type checkers
    if how == "arrow" or (how == "auto" and hasattr(F, "arrow_udf")):

        def from_arrow(*columns: pa.Array) -> pa.Array:
            return scored(columns)

        from_arrow.__annotations__ = {"columns": pa.Array, "return": pa.Array}
        return cast("Callable[..., Column]", make.arrow_udf(from_arrow, returns))

    import pandas as pd

    def from_pandas(*columns: pd.Series[Any]) -> pd.DataFrame:
        lists = [
            pa.array(column, type=TYPES[name], from_pandas=True) for name, column in zip(names, columns, strict=True)
        ]
        return pa.Table.from_struct_array(scored(lists)).to_pandas()

    from_pandas.__annotations__ = {"columns": pd.Series, "return": pd.DataFrame}
    return cast("Callable[..., Column]", make.pandas_udf(from_pandas, returns))


LIST_OF_DOUBLE, LIST_OF_STRING = pa.list_(pa.float64()), pa.list_(pa.string())
LIST_OF_ENTRIES = pa.list_(pa.struct([("doc_id", pa.string()), ("group", pa.string()), ("value", pa.float64())]))
TYPES = {
    "grades": LIST_OF_DOUBLE,
    "judged": LIST_OF_DOUBLE,
    "scores": LIST_OF_DOUBLE,
    "propensities": LIST_OF_DOUBLE,
    "judged_propensities": LIST_OF_DOUBLE,
    "doc_ids": LIST_OF_STRING,
    "reference": LIST_OF_STRING,
    "entries": LIST_OF_ENTRIES,
}
"""The Arrow type of each array column of RANKINGS."""


def rankings_of(columns: Mapping[str, pa.Array]) -> JudgedRankings:
    """Array columns of RANKINGS -> JudgedRankings: a list column already is values plus offsets."""
    scores, propensities, judged_propensities = (
        _values(columns[key]) if key in columns else None for key in ("scores", "propensities", "judged_propensities")
    )
    documents, listed = _coded(columns) if "doc_ids" in columns else (None, {})
    entries = listed.get("entries")
    return JudgedRankings(
        grades_of(columns["grades"]),
        grades_of(columns["judged"]),
        scores=scores,
        documents=documents,
        propensities=propensities,
        judged_propensities=judged_propensities,
        subtopics=entries,
        preferences=entries,
        reference=listed.get("reference"),
    )


def grades_of(lists: pa.Array) -> Grades:
    """list<double> -> Grades.  Nulls become NaN."""
    return Grades(_values(lists), _offsets(lists))


def _values(lists: pa.Array) -> FloatArray:
    return np.asarray(lists.flatten().to_numpy(zero_copy_only=False), dtype=np.float64)


def _offsets(lists: pa.Array) -> Offsets:
    return offsets_of(pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False))


def _coded(columns: Mapping[str, pa.Array]) -> tuple[IntArray, dict[str, Entries]]:
    """Document ids as numbers, the same in all columns that name documents."""
    ids = {"doc_ids": columns["doc_ids"].flatten()}
    if "reference" in columns:
        ids["reference"] = columns["reference"].flatten()
    if "entries" in columns:
        rows = columns["entries"].flatten()
        ids["entries"] = pc.struct_field(rows, "doc_id")
    codes = _codes(pa.concat_arrays([each.cast(pa.string()) for each in ids.values()]))
    parts = dict(zip(ids, np.split(codes, np.cumsum([len(each) for each in ids.values()])[:-1]), strict=True))
    listed = {}
    if "reference" in ids:
        offsets = _offsets(columns["reference"])
        ranks = np.arange(offsets[-1]) - np.repeat(offsets[:-1], np.diff(offsets)) + 1.0
        nothing = np.zeros(len(ranks), dtype=np.int64)
        listed["reference"] = Entries(parts["reference"], nothing, ranks, offsets)
    if "entries" in ids:
        named = pc.fill_null(pc.struct_field(rows, "group"), "").dictionary_encode()
        texts = named.dictionary.to_pylist()
        known = group_codes(texts)
        groups = np.array([known[text] for text in texts], dtype=np.int64)[np.asarray(named.indices)]
        values = pc.struct_field(rows, "value").to_numpy(zero_copy_only=False)
        listed["entries"] = Entries(parts["entries"], groups, values, _offsets(columns["entries"]))
    return parts["doc_ids"], listed


def _codes(texts: pa.Array) -> IntArray:
    """Numbers in the order of the texts, so that no other row of a batch changes which of two comes first."""
    encoded = texts.dictionary_encode()
    codes = np.empty(len(encoded.dictionary), dtype=np.int64)
    codes[np.asarray(pc.sort_indices(encoded.dictionary))] = np.arange(len(codes))
    return np.asarray(codes[np.asarray(encoded.indices)])


def _column(values: FloatArray) -> pa.Array:
    """Doubles, null for NaN; of a vector a list for each row."""
    flat = pa.array(values.ravel(), from_pandas=True)
    if values.ndim == 1:
        return flat
    return pa.ListArray.from_arrays(np.arange(len(values) + 1, dtype=np.int32) * values.shape[1], flat)
