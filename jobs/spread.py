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


def spread(rankings: DataFrame, *, cutoff: int, n_rankings: int) -> list[Spread]:
    """RANKINGS with `doc_ids` -> one Spread for each system that returned something, in order of names.

    n_rankings   how many there are, none of them empty

    The catalogue is all documents that some system shows. How well known one of them is, for novelty, is the share
    of all rankings that show it. Moves every shown document twice, and brings to the driver how many documents
    were shown how often. Runs one job.
    """
    shown = rankings.select("system", F.explode(F.slice("doc_ids", 1, cutoff)).alias("doc_id"))
    counts = shown.groupBy("system", "doc_id").count()
    known = counts.groupBy("doc_id").agg(F.sum("count").alias("known"), F.count("*").alias("n_systems"))
    histogram = counts.join(known, on="doc_id").groupBy("system", "count", "known", "n_systems").agg(F.count("*"))
    documents: defaultdict[str, list[tuple[int, int, int]]] = defaultdict(list)
    shown_by: defaultdict[int, int] = defaultdict(int)
    for system, count, by_all, n_systems, n in histogram.collect():
        documents[system].append((count, by_all, n))
        shown_by[n_systems] += n
    size = sum(n // n_systems for n_systems, n in shown_by.items())  # each document once, and not for each system
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
