"""Ten thousand segments of six systems: what it costs, and that the driver does not notice.

    python -m benchmarks.segments                   1.8 million rows of SCORES; some minutes
    python -m benchmarks.segments --segments 100    smaller, to see that it works

Runs job 2 on generated scores in a process whose JVM has 1 GiB, and prints the seconds, the rows and the most memory
that the driver's Python used.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import time
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from evalcore import Conventions
from jobs import pipeline, store
from jobs.config import Config, dump
from jobs.config_file import load
from jobs.progress import Progress
from jobs.session import session

SYSTEMS, QUERIES = 6, 30
"""Systems, and queries of a segment."""
METRICS = {"nDCG@10": "ndcg_at_10", "RR@10": "rr_at_10"}


def generate(folder: Path, n_segments: int) -> None:
    """An evaluation as job 1 writes it: every query hard or easy for all systems, one system slightly better."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "scores").mkdir(parents=True)
    rng = np.random.default_rng(0)
    n = n_segments * QUERIES
    hard = rng.random(n)
    for system in range(SYSTEMS):
        values = {
            column: np.round(np.clip(hard + rng.normal(0.01 * (system == 1), 0.1, n), 0, 1), 6)
            for column in METRICS.values()
        }
        table = {
            "system": [f"system-{system}"] * n,
            "query_id": [f"q{query}" for query in range(n)],
            "shop": [f"shop-{query // QUERIES}" for query in range(n)],
            **values,
            **{fact: [10] * n for fact in ("n_retrieved", "n_relevant", "n_judged")},
            "status": ["ok"] * n,
        }
        pq.write_table(pa.table(table), folder / "scores" / f"part-{system}.parquet")
    manifest = {
        "kind": "evaluation",
        "systems": [f"system-{system}" for system in range(SYSTEMS)],
        "metrics": [{"name": metric, "column": column} for metric, column in METRICS.items()],
        "query_columns": ["shop"],
        "conventions": asdict(Conventions()),
        "config": dump(Config()),
        "config_hash": "generated",
        "inputs": {},
        "counts": {"n_unanswered": 0},
        "answers": [],
        "diagnostics": {},
        "files": store.part_files(folder / "scores", under=folder),
    }
    store.write_manifest(folder, manifest)


def main() -> None:
    """Generate, aggregate, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--segments", type=int, default=10_000)
    parser.add_argument("--methods", default="auto")
    n_segments = parser.parse_args().segments
    methods = parser.parse_args().methods.split(",")
    folder = Path("out/bench/segments")
    generate(folder, n_segments)
    spark = session(settings={"spark.driver.memory": "1g"})
    flags = {
        "aggregate.unit": "query_id",
        "aggregate.segments": ["shop"],
        "aggregate.methods": methods,
        "aggregate.tests": [],
    }
    started = time.monotonic()
    manifest, _, _ = pipeline.aggregate(spark, folder, load(None, flags=flags), Progress(quiet=False))
    seconds = time.monotonic() - started
    written = folder / "aggregates" / "query_id"
    rows = {
        part: sum(pq.read_metadata(file).num_rows for file in (written / part).glob("*.parquet"))
        for part in ("segment_estimates", "segment_contrasts")
    }
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{manifest['segments']['n_shown']:,} segments, {SYSTEMS} systems, {len(METRICS)} metrics: {seconds:.0f} s")
    print(f"rows: {rows}; most memory of the driver's Python {peak:.0f} MiB, of its JVM 1 GiB by setting")
    spark.stop()


if __name__ == "__main__":
    main()
