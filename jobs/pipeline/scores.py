"""Job 1: from configuration and input to a published evaluation."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from evalcore import column_name, name
from evalcore.errors import unknown
from evalcore.scoring import needs_of
from jobs import audit, notes, rankings, store, summary
from jobs import score as scoring
from jobs import spread as spreading
from jobs.checks import check_columns, check_score
from jobs.config import Config, Inputs, config_hash, dump
from jobs.errors import JobError, UsageError, number_of
from jobs.pipeline.source import Source
from jobs.progress import Progress
from jobs.spark_errors import told


def score(spark: SparkSession, config: Config, progress: Progress) -> dict[str, Any]:
    """Job 1: read, rank, score, check, publish.  Returns the manifest of the new evaluation."""
    metrics, output = check_score(config)
    chosen, conventions = config.score, config.score.resolved_conventions
    needs = needs_of(metrics, conventions, chosen.diagnostics)
    depth = scoring.depth_of(metrics, conventions, chosen.diagnostics)
    with store.publish(output, replace=config.output.force) as staging, told():
        with progress.stage("looking at the input"):
            source = Source(
                spark, config, conventions, needs=needs, judged=any(metric.FACTS.judgments for metric in metrics)
            )
            systems = source.systems()
            if chosen.reference not in (None, *systems):
                raise UsageError(unknown("system", str(chosen.reference), systems))
            qrel_counts = source.qrel_counts()
            queries = source.queries()
        others = [key for key in queries.columns if key != "query_id"] if queries is not None else []
        check_columns(metrics, others, chosen)
        watched = audit.Audit(conventions, needs, removes_self=config.prepare.self_retrieval == "remove")
        judgments = rankings.judgments(source.qrels, needs=needs, repeated=config.judgments.repeated)
        how: dict[str, Any] = {"conventions": conventions, "collapse": config.prepare.separator is not None}
        kept = source.kept(watched.runs(source.needed_runs))
        ranked = rankings.ranked(kept, judgments, depth=depth, needs=needs, **how)
        reference = None
        if "reference" in needs:  # ranked by itself, so that nothing of the others is ranked twice
            reference = rankings.ranked(source.runs_of(chosen.reference), judgments, depth=depth, needs=needs, **how)
        answers = rankings.complete(
            watched.ranked(ranked),
            judgments,
            queries,
            systems=systems,
            needs=needs,
            reference=reference,
            unlabelled=source.unlabelled,
        )
        scores = scoring.score(
            watched.rankings(answers, n_systems=len(systems)),
            metrics=metrics,
            conventions=conventions,
            others=others,
            diagnostics=chosen.diagnostics,
            best_grade=max(1.0, qrel_counts.best_grade or 1.0),
            how=chosen.udf,
        )
        what = f"scoring {number_of(len(systems), 'system')} with {number_of(len(metrics), 'metric')}"
        with progress.stage(what):
            scores.write.parquet(store.uri(staging / "scores"))
        with progress.stage("checking"):
            counts = {**asdict(qrel_counts), **watched.counts()}
            written = spark.read.parquet(store.uri(staging / "scores"))
            source.refuse(counts, written, metrics, asked_for_all=queries is None)
            files = _files(staging, counts[audit.N_SCORES])
            answered = summary.answers(written)
            diagnosed = summary.diagnosed(written, metrics, chosen.diagnostics, conventions)
        spread: list[spreading.Spread] = []
        if chosen.spread_at is not None:
            with progress.stage("looking at the catalogue"):
                shown = rankings.ranked(
                    source.kept(source.needed_runs),
                    judgments,
                    depth=chosen.spread_at,
                    needs=frozenset({"documents"}),
                    **how,
                )
                spread = spreading.spread(shown, cutoff=chosen.spread_at, n_rankings=counts["n_rankings"])
        manifest = {
            "kind": "evaluation",
            "systems": systems,
            "metrics": [{"name": name(metric), "column": column_name(metric)} for metric in metrics],
            "query_columns": others,
            "conventions": asdict(conventions),
            "depth": depth,
            "config": dump(config),
            "config_hash": config_hash(config),
            "inputs": _fingerprints(config.inputs),
            "n_queries": counts[audit.N_SCORES] // len(systems),
            "counts": counts,
            "answers": answered,
            "notes": [
                *notes.of_scores(metrics, counts, by_rank=conventions.ties == "rank_column"),
                *notes.of_answers(answered),
            ],
            "spread": spread,
            "diagnostics": diagnosed,
            "files": files,
        }
        store.write_manifest(staging, manifest)
    return manifest


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
