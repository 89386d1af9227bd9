"""`evaljob eval`: numbers from a few files at once, without Spark.

Its words are read by argparse: the command answers within a second, of which cyclopts would take a quarter to import;
and trec_eval's short flags and several groups of files (`--dataset`) are forms that argparse has.
"""

from __future__ import annotations

import os
import sys
from argparse import SUPPRESS, ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Sequence
from typing import NoReturn

from jobs.cli.words import margins, split
from jobs.config import Config
from jobs.config_file import load
from jobs.direct import evaluation, formats
from jobs.errors import UsageError
from jobs.figures import as_json

FORMATS = ("table", "csv", "json", "trec", "latex", "markdown")
HELP = """\
Score a few runs at once, without Spark: estimates with intervals, and contrasts where there are several systems.

QRELS and RUN are TREC files, plain or gzip, or long tables in Parquet, ORC, CSV, TSV or JSON lines; - is standard
input. The numbers are those of `evaljob score` and `evaljob aggregate`, to the last bit."""
TREC_EVAL = """\
Any of these makes the answer trec_eval's, with its conventions (version 9.0.8; 10.0 with --preset trec_eval10)."""


class _Parser(ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}. See: evaljob eval --help")


def parser() -> ArgumentParser:
    """What the command takes."""
    reader = _Parser(
        prog="evaljob eval",
        usage="evaljob eval QRELS RUN [RUN ...] [options]",
        description=HELP,
        formatter_class=RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = reader.add_argument
    add("files", nargs="*", metavar="QRELS RUN", help=SUPPRESS)
    add(
        "--dataset",
        action="append",
        nargs="+",
        metavar=("NAME QRELS RUN", "RUN"),
        help="one of several data sets: each a row, and a row for their mean; instead of QRELS RUN",
    )
    add("--metrics", action="append", metavar="NAMES", help='names with commas between, such as "nDCG@10,AP,RR@10"')
    add("--baseline", metavar="SYSTEM", help="the system to compare all others with; default: all pairs")
    add("--queries", metavar="FILE", help="a table with query_id and columns of queries; default: every judged query")
    add("--unit", metavar="COLUMN", help="what is independent: query_id, the default, or a column of --queries")
    add("--preset", metavar="NAME", help="conventions by the name of a tool, such as trec_eval")
    add("--margin", action="append", metavar="METRIC=NUMBER", help="how small a delta would not matter")
    add("--system-from", choices=("tag", "file"), help="a system's name in TREC files: the tag, or the file's name")
    add("--per-query", action="store_true", help="tell the value of every query too")
    add("--format", choices=FORMATS, help="how to write the answer; default: table")
    add("--json", action="store_true", help="the same as --format json")
    add("--config", metavar="FILE", help="YAML file with settings; conf/base.yaml shows all of them")
    add("--set", action="append", metavar="KEY=VALUE", dest="overrides", help="one setting, as section.key=value")
    of_trec = reader.add_argument_group("flags of trec_eval", TREC_EVAL).add_argument
    of_trec("-m", action="append", metavar="MEASURE", help="official (the default), all_trec, map, ndcg_cut.10,20, ...")
    of_trec("-q", action="store_true", help="the value of every query too")
    of_trec("-n", action="store_true", help="no line of all queries")
    of_trec("-c", action="store_true", help="a judged query that the run did not answer counts 0")
    of_trec("-l", type=_level, metavar="GRADE", help="from which grade a document is relevant; default: 1")
    of_trec("-J", action="store_true", help="only judged documents")
    of_trec("-M", type=int, metavar="DEPTH", help="documents of each query to look at")
    return reader


def _level(text: str) -> float:
    """A grade: argparse tells what is none."""
    return float(text)


def run(words: Sequence[str]) -> int:
    """The exit code of the command.  Raises JobError."""
    try:
        asked = parser().parse_intermixed_args(list(words))
    except SystemExit as ended:  # --help has been shown
        return int(ended.code or 0)
    if asked.dataset and asked.files:
        raise UsageError(f"{' '.join(asked.files)} and --dataset: name all files behind --dataset NAME QRELS RUN")
    if len(asked.files) < 2 and not asked.dataset:
        raise UsageError("name the judgments and at least one run: evaljob eval QRELS RUN [RUN ...]")
    as_trec_eval = any((asked.m, asked.q, asked.n, asked.c, asked.l is not None, asked.J, asked.M is not None))
    config = load(
        asked.config,
        overrides=asked.overrides or [],
        environment=os.environ,
        flags=_settings(asked, as_trec_eval=as_trec_eval),
        defaults={"aggregate.unit": "query_id"} | ({"score.preset": "trec_eval"} if as_trec_eval else {}),
    )
    if asked.dataset:
        return _datasets(asked, config, as_trec_eval=as_trec_eval)
    if as_trec_eval:
        from jobs.direct import trec_eval

        _check_trec_eval(asked)
        wanted = trec_eval.Asked(
            version=10 if config.score.preset == "trec_eval10" else 9,
            measures=asked.m or ["official"],
            level=1 if asked.l is None else asked.l,
            per_query=asked.q or asked.per_query,
            summary=not asked.n,
        )
        sys.stdout.write("".join(f"{line}\n" for line in trec_eval.lines(config, wanted)))
        return 0
    sys.stdout.write(_answer(asked, config))
    return 0


def _settings(asked: Namespace, *, as_trec_eval: bool) -> dict[str, object]:
    conventions = {
        "unanswered": "zero" if asked.c else None,
        "unjudged": "removed" if asked.J else None,
        "negative_grade": "removed" if asked.J else None,
        "depth": asked.M,
    }
    return {
        "inputs.qrels": asked.files[:1],
        "inputs.runs": asked.files[1:],
        "inputs.queries": asked.queries,
        "inputs.system_from": asked.system_from or ("file" if as_trec_eval else None),
        "score.metrics": split(asked.metrics),
        "score.preset": asked.preset,
        **{f"score.conventions.{key}": value for key, value in conventions.items()},
        "aggregate.unit": asked.unit,
        "aggregate.baseline": asked.baseline,
        "aggregate.margins": margins(asked.margin) or None,
    }


def _check_trec_eval(asked: Namespace) -> None:
    """Raises UsageError for options that have no place in trec_eval's answer."""
    others = {
        "--metrics": (asked.metrics, "trec_eval's measures are named by -m"),
        "--baseline": (asked.baseline, "trec_eval compares nothing"),
        "--format": (asked.format not in (None, "trec"), "-q, -c, -l, -m, -n, -J and -M are answered as by trec_eval"),
        "--json": (asked.json, "-q, -c, -l, -m, -n, -J and -M are answered as by trec_eval"),
    }
    for option, (given, why) in others.items():
        if given:
            raise UsageError(f"{option} with flags of trec_eval: {why}; leave the one or the others out")


def _datasets(asked: Namespace, config: Config, *, as_trec_eval: bool) -> int:
    format_ = "json" if asked.json else asked.format or "table"
    if as_trec_eval or asked.per_query or format_ not in ("table", "csv", "json"):
        raise UsageError("--dataset: several data sets are told as --format table, csv or json, without --per-query")
    from jobs.direct import datasets

    found = datasets.datasets(asked.dataset, config)
    if format_ == "json":
        sys.stdout.write(as_json(found) + "\n")
    elif format_ == "csv":
        sys.stdout.write(datasets.as_csv(found))
    else:
        from jobs import console

        console.show_datasets(found)
    return 0


def _answer(asked: Namespace, config: Config) -> str:
    format_ = "json" if asked.json else asked.format or "table"
    if format_ == "latex" and asked.per_query:
        raise UsageError(
            "--per-query: a table for a paper has no values of queries; take --format csv, or leave it out"
        )
    found = evaluation.inferred(evaluation.values(config, evaluation.metrics_of(config.score)), config)
    if format_ in ("csv", "trec", "latex"):  # which have no place for them
        sys.stderr.write("".join(f"evaljob: note: {note}\n" for note in found.notes))
    match format_:
        case "json":
            return formats.as_json(found)
        case "csv":
            return formats.as_csv(found, per_query=asked.per_query)
        case "markdown":
            return formats.as_markdown(found, per_query=asked.per_query)
        case "latex":
            from jobs.direct import latex

            return latex.as_latex(found)
        case "trec":
            from jobs.direct import trec_eval

            return "".join(f"{line}\n" for line in trec_eval.of_estimates(found, per_query=asked.per_query))
        case _:
            return formats.as_table(found, per_query=asked.per_query)
