"""RUNS + QRELS (+ QUERIES) -> RANKINGS: one row for every system and every query of the universe."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql.types import NullType

from evalcore import Conventions
from evalcore.conventions import TIES_BY_SCORE
from evalcore.statuses import NO_RELEVANT, OK, RELEVANT_GRADE, UNANSWERED, UNJUDGED
from jobs.tables import AUDITED_JUDGMENTS, EXTRAS, RANKING_COLUMNS

BY_SUBTOPIC = frozenset({"subtopics", "preferences"})
"""Needs for which a document may have several judgments, one for each subtopic or group."""


Repeated = Literal["error", "max", "mean", "latest", "majority"]


def judgments(
    qrels: DataFrame, *, needs: frozenset[str] = frozenset(), repeated: Repeated = "error", several: bool = True
) -> DataFrame:
    """QRELS -> one row per (query, document), partitioned by query for every later join.

    Moves every judgment once. Repeated judgments become one, of the greatest propensity; `n_repeated` and
    `n_contradictory` count what was repeated, with the same grade or with another, and `n_subtopics` is 1 for a
    document with judgments of several subtopics, for the audit. Where subtopics or preferences are needed, `entries`
    holds them all, and the grade is the best of them.

    several    whether there may be several subtopics in all
    """
    # Two consumers share the one move as long as their plans below it are the same: so the filter that the join would
    # infer for its side stands here for both, and no column is left for the optimizer to drop on one side.
    rows = qrels.where(F.col("query_id").isNotNull() & F.col("doc_id").isNotNull()).repartition("query_id")
    spread = F.when(F.min("relevance") < F.max("relevance"), 1).otherwise(0)
    subtopic = F.coalesce("subtopic", F.lit(""))
    n_subtopics = F.when(F.min(subtopic) < F.max(subtopic), 1).otherwise(0) if several else F.lit(0)
    propensity = {}
    if "propensities" in needs:
        propensity = {"propensity": F.max("propensity")}
        other_propensity = F.min("propensity") < F.max("propensity")
        spread = F.when((F.min("relevance") < F.max("relevance")) | other_propensity, 1).otherwise(0)
    document = ("query_id", "doc_id")
    grade = _grade_of_all(repeated).alias("relevance")
    if not needs & BY_SUBTOPIC:
        return rows.groupBy(*document).agg(
            grade,
            (F.count("*") - 1).alias("n_repeated"),
            spread.alias("n_contradictory"),
            n_subtopics.alias("n_subtopics"),
            *(column.alias(key) for key, column in propensity.items()),
        )
    each = rows.groupBy(*document, "subtopic").agg(
        grade,
        (F.count("*") - 1).alias("n_repeated"),
        spread.alias("n_contradictory"),
        *(column.alias(key) for key, column in propensity.items()),
    )
    entry = F.struct("doc_id", F.col("subtopic").alias("group"), F.col("relevance").alias("value"))
    return each.groupBy(*document).agg(
        F.max("relevance").alias("relevance"),
        F.sum("n_repeated").alias("n_repeated"),
        F.sum("n_contradictory").alias("n_contradictory"),
        F.when(F.count("*") > 1, 1).otherwise(0).alias("n_subtopics"),
        F.collect_list(entry).alias("entries"),
        *(F.max(key).alias(key) for key in propensity),
    )


def _grade_of_all(repeated: Repeated) -> Column:
    """The grade of a document from its judgments, in whatever order they come; sums and counts take them sorted."""
    if repeated == "latest":  # at the same time the higher grade
        return F.max(F.struct("time", "relevance"))["relevance"]
    if repeated in ("max", "error"):
        return F.max("relevance")
    grades = F.sort_array(F.collect_list("relevance"))
    if repeated == "mean":
        return F.aggregate(grades, F.lit(0.0), lambda total, each: total + each) / F.size(grades)
    counted = F.transform(  # of the grades given most often the highest
        F.array_distinct(grades),
        lambda grade: F.struct(
            F.size(F.filter(grades, lambda each: each == grade)).alias("times"), grade.alias("grade")
        ),
    )
    return F.array_max(counted)["grade"]


def ranked(
    runs: DataFrame,
    judgments: DataFrame,
    *,
    conventions: Conventions,
    depth: int | None,
    needs: frozenset[str] = frozenset(),
    collapse: bool = False,
    count_ties: bool = False,
) -> DataFrame:
    """RUNS -> one row per (system, query) that returned something: the grades of its documents, best first.

    n_retrieved   documents, up to the depth
    n_duplicates  copies of documents that the system returned more than once, of those within the depth
    n_collapsed   passages of documents that have one of a better rank, if passages collapse
    n_tied        documents with the score of a better ranked one, if they are counted and scores order
    n_misordered  1 where the document with the best rank has not the best score, where the input has ranks
    needs         what to gather beside grades, of `EXTRAS`
    collapse      whether a document that is there several times, as its passages, counts once, by its best rank
    count_ties    whether to count them, which costs some percent of all

    Moves every returned document once. One ranking must fit in an executor's memory. The cut to the
    depth comes after the shuffle: before it, rows in no order would be sorted twice for nothing.
    """
    keys, ascending = _order(conventions)
    one_each = conventions.duplicates in ("first", "last", "best_score")
    rows = runs.repartition("query_id")
    best_first = [key.asc() if ascending else key.desc() for key in (*keys, F.col("doc_id"))]
    if collapse:
        rows = _first_of_each(rows, best_first)
    elif one_each:
        rows = _keep_one(rows, conventions)
    if depth is not None:
        rows = _within(rows, best_first, depth=depth, whole_ties=conventions.ties in TIES_BY_SCORE)
    known = ["propensity"] if "propensities" in needs else []
    grades = judgments.select("query_id", "doc_id", F.col("relevance").alias("grade"), *known)
    graded = rows.join(grades.hint("shuffle_hash"), on=["query_id", "doc_id"], how="left")
    named = [key.alias(f"key_{index}") for index, key in enumerate(keys)]
    more = [*(["score"] if "scores" in needs else []), *known]
    documents = F.sort_array(F.collect_list(F.struct(*named, "doc_id", "grade", *more)), asc=ascending)
    copies = F.sum("n_copies") if one_each or collapse else F.lit(None)
    misordered = F.lit(0)
    if "rank" in runs.columns:
        best = F.max(F.when(~F.isnan("score"), F.col("score")))  # NaN is above all to Spark
        misordered = F.when(F.min_by("score", "rank") < best, 1).otherwise(0)
    rankings = graded.groupBy("query_id", "system").agg(
        documents.alias("documents"), copies.alias("n_copies"), misordered.alias("n_misordered")
    )
    tied = F.lit(0)
    if count_ties and conventions.ties != "rank_column":
        tied = F.size("documents") - F.size(F.array_distinct("documents.key_0"))
    repeated = F.size("documents") - F.size(F.array_distinct("documents.doc_id"))
    fields = {"scores": "score", "documents": "doc_id", "propensities": "propensity"}
    extras = [F.col(f"documents.{field}").alias(EXTRAS[need][0]) for need, field in fields.items() if need in needs]
    return rankings.select(
        "system",
        "query_id",
        F.col("documents.grade").alias("grades"),
        *extras,
        F.size("documents").alias("n_retrieved"),
        (F.lit(0) if collapse else F.coalesce("n_copies", repeated)).alias("n_duplicates"),
        (F.col("n_copies") if collapse else F.lit(0)).alias("n_collapsed"),
        tied.alias("n_tied"),
        "n_misordered",
    )


def _within(rows: DataFrame, best_first: Sequence[Column], *, depth: int, whole_ties: bool) -> DataFrame:
    """Rows up to the depth; of documents that are tied there all, if the tie rule is to look at them all."""
    if whole_ties:
        best_first = best_first[:1]
    place = F.rank() if whole_ties else F.row_number()
    within = Window.partitionBy("query_id", "system").orderBy(*best_first)
    return rows.withColumn("rank_within", place.over(within)).where(F.col("rank_within") <= depth)


def looks_at_places(conventions: Conventions) -> bool:
    """Whether the order of the input's rows can decide anything."""
    by_place = conventions.duplicates in ("first", "last", "best_score")
    return by_place or conventions.ties in ("rank_column", "input_order")


