"""What the job costs beside the least that could be done and beside other programs, in one run.

    make bench                                  10 million run rows; some minutes, 10 GiB of memory
    python benchmarks/bench.py --queries 2000   smaller, to see that it works

Prints a table and writes out/bench.json. Every figure is a ratio of medians of runs in turn (A B C, A B C
…) in one process and one Spark session, because machines are noisy and seconds do not travel.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
from pyspark.mllib.evaluation import RankingMetrics
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from evalcore import JudgedRankings, parse_list, rank_order
from evalcore.rankings import Grades
from evalcore.segments import offsets_of, sort_segments
from jobs import pipeline
from jobs.config_file import load
from jobs.progress import Progress
from jobs.session import session

DEPTH, JUDGED, SYSTEMS = 50, 10, 2
METRICS = "nDCG@10,AP,RR@10,P@5,R@20"
WITH_CUTOFF = "nDCG@10,AP@10,RR@10,P@5,R@10"
AS_MLLIB = "nDCG(gain=binary)@10,AP,P@5,R@20"
TWENTY = [
    *("P", "R", "F", "F(beta=2)", "Success", "RR", "AP", "AP(denominator=min(R,k))", "R(cap=k)", "RelativeP"),
    *("CG", "DCG", "DCG(gain=exp2)", "IDCG", "nDCG", "nDCG(gain=exp2)", "ERR", "RBP", "Judged", "NumRelRet"),
]
CUTOFFS = (5, 10, 20, 50)
MANY = ",".join(f"{family}@{cutoff}" for family in TWENTY for cutoff in CUTOFFS)
AT_CUTOFFS = ("AP(denominator=min(R,k))", "nDCG(gain=binary)", "P", "R")
ALL_OF_MLLIB = ",".join(["AP", *(f"{family}@{cutoff}" for family in AT_CUTOFFS for cutoff in CUTOFFS)])
AS_PYTREC_EVAL = {"ndcg_cut_10": "nDCG@10", "map": "AP", "recip_rank": "RR", "P_5": "P@5", "recall_20": "R@20"}
LIMITS = {
    "score job / floor": ("at most", 2.0),
    "score job with cutoffs / floor": ("at most", 1.5),
    "score job with 20 metrics at 4 cutoffs / with 5": ("at most", 2.5),
    "MLlib, one system / score job, one system": ("at least", 1.3),
    "all 17 values that MLlib has / score job with them": ("at least", 6.0),
    "applyInPandas / score job, per ranking": ("at least", 30.0),
    "pytrec_eval / evalcore ordering and metrics": ("at least", 4.0),
    "pytrec_eval / evalcore metrics alone": ("at least", 8.0),
}


def generate(spark: SparkSession, folder: Path, n_queries: int) -> None:
    """Two systems, 50 documents and 10 judgments a query, rows in no order, no tied scores to speak of."""
    if (folder / "done").exists():
        return
    shutil.rmtree(folder, ignore_errors=True)
    row = spark.range(SYSTEMS * n_queries * DEPTH)
    query, place = (F.col("id") / DEPTH).cast("long") % n_queries, F.col("id") % DEPTH
    system = (F.col("id") / (n_queries * DEPTH)).cast("int")
    runs = row.select(
        F.concat(F.lit("system-"), system).alias("system"),
        F.concat(F.lit("q"), query).alias("query_id"),
        F.concat(F.lit("doc-"), query % 1000, F.lit("-"), place).alias("doc_id"),
        (F.xxhash64("id", F.lit("score")) / 2.0**63).alias("score"),
    )
    runs.orderBy(F.xxhash64("query_id", "doc_id", "system")).write.parquet(str(folder / "runs"))
    one = runs.where(F.col("system") == "system-0")
    judged = one.where(F.pmod(F.xxhash64("query_id", "doc_id"), F.lit(DEPTH)) < JUDGED)
    grade = F.pmod(F.xxhash64("doc_id", "query_id"), F.lit(4)).cast("double")
    judged.select("query_id", "doc_id", grade.alias("relevance")).write.parquet(str(folder / "qrels"))
    (folder / "done").touch()


class Bench:
    """The things that are timed; each starts from the files."""

    def __init__(self, spark: SparkSession, folder: Path, n_queries: int) -> None:
        self.spark, self.folder, self.n_queries = spark, folder, n_queries

    def runs(self) -> DataFrame:
        return self.spark.read.parquet(str(self.folder / "runs"))

    def floor(self) -> None:
        """Bring each query's rows together and sort them: what any evaluation of long rows must do."""
        rows = self.runs().repartition("query_id")
        rows = rows.sortWithinPartitions("query_id", "system", F.desc("score"), F.desc("doc_id"))
        rows.write.format("noop").mode("overwrite").save()

    def job(self, metrics: str, *, runs: str = "runs") -> None:
        """Job 1 as a user runs it: audit on, SCORES committed with a manifest."""
        flags = {
            "inputs.runs": [str(self.folder / runs)],
            "inputs.qrels": [str(self.folder / "qrels")],
            "score.metrics": [metrics],
            "output.dir": str(self.folder / "evaluation"),
            "output.force": True,
        }
        pipeline.score(self.spark, load(None, flags=flags), Progress(quiet=True))

    def one_system(self) -> None:
        """A copy of the first system's rows, for the comparison with MLlib."""
        if not (self.folder / "runs-of-one" / "_SUCCESS").exists():
            one = self.runs().where(F.col("system") == "system-0")
            one.write.mode("overwrite").parquet(str(self.folder / "runs-of-one"))

    def mllib(self, *, everything: bool = False) -> None:
        """The same four metrics of one system by RankingMetrics, or all that it has: means only, binary grades."""
        run = self.spark.read.parquet(str(self.folder / "runs-of-one"))
        best = F.sort_array(F.collect_list(F.struct("score", "doc_id")), asc=False)
        predicted = (
            run.groupBy("query_id").agg(best.alias("best")).select("query_id", F.col("best.doc_id").alias("docs"))
        )
        qrels = self.spark.read.parquet(str(self.folder / "qrels")).where("relevance >= 1")
        truth = qrels.groupBy("query_id").agg(F.collect_list("doc_id").alias("relevant"))
        pairs = predicted.join(truth, on="query_id", how="inner").select("docs", "relevant")
        found = RankingMetrics(pairs.rdd.map(tuple))
        if everything:
            _ = found.meanAveragePrecision
            for k in CUTOFFS:
                _ = found.meanAveragePrecisionAt(k), found.ndcgAt(k), found.precisionAt(k), found.recallAt(k)
        else:
            _ = found.meanAveragePrecision, found.ndcgAt(10), found.precisionAt(5), found.recallAt(20)

    def apply_in_pandas(self, n_rankings: int) -> None:
        """Two metrics by one Python call for each ranking, the form that comes to mind first."""

        def evaluate(rows: pd.DataFrame) -> pd.DataFrame:
            grades = rows.sort_values(["score", "doc_id"], ascending=False)["relevance"].fillna(0).to_numpy()
            hits = np.flatnonzero(grades >= 1)
            reciprocal = 1 / (hits[0] + 1) if hits.size else 0.0
            gained = float((grades[:10] / np.log2(np.arange(2, 2 + len(grades[:10])))).sum())
            keys = rows.iloc[0]
            return pd.DataFrame([(keys.system, keys.query_id, reciprocal, gained)], columns=["s", "q", "rr", "dcg"])

        some = self.runs().where(F.col("query_id").isin([f"q{query}" for query in range(n_rankings // SYSTEMS)]))
        qrels = self.spark.read.parquet(str(self.folder / "qrels"))
        graded = some.join(qrels, on=["query_id", "doc_id"], how="left")
        values = graded.groupBy("system", "query_id").applyInPandas(
            evaluate, "s string, q string, rr double, dcg double"
        )
        values.write.format("noop").mode("overwrite").save()


def in_turn(tasks: dict[str, Callable[[], None]], rounds: int, clock: Callable[[], float]) -> dict[str, float]:
    """Median seconds of each task, after a round that is not counted."""
    seconds: dict[str, list[float]] = {name: [] for name in tasks}
    for turn in range(rounds + 1):
        for name, task in tasks.items():
            started = clock()
            task()
            seconds[name].append(clock() - started)
            print(f"  {'warm-up' if turn == 0 else f'round {turn}'}  {name}: {seconds[name][-1]:.2f} s", flush=True)
    return {name: statistics.median(taken[1:]) for name, taken in seconds.items()}


def in_one_process(folder: Path, n_queries: int, rounds: int) -> dict[str, float]:
    """CPU seconds of pytrec_eval's evaluate and of evalcore on one system, both with their input in memory."""
    import pytrec_eval

    wanted = [f"q{query}" for query in range(min(n_queries, 20_000))]
    run = pq.read_table(folder / "runs-of-one", filters=[("query_id", "in", wanted)]).to_pandas()
    qrels = pq.read_table(folder / "qrels", filters=[("query_id", "in", wanted)]).to_pandas()
    run = run.merge(qrels, on=["query_id", "doc_id"], how="left").sort_values("query_id", kind="stable")
    judged = qrels.sort_values("query_id", kind="stable")
    run_lists = {query: dict(zip(rows.doc_id, rows.score, strict=True)) for query, rows in run.groupby("query_id")}
    qrel_lists = {
        query: dict(zip(rows.doc_id, rows.relevance.astype(int).tolist(), strict=True))
        for query, rows in judged.groupby("query_id")
    }
    run = run[run.query_id.isin(qrel_lists)]
    run_lists = {query: run_lists[query] for query in qrel_lists}
    scores, grades = run.score.to_numpy(), run.relevance.to_numpy()
    doc_ids = run.doc_id.to_numpy(dtype="U")
    offsets = offsets_of(run.groupby("query_id").size().to_numpy())
    judged_offsets = offsets_of(judged.groupby("query_id").size().to_numpy())
    best_first = judged.relevance.to_numpy()[sort_segments(-judged.relevance.to_numpy(), judged_offsets)]
    evaluator = pytrec_eval.RelevanceEvaluator(qrel_lists, set(AS_PYTREC_EVAL))
    metrics = parse_list(list(AS_PYTREC_EVAL.values()))
    order = rank_order(scores, offsets, doc_ids=doc_ids)
    values: dict[str, np.ndarray] = {}

    def of_grades(in_order: np.ndarray) -> None:
        rankings = JudgedRankings(Grades(grades[in_order], offsets), Grades(best_first, judged_offsets))
        values.update({name: metric.per_query(rankings) for name, metric in zip(AS_PYTREC_EVAL, metrics, strict=True)})

    tasks: dict[str, Callable[[], None]] = {
        "pytrec_eval": lambda: evaluator.evaluate(run_lists) and None,
        "evalcore, ordering and metrics": lambda: of_grades(rank_order(scores, offsets, doc_ids=doc_ids)),
        "evalcore, metrics alone": lambda: of_grades(order),
    }
    seconds = in_turn(tasks, rounds, time.process_time)
    theirs = evaluator.evaluate(run_lists)
    for place, query in enumerate(run.query_id.unique()):
        for name in AS_PYTREC_EVAL:
            assert abs(np.nan_to_num(values[name][place]) - theirs[query][name]) < 1e-12, (query, name)
    return seconds


def main() -> None:
    """Generate, time, compare, tell."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--queries", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--output", type=Path, default=Path("out"))
    given = parser.parse_args()
    folder = given.output.resolve() / "bench" / str(given.queries)
    spark = session(app_name="evaljob bench")
    generate(spark, folder, given.queries)
    bench = Bench(spark, folder, given.queries)
    bench.one_system()
    n_slow = min(4_000, SYSTEMS * given.queries)
    seconds = in_turn(
        {
            "floor": bench.floor,
            "score job": lambda: bench.job(METRICS),
            "score job with cutoffs": lambda: bench.job(WITH_CUTOFF),
            "score job with 20 metrics at 4 cutoffs": lambda: bench.job(MANY),
            "score job, one system": lambda: bench.job(AS_MLLIB, runs="runs-of-one"),
            "MLlib, one system": bench.mllib,
            "score job, one system, all that MLlib has": lambda: bench.job(ALL_OF_MLLIB, runs="runs-of-one"),
            f"applyInPandas, {n_slow} rankings": lambda: bench.apply_in_pandas(n_slow),
        },
        given.rounds,
        time.perf_counter,
    )
    # a pass for each of 17 values: too long to take turns
    started = time.perf_counter()
    bench.mllib(everything=True)
    seconds["MLlib, one system, all that it has, once"] = time.perf_counter() - started
    spark.stop()
    seconds |= in_one_process(folder, given.queries, given.rounds)
    per_ranking = seconds[f"applyInPandas, {n_slow} rankings"] / n_slow
    ratios = {
        "score job / floor": seconds["score job"] / seconds["floor"],
        "score job with cutoffs / floor": seconds["score job with cutoffs"] / seconds["floor"],
        "score job with 20 metrics at 4 cutoffs / with 5": seconds["score job with 20 metrics at 4 cutoffs"]
        / seconds["score job"],
        "MLlib, one system / score job, one system": seconds["MLlib, one system"] / seconds["score job, one system"],
        "all 17 values that MLlib has / score job with them": seconds["MLlib, one system, all that it has, once"]
        / seconds["score job, one system, all that MLlib has"],
        "applyInPandas / score job, per ranking": per_ranking / (seconds["score job"] / (SYSTEMS * given.queries)),
        "pytrec_eval / evalcore ordering and metrics": seconds["pytrec_eval"]
        / seconds["evalcore, ordering and metrics"],
        "pytrec_eval / evalcore metrics alone": seconds["pytrec_eval"] / seconds["evalcore, metrics alone"],
    }
    n_rows = SYSTEMS * given.queries * DEPTH
    print(f"\n{n_rows:,} run rows, {given.queries:,} queries, medians of {given.rounds}")
    for name, ratio in ratios.items():
        sense, limit = LIMITS[name]
        kept = ratio <= limit if sense == "at most" else ratio >= limit
        print(f"{ratio:8.2f}  {name} ({sense} {limit:g}){'' if kept else '  MISSED'}")
    found = {"run_rows": n_rows, "rounds": given.rounds, "seconds": seconds, "ratios": ratios, "limits": LIMITS}
    (given.output / "bench.json").write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()
