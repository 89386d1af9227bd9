"""Job 2 beside a plain average of the same columns, in one Spark session.

    python benchmarks/aggregation.py                    10 million rows of SCORES; some minutes, 4 GiB of memory
    python benchmarks/aggregation.py --queries 50000    smaller, to see that it works

Prints a table and writes out/aggregation.json. Figures are medians of runs in turn, as in bench.py, of the CPU time of
the JVM and of Python: machines are shared.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
from collections import defaultdict
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from bench import in_turn
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from jobs import pipeline, store
from jobs.config_file import load
from jobs.progress import Progress
from jobs.session import session

METRICS = "nDCG@10,AP,RR@10,P@5,R@20"
SYSTEMS = ("system-0", "system-1")
PER_USER = 5
LIMIT = 2.0


def generate(spark: SparkSession, folder: Path, n_queries: int) -> Path:
    """An evaluation of two systems as job 1 writes it, with values that no metric has computed."""
    evaluation = folder / "evaluation"
    if (evaluation / store.MANIFEST).exists():
        return evaluation
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for system in SYSTEMS:
        (folder / f"{system}.run").write_text(f"q0 Q0 d0 1 1.0 {system}\n")
    (folder / "qrels").write_text("q0 0 d0 1\n")
    (folder / "queries.csv").write_text("query_id,user_id\nq0,u0\n")
    flags = {
        "inputs.runs": [str(folder / f"{system}.run") for system in SYSTEMS],
        "inputs.qrels": [str(folder / "qrels")],
        "inputs.queries": str(folder / "queries.csv"),
        "score.metrics": [METRICS],
        "output.dir": str(evaluation),
    }
    manifest = pipeline.score(spark, load(None, flags=flags), Progress(quiet=True))
    template = spark.read.parquet(*store.score_files(evaluation, manifest))
    query, place = (F.col("id") / len(SYSTEMS)).cast("long"), (F.col("id") % len(SYSTEMS)).cast("int")
    known: Mapping[str, Any] = {
        "system": F.concat(F.lit("system-"), place),
        "query_id": F.concat(F.lit("q"), query),
        "user_id": F.concat(F.lit("u"), (query / PER_USER).cast("long")),
        "status": F.lit("ok"),
        **{column: F.lit(10).cast("int") for column in ("n_retrieved", "n_relevant", "n_judged")},
        **{
            metric["column"]: value_of(query, place * (query % 5 == 0).cast("int"), i)
            for i, metric in enumerate(manifest["metrics"])
        },
    }
    columns = [known[field.name].cast(field.dataType).alias(field.name) for field in template.schema.fields]
    rows = spark.range(len(SYSTEMS) * n_queries).select(columns)
    shutil.rmtree(evaluation / "scores")
    rows.repartition(16, "query_id").write.parquet(store.uri(evaluation / "scores"))
    files = store.part_files(evaluation / "scores", under=evaluation)
    n_rows = len(SYSTEMS) * n_queries
    changed = {"files": files, "n_queries": n_queries, "counts": {**manifest["counts"], "n_scores": n_rows}}
    store.write_manifest(evaluation, {**manifest, **changed})
    return evaluation


def value_of(query: Column, variant: Column, metric: int) -> Column:
    """Variants differ on a fifth of the queries. nDCG and AP have all the bits of a double, RR, P and R few values."""
    hashed = F.xxhash64(query, F.lit(metric), variant)
    return F.pmod(hashed, F.lit(2**53)) / 2.0**53 if metric < 2 else 1.0 / (1 + F.pmod(hashed, F.lit(40)))


class Bench:
    """The things that are timed; each starts from the files."""

    def __init__(self, spark: SparkSession, evaluation: Path) -> None:
        self.spark, self.evaluation = spark, evaluation
        self.manifest = store.read_evaluation(evaluation)

    def scores(self) -> DataFrame:
        return self.spark.read.parquet(*store.score_files(self.evaluation, self.manifest))

    def average(self) -> None:
        """The mean of every metric, by system."""
        metrics = [metric["column"] for metric in self.manifest["metrics"]]
        self.scores().groupBy("system").agg(*(F.avg(F.col(f"`{metric}`")) for metric in metrics)).collect()

    def job(self, unit: str, **settings: object) -> None:
        """Job 2 as a user runs it: ESTIMATES and CONTRASTS committed with a manifest."""
        flags = {"aggregate.unit": unit, **{f"aggregate.{key}": value for key, value in settings.items()}}
        pipeline.aggregate(self.spark, self.evaluation, load(None, flags=flags), Progress(quiet=True))


def cpu_clock() -> float:
    """CPU seconds so far of this process, of the JVM that it started, and of the JVM's Python workers."""
    of: dict[int, float] = {}
    children: dict[int, list[int]] = defaultdict(list)
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        pid = int(stat.parent.name)
        children[int(fields[1])].append(pid)
        of[pid] = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")  # with children that have ended
    family = [os.getpid()]
    for pid in family:
        family += children[pid]
    return sum(of[pid] for pid in family)


def main() -> None:
    """Generate, time, compare, tell."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--queries", type=int, default=5_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--output", type=Path, default=Path("out"))
    given = parser.parse_args()
    spark = session(app_name="evaljob bench of job 2")
    bench = Bench(spark, generate(spark, given.output.resolve() / "aggregation" / str(given.queries), given.queries))
    tasks: dict[str, Callable[[], None]] = {
        "average": bench.average,
        "job 2 by query": lambda: bench.job("query_id"),
        "job 2 by query, no movers": lambda: bench.job("query_id", movers=0),
        "job 2 by user": lambda: bench.job("user_id"),
    }
    seconds = in_turn(tasks, given.rounds, cpu_clock)
    spark.stop()
    n_rows = len(SYSTEMS) * given.queries
    print(f"\n{n_rows:,} rows of SCORES, medians of {given.rounds}")
    ratios = {f"{task} / average": seconds[task] / seconds["average"] for task in tasks if task != "average"}
    for ratio, value in ratios.items():
        print(f"{value:8.2f}  {ratio} (at most {LIMIT:g}){'' if value <= LIMIT else '  MISSED'}")
    found = {"rows": n_rows, "rounds": given.rounds, "seconds": seconds, "ratios": ratios, "limit": LIMIT}
    (given.output / "aggregation.json").write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()