def needed(runs: DataFrame, conventions: Conventions) -> DataFrame:
    """RUNS without the columns that these conventions do not look at; ranks stay where the input has any."""
    rank = [] if isinstance(runs.schema["rank"].dataType, NullType) else ["rank"]
    place = ["place"] if looks_at_places(conventions) else []
    return runs.select("system", "query_id", "doc_id", "score", *rank, *place)


def _order(conventions: Conventions) -> tuple[list[Column], bool]:
    """The keys that order the documents of a ranking, before their ids do, and whether they ascend: all or none do."""
    score = F.col("score")
    if conventions.score_precision == "float32":
        score = score.cast("float")
    finite = ~F.isnan("score") & (F.abs("score") < float("inf"))
    if conventions.ties == "rank_column":
        return [F.col("rank"), F.col("place")], True
    if conventions.ties in ("doc_id_desc", *TIES_BY_SCORE):
        return [F.when(finite, score) if conventions.non_finite_score == "last" else score], False
    worst_last = F.when(finite, -score).otherwise(float("nan")) if conventions.non_finite_score == "last" else -score
    tie_rules = {
        "doc_id_asc": [],
        "input_order": [F.col("place")],
        "random": [F.md5(F.concat_ws("\t", "query_id", "doc_id"))],  # that of evalcore.ordering.random_keys
    }
    return [worst_last, *tie_rules[conventions.ties]], True


