"""The command `evaljob`: reads the command line, calls the pipeline, shows the result, sets the exit code."""

from __future__ import annotations

import json
import logging
import os
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

try:
    from cyclopts import App, CycloptsError, Parameter, UnusedCliTokensError
    from rich.console import Console

    from jobs import console
    from jobs.config import Config
    from jobs.config_file import load
    from jobs.progress import Progress
except ModuleNotFoundError as missing:
    if (missing.name or "").partition(".")[0] in ("jobs", "evalcore"):
        raise
    print(
        f"evaljob: the command line needs {missing.name}; install it with: pip install 'evaljob[cli]'", file=sys.stderr
    )
    sys.exit(2)

from evalcore import EvalcoreError
from jobs.errors import JobError, UsageError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

app = App(
    name="evaljob",
    help="Score every query of every system, then estimate and contrast with bootstrap intervals.",
    version=lambda: version("evaljob"),
    version_flags=["--version"],
    suppress_keyboard_interrupt=False,
)

Many = Annotated[list[str] | None, Parameter(consume_multiple=True, negative=())]
Flag = Annotated[bool, Parameter(negative=(), show_default=False)]


@Parameter(name="*")
@dataclass(frozen=True)
class Common:
    """What every job takes.

    Parameters
    ----------
    config
        YAML file with settings; conf/base.yaml shows all of them.
    set_
        One setting, as section.key=value; may be given again.
    quiet
        Tell nothing but the result.
    json
        Print the result as JSON.
    """

    config: str | None = None
    set_: Annotated[list[str] | None, Parameter(name="--set", negative=())] = None
    quiet: Flag = False
    json: Flag = False

    def load(self, flags: dict[str, object], *, defaults: dict[str, object] | None = None) -> Config:
        """The configuration, this command's flags winning, and everything winning over `defaults`."""
        overrides, defaults = self.set_ or [], defaults or {}
        return load(self.config, overrides=overrides, environment=os.environ, flags=flags, defaults=defaults)


COMMON = Common()


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
    force
        Replace an evaluation that exists.
    """
    config = common.load(
        {
            "inputs.runs": runs,
            "inputs.qrels": qrels,
            "inputs.queries": queries,
            "inputs.system_from": system_from,
            "score.metrics": metrics,
            "score.preset": preset,
            "output.dir": output,
            "output.force": force or None,
        }
    )
    checks, pipeline = _jobs()
    checks.check_score(config)
    progress = Progress(quiet=common.quiet)
    manifest = pipeline.score(_session(config, progress), config, progress)
    if common.json:
        _print_json({"output": config.output.dir, **manifest})
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
            "aggregate.metrics": _split(metrics),
            "aggregate.name": name,
            "aggregate.output": output,
            "aggregate.same_system": same_system,
            "output.force": force or None,
        }
    )
    checks, pipeline = _jobs()
    checks.check_aggregate(directories, config)
    progress = Progress(quiet=common.quiet)
    found = pipeline.aggregate(_session(config, progress), directories, config, progress)
    _show_aggregate(found, common)
    return 0


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
            "aggregate.metrics": _split(metrics),
            "aggregate.name": name,
            "output.force": force or None,
        }
    )
    from jobs.reaggregate import reaggregate as put_together

    _show_aggregate(put_together(directories, config), common)
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
            "aggregate.margins": _margins(margin) or None,
            "gate.candidate": candidate,
            "gate.guardrails": guardrails,
            "gate.strict": strict or None,
            "output.force": force or None,
        }
    )
    from jobs.gate import gate as judge

    verdict, path = judge(directory, config)
    if common.json:
        _print_json(verdict)
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
        _print_json(found)
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
            "aggregate.metrics": _split(metrics),
            "aggregate.name": name,
        }
    )
    from jobs.datasets import datasets as looked_at

    found = looked_at(sets, config)
    if common.json:
        _print_json(found)
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
            "aggregate.margins": _margins(margin) or None,
        }
    )
    from jobs.selection import select as chosen

    found = chosen(directory, config, metric=metric, auxiliary=_split(auxiliary) or [])
    if common.json:
        _print_json(found)
    else:
        console.show_selection(found)
    return 0


@app.command
def metrics(name: str | None = None, /) -> int:
    """List the metrics and presets, or explain one.

    Parameters
    ----------
    name
        A metric or preset, such as nDCG, nDCG@10 or trec_eval, or the word conventions.
    """
    console.show_metrics(name)
    return 0


@app.command
def doctor(*, json: Flag = False) -> int:
    """Check Python, Java, Spark and memory, and say what to do about each thing wrong.

    Parameters
    ----------
    json
        Print the result as JSON.
    """
    from jobs.doctor import check

    findings = check()
    if json:
        _print_json(
            [{"name": each.name, "ok": each.ok, "detail": each.detail, "advice": each.advice} for each in findings]
        )
    else:
        console.show_findings(findings)
    return 0 if all(finding.ok for finding in findings) else 1


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
    checks, pipeline = _jobs()
    progress = Progress(quiet=common.quiet)
    config = common.load(made.paths(root), defaults=made.SETTINGS)
    with progress.stage(f"generating a log of {config.demo.queries:,} queries in {root}"):
        made.generate(root, config.demo)
    checks.check_score(config)
    spark = _session(config, progress)
    pipeline.score(spark, config, progress)
    found = pipeline.aggregate(spark, made.evaluation(root), config, progress)
    _show_aggregate(found, common)
    if not common.json:
        console.show_demo(root, config)
    return 0


def _margins(given: Sequence[str] | None) -> dict[str, object]:
    """Margins by metric, from METRIC=NUMBER; a metric's name may have an = in its brackets."""
    margins: dict[str, object] = {}
    for text in given or []:
        metric, equals, number = text.rpartition("=")
        try:
            margins[metric.strip()] = float(number)
        except ValueError:
            equals = ""
        if not equals or not metric:
            raise UsageError(f'--margin {text}: write the metric and a number, such as "nDCG@10=0.005"')
    return margins


