"""The commands that start Spark."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from jobs import console
from jobs.cli.app import COMMON, Common, Flag, Many, app, print_json, show_aggregate, spark_parts, split, started
from jobs.progress import Progress


@app.command
def score(
    *,
    runs: Many = None,
    qrels: Many = None,
    queries: str | None = None,
    metrics: Annotated[list[str] | None, Parameter(negative=())] = None,
    output: str | None = None,
    preset: str | None = None,
    system_from: str | None = None,
    sample: float | None = None,
    force: Flag = False,
    common: Common = COMMON,
) -> int:
    """Score every query of every system and write the table of values.

    Parameters
    ----------
    runs
        What systems returned: TREC files (plain or gzip), Parquet, folders or patterns.
    qrels
        Judgments, likewise.
    queries
        Parquet or CSV with query_id and columns to group by; default: every judged query.
    metrics
        Names with commas between, such as "nDCG@10,AP,RR@10"; `evaljob metrics` lists them.
    output
        Directory of the new evaluation.
    preset
        Conventions by the name of a tool: default, trec_eval.
    system_from
        A system's name in TREC files: tag or file.
    sample
        A share of the queries, such as 0.01: the same queries for every system and every night.
    force
        Replace an evaluation that exists.
    """
    config = common.load(
        {
            "inputs.runs": runs,
            "inputs.qrels": qrels,
            "inputs.queries": queries,
            "inputs.system_from": system_from,
            "prepare.sample": sample,
            "score.metrics": metrics,
            "score.preset": preset,
            "output.dir": output,
            "output.force": force or None,
        }
    )
    checks, pipeline = spark_parts()
    checks.check_score(config)
    progress = Progress(quiet=common.quiet)
    manifest = pipeline.score(started(config, progress), config, progress)
    if common.json:
        print_json({"output": config.output.dir, **manifest})
    else:
        console.show_score(str(config.output.dir), manifest)
    return 0


@app.command
def aggregate(
    *directories: Path,
    scores: Many = None,
    unit: str | None = None,
    baseline: str | None = None,
    systems: Many = None,
    metrics: Annotated[list[str] | None, Parameter(negative=())] = None,
    name: str | None = None,
    output: str | None = None,
    same_system: str | None = None,
    system_from: str | None = None,
    force: Flag = False,
    common: Common = COMMON,
) -> int:
    """Turn the scores of an evaluation, of several, or of another tool into estimates and contrasts with intervals.

    Parameters
    ----------
    directories
        Evaluations that `evaljob score` wrote; several where they share judgments, queries and conventions.
    scores
        Values of queries from another tool instead, as Parquet, CSV or the output of trec_eval -q.
    unit
        What is independent: query_id, or the column of what queries share, such as user_id.
    baseline
        The system to compare all others with; default: all pairs.
    systems
        The systems to look at; default: all.
    metrics
        The metrics to look at, with commas between; default: all.
    name
        Name of this aggregation; default: the unit.
    output
        Directory of the new aggregation; default: a folder inside the evaluation, if it is one.
    same_system
        A system in several evaluations: refuse, last (of those named), both (as system@directory).
    system_from
        A system's name in --scores: tag (the column that holds it) or file.
    force
        Replace an aggregation that --output names.
    """
    config = common.load(
        {
            "inputs.scores": scores,
            "inputs.system_from": system_from,
            "aggregate.unit": unit,
            "aggregate.baseline": baseline,
            "aggregate.systems": systems,
            "aggregate.metrics": split(metrics),
            "aggregate.name": name,
            "aggregate.output": output,
            "aggregate.same_system": same_system,
            "output.force": force or None,
        }
    )
    checks, pipeline = spark_parts()
    checks.check_aggregate(directories, config)
    progress = Progress(quiet=common.quiet)
    found = pipeline.aggregate(started(config, progress), directories, config, progress)
    show_aggregate(found, common)
    return 0


@app.command
def demo(*, output: str | None = None, common: Common = COMMON) -> int:
    """Run both jobs on a generated production log with a planted regression.

    Parameters
    ----------
    output
        Where to write log and evaluation; default: a folder out/demo here.
    """
    from jobs import demo as made

    root = Path(output or "out/demo")
    checks, pipeline = spark_parts()
    progress = Progress(quiet=common.quiet)
    config = common.load(made.paths(root), defaults=made.SETTINGS)
    with progress.stage(f"generating a log of {config.demo.queries:,} queries in {root}"):
        made.generate(root, config.demo)
    checks.check_score(config)
    spark = started(config, progress)
    pipeline.score(spark, config, progress)
    found = pipeline.aggregate(spark, made.evaluation(root), config, progress)
    show_aggregate(found, common)
    if not common.json:
        console.show_demo(root, config)
    return 0
