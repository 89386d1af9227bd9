"""RUNS, QRELS and QUERIES of all files together."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from evalcore.errors import unknown
from jobs.config import Config
from jobs.direct import ir_datasets, sources, trec
from jobs.direct.parts import FEW, Columns, Part, joined, taken
from jobs.errors import DataRefused, UsageError, number_of

COLUMNS = ("system", "query_id", "doc_id", "score", "rank", "relevance", "subtopic", "propensity")
"""What columns of files are called."""
ENDINGS = re.compile(r"\.(txt|run|trec|res|results|tsv)$")
"""What the name of a run's file may end in beside its system."""


@dataclass(frozen=True, slots=True)
class Runs:
    """RUNS, the rows of each system in the order of its files.

    rows     system -> its columns query_id, doc_id, score and rank (those that there are)
    order    the systems as their files were given
    tags     system -> the tag of its first row, where the rows have one
    n_rows   usable or not
    """

    rows: dict[str, Columns]
    order: list[str]
    tags: dict[str, str]
    n_rows: int


def runs(paths: Sequence[str], config: Config, *, numbers: Sequence[str]) -> Runs:
    """RUNS.  Raises UsageError or DataRefused where something cannot be read, or one name is in two files.

    numbers   the columns that must be numbers: score, rank or both
    """
    found: dict[str, list[Columns]] = {}
    tags: dict[str, str] = {}
    places: dict[str, list[str]] = {}
    by_tag, parts = config.inputs.system_from == "tag", []
    for path in paths:
        for part in _run_parts(path, config, numbers=numbers):
            file = part.file
            parts.append(part)
            for system, rows in _by_system(part, by_tag=by_tag).items():
                if "tag" in part.columns:
                    places.setdefault(system, []).append(file)
                    tags.setdefault(system, rows["tag"].text(0))
                found.setdefault(system, []).append(
                    {key: cells for key, cells in rows.items() if key not in ("tag", "system")}
                )
    refuse_flawed(parts, "runs")
    if not found:
        raise DataRefused(f"runs: no row can be used: there is none in {', '.join(paths)}")
    for system, files in sorted(places.items()):
        if len(files) > 1:
            hint = (
                "if each file is a system of its own, use --system-from file; if they are parts of one run, join them"
                if by_tag
                else "give each file a name of its own"
            )
            raise DataRefused(f'runs: {len(files)} files have a system "{system}": {", ".join(files[:FEW])}; {hint}')
    of_each = {system: joined(found[system]) for system in sorted(found)}
    return Runs(of_each, list(found), tags, sum(part.n_rows for part in parts))


def qrels(paths: Sequence[str], config: Config, *, preferences: bool) -> Columns:
    """QRELS as columns query_id, doc_id, relevance, subtopic and propensity (those that there are)."""
    parts = [part for path in paths for part in _qrel_parts(path, config, preferences=preferences)]
    if paths and not sum(part.n_rows + part.n_flawed for part in parts):
        raise DataRefused(f"qrels: there is no judgment in {', '.join(paths)}")
    refuse_flawed(parts, "qrels")
    return joined([part.columns for part in parts]) if parts else {}


def refuse_flawed(parts: Sequence[Part], option: str) -> None:
    """Raises DataRefused where rows cannot be used, with the places of the first."""
    n_flawed = sum(part.n_flawed for part in parts)
    if n_flawed:
        flaws = [flaw for part in parts for flaw in part.flaws][:FEW]
        raise DataRefused(
            f"{option}: {number_of(n_flawed, 'row')} cannot be used: {'; '.join(flaws)}; mend them or leave them out"
        )


def queries(path: str) -> dict[str, list[Any]]:
    """QUERIES: query_id as text, and the other columns.

    Raises UsageError without a column query_id, DataRefused for an id that is blank or there twice.
    """
    [(file, content), *others] = sources.read(path, option="--queries")
    format_ = sources.format_of(file, content, given="auto")
    if others or format_ == "trec":
        raise UsageError(f"--queries {path}: give one Parquet, ORC, CSV, TSV or JSON lines file, known by its ending")
    from jobs.direct import tables  # Arrow takes a fifth of a second, which TREC files do not pay

    found, place = tables.rows(content, file, format=format_)
    if "query_id" not in found:
        raise UsageError(f"--queries {path}: {unknown('column', 'query_id', list(found)).removeprefix('unknown ')}")
    ids = [None if each is None else str(each) for each in found["query_id"]]
    if any(isinstance(each, float) for each in found["query_id"]):
        raise UsageError(
            f'--queries {path}: column "query_id" is numbers with a point; it must be text or whole numbers'
        )
    if not ids:
        raise DataRefused(f"--queries {path}: there is no query; leave --queries out to score every judged query")
    times = Counter(ids)
    wrong = [
        f"{place(row)}: {_shown(each)}" for row, each in enumerate(ids) if not (each or "").strip() or times[each] > 1
    ]
    if wrong:
        raise DataRefused(
            f"--queries {path}: every query must be one whole row with an id of its own; found {'; '.join(wrong[:FEW])}"
        )
    return {"query_id": ids, **{key: cells for key, cells in found.items() if key != "query_id"}}


def _shown(cell: object) -> str:
    return "null" if cell is None else f'"{cell}"'


def _run_parts(path: str, config: Config, *, numbers: Sequence[str]) -> Iterator[Part]:
    """Each file of a path."""
    if path.startswith(ir_datasets.PREFIX):
        yield ir_datasets.part(path, kind="runs")
        return
    for file, content in sources.read(path, option="runs"):
        format_ = sources.format_of(file, content, given=config.inputs.format)
        if format_ != "trec":
            if config.inputs.system_from != "tag":
                raise UsageError(f"--system-from file is for TREC files; {file} names systems in the column system")
            yield _table(content, file, config, format=format_, kind="runs", numbers=numbers)
            continue
        part = trec.runs(content, file, numbers=numbers)
        if not part.n_rows and not part.n_flawed:
            raise DataRefused(f"runs: no row in {file}; write empty files again or leave them out")
        yield part


def _qrel_parts(path: str, config: Config, *, preferences: bool) -> Iterator[Part]:
    """Each file of a path."""
    if path.startswith(ir_datasets.PREFIX):
        yield ir_datasets.part(path, kind="qrels")
        return
    for file, content in sources.read(path, option="qrels"):
        format_ = sources.format_of(file, content, given=config.inputs.format)
        if format_ == "trec":
            yield trec.qrels(content, file, preferences=preferences)
        else:
            yield _table(content, file, config, format=format_, kind="qrels", numbers=["relevance"])


def _table(content: bytes, file: str, config: Config, *, format: str, kind: str, numbers: Sequence[str]) -> Part:
    from jobs.direct import tables

    return tables.part(content, file, format=format, kind=kind, columns=config.inputs.columns, numbers=numbers)


def _by_system(part: Part, *, by_tag: bool) -> dict[str, Columns]:
    """The columns of each system of a file."""
    if not part.n_rows:
        return {}
    if not by_tag:
        return {_stem(part.file): part.columns}
    systems, codes = part.columns["tag" if "tag" in part.columns else "system"].appearing()
    if len(systems) == 1:
        return {systems[0]: part.columns}
    return {system: taken(part.columns, np.flatnonzero(codes == code)) for code, system in enumerate(systems)}


def _stem(file: str) -> str:
    """The name of a file without folder, .gz and one further ending for a run; of part files their folder's."""
    path = Path(file)
    name = path.parent.name if path.name.startswith("part-") else path.name
    return ENDINGS.sub("", name.removesuffix(".gz"))
