"""RUNS + QRELS (+ QUERIES) -> RANKINGS: one row for every system and every query of the universe."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from evalcore import Conventions
from jobs.tables import NO_RELEVANT, OK, RANKING_COLUMNS, RELEVANT_GRADE, UNANSWERED, UNJUDGED


def judgments(qrels: DataFrame) -> DataFrame:
    """QRELS -> one row per (query, document), partitioned by query for every later join.

    Moves every judgment once. Repeated judgments become one; `n_repeated` and `n_contradictory` count
    what was repeated, with the same grade or with another, for the audit.
    """
    return (
        qrels.repartition("query_id")
        .groupBy("query_id", "doc_id")
        .agg(
            F.max("relevance").alias("relevance"),
            (F.count("*") - 1).alias("n_repeated"),
            F.when(F.min("relevance") < F.max("relevance"), 1).otherwise(0).alias("n_contradictory"),
        )
    )


def ranked(runs: DataFrame, judgments: DataFrame, *, conventions: Conventions, depth: int | None) -> DataFrame:
    """RUNS -> one row per (system, query) that returned something: the grades of its documents, best first.

    n_retrieved   documents, up to the depth
    n_duplicates  copies of documents that the system returned more than once, of those within the depth

    Moves every returned document once. One ranking must fit in an executor's memory. The cut to the
    depth comes after the shuffle: before it, rows in no order would be sorted twice for nothing.
    """
    keys, ascending = _order(conventions)
    one_each = conventions.duplicates != "error"
    rows = runs.repartition("query_id")
    if one_each:
        rows = _keep_one(rows, conventions)
    if depth is not None:
        best_first = [key.asc() if ascending else key.desc() for key in keys]
        within = Window.partitionBy("query_id", "system").orderBy(*best_first)
        rows = rows.withColumn("rank_within", F.row_number().over(within)).where(F.col("rank_within") <= depth)
    grades = judgments.select("query_id", "doc_id", F.col("relevance").alias("grade"))
    graded = rows.join(grades.hint("shuffle_hash"), on=["query_id", "doc_id"], how="left")
    named = [key.alias(f"key_{index}") for index, key in enumerate(keys)]
    documents = F.sort_array(F.collect_list(F.struct(*named, "doc_id", "grade")), asc=ascending)
    copies = F.sum("n_copies") if one_each else F.lit(None)
    rankings = graded.groupBy("query_id", "system").agg(documents.alias("documents"), copies.alias("n_copies"))
    repeated = F.size("documents") - F.size(F.array_distinct("documents.doc_id"))
    return rankings.select(
        "system",
        "query_id",
        F.col("documents.grade").alias("grades"),
        F.size("documents").alias("n_retrieved"),
        F.coalesce("n_copies", repeated).alias("n_duplicates"),
    )


def looks_at_places(conventions: Conventions) -> bool:
    """Whether the order of the input's rows can decide anything."""
    return conventions.ties in ("rank_column", "input_order") or conventions.duplicates != "error"


def needed(runs: DataFrame, conventions: Conventions) -> DataFrame:
    """RUNS without the columns that these conventions do not look at."""
    rank = ["rank"] if conventions.ties == "rank_column" else []
    place = ["place"] if looks_at_places(conventions) else []
    return runs.select("system", "query_id", "doc_id", "score", *rank, *place)


def _order(conventions: Conventions) -> tuple[list[Column], bool]:
    """The keys that order the documents of a ranking, and whether they ascend: a sort has one direction."""
    score = F.col("score")
    if conventions.score_precision == "float32":
        score = score.cast("float")
    finite = ~F.isnan("score") & (F.abs("score") < float("inf"))
    if conventions.ties == "rank_column":
        return [F.col("rank"), F.col("place")], True
    if conventions.ties == "doc_id_desc":
        return [F.when(finite, score) if conventions.non_finite_score == "last" else score, F.col("doc_id")], False
    worst_last = F.when(finite, -score).otherwise(float("nan")) if conventions.non_finite_score == "last" else -score
    return [worst_last, F.col("doc_id") if conventions.ties == "doc_id_asc" else F.col("place")], True


def _keep_one(runs: DataFrame, conventions: Conventions) -> DataFrame:
    """One row for each document of a ranking, by the convention; n_copies is how many others there were."""
    finite = F.when(~F.isnan("score") & (F.abs("score") < float("inf")), F.col("score"))
    rank = [F.col("rank").asc()] if conventions.ties == "rank_column" else []
    first = {
        "first": [F.col("place").asc()],
        "last": [F.col("place").desc()],
        "best_score": [finite.desc(), *rank, F.col("place").asc()],
    }
    same = Window.partitionBy("query_id", "system", "doc_id")
    numbered = runs.withColumn("copy", F.row_number().over(same.orderBy(*first[conventions.duplicates])))
    counted = numbered.withColumn("n_copies", F.count("*").over(same) - 1)
    return counted.where(F.col("copy") == 1)


def complete(
    ranked: DataFrame, judgments: DataFrame, queries: DataFrame | None, *, systems: Sequence[str]
) -> DataFrame:
    """The rankings of `ranked` for the query universe, and empty ones where a system returned nothing.

    The universe is QUERIES where given, else every query with a judgment. Moves QUERIES once and no
    ranking: everything is partitioned by query already.
    """
    judged = judgments.groupBy("query_id").agg(
        F.sort_array(F.collect_list("relevance"), asc=False).alias("judged"),
        F.count_if(F.col("relevance") >= RELEVANT_GRADE).cast("int").alias("n_relevant"),
        F.count("relevance").cast("int").alias("n_judged"),
        F.sum("n_repeated").alias("n_repeated"),
        F.sum("n_contradictory").alias("n_contradictory"),
    )
    universe = judged
    if queries is not None:
        universe = queries.repartition("query_id").join(judged.hint("shuffle_hash"), on="query_id", how="left")
    expected = universe.withColumn("system", F.explode(F.array(*[F.lit(system) for system in systems])))
    rankings = ranked.join(expected.hint("shuffle_hash"), on=["query_id", "system"], how="right")
    n_retrieved = F.coalesce("n_retrieved", F.lit(0))
    status = (
        F.when(F.col("judged").isNull(), UNJUDGED)
        .when(n_retrieved == 0, UNANSWERED)
        .when(F.col("n_relevant") == 0, NO_RELEVANT)
        .otherwise(OK)
    )
    others = [key for key in (queries.columns if queries is not None else []) if key != "query_id"]
    counts = {key: F.coalesce(F.col(key), F.lit(0)) for key in ("n_relevant", "n_judged")}
    filled = rankings.withColumns({"n_retrieved": n_retrieved, "status": status, **counts})
    return filled.select(*RANKING_COLUMNS, *(f"`{key}`" for key in others), *AUDITED)


AUDITED = ("n_duplicates", "n_repeated", "n_contradictory")
"""Counts for the audit that ride along with a ranking."""
