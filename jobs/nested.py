"""Rows that hold whole rankings -> RANKINGS, by array functions alone: no document is moved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from evalcore.statuses import NO_RELEVANT, OK, RELEVANT_GRADE, UNANSWERED, UNJUDGED
from jobs.tables import AUDITED_JUDGMENTS, RANKING_COLUMNS

INFINITE = float("inf")


@dataclass(frozen=True, slots=True)
class Facts:
    """What one pass over ids and judgments tells before anything is scored; the judgments of a query count once.

    systems           in order of names
    n_documents       returned, by all of them
    n_unusable        rows without system or query, or whose arrays are missing or of different lengths
    n_repeated        rows whose system and query are in another row too
    n_contradictory   queries whose rows hold different judgments
    n_absent          systems without a row for a query of another system
    """

    systems: list[str]
    n_documents: int
    n_unusable: int
    n_repeated: int
    n_contradictory: int
    n_absent: int
    n_judged_queries: int
    n_qrel_rows: int
    n_unusable_qrel_rows: int
    n_negative_grades: int
    n_odd_grades: int
    lowest_gain: float | None
    best_grade: float | None
    qrels_fingerprint: str


def judged(arrays: DataFrame) -> DataFrame:
    """Rows of rankings with the judgments of their query, best first: `judged`, or those of their own documents."""
    column = "judged" if "judged" in arrays.columns else "grades"
    return arrays.withColumn("judged", F.sort_array(F.array_compact(column), asc=False))


def unusable(rows: DataFrame) -> Column:
    """Whether a row cannot be used: without an id, or without arrays that belong together."""
    flaw = F.lit(False)
    for key in ("system", "query_id"):
        flaw = flaw | F.coalesce(F.trim(key) == "", F.lit(True))
    for key in {"grades", "judged", "doc_ids"} & set(rows.columns):
        flaw = flaw | F.col(key).isNull()
    return flaw


def infinite() -> Column:
    """Whether a judgment of a row is NaN or infinite; NaN is above infinity to Spark."""
    best, worst = _ends()
    return F.coalesce((best >= INFINITE) | (worst == -INFINITE), F.lit(False))


def _ends() -> tuple[Column, Column]:
    """The best grade of a row and the worst, null where there is none."""
    return F.get("judged", F.lit(0)), F.element_at(F.when(F.size("judged") > 0, F.col("judged")), -1)


def facts(rows: DataFrame, *, expected: Sequence[float] = ()) -> Facts:
    """Runs one job, which moves ids and a few numbers of each row.

    rows       what `judged` gives
    expected   the lowest and the highest grade that there should be; empty for any
    """
    best, _ = _ends()
    each = rows.select(
        "system",
        "query_id",
        F.size("grades").alias("n_documents"),
        unusable(rows).alias("unusable"),
        F.size("judged").alias("n_judged"),
        infinite().alias("infinite"),
        F.size(F.filter("judged", lambda grade: grade < 0)).alias("n_negative"),
        (F.size(F.filter("judged", lambda grade: ~grade.between(*expected))) if expected else F.lit(0)).alias("n_odd"),
        F.array_min(F.filter("judged", lambda grade: grade > 0)).alias("lowest"),
        best.alias("best"),
        F.xxhash64("query_id", "judged").alias("hashed"),
    )
    queries = each.groupBy("query_id").agg(
        F.sort_array(F.collect_set("system")).alias("systems"),
        F.count("*").alias("n_rows"),
        F.sum("n_documents").alias("n_documents"),
        F.count_if("unusable").alias("n_unusable"),
        F.max(F.when(F.col("infinite"), F.col("n_judged"))).alias("n_infinite"),
        F.min("hashed").alias("hashed"),
        F.when(F.min("hashed") < F.max("hashed"), 1).otherwise(0).alias("contradictory"),
        *(F.max(key).alias(key) for key in ("n_judged", "n_negative", "n_odd", "best")),
        F.min("lowest").alias("lowest"),
    )
    parts = (F.shiftrightunsigned("hashed", shift).bitwiseAND(2**22 - 1) for shift in (0, 22, 44))
    known = F.sort_array(F.array_distinct(F.flatten(F.collect_set("systems"))))
    row = queries.agg(
        known.alias("systems"),
        F.sum("n_documents").alias("n_documents"),
        F.sum("n_unusable").alias("n_unusable"),
        F.sum(F.col("n_rows") - F.size("systems")).alias("n_repeated"),
        F.sum("contradictory").alias("n_contradictory"),
        F.count("*").alias("n_queries"),
        F.sum(F.size("systems")).alias("n_present"),
        F.sum(F.greatest("n_judged", F.lit(0))).alias("n_qrel_rows"),
        F.sum("n_infinite").alias("n_unusable_qrel_rows"),
        F.sum("n_negative").alias("n_negative_grades"),
        F.sum("n_odd").alias("n_odd_grades"),
        F.count_if(F.col("n_judged") > 0).alias("n_judged_queries"),
        F.min("lowest").alias("lowest_gain"),
        F.max("best").alias("best_grade"),
        F.concat_ws("-", *(F.sum(part).cast("string") for part in parts)).alias("qrels_fingerprint"),
    ).collect()[0]
    found: dict[str, Any] = {key: value or 0 for key, value in row.asDict().items()}
    n_queries, n_present = found.pop("n_queries"), found.pop("n_present")
    found["n_absent"] = n_queries * len(row.systems) - n_present
    return Facts(**found | {key: row[key] for key in ("systems", "lowest_gain", "best_grade")})


def rankings(rows: DataFrame, *, depth: int | None) -> DataFrame:
    """RANKINGS of all rows, whether judged or not, and the counts that the audit sums.

    A row's arrays stay where they are. Null judgments mean that there is none.
    """
    cut: dict[str, Column] = {
        key: F.slice(key, 1, depth) if depth else F.col(key) for key in ("grades", "doc_ids") if key in rows.columns
    }
    rows = rows.withColumns(cut)
    retrieved = F.size("grades")
    copies = retrieved - F.size(F.array_distinct("doc_ids")) if "doc_ids" in rows.columns else F.lit(0)
    n_judged, n_relevant = F.size("judged"), F.size(F.filter("judged", lambda grade: grade >= RELEVANT_GRADE))
    status = (
        F.when(n_judged == 0, UNJUDGED)
        .when(retrieved == 0, UNANSWERED)
        .when(n_relevant == 0, NO_RELEVANT)
        .otherwise(OK)
    )
    return rows.select(
        "system",
        "query_id",
        "grades",
        F.when(n_judged > 0, F.col("judged")).alias("judged"),
        retrieved.alias("n_retrieved"),
        n_relevant.alias("n_relevant"),
        n_judged.alias("n_judged"),
        status.alias("status"),
        copies.alias("n_duplicates"),
        *(F.lit(0).alias(key) for key in ("n_misordered", "n_collapsed", "n_tied", *AUDITED_JUDGMENTS)),
    )


def complete(ranked: DataFrame, queries: DataFrame | None, *, systems: Sequence[str], absent: bool) -> DataFrame:
    """RANKINGS for the query universe: QUERIES where given, else every query with a judgment.

    absent   whether a system may lack a query; only then are its rows looked for, which moves ids and judgments

    Without QUERIES and absent rows nothing is moved.
    """
    others = [key for key in (queries.columns if queries is not None else []) if key != "query_id"]
    columns = [*RANKING_COLUMNS, *(f"`{key}`" for key in others), "n_duplicates", *AUDITED_JUDGMENTS]
    inside = ranked.where("n_judged > 0") if queries is None else ranked.join(queries, on="query_id", how="inner")
    if queries is None and not absent:
        return inside.select(*columns)
    known = ranked.groupBy("query_id").agg(*(F.max(key).alias(key) for key in ("judged", "n_relevant", "n_judged")))
    universe = known.where("n_judged > 0") if queries is None else queries.join(known, on="query_id", how="left")
    grid = universe.withColumn("system", F.explode(F.array(*(F.lit(system) for system in systems))))
    missing = grid.join(ranked.select("system", "query_id"), on=["system", "query_id"], how="left_anti")
    nothing = {
        "grades": F.lit(None).cast("array<double>"),
        "status": F.when(F.col("judged").isNull(), UNJUDGED).otherwise(UNANSWERED),
        **{key: F.coalesce(F.col(key), F.lit(0)) for key in ("n_relevant", "n_judged")},
        **{key: F.lit(0) for key in ("n_retrieved", "n_duplicates", *AUDITED_JUDGMENTS)},
    }
    return inside.select(*columns).unionByName(missing.withColumns(nothing).select(*columns))
