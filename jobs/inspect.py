"""What an input seems to be: its format, layout, what its columns are, and a configuration that says so.

Ids and texts are masked: what is shown may be pasted into a ticket.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from jobs.errors import DataRefused
from jobs.readers.columns import Columns, paths_of
from jobs.readers.formats import Table, read
from jobs.readers.layouts import guessed
from jobs.readers.paths import located, resolve
from jobs.readers.trec import COLUMNS as OF_TREC

NAMES: dict[str, str] = {
    "system": "system run run_id runid run_name tag model algorithm recommender ranker variant arm policy",
    "query_id": "query_id queryid qid q_id query topic topic_id request request_id search_id impression_id session_id "
    "user user_id userid",
    "doc_id": "doc_id docid docno doc document document_id passage_id pid product_id item item_id itemid movie_id id",
    "score": "score sim similarity prediction predicted",
    "rank": "rank",
    "relevance": "relevance rel label grade rating judgment judgement click clicks clicked purchase",
    "judged": "judged",
    "subtopic": "subtopic aspect intent",
    "propensity": "propensity propensity_score pscore",
    "position": "position pos slot",
    "time": "time timestamp datetime date",
}
"""What each column may be called, the surest name first."""
NUMBERS = ("score", "rank", "relevance", "judged", "propensity", "position")
SAMPLE = 3
FEW = 8
"""Rows and columns of an input that are shown as examples."""
PLAIN = re.compile(r"(?!(?i:null|true|false|yes|no|on|off)$)[A-Za-z_][\w./-]*")
"""A text that is the same text in YAML without quotes."""


def inspected(spark: SparkSession, paths: Sequence[str], *, format: str = "auto") -> dict[str, Any]:
    """What some paths of one format seem to be.  Runs a job over their first rows.

    Raises UsageError for paths that are not there, DataRefused where there is no row.
    """
    found = resolve(paths, option="runs", format=format)
    if found == "trec":
        return _of_trec(spark, paths)
    table = read(spark, paths, format=found, option="runs")
    rows = table.rows.limit(SAMPLE).collect()
    if not rows:
        raise DataRefused(f"there is no row in {', '.join(paths)}")
    roles = _roles(table)
    mapping = {ours: theirs for ours, theirs in roles.items() if ours != theirs}
    columns = Columns(table, mapping)
    layout = guessed(columns, systems=())
    kind = "runs" if layout != "long" or columns.has("score") or columns.has("rank") else "qrels"
    systems = _wide(table, roles, rows[0].asDict()) if kind == "qrels" and columns.has("relevance") else []
    if len(systems) > 1:
        kind, layout = "runs", "wide"
    ours = {theirs: role for role, theirs in roles.items()}
    return {
        "paths": list(paths),
        "format": found,
        "layout": layout,
        "kind": kind,
        "columns": [
            {
                "name": name,
                "type": "text" if table.texts and isinstance(kind_, T.StringType) else kind_.simpleString(),
                "role": ours.get(name, "a system" if name in systems and layout == "wide" else None),
                "sample": _masked([_cell(row.asDict(recursive=True), name) for row in rows], ours.get(name)),
            }
            for name, kind_ in paths_of(table.rows.schema)
        ],
        "mapping": mapping,
        "systems": systems if layout == "wide" else [],
        "by_file": kind == "runs" and layout != "wide" and "system" not in roles,
        "by_rank": kind == "runs" and layout == "long" and "score" not in roles,
        "gaps": layout == "log" and "position" in roles and _starts_late(columns),
        "words": kind == "qrels" and _has_words(columns),
        "labelled": "relevance" in roles,
        "others": [name for name in table.columns if name not in roles.values()],
    }


def configuration(found: Sequence[Mapping[str, Any]]) -> str:
    """A configuration of what `inspected` says of one input or of two, as YAML."""
    runs = [each for each in found if each["kind"] == "runs"]
    qrels = [each for each in found if each["kind"] == "qrels"]
    lines = ["inputs:"]
    if runs:
        lines.append(f"  runs: {_flow([path for each in runs for path in each['paths']])}")
    else:
        lines.append("  # runs: [what the systems returned]")
    if qrels:
        lines.append(f"  qrels: {_flow([path for each in qrels for path in each['paths']])}")
    elif not any(each["labelled"] for each in runs):
        lines.append("  # qrels: [judgments of these queries]")
    for each in runs:
        if each["format"] != "trec":
            lines.append(f"  layout: {each['layout']}")
        if each["by_file"]:
            lines.append("  system_from: file # no column names the system")
        if each["systems"]:
            lines.append(f"  systems: {_flow(each['systems'])}")
        if each["gaps"]:
            lines.append("  gaps: close # positions do not start at 1 everywhere")
    if mapping := {ours: theirs for each in reversed(found) for ours, theirs in each["mapping"].items()}:
        lines.append(f"  columns: {_flow(mapping)}")
    if any(each["layout"] == "log" and each["labelled"] for each in runs) and not qrels:
        lines += ["judgments:", "  repeated: max # what is clicked in one row and not in another counts as clicked"]
    if others := [name for each in runs if each["layout"] == "log" for name in each["others"]]:
        lines += ["# queries:", f"#   columns: {_flow(others[:FEW])} # units and segments: what is one for each query"]
    lines += ["score:", "  metrics: [nDCG@10, RR@10]"]
    if any(each["by_rank"] for each in runs):
        lines += ["  conventions:", "    ties: rank_column # there are ranks and no scores"]
    lines += ["output:", "  dir: my-evaluation"]
    return "\n".join(lines) + "\n"


def _of_trec(spark: SparkSession, paths: Sequence[str]) -> dict[str, Any]:
    line = F.btrim(F.col("value"), F.lit("\ufeff \t\r"))
    lines = spark.read.text(located(paths)).select(line.alias("line"))
    rows = [row.line.split() for row in lines.where("line != '' and line not like '#%'").limit(SAMPLE).collect()]
    if not rows:
        raise DataRefused(f"there is no line in {', '.join(paths)}")
    kind: Literal["runs", "qrels"] = "runs" if len(rows[0]) >= len(OF_TREC["runs"]) else "qrels"
    names, number = OF_TREC[kind], ("score", "rank", "relevance")
    if any(len(row) < len(names) for row in rows) or (kind == "runs" and ":" in rows[0][3] + rows[0][4]):
        raise DataRefused(
            f"{', '.join(paths)}: lines of {len(rows[0])} words are no TREC file (6 words a line of a run, 4 of "
            "judgments); if it is a table, its name should end in .csv, .tsv, .jsonl, .parquet, .orc or .svm, or say "
            "which it is with --format"
        )
    columns = [
        {
            "name": name,
            "type": "text",
            "role": name if name in number else None,
            "sample": _masked([row[place] for row in rows], name if name in number else None),
        }
        for place, name in enumerate(names)
    ]
    nothing: dict[str, Any] = {"mapping": {}, "systems": [], "by_file": False, "by_rank": False, "gaps": False}
    what = {"paths": list(paths), "format": "trec", "layout": "long", "kind": kind, "columns": columns}
    return {**what, **nothing, "words": False, "others": [], "labelled": kind == "qrels"}


def _roles(table: Table) -> dict[str, str]:
    """Our names and theirs: for each role the surest name that the input has."""
    leaves = [name for name, _ in _leaves(table)]
    known = {_plain(name.rpartition(".")[2]): name for name in leaves} | {_plain(name): name for name in leaves}
    roles: dict[str, str] = {}
    for role, names in NAMES.items():
        theirs = next((known[name] for name in names.split() if name in known), None)
        if theirs is not None and theirs not in roles.values():
            roles[role] = theirs
    if "query_id" not in roles and "_c0" in table.columns and "position" in roles:
        roles["query_id"] = "_c0"  # a table saved with the numbers of its rows: each is a request of its own
    return roles


def _plain(name: str) -> str:
    return re.sub(r"\W+", "_", name).casefold()


def _leaves(table: Table) -> list[tuple[str, T.DataType]]:
    return [(name, kind) for name, kind in paths_of(table.rows.schema) if not _inner(kind)]


def _inner(kind: T.DataType) -> bool:
    element = kind.elementType if isinstance(kind, T.ArrayType) else kind
    return isinstance(element, T.StructType)


def _wide(table: Table, roles: Mapping[str, str], row: Mapping[str, Any]) -> list[str]:
    """The columns that stand for nothing else and hold numbers in the first row."""
    free = [name for name in table.columns if name not in roles.values()]
    return [name for name in free if re.fullmatch(r"[+-]?\d*\.?\d+([eE][+-]?\d+)?", str(row[name]))]


def _starts_late(columns: Columns) -> bool:
    """Whether a ranking among many does not begin at position 1."""
    rows = columns.table.frame.select(
        columns.value("query_id").alias("query_id"), columns.value("position").alias("position")
    )
    first = rows.groupBy("query_id").agg(F.min("position").alias("first"))
    return bool(first.where("first != 1").limit(1).count())


def _has_words(columns: Columns) -> bool:
    kind = columns.type_of("relevance")
    if kind is None or isinstance(kind, T.ArrayType):
        return False
    labels = columns.table.frame.select(columns.value("relevance").alias("label")).limit(100)
    return bool(labels.where("label is null").limit(1).count())


def _cell(row: Mapping[str, Any], name: str) -> object:
    """The cell of a dotted name; of a field of an array's structs a list."""
    if name in row:
        return row[name]
    first, _, rest = name.partition(".")
    below = row.get(first)
    if isinstance(below, list):
        return [_cell(each, rest) for each in below if each is not None]
    return _cell(below, rest) if isinstance(below, Mapping) else None


def _masked(cells: Sequence[Any], role: str | None) -> list[str]:
    return [_mask(cell, role) for cell in cells]


def _mask(cell: object, role: str | None) -> str:
    """A number that counts as it is; of anything else the first letter and the length."""
    if isinstance(cell, list):
        shown = ", ".join(_mask(each, role) for each in cell[:SAMPLE])
        return f"[{shown}{', …' if len(cell) > SAMPLE else ''}]"
    if isinstance(cell, Mapping):
        return "{…}"
    text = "null" if cell is None else str(cell)
    return text if cell is None or role in NUMBERS else f"{text[:1]}…({len(text)})"


def _flow(value: str | Sequence[str] | Mapping[str, str]) -> str:
    """A value in one line of YAML, which is JSON with fewer quotes."""
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{_flow(key)}: {_flow(each)}' for key, each in value.items())}}}"
    if not isinstance(value, str):
        return f"[{', '.join(map(_flow, value))}]"
    return value if PLAIN.fullmatch(value) else json.dumps(value, ensure_ascii=False)
