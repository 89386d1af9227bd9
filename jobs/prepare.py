"""What is done to the input of all systems alike, by id and never by position, before anything is ranked.

A step that is not asked for adds nothing to the plan; none moves a row.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from jobs.config_input import Prepare
from jobs.ids import parent, sampled


def queries(frame: DataFrame, settings: Prepare) -> DataFrame:
    """The rows of the queries in the sample, of any table with query_id."""
    return frame.where(sampled("query_id", settings.sample)) if settings.sample < 1 else frame


def documents(frame: DataFrame, settings: Prepare) -> DataFrame:
    """RUNS or QRELS of the queries in the sample, with documents for their passages."""
    frame = queries(frame, settings)
    return frame if settings.separator is None else frame.withColumn("doc_id", parent("doc_id", settings.separator))


def without_self(frame: DataFrame, settings: Prepare) -> DataFrame:
    """RUNS or QRELS without documents whose id is the query's; rows without an id stay, to be refused."""
    if settings.self_retrieval == "keep":
        return frame
    return frame.where(F.coalesce(F.col("doc_id") != F.col("query_id"), F.lit(True)))
