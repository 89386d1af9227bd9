"""A seeded synthetic production log: users, their queries, judgments, and three systems.

`production` is the baseline. `reranked` is better by a little. `truncated` has a planted regression: for
a tenth of the users it loses its best documents, as a fault in one shard would make it.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from jobs.config import Demo
from jobs.errors import UsageError

SYSTEMS = {"production": 0.0, "reranked": 0.35, "truncated": 0.0}
"""How much more than production's each system's score follows the true grade."""
JUDGED = 12
"""Judged documents of a query."""

SETTINGS: dict[str, object] = {
    "score.metrics": ["nDCG@10", "RR@10", "AP", "P@5", "Success@1"],
    "aggregate.unit": "user_id",
    "aggregate.baseline": "production",
}
"""The settings of conf/demo.yaml; an installed package has no conf/."""


def paths(root: Path) -> dict[str, object]:
    """Where the demo reads and writes, as settings."""
    log = root / "log"
    return {
        "inputs.runs": [str(log / "runs.parquet")],
        "inputs.qrels": [str(log / "qrels.parquet")],
        "inputs.queries": str(log / "queries.parquet"),
        "output.dir": str(evaluation(root)),
        "output.force": True,
    }


def evaluation(root: Path) -> Path:
    """The directory of the demo's evaluation."""
    return root / "evaluation"


def generate(root: Path, size: Demo) -> None:
    """Write runs.parquet, qrels.parquet and queries.parquet; the same seed gives the same files.

    Users ask unequally many queries and differ in how hard theirs are, so that the queries of one user
    resemble each other.

    Raises UsageError where the folder cannot be written.
    """
    random = np.random.Generator(np.random.PCG64(size.seed))
    log = root / "log"
    try:
        log.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{log} cannot be written: {error.strerror}; choose another --output") from None
    user = np.sort(random.choice(size.users, size.queries, p=_shares(random, size.users)))
    ease = random.normal(0, 1, size.users)[user] + random.normal(0, 0.5, size.queries)
    query_ids = np.array([f"q{number:06d}" for number in range(size.queries)])
    pq.write_table(
        pa.table({"query_id": query_ids, "user_id": [f"user-{number:04d}" for number in user]}), log / "queries.parquet"
    )
    pool = max(3 * size.depth, JUDGED)
    chance = 1 / (1 + np.exp(1.5 - ease))
    grades = random.binomial(3, chance[:, None] * np.linspace(0.9, 0.05, pool)[None, :])  # (queries, pool)
    doc_ids = np.char.add(np.char.add(query_ids[:, None], "-d"), np.arange(pool).astype(str)[None, :])
    judged = np.argsort(random.random((size.queries, pool)), axis=1)[:, :JUDGED]
    judged[:, : JUDGED // 2] = np.arange(JUDGED // 2)  # what production shows gets judged most
    rows = [np.unique(row) for row in judged]
    query_of = np.repeat(np.arange(size.queries), [len(row) for row in rows])
    judged_docs = np.concatenate(rows)
    pq.write_table(
        pa.table(
            {
                "query_id": query_ids[query_of],
                "doc_id": doc_ids[query_of, judged_docs],
                "relevance": grades[query_of, judged_docs],
            }
        ),
        log / "qrels.parquet",
    )
    noise = random.normal(0, 1, (size.queries, pool))
    broken = user % 10 == 0
    tables = []
    for system, skill in SYSTEMS.items():
        scores = np.round((0.6 + skill) * grades + noise + random.normal(0, 0.2, noise.shape), 6)
        if system == "truncated":
            scores[broken] = np.where(grades[broken] >= 1, -9.0, scores[broken])
        best = np.argsort(-scores, axis=1, kind="stable")[:, : size.depth]
        rank = np.tile(np.arange(1, best.shape[1] + 1), size.queries)
        tables.append(
            pa.table(
                {
                    "system": np.repeat(system, best.size),
                    "query_id": np.repeat(query_ids, best.shape[1]),
                    "doc_id": np.take_along_axis(doc_ids, best, axis=1).ravel(),
                    "score": np.take_along_axis(scores, best, axis=1).ravel(),
                    "rank": rank,
                }
            )
        )
    pq.write_table(pa.concat_tables(tables), log / "runs.parquet")


def _shares(random: np.random.Generator, users: int) -> np.ndarray:
    weights = random.lognormal(0, 1, users)
    return np.asarray(weights / weights.sum())
