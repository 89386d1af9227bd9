"""What job 2 needs of its input, whatever it came from: one evaluation, several, or a table of another tool."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from evalcore import Conventions, Metric
from evalcore.scoring import columns_of
from evalcore.statuses import UNANSWERED
from jobs import store
from jobs.checks import conventions_of, metrics_of
from jobs.config import Config
from jobs.errors import DataRefused, number_of
from jobs.evaluations import Evaluations
from jobs.measures import Measure, measures_of
from jobs.tables import SCORE_FACTS

EXAMPLES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """SCORES, and what is to be made of them.

    systems      in order of names
    measures     what is estimated of each
    metrics      the metrics that are known, for notes
    conventions  those that act when values become sums
    apart        whether two systems may count different queries
    unpaired     whether no query is in two systems, as in the arms of an experiment
    arms         whether no unit is either: systems are then strata
    diagnostics  sanity checks beside the values, by system and metric
    notes        what a reader should know of how the input was read
    described    what the manifest tells of it
    """

    scores: DataFrame
    systems: list[str]
    measures: list[Measure]
    metrics: list[Metric]
    conventions: Conventions
    apart: bool
    unpaired: bool = False
    arms: bool = False
    diagnostics: Mapping[str, Any] = field(default_factory=dict)
    notes: Sequence[str] = ()
    described: Mapping[str, Any] = field(default_factory=dict)


def of_evaluations(spark: SparkSession, evaluations: Evaluations, config: Config) -> Scored:
    """SCORES of one or several evaluations.  Of several, runs a job that compares their queries.

    Raises DataRefused where they do not have the same queries, or know different things of them.
    """
    manifest = evaluations.manifest
    conventions, metrics = conventions_of(manifest, config), metrics_of(manifest)
    scores = _union(spark, evaluations, metrics)
    if len(evaluations.directories) > 1:
        _check_queries(scores, manifest)
        described: dict[str, Any] = {
            "evaluations": [
                {
                    "directory": str(directory),
                    "created": each["created"],
                    "config_hash": each["config_hash"],
                    "systems": list(names.values()),
                }
                for directory, each, names in zip(
                    evaluations.directories, evaluations.manifests, evaluations.names, strict=True
                )
            ]
        }
    else:
        described = {}
    return Scored(
        scores=scores,
        systems=manifest["systems"],
        measures=measures_of(metrics, conventions),
        metrics=metrics,
        conventions=conventions,
        apart=conventions.unanswered == "skip" and manifest["counts"][f"n_{UNANSWERED}"] > 0,
        diagnostics=manifest["diagnostics"],
        notes=evaluations.notes,
        described={**described, "conventions": asdict(conventions), "answers": manifest["answers"]},
    )


def _union(spark: SparkSession, evaluations: Evaluations, metrics: Sequence[Metric]) -> DataFrame:
    """SCORES of all of them, systems under the names that they have here."""
    tables = [
        spark.read.parquet(*store.score_files(directory, manifest))
        for directory, manifest in zip(evaluations.directories, evaluations.manifests, strict=True)
    ]
    if evaluations.as_they_are:
        return tables[0]
    known = [F.col(f"`{column}`").cast("string") for column in evaluations.manifest["query_columns"]]
    whole: DataFrame | None = None
    for table, names in zip(tables, evaluations.names, strict=True):
        if not names:
            continue
        renamed = F.create_map(*(F.lit(each) for pair in names.items() for each in pair))[F.col("system")]
        part = table.where(F.col("system").isin(list(names))).select(
            renamed.alias("system"),
            "query_id",
            *(column.alias(key) for column, key in zip(known, evaluations.manifest["query_columns"], strict=True)),
            *columns_of(metrics),
            *SCORE_FACTS,
        )
        whole = part if whole is None else whole.unionByName(part)
    assert whole is not None
    return whole


def _check_queries(scores: DataFrame, manifest: Mapping[str, Any]) -> None:
    """Raises DataRefused unless every system has a row for every query, and all say the same of it."""
    n_systems = len(manifest["systems"])
    said = ("n_relevant", "n_judged", *manifest["query_columns"])
    facts = F.struct(*(F.col(f"`{key}`") for key in said))
    queries = scores.groupBy("query_id").agg(
        (F.count("*") != n_systems).alias("missing"), (F.min(facts) != F.max(facts)).alias("differs")
    )
    found = queries.agg(*(F.count_if(wrong).alias(wrong) for wrong in ("missing", "differs"))).collect()[0]
    if found.missing:
        raise DataRefused(
            f"{number_of(found.missing, 'query')} only in some of the evaluations: "
            f"{_ids(queries, 'missing')}; score all with the same --queries or judgments"
        )
    if found.differs:
        raise DataRefused(
            f"the evaluations do not say the same of {number_of(found.differs, 'query')}, in one of "
            f"{', '.join(said)}: {_ids(queries, 'differs')}; score all with the same --queries and judgments"
        )


def _ids(queries: DataFrame, wrong: str) -> str:
    rows = queries.where(wrong).orderBy("query_id").limit(EXAMPLES).collect()
    return ", ".join(f'"{row.query_id}"' for row in rows)
