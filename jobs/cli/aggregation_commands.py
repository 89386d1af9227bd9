"""The commands that read what `evaljob aggregate` wrote, without a JVM."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from jobs import console
from jobs.cli.app import COMMON, Common, Flag, Many, app, margins, print_json, show_aggregate, split


@app.command
def reaggregate(
    *directories: Path,
    output: str | None = None,
    baseline: str | None = None,
    systems: Many = None,
    metrics: Annotated[list[str] | None, Parameter(negative=())] = None,
    name: str | None = None,
    force: Flag = False,
    common: Common = COMMON,
) -> int:
    """Make other estimates and contrasts of the sums of an aggregation, or of several nights together, without Spark.

    Parameters
    ----------
    directories
        Aggregations that `evaljob aggregate` wrote, or evaluations that have one; several are added.
    output
        Directory of the new aggregation.
    baseline
        The system to compare all others with; default: as it was.
    systems
        The systems to look at; default: as it was.
    metrics
        The metrics to look at, with commas between; default: as it was.
    name
        Name of the aggregation in each evaluation; default: the only one.
    force
        Replace an aggregation that --output names.
    """
    config = common.load(
        {
            "aggregate.output": output,
            "aggregate.baseline": baseline,
            "aggregate.systems": systems,
            "aggregate.metrics": split(metrics),
            "aggregate.name": name,
            "output.force": force or None,
        }
    )
    from jobs.reaggregate import reaggregate as put_together

    show_aggregate(put_together(directories, config), common)
    return 0


@app.command
def gate(
    directory: Path,
    /,
    *,
    baseline: str | None = None,
    candidate: str | None = None,
    name: str | None = None,
    guardrails: Annotated[list[str] | None, Parameter(negative=())] = None,
    margin: Annotated[list[str] | None, Parameter(negative=())] = None,
    strict: Flag = False,
    force: Flag = False,
    common: Common = COMMON,
) -> int:
    """Answer whether a candidate may replace the baseline: exit 0 passed, 3 regressed, 4 invalid, 5 inconclusive.

    Parameters
    ----------
    directory
        An evaluation that `evaljob aggregate` has aggregated.
    baseline
        The system that is there now; default: the aggregation's baseline.
    candidate
        The system that is to replace it; default: the only other one.
    name
        Name of the aggregation; default: the only one.
    guardrails
        Metrics that must not get worse, with commas between; default: all with a better direction, at most 5.
    margin
        How much worse would matter, as METRIC=NUMBER; may be given again. Default: 0.5 % of the baseline.
    strict
        Call it regressed only if the loss is known to be beyond the margin.
    force
        Judge anew where a verdict exists.
    """
    config = common.load(
        {
            "aggregate.baseline": baseline,
            "aggregate.name": name,
            "aggregate.margins": margins(margin) or None,
            "gate.candidate": candidate,
            "gate.guardrails": guardrails,
            "gate.strict": strict or None,
            "output.force": force or None,
        }
    )
    from jobs.gate import gate as judge

    verdict, path = judge(directory, config)
    if common.json:
        print_json(verdict)
    else:
        console.show_gate(verdict, path)
    return int(verdict["exit_code"])


@app.command
def power(directory: Path, /, *, baseline: str | None = None, name: str | None = None, common: Common = COMMON) -> int:
    """Tell how small a change an evaluation can show, and how many units a smaller one needs.

    Parameters
    ----------
    directory
        An evaluation that `evaljob aggregate` has aggregated.
    baseline
        The system that others are compared with; default: the aggregation's baseline.
    name
        Name of the aggregation; default: the only one.
    """
    config = common.load({"aggregate.baseline": baseline, "aggregate.name": name})
    from jobs.power import power as planned

    found = planned(directory, config)
    if common.json:
        print_json(found)
    else:
        console.show_power(found)
    return 0


@app.command
def datasets(
    *sets: str,
    baseline: str | None = None,
    systems: Many = None,
    metrics: Annotated[list[str] | None, Parameter(negative=())] = None,
    name: str | None = None,
    common: Common = COMMON,
) -> int:
    """Look at several data sets with the same systems: what each says, and the means over them.

    Parameters
    ----------
    sets
        Data sets as NAME=DIR, each an evaluation that `evaljob aggregate` has aggregated.
    baseline
        The system to compare all others with; default: that of the aggregations, or all pairs.
    systems
        The systems to look at; default: those that all data sets have.
    metrics
        The metrics to look at, with commas between; default: those that all data sets have.
    name
        Name of the aggregation in each evaluation; default: the only one.
    """
    config = common.load(
        {
            "aggregate.baseline": baseline,
            "aggregate.systems": systems,
            "aggregate.metrics": split(metrics),
            "aggregate.name": name,
        }
    )
    from jobs.datasets import datasets as looked_at

    found = looked_at(sets, config)
    if common.json:
        print_json(found)
    else:
        console.show_datasets(found)
    return 0


@app.command
def select(
    directory: Path,
    /,
    *,
    metric: str,
    baseline: str | None = None,
    auxiliary: Annotated[list[str] | None, Parameter(negative=())] = None,
    margin: Annotated[list[str] | None, Parameter(negative=())] = None,
    systems: Many = None,
    name: str | None = None,
    common: Common = COMMON,
) -> int:
    """Choose the best of many candidates by one metric, among those on which no other metric falls.

    Parameters
    ----------
    directory
        An evaluation that `evaljob aggregate` has aggregated.
    metric
        The metric to choose by.
    baseline
        The system that is there now; default: the aggregation's baseline, or none.
    auxiliary
        Metrics that must not fall, with commas between; default: none.
    margin
        How far one of them may fall, as METRIC=NUMBER; may be given again. Default: 0.5 % of the baseline.
    systems
        The candidates; default: all systems but the baseline.
    name
        Name of the aggregation; default: the only one.
    """
    config = common.load(
        {
            "aggregate.baseline": baseline,
            "aggregate.systems": systems,
            "aggregate.name": name,
            "aggregate.margins": margins(margin) or None,
        }
    )
    from jobs.selection import select as chosen

    found = chosen(directory, config, metric=metric, auxiliary=split(auxiliary) or [])
    if common.json:
        print_json(found)
    else:
        console.show_selection(found)
    return 0
