"""Running the two jobs inside a test, on content written out in the test."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from jobs import pipeline, store
from jobs.config_file import load
from jobs.progress import Progress

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

QUIET = Progress(quiet=True)


def write_trec(folder: Path, *, runs: Mapping[str, Sequence[str]], qrels: Sequence[str]) -> dict[str, object]:
    """Files of these lines, and the settings that name them. A run's line is `query document score`."""
    folder.mkdir(parents=True, exist_ok=True)
    for system, lines in runs.items():
        fields = [line.split() for line in lines]
        text = "".join(f"{query} Q0 {doc} {rank} {score} {system}\n" for rank, (query, doc, score) in enumerate(fields))
        (folder / f"{system}.run").write_text(text)
    parts = [line.split() for line in qrels]
    (folder / "qrels.txt").write_text("".join(f"{query} 0 {doc} {grade}\n" for query, doc, grade in parts))
    return {
        "inputs.runs": [str(folder / f"{system}.run") for system in runs],
        "inputs.qrels": [str(folder / "qrels.txt")],
    }


def score(spark: SparkSession, output: Path, metrics: str, settings: Mapping[str, object]) -> list[dict[str, Any]]:
    """The rows of SCORES, sorted by key."""
    flags = {"score.metrics": [metrics], "output.dir": str(output), "output.force": True, **settings}
    pipeline.score(spark, load(None, flags=flags), QUIET)
    return scores_of(output)


def scores_of(output: Path) -> list[dict[str, Any]]:
    """The rows of SCORES of an evaluation, sorted by key."""
    files = store.score_files(output, store.read_manifest(output))
    rows = pa.concat_tables([pq.read_table(file) for file in files]).to_pylist()
    return sorted(rows, key=lambda row: (row["system"], row["query_id"]))


def aggregate(spark: SparkSession, output: Path, **settings: object) -> tuple[pa.Table, pa.Table]:
    """ESTIMATES and CONTRASTS of an evaluation."""
    flags = {f"aggregate.{key}": value for key, value in settings.items()}
    return pipeline.aggregate(spark, output, load(None, flags=flags), QUIET)[1:]


def digest(rows: Sequence[Mapping[str, Any]]) -> str:
    """A hash of every value to the last bit: `repr` of a float is exact."""
    return hashlib.sha256(repr([sorted(row.items()) for row in rows]).encode()).hexdigest()
