"""The command that looks at the input and scores nothing."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from jobs import console
from jobs.cli.app import COMMON, Common, Many, app, print_json, spark_parts, started
from jobs.errors import DataRefused
from jobs.progress import Progress


@app.command
def audit(
    *,
    runs: Many = None,
    qrels: Many = None,
    queries: str | None = None,
    metrics: Annotated[list[str] | None, Parameter(negative=())] = None,
    preset: str | None = None,
    system_from: str | None = None,
    sample: float | None = None,
    common: Common = COMMON,
) -> int:
    """Look at the input of a scoring run, before any metric: exit 0 passed or warned, 4 refused.

    Parameters
    ----------
    runs
        What systems returned, as for `evaljob score`.
    qrels
        Judgments, likewise.
    queries
        Parquet or CSV with query_id; default: every judged query.
    metrics
        The metrics that will be scored: they say how deep rankings are looked at.
    preset
        Conventions by the name of a tool: default, trec_eval.
    system_from
        A system's name in TREC files: tag or file.
    sample
        A share of the queries, such as 0.01: the same queries for every system and every night.
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
        }
    )
    checks, pipeline = spark_parts()
    checks.check_input(config)
    progress = Progress(quiet=common.quiet)
    found = pipeline.audit(started(config, progress), config, progress)
    if common.json:
        print_json(found)
    else:
        console.show_audit(found)
    return DataRefused.exit_code if found["outcome"] == "refused" else 0