def _keep_one(runs: DataFrame, conventions: Conventions) -> DataFrame:
    """One row for each document of a ranking, by the convention; n_copies is how many others there were."""
    finite = F.when(~F.isnan("score") & (F.abs("score") < float("inf")), F.col("score"))
    rank = [F.col("rank").asc()] if conventions.ties == "rank_column" else []
    first = {
        "first": [F.col("place").asc()],
        "last": [F.col("place").desc()],
        "best_score": [finite.desc(), *rank, F.col("place").asc()],
    }
    return _first_of_each(runs, first[conventions.duplicates])


def _first_of_each(runs: DataFrame, order: Sequence[Column]) -> DataFrame:
    """The first row of each document of a ranking; n_copies is how many others there were."""
    same = Window.partitionBy("query_id", "system", "doc_id")
    numbered = runs.withColumn("copy", F.row_number().over(same.orderBy(*order)))
    counted = numbered.withColumn("n_copies", F.count("*").over(same) - 1)
    return counted.where(F.col("copy") == 1)


def judged_queries(judgments: DataFrame, *, needs: frozenset[str] = frozenset()) -> DataFrame:
    """One row for each judged query: the grades of its documents, best first, and counts.  Moves nothing."""
    graded = F.struct("relevance", "propensity" if "propensities" in needs else F.lit(None).alias("propensity"))
    best_first = F.sort_array(F.collect_list(graded), asc=False)
    extras = []
    if "propensities" in needs:
        extras.append(best_first["propensity"].alias("judged_propensities"))
    if needs & BY_SUBTOPIC:
        extras.append(F.sort_array(F.flatten(F.collect_list("entries"))).alias("entries"))
    return judgments.groupBy("query_id").agg(
        (best_first["relevance"] if extras else F.sort_array(F.collect_list("relevance"), asc=False)).alias("judged"),
        F.count_if(F.col("relevance") >= RELEVANT_GRADE).cast("int").alias("n_relevant"),
        F.count("relevance").cast("int").alias("n_judged"),
        *(F.sum(key).alias(key) for key in AUDITED_JUDGMENTS),
        *extras,
    )


def complete(
    ranked: DataFrame,
    judged: DataFrame,
    queries: DataFrame | None,
    *,
    systems: Sequence[str],
    needs: frozenset[str] = frozenset(),
    reference: DataFrame | None = None,
    unlabelled: bool = False,
) -> DataFrame:
    """The rankings of `ranked` for the query universe, and empty ones where a system returned nothing.

    The universe is QUERIES where given, else every query with a judgment. Moves QUERIES once and no
    ranking: everything is partitioned by query already.

    judged       the judged queries
    reference    the rankings of the system to compare with, with their documents, where that is needed
    unlabelled   there are no judgments at all: the universe is QUERIES, or every query that a system answered
    """
    universe = judged
    if queries is not None or unlabelled:
        asked = ranked.select("query_id").distinct() if queries is None else queries.repartition("query_id")
        universe = asked.join(judged.hint("shuffle_hash"), on="query_id", how="left")
    if unlabelled:
        universe = universe.withColumn("judged", F.array().cast("array<double>"))
    if reference is not None:
        theirs = reference.select("query_id", F.col("doc_ids").alias("reference"))
        universe = universe.join(theirs.hint("shuffle_hash"), on="query_id", how="left")
    expected = universe.withColumn("system", F.explode(F.array(*[F.lit(system) for system in systems])))
    answers = ranked.drop("n_misordered", "n_collapsed", "n_tied")
    rankings = answers.join(expected.hint("shuffle_hash"), on=["query_id", "system"], how="right")
    n_retrieved = F.coalesce("n_retrieved", F.lit(0))
    nothing_relevant = F.lit(False) if unlabelled else F.col("n_relevant") == 0
    status = (
        F.when(F.col("judged").isNull(), UNJUDGED)
        .when(n_retrieved == 0, UNANSWERED)
        .when(nothing_relevant, NO_RELEVANT)
        .otherwise(OK)
    )
    others = [key for key in (queries.columns if queries is not None else []) if key != "query_id"]
    counts = {key: F.coalesce(F.col(key), F.lit(0)) for key in ("n_relevant", "n_judged")}
    filled = rankings.withColumns({"n_retrieved": n_retrieved, "status": status, **counts})
    gathered = dict.fromkeys(column for need in EXTRAS if need in needs for column in EXTRAS[need])
    return filled.select(
        *RANKING_COLUMNS, *gathered, *(f"`{key}`" for key in others), "n_duplicates", *AUDITED_JUDGMENTS
    )
