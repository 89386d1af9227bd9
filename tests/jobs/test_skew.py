"""A query stays whole: after a join, Spark may hand one query to several tasks."""

from __future__ import annotations

import collections

import pyarrow as pa
import pytest
from pyspark import TaskContext
from pyspark.sql import functions as F

from evalcore import Conventions, column_name, parse_list
from jobs import rankings
from jobs.score import score

SKEW = {
    "spark.sql.shuffle.partitions": "8",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.sql.adaptive.autoBroadcastJoinThreshold": "-1",
    "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes": "4000",
    "spark.sql.adaptive.skewJoin.skewedPartitionFactor": "1.5",
    "spark.sql.adaptive.advisoryPartitionSizeInBytes": "30000",
}
N_ROWS = 60_000


@pytest.fixture
def skewed(spark, tmp_path):
    """A run where four rows in five belong to one query, and settings under which Spark splits such a partition."""
    saved = {key: spark.conf.get(key, None) for key in SKEW}
    for key, value in SKEW.items():
        spark.conf.set(key, value)
    spark.range(N_ROWS).select(
        F.lit("A").alias("system"),
        F.expr("if(id % 10 < 8, 'hot', concat('q', id % 1000))").alias("query_id"),
        F.concat(F.lit("d"), F.col("id")).alias("doc_id"),
        F.col("id").cast("double").alias("score"),
        F.lit(None).cast("int").alias("rank"),
        F.struct(F.lit("f"), F.lit(0), F.col("id")).alias("place"),
    ).repartition(6).write.parquet(str(tmp_path / "runs"))
    spark.range(N_ROWS).where("id % 3 = 0").select(
        F.expr("if(id % 10 < 8, 'hot', concat('q', id % 1000))").alias("query_id"),
        F.concat(F.lit("d"), F.col("id")).alias("doc_id"),
        F.lit(1.0).alias("relevance"),
    ).write.parquet(str(tmp_path / "qrels"))
    spark.range(1_000).select(
        F.expr("if(id = 0, 'hot', concat('q', id))").alias("query_id"), (F.col("id") % 7).alias("user_id")
    ).write.parquet(str(tmp_path / "queries"))
    yield [spark.read.parquet(str(tmp_path / table)) for table in ("runs", "qrels", "queries")]
    for key, value in saved.items():
        spark.conf.unset(key) if value is None else spark.conf.set(key, value)


def tasks_by_query(frame):
    """How many tasks see rows of each query."""

    def seen(batches):
        for batch in batches:
            queries = sorted(set(batch.column(0).to_pylist()))
            task = TaskContext.get().partitionId()
            yield pa.RecordBatch.from_pydict({"query_id": queries, "task": [task] * len(queries)})

    tasks = collections.defaultdict(set)
    for row in frame.mapInArrow(seen, "query_id string, task long").collect():
        tasks[row.query_id].add(row.task)
    return {query: len(found) for query, found in tasks.items()}


def test_the_settings_do_split_a_query_where_nothing_keeps_it_whole(skewed):
    runs, _, queries = skewed
    naive = runs.join(queries, on="query_id", how="inner").repartition("query_id").sortWithinPartitions("query_id")
    assert max(tasks_by_query(naive).values()) > 1


@pytest.mark.parametrize("metrics", ["NumRet,NumRelRet,R,AP", "P@10,RR@10"])
def test_a_hot_query_is_scored_whole(skewed, metrics):
    runs, qrels, _ = skewed
    parsed = parse_list(metrics)
    judgments = rankings.judgments(qrels.withColumn("subtopic", F.lit(None).cast("string")))
    depth = None if parsed[0].cutoff is None else 10
    ranked = rankings.ranked(runs, judgments, conventions=Conventions(), depth=depth)
    complete = rankings.complete(ranked, rankings.judged_queries(judgments), None, systems=["A"])
    scores = score(complete, metrics=parsed, conventions=Conventions()).collect()
    assert len(scores) == len({row.query_id for row in scores}) == qrels.select("query_id").distinct().count()
    assert max(tasks_by_query(complete.select("query_id", "n_retrieved")).values()) == 1
    hot = next(row for row in scores if row.query_id == "hot")
    if depth is None:
        assert hot.numret == N_ROWS * 0.8
        assert hot.numrelret == hot.n_relevant == sum(id_ % 3 == 0 and id_ % 10 < 8 for id_ in range(N_ROWS))
        assert hot.r == 1.0
    else:
        best = sorted((id_ for id_ in range(N_ROWS) if id_ % 10 < 8), reverse=True)[:10]
        assert hot[column_name(parsed[0])] == sum(id_ % 3 == 0 for id_ in best) / 10