def _split(names: Sequence[str] | None) -> list[str] | None:
    """Names with commas between, one by one; a comma inside brackets is part of a name."""
    if names is None:
        return None
    parts = (part.strip() for text in names for part in re.split(r",(?![^({]*[)}])", text))
    return [part for part in parts if part]


def _show_aggregate(found: tuple[dict[str, Any], Any, Any], common: Common) -> None:
    described, estimates, contrasts = found
    if common.json:
        _print_json({**described, "estimates": estimates.to_pylist(), "contrasts": contrasts.to_pylist()})
    else:
        console.show_aggregate(described, estimates, contrasts)


def _jobs() -> tuple[Any, Any]:
    """jobs.checks and jobs.pipeline, which need the extra `spark`."""
    try:
        from jobs import checks, pipeline
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] in ("jobs", "evalcore"):
            raise
        raise UsageError(f"this command needs {missing.name}; install it with: pip install 'evaljob[spark]'") from None
    return checks, pipeline


def _session(config: Config, progress: Progress) -> SparkSession:
    from jobs.session import session

    with progress.stage("starting Spark"):
        return session(master=config.spark.master, settings=config.spark.settings)


def _print_json(content: object) -> None:
    print(json.dumps(content, indent=2, ensure_ascii=False))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code of style: 0 fine, 1 unexpected, 2 usage, 4 data refused."""
    silent = logging.CRITICAL + 1  # py4j tells a broken call to the root logger, with a traceback
    logging.basicConfig(level=silent, format="%(asctime)s %(message)s", datefmt="%H:%M:%S", stream=sys.stderr)
    logging.getLogger("evaljob").setLevel(logging.INFO)
    for name in ("DataFrameQueryContextLogger", "SQLQueryContextLogger"):  # PySpark's, which tell errors as JSON
        logging.getLogger(name).setLevel(silent)
    try:
        return int(app(arguments, exit_on_error=False, print_error=False, result_action="return_value") or 0)
    except CycloptsError as error:
        return _tell(_usage(error), UsageError.exit_code)
    except EvalcoreError as error:
        return _tell(str(error), UsageError.exit_code)
    except JobError as error:
        if error.exit_code == 1 and os.environ.get("EVALJOB_TRACEBACK"):
            raise
        return _tell(str(error), error.exit_code)
    except KeyboardInterrupt:
        return _tell("stopped", 130)
    except BrokenPipeError:  # the reader of our output went away, as `| head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 0
    except Exception as error:
        if os.environ.get("EVALJOB_TRACEBACK"):
            raise
        where = f"{type(error).__name__}: {error}".splitlines()[0]
        return _tell(f"unexpected error: {where}; set EVALJOB_TRACEBACK=1 and run again to see where", 1)


def _usage(error: CycloptsError) -> str:
    """What is wrong with a command line, and where its options are told."""
    what = str(error)
    if isinstance(error, UnusedCliTokensError):
        what = f"{' '.join(error.unused_tokens or [])} belongs to no option."
    return f"{what} See: {' '.join(('evaljob', *(error.command_chain or ()), '--help'))}"


def _tell(message: str, code: int) -> int:
    Console(stderr=True, soft_wrap=True, highlight=False, markup=False).print(f"evaljob: {message}")
    return code
