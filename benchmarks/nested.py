"""What one row a ranking saves: the job on nested rows beside the job on the same documents as long rows, in one run.

    make bench                                      10 million documents; a minute or two
    python benchmarks/nested.py --queries 2000      smaller, to see that it works

Prints seconds and their ratio, medians of runs in turn in one Spark session, and the columns that were read.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import time
from pathlib import Path

from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F

from evalcore import parse_list
from jobs import pipeline
from jobs.config_file import load
from jobs.progress import Progress
from jobs.session import session
from tests.support.evaluations import digest, scores_of

DEPTH, SYSTEMS, JUDGED = 50, 2, 10
METRICS = "nDCG@10,AP,RR@10,P@5,R@20"
AT_LEAST = 5.0
"""How many times as fast nested rows must be."""


def generate(spark: SparkSession, folder: Path, n_queries: int) -> None:
    """Two systems that return the same 50 documents of a query in other orders, of which ten are judged."""
    if (folder / "done").exists():
        return
    shutil.rmtree(folder, ignore_errors=True)
    query = F.floor(F.col("id") / SYSTEMS)

    def item(place: Column) -> Column:
        doc_id = F.concat(F.lit("doc-"), F.pmod(query, F.lit(1000)), F.lit("-"), place)
        grade = F.when(place % (DEPTH // JUDGED) == 0, ((place / 5) % 4).cast("double"))
        return F.struct(F.xxhash64("id", place).alias("order"), doc_id.alias("doc_id"), grade.alias("grade"))

    rows = spark.range(SYSTEMS * n_queries).select(
        F.concat(F.lit("system-"), F.pmod("id", F.lit(SYSTEMS))).alias("system"),
        F.concat(F.lit("q"), query).alias("query_id"),
        F.array_sort(F.transform(F.sequence(F.lit(0), F.lit(DEPTH - 1)), item)).alias("items"),
    )
    nested = rows.select(
        "system",
        "query_id",
        F.col("items.doc_id").alias("doc_id"),
        F.col("items.grade").alias("relevance"),
        F.sort_array(F.array_compact(F.col("items.grade")), asc=False).alias("judged"),
    )
    nested.write.parquet(str(folder / "nested"))
    read = spark.read.parquet(str(folder / "nested"))
    exploded = read.select(
        "system", "query_id", F.posexplode(F.arrays_zip("doc_id", "relevance")).alias("place", "item")
    )
    runs = exploded.select("system", "query_id", "item.doc_id", (-F.col("place")).cast("double").alias("score"))
    runs.orderBy(F.xxhash64("query_id", "doc_id", "system")).write.parquet(str(folder / "runs"))
    judged = exploded.where("system = 'system-0' and item.relevance is not null")
    judged.select("query_id", "item.doc_id", "item.relevance").write.parquet(str(folder / "qrels"))
    (folder / "done").touch()


def score(spark: SparkSession, folder: Path, inputs: dict[str, object]) -> float:
    """Seconds of job 1 as a user runs it: audit on, SCORES committed with a manifest."""
    flags = {
        **inputs,
        "score.metrics": [METRICS],
        "output.dir": str(folder / "evaluation"),
        "output.force": True,
    }
    start = time.perf_counter()
    pipeline.score(spark, load(None, flags=flags), Progress(quiet=True))
    return time.perf_counter() - start


def main() -> None:
    """Generate, time in turn, compare values, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", type=int, default=100_000, help="queries of each of the two systems")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each, in turn")
    parser.add_argument("--folder", type=Path, default=Path("out/bench-nested"))
    arguments = parser.parse_args()
    folder = arguments.folder.absolute() / str(arguments.queries)
    spark = session()
    generate(spark, folder, arguments.queries)
    ways: dict[str, dict[str, object]] = {
        "long": {"inputs.runs": [str(folder / "runs")], "inputs.qrels": [str(folder / "qrels")]},
        "nested": {"inputs.runs": [str(folder / "nested")], "score.conventions.duplicates": "counted"},
        "nested, documents looked at": {"inputs.runs": [str(folder / "nested")]},
    }
    seconds: dict[str, list[float]] = {way: [] for way in ways}
    digests = set()
    for _ in range(arguments.rounds + 1):
        for way, inputs in ways.items():
            seconds[way].append(score(spark, folder, inputs))
            if len(digests) < len(ways):
                digests.add((way, digest(scores_of(folder / "evaluation"))))
    documents = SYSTEMS * arguments.queries * DEPTH
    print(f"{documents:,} documents, {len(parse_list(METRICS))} metrics; medians of {arguments.rounds} runs")
    medians = {way: statistics.median(each[1:]) for way, each in seconds.items()}
    for way, median in medians.items():
        print(f"{way:28} {median:6.2f} s   long / this {medians['long'] / median:5.2f}")
    assert len({digest for _, digest in digests}) == 1, "values differ"
    ok = medians["long"] / medians["nested"] >= AT_LEAST
    print(f"the same values to the last bit; at least {AT_LEAST:g} times as fast: {'yes' if ok else 'NO'}")


if __name__ == "__main__":
    main()
