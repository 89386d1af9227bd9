"""Sources in, RUNS, QRELS and QUERIES out. Adding a format is a module and a line in READERS.

A reader loses no row: what it cannot read becomes null, and the audit counts nulls and refuses.
"""

from __future__ import annotations

from types import ModuleType

from jobs.readers import parquet, trec
from jobs.readers.paths import resolve
from jobs.readers.queries import flaws_of_queries, queries

READERS: dict[str, ModuleType] = {"trec": trec, "parquet": parquet}
"""Each has runs(spark, paths, system_from), qrels(spark, paths), files(spark, paths) and
flaws(spark, paths, kind, order)."""

__all__ = ["READERS", "flaws_of_queries", "queries", "resolve"]
