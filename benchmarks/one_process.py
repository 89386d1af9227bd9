"""From Parquet to the values of five metrics in one process: evalcore beside pytrec_eval and ranx.

Every tool starts from the same two files in a process of its own, which is timed whole: imports, reading, evaluation.
The values must agree; the least time of some rounds counts, so that what ranx compiles is compiled before.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

DEPTH, JUDGED = 50, 10
METRICS = "nDCG@10,AP,RR@10,P@10,R@50"
# tool, what is compared: at least so many times less for evalcore
LIMITS = {
    ("pytrec_eval", "cpu_s"): 2.0,
    ("ranx", "cpu_s"): 8.0,
    ("pytrec_eval", "max_rss_mb"): 1.0,
    ("ranx", "max_rss_mb"): 1.0,
}
TOLERANCE = 1e-9


def generate(folder: Path, n_queries: int, *, shuffled: bool) -> None:
    """A run of 50 documents a query, of which 10 are judged from 0 to 3; scores of 32 bits, few of them tied."""
    if (folder / "qrels.parquet").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    query = np.repeat(np.arange(n_queries), DEPTH)
    document = np.concatenate([rng.permutation(1000)[:DEPTH] for _ in range(n_queries)]) + 1000 * (query % 50)
    score = rng.standard_normal(len(query)).astype(np.float32).astype(np.float64)
    order = rng.permutation(len(query)) if shuffled else np.arange(len(query))
    ids = {
        "query_id": pa.array([f"q{each}" for each in query[order].tolist()]),
        "doc_id": pa.array([f"doc-{each}" for each in document[order].tolist()]),
    }
    pq.write_table(pa.table({**ids, "score": score[order]}), folder / "run.parquet")
    judged = np.flatnonzero((order % DEPTH) < JUDGED)
    grades = rng.integers(0, 4, len(judged)).astype(np.int64)
    qrels = pa.table({name: column.take(pa.array(judged)) for name, column in ids.items()} | {"relevance": grades})
    pq.write_table(qrels, folder / "qrels.parquet")


def with_evalcore(folder: Path) -> dict[str, float]:
    """As docs/python.md shows it."""
    from evalcore import evaluate

    run, qrels = (
        pq.read_table(folder / file, read_dictionary=["query_id", "doc_id"])
        for file in ("run.parquet", "qrels.parquet")
    )
    return evaluate(run, qrels, METRICS, preset="trec_eval").mean()


def by_query(file: Path, value: str) -> dict[str, dict[str, float]]:
    """Query -> {document: value}, from rows sorted by query."""
    table = pq.read_table(file).sort_by("query_id")
    queries, documents, values = (table[column].to_pylist() for column in ("query_id", "doc_id", value))
    ends = [0, *(index for index in range(1, len(queries)) if queries[index] != queries[index - 1]), len(queries)]
    return {
        queries[start]: dict(zip(documents[start:stop], values[start:stop], strict=True))
        for start, stop in pairwise(ends)
    }


def with_pytrec_eval(folder: Path) -> dict[str, float]:
    """Dictionaries, which is all that it takes; it has no RR@10, which is RR where that is at least 1/10."""
    import pytrec_eval

    names = dict(zip(METRICS.split(","), ("ndcg_cut_10", "map", "recip_rank", "P_10", "recall_50"), strict=True))
    evaluator = pytrec_eval.RelevanceEvaluator(by_query(folder / "qrels.parquet", "relevance"), set(names.values()))
    found = evaluator.evaluate(by_query(folder / "run.parquet", "score"))
    columns = {name: np.array([row[theirs] for row in found.values()]) for name, theirs in names.items()}
    columns["RR@10"][columns["RR@10"] < 1 / 10] = 0
    return {name: float(column.mean()) for name, column in columns.items()}


def with_ranx(folder: Path) -> dict[str, float]:
    """Its own readers of Parquet."""
    from ranx import Qrels, Run, evaluate

    qrels = Qrels.from_parquet(
        str(folder / "qrels.parquet"), q_id_col="query_id", doc_id_col="doc_id", score_col="relevance"
    )
    run = Run.from_parquet(str(folder / "run.parquet"), q_id_col="query_id", doc_id_col="doc_id", score_col="score")
    names = ["ndcg@10", "map", "mrr@10", "precision@10", "recall@50"]
    found = evaluate(qrels, run, names)
    return dict(zip(METRICS.split(","), (float(found[name]) for name in names), strict=True))


TOOLS: dict[str, Callable[[Path], dict[str, float]]] = {
    "evalcore": with_evalcore,
    "pytrec_eval": with_pytrec_eval,
    "ranx": with_ranx,
}


def alone(tool: str, folder: Path) -> None:
    """Run one tool in this process and tell what it took."""
    started = time.perf_counter()
    values = TOOLS[tool](folder)
    used = resource.getrusage(resource.RUSAGE_SELF)
    unit = 2**20 if sys.platform == "darwin" else 2**10
    found = {
        "wall_s": time.perf_counter() - started,
        "cpu_s": used.ru_utime + used.ru_stime,
        "max_rss_mb": used.ru_maxrss / unit,
    }
    print(json.dumps({**found, "values": values}))


def main() -> None:
    """Generate, run every tool, compare, tell."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--queries", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--shuffled", action="store_true", help="rows in no order, as a table of a warehouse has them")
    parser.add_argument("--tools", nargs="+", choices=TOOLS, default=list(TOOLS))
    parser.add_argument("--output", type=Path, default=Path("out"))
    parser.add_argument("--alone", choices=TOOLS, help=argparse.SUPPRESS)
    given = parser.parse_args()
    folder = given.output.resolve() / "bench" / f"one-process-{given.queries}{'-shuffled' if given.shuffled else ''}"
    if given.alone:
        alone(given.alone, folder)
        return
    generate(folder, given.queries, shuffled=given.shuffled)
    best: dict[str, dict[str, float]] = {}
    for turn in range(given.rounds):
        for tool in given.tools:
            # -P: beside this file is a folder called coverage, which a dependency of ranx would import
            command = [sys.executable, "-P", __file__, *sys.argv[1:], "--alone", tool]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                sys.exit(f"{tool} failed:\n{done.stderr}")
            found = json.loads(done.stdout.splitlines()[-1])
            values = found.pop("values")
            print(f"  round {turn + 1}  {tool}: " + ", ".join(f"{key} {value:.2f}" for key, value in found.items()))
            known = best.setdefault(tool, {**found, **values})
            best[tool] = {key: min(value, known[key]) for key, value in {**found, **values}.items()}
    print(f"\n{given.queries * DEPTH:,} run rows, {given.queries * JUDGED:,} judgments, {METRICS}")
    for metric in METRICS.split(","):
        values = [found[metric] for found in best.values()]
        assert max(values) - min(values) < TOLERANCE, (metric, values)
    for (tool, what), limit in LIMITS.items():
        if tool in best:
            ratio = best[tool][what] / best["evalcore"][what]
            print(f"{ratio:8.2f}  {tool} / evalcore, {what} (at least {limit:g}){'' if ratio >= limit else '  MISSED'}")
    (given.output / "one-process.json").write_text(json.dumps(best, indent=2) + "\n")


if __name__ == "__main__":
    main()
