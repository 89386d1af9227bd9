"""`evaljob eval` gives the numbers of the two jobs, to the last bit, from the same files without Spark."""

from __future__ import annotations

import gzip
import random
from pathlib import Path

import pyarrow as pa
import pytest

from jobs import pipeline
from jobs.config_file import load
from jobs.direct import evaluation
from jobs.store import read_manifest
from jobs.tables import CONTRASTS, ESTIMATES
from tests.support.evaluations import QUIET, score

ROOT = Path(__file__).parents[2]
METRICS = "nDCG@5,AP,RR,P@3,Judged@3,NumRelRet,Bpref,IPrecCurve,F"
SYSTEMS = ("new", "old", "other")


def lines(seed: int, *, n_queries: int = 40) -> tuple[dict[str, list[str]], list[str], list[str]]:
    """Runs by system, judgments and queries as lines: with ties, unjudged documents, unanswered and unjudged queries,
    and queries without a relevant document."""
    rng = random.Random(seed)
    documents = [f"d{each:02}" for each in range(30)] + ["é", "007"]
    queries = [f"q{each}" for each in range(n_queries)]
    qrels = [
        f"{query} 0 {document} {rng.choice([0, 0, 1, 2, 3]) if number % 9 else 0}\n"
        for number, query in enumerate(queries)
        for document in rng.sample(documents, 8)
    ]
    runs = {}
    for system in SYSTEMS:
        answered = rng.sample([*queries, "unjudged"], n_queries - 2)
        runs[system] = [
            f"{query} Q0 {document} {rank} {rng.choice([0.25, 0.5, 0.5, 0.75, 1 / 3])} {system}\n"
            for query in answered
            for rank, document in enumerate(rng.sample(documents, rng.randint(1, 12)), start=1)
        ]
    table = ["query_id,user,weight\n", *(f"{query},u{rng.randrange(12)},{rng.randint(1, 4)}\n" for query in queries)]
    return runs, qrels, table


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> dict[str, object]:
    """Settings that name files of such lines."""
    folder = tmp_path_factory.mktemp("files")
    runs, qrels, queries = lines(1)
    (folder / "qrels.txt").write_text("".join(qrels))
    (folder / "queries.csv").write_text("".join(queries))
    for system, its in runs.items():
        (folder / f"{system}.run.gz").write_bytes(gzip.compress("".join(its).encode()))
    return {
        "inputs.runs": [str(folder / f"{system}.run.gz") for system in SYSTEMS],
        "inputs.qrels": [str(folder / "qrels.txt")],
    }


def inferred(settings: dict[str, object], metrics: str = METRICS) -> evaluation.Inferred:
    config = load(None, flags={"score.metrics": [metrics], **settings})
    return evaluation.inferred(evaluation.values(config, evaluation.metrics_of(config.score)), config)


CHOICES: dict[str, dict[str, object]] = {
    "as it is": {},
    "left out where unanswered": {"score.conventions.unanswered": "skip", "aggregate.baseline": "old"},
    "left out where nothing is relevant, by users": {
        "score.conventions.no_relevant": "skip",
        "score.conventions.mean": "units",
        "aggregate.unit": "user",
    },
    "weighted, all methods": {
        "score.conventions.mean": "weighted",
        "aggregate.methods": ["t", "studentized"],
        "aggregate.adjust": "max_t",
    },
}


@pytest.fixture(scope="module")
def scored(spark, files, tmp_path_factory) -> Path:
    output = tmp_path_factory.mktemp("scored") / "out"
    score(spark, output, METRICS, {**files, "inputs.queries": queries_of(files)})
    return output


def queries_of(files: dict[str, object]) -> str:
    return str(Path(files["inputs.qrels"][0]).with_name("queries.csv"))


@pytest.mark.parametrize("choice", CHOICES)
def test_the_numbers_are_those_of_the_two_jobs_to_the_last_bit(spark, files, scored, choice):
    chosen = {"aggregate.unit": "query_id", "aggregate.replicates": 499, **CHOICES[choice]}
    found = inferred({**files, "inputs.queries": queries_of(files), **chosen})
    estimates, contrasts = pipeline.aggregate(spark, scored, load(None, flags=chosen), QUIET)[1:]
    assert pa.Table.from_pylist(found.estimates, ESTIMATES).equals(estimates)
    assert pa.Table.from_pylist(found.contrasts, CONTRASTS).equals(contrasts)
    assert estimates.num_rows > 40


def test_the_counts_are_those_of_the_audit(files, scored):
    counts = read_manifest(scored)["counts"]
    found = inferred({**files, "inputs.queries": queries_of(files), "aggregate.unit": "query_id"}).values.counts
    shared = found.keys() & counts.keys()
    assert len(shared) >= 14
    assert {key: found[key] for key in shared} == {key: counts[key] for key in shared}
