"""Metrics as columns: the one place that knows both Arrow and evalcore.

    rankings.withColumn("values", metric_udf(parse_list("nDCG@10,AP"))("grades", "judged"))

A row is a ranking, so a batch of rows is one numpy call for thousands of rankings; only the numeric
arrays travel to Python and back. What runs here needs numpy and pyarrow alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as T

from evalcore import Conventions, Grades, JudgedRankings, Metric, column_name
from evalcore.segments import offsets_of

if TYPE_CHECKING:
    import pandas as pd

How = Literal["auto", "arrow", "pandas"]
LIST_OF_DOUBLE = pa.list_(pa.float64())


def metric_udf(
    metrics: Sequence[Metric], *, conventions: Conventions | None = None, how: How = "auto"
) -> Callable[..., Column]:
    """A column of structs, one double field for each metric, from two array columns.

    grades   array<double> in rank order, null = unjudged; a null array is an empty ranking
    judged   array<double>, the grades of all judged documents of the query, best first

    A field is named by ``column_name`` and is null where the metric is undefined. ``how`` chooses the
    transport: ``arrow`` (``arrow_udf``, Spark 4.1 and later) or ``pandas`` (``pandas_udf``, any Spark
    3.5 or later); ``auto`` takes Arrow where Spark has it. Both run the same function. A batch of
    rankings must fit in a worker's memory. Of the conventions, those act here that concern the
    documents of a ranking: ``unjudged`` and ``negative_grade``.
    """
    rules = conventions or Conventions()
    returns = T.StructType([T.StructField(column_name(metric), T.DoubleType()) for metric in metrics])
    make: Any = F  # arrow_udf and pandas_udf are there at run time, but not for type checkers
    if how == "arrow" or (how == "auto" and hasattr(F, "arrow_udf")):

        def from_arrow(grades: pa.Array, judged: pa.Array) -> pa.Array:
            return struct_of_values(grades, judged, metrics, rules)

        from_arrow.__annotations__ = {"grades": pa.Array, "judged": pa.Array, "return": pa.Array}
        return cast("Callable[..., Column]", make.arrow_udf(from_arrow, returns))

    import pandas as pd

    def from_pandas(grades: pd.Series[Any], judged: pd.Series[Any]) -> pd.DataFrame:
        lists = [pa.array(column, type=LIST_OF_DOUBLE, from_pandas=True) for column in (grades, judged)]
        return pa.Table.from_struct_array(struct_of_values(lists[0], lists[1], metrics, rules)).to_pandas()

    from_pandas.__annotations__ = {"grades": pd.Series, "judged": pd.Series, "return": pd.DataFrame}
    return cast("Callable[..., Column]", make.pandas_udf(from_pandas, returns))


def struct_of_values(
    grades: pa.Array, judged: pa.Array, metrics: Sequence[Metric], conventions: Conventions
) -> pa.Array:
    """One struct a ranking, one field a metric, null where undefined.  list<double> twice -> struct."""
    rankings = JudgedRankings(grades_of(grades), grades_of(judged)).under(conventions)
    columns = [pa.array(metric.per_query(rankings), from_pandas=True) for metric in metrics]
    return pa.StructArray.from_arrays(columns, names=[column_name(metric) for metric in metrics])


def grades_of(lists: pa.Array) -> Grades:
    """list<double> -> Grades: a list column already is values plus offsets.  Nulls become NaN."""
    lengths = pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False)
    values = lists.flatten().to_numpy(zero_copy_only=False).astype(np.float64, copy=False)
    return Grades(values, offsets_of(lengths))
