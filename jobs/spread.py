"""RANKINGS -> how the first documents of each system spread over the catalogue: no mean over queries can tell."""

from __future__ import annotations

from collections import defaultdict
from typing import TypedDict

import numpy as np
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from evalcore import catalogue


class Spread(TypedDict):
    """Of one system: shares from 0 to 1, entropy and novelty in bits; see `evalcore.catalogue`."""

    system: str
    cutoff: int
    n_catalogue: int
    coverage: float
    gini: float
    entropy: float
    novelty: float


def spread(rankings: DataFrame, *, cutoff: int, n_catalogue: int | None = None) -> list[Spread]:
    """RANKINGS with `doc_ids` -> one Spread for each system that returned something, in order of names.

    n_catalogue   documents of the catalogue; None takes those that any system shows

    How well known a document is, for novelty, is the share of all rankings that show it. Moves every shown
    document once, and brings how many documents were shown how often to the driver. Runs one job.
    """
    shown = rankings.where(F.size("doc_ids") > 0).select("system", F.slice("doc_ids", 1, cutoff).alias("doc_ids"))
    n_rankings = shown.count()
    counts = shown.select("system", F.explode("doc_ids").alias("doc_id")).groupBy("system", "doc_id").count()
    known = counts.groupBy("doc_id").agg(F.sum("count").alias("known"))
    histogram = counts.join(known, on="doc_id").groupBy("system", "count", "known").agg(F.count("*").alias("n"))
    rows = histogram.collect()
    documents: defaultdict[str, list[tuple[int, int, int]]] = defaultdict(list)
    for row in rows:
        documents[row.system].append((row["count"], row["known"], row["n"]))
    size = n_catalogue or known.count()
    found: list[Spread] = []
    for system in sorted(documents):
        times, shown_by_all, n = np.array(sorted(documents[system]), dtype=np.int64).T
        counted = np.repeat(times, n)
        information = -np.log2(shown_by_all / n_rankings)
        found.append(
            {
                "system": system,
                "cutoff": cutoff,
                "n_catalogue": size,
                "coverage": catalogue.coverage(counted, size),
                "gini": catalogue.gini(counted, size),
                "entropy": catalogue.entropy(counted),
                "novelty": float((times * n * information).sum() / (times * n).sum()) + 0.0,
            }
        )
    return found
