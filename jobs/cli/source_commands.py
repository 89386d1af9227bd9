"""The command that says what an input seems to be."""

from __future__ import annotations

from jobs import console
from jobs.cli.app import COMMON, Common, app, print_json, spark_parts, started
from jobs.errors import UsageError
from jobs.progress import Progress


@app.command
def inspect(*sources: str, format: str | None = None, common: Common = COMMON) -> int:
    """Show what files or tables seem to hold, ids masked, and a configuration that is ready to use.

    Parameters
    ----------
    sources
        Files, folders, patterns, or table:NAME; each is looked at by itself, so name runs and judgments together.
    format
        How they are written, if the name does not say it: trec, parquet, orc, csv, tsv, jsonl, svmlight.
    """
    if not sources:
        raise UsageError("name what to look at: evaljob inspect SOURCE ...")
    spark_parts()
    from jobs import inspect as looking
    from jobs.readers import resolve
    from jobs.spark_errors import told

    config = common.load({"inputs.format": format})
    for source in sources:
        resolve([source], option="runs", format=config.inputs.format)
    spark = started(config, Progress(quiet=common.quiet))
    with told():
        found = [looking.inspected(spark, [source], format=config.inputs.format) for source in sources]
    ready = looking.configuration(found)
    if common.json:
        print_json({"sources": found, "configuration": ready})
    else:
        console.show_sources(found, ready)
    return 0
