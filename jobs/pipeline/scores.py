"""Job 1: from configuration and input to a published evaluation."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from evalcore import column_name, name
from jobs import audit, notes, rankings, store, summary
from jobs import score as scoring
from jobs import spread as spreading
from jobs.checks import check_score
from jobs.config import Config, Inputs, config_hash, dump
from jobs.errors import JobError, number_of
from jobs.pipeline.answers import Answers, answers
from jobs.pipeline.audits import refuse, with_examples
from jobs.progress import Progress
from jobs.spark_errors import told


def score(spark: SparkSession, config: Config, progress: Progress) -> dict[str, Any]:
    """Job 1: read, rank, score, check, publish.  Returns the manifest of the new evaluation."""
    metrics, output = check_score(config)
    chosen, conventions = config.score, config.score.resolved_conventions
    with store.publish(output, replace=config.output.force) as staging, told():
        found = answers(spark, config, metrics, progress)
        scores = scoring.score(
            found.rankings,
            metrics=metrics,
            conventions=conventions,
            others=found.others,
            diagnostics=chosen.diagnostics,
            best_grade=max(1.0, found.qrel_counts.best_grade or 1.0),
            how=chosen.udf,
        )
        what = f"scoring {number_of(len(found.systems), 'system')} with {number_of(len(metrics), 'metric')}"
        with progress.stage(what):
            scores.write.parquet(store.uri(staging / "scores"))
        with progress.stage("checking"):
            counts = found.counts()
            written = spark.read.parquet(store.uri(staging / "scores"))
            found.source.refuse(counts, written, metrics, asked_for_all=found.queries is None)
            files = _files(staging, counts[audit.N_SCORES])
            answered = summary.answers(written)
            audited = found.audited(counts, answered)
            refuse(with_examples(audited["gates"], found, written, only=("refused",)))
            diagnosed = summary.diagnosed(written, metrics, chosen.diagnostics, conventions)
        manifest = {
            "kind": "evaluation",
            "systems": found.systems,
            "metrics": [{"name": name(metric), "column": column_name(metric)} for metric in metrics],
            "query_columns": found.others,
            "conventions": asdict(conventions),
            "depth": found.depth,
            "config": dump(config),
            "config_hash": config_hash(config),
            "inputs": _fingerprints(config.inputs),
            "n_queries": audited["n_queries"],
            "counts": counts,
            "answers": answered,
            "audit": audited,
            "notes": [
                *notes.of_scores(metrics, counts, by_rank=conventions.ties == "rank_column"),
                *notes.of_answers(answered),
            ],
            "spread": _spread(found, progress, n_rankings=counts["n_rankings"]),
            "diagnostics": diagnosed,
            "files": files,
        }
        store.write_manifest(staging, manifest)
    return manifest


def _spread(found: Answers, progress: Progress, *, n_rankings: int) -> list[spreading.Spread]:
    """How documents spread over the catalogue, if that is asked for: another look at the runs."""
    cutoff = found.config.score.spread_at
    if cutoff is None:
        return []
    with progress.stage("looking at the catalogue"):
        source, needs = found.source, frozenset({"documents"})
        runs = source.kept(source.needed_runs)
        shown = rankings.ranked(runs, found.judgments, depth=cutoff, needs=needs, **found.how)
        return spreading.spread(shown, cutoff=cutoff, n_rankings=n_rankings)


def _files(staging: Path, n_rows: int) -> list[dict[str, Any]]:
    """The files of SCORES, which must hold as many rows as were written."""
    files = store.part_files(staging / "scores", under=staging)
    found = sum(file["rows"] for file in files)
    if found != n_rows:
        raise JobError(
            f"{n_rows} rows were written and {found} are in {staging / 'scores'}: --output must be a folder that the "
            "driver and every executor see under the same path"
        )
    return files


def _fingerprints(inputs: Inputs) -> dict[str, Any]:
    paths = {"runs": inputs.runs, "qrels": inputs.qrels, "queries": [inputs.queries] if inputs.queries else []}
    return {option: store.fingerprint(given) for option, given in paths.items()}
