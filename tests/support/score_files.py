"""Tables of values from other tools, written out in a test, through job 2."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq

from jobs import pipeline
from jobs.config_file import load
from tests.support.evaluations import QUIET

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WIDE = """system,query_id,user,nDCG@10,latency_ms
A,q1,u1,0.5,120
A,q2,u1,0.25,80.5
A,q3,u2,1,300
B,q1,u1,0.75,100
B,q2,u1,0.25,90
B,q3,u2,0.5,250
"""
VALUES = {
    ("A", "nDCG@10"): {"q1": 0.5, "q2": 0.25, "q3": 1.0},
    ("B", "nDCG@10"): {"q1": 0.75, "q2": 0.25, "q3": 0.5},
    ("A", "latency_ms"): {"q1": 120.0, "q2": 80.5, "q3": 300.0},
    ("B", "latency_ms"): {"q1": 100.0, "q2": 90.0, "q3": 250.0},
}
"""What WIDE holds, by system and metric."""
QUICK = {"aggregate.methods": ["t"], "aggregate.tests": [], "aggregate.replicates": 99}
Files: TypeAlias = Mapping[str, str | bytes | Mapping[str, list[Any]]]
"""Files of text, of bytes, or of the columns of a Parquet table, by name."""


def long_rows(divider: str = ",") -> str:
    """The values of WIDE, one in a line."""
    lines = [("run", "topic", "measure", "value")]
    lines += [(system, query, metric, str(v)) for (system, metric), each in VALUES.items() for query, v in each.items()]
    return "".join(divider.join(line) + "\n" for line in lines)


def write(folder: Path, files: Files) -> list[str]:
    """The files, and their paths."""
    for name, content in files.items():
        if isinstance(content, Mapping):
            pq.write_table(pa.table(dict(content)), folder / name)
        else:
            (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return [str(folder / name) for name in files]


def run(
    spark: SparkSession,
    folder: Path,
    files: Files,
    *,
    unit: str = "query_id",
    mean: str = "queries",
    **settings: object,
) -> tuple[dict[str, Any], list[dict[str, Any]], list[dict[str, Any]]]:
    """The manifest, and the rows of ESTIMATES and CONTRASTS.

    mean       the convention of that name
    settings   of the section aggregate
    """
    flags = {
        **QUICK,
        "inputs.scores": write(folder, files),
        "aggregate.unit": unit,
        "aggregate.output": str(folder / "out"),
        "output.force": True,
        "score.conventions.mean": mean,
        **{f"aggregate.{key}": value for key, value in settings.items()},
    }
    described, estimates, contrasts = pipeline.aggregate(spark, [], load(None, flags=flags), QUIET)
    return described, estimates.to_pylist(), contrasts.to_pylist()
