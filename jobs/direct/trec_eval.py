"""The answer as trec_eval prints it: a line for each measure, of every query under -q, and of all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from evalcore.arrays import FloatArray
from evalcore.compat.pytrec_eval import compute_aggregated_measure
from evalcore.compat.trec_eval import Row, rows
from evalcore.errors import EvalcoreError
from evalcore.statuses import UNANSWERED, left_out
from jobs.config import Config
from jobs.direct.evaluation import Inferred, Values, values
from jobs.direct.formats import named
from jobs.errors import UsageError

ONLY_OF_ALL = ("runid", "num_q", "gm_map", "gm_bpref")
"""Measures that single queries do not have."""
NO_NUMBERS = ("relstring",)
VERSION_10 = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What trec_eval's flags ask for: -m, -l, -q and, unless it is -n, the lines of all queries.

    version   of trec_eval: under -q version 10 also tells of queries that the run did not answer
    """

    version: int
    measures: Sequence[str]
    level: float
    per_query: bool
    summary: bool


def lines(config: Config, asked: Asked) -> Iterator[str]:
    """One run after the other, each of several under its name.

    Raises UsageError for a measure that there is not, and as `values` does.
    """
    try:
        wanted = list(rows(asked.measures, asked.level, version=asked.version))
    except EvalcoreError as error:
        raise UsageError(str(error)) from None
    wanted = [row for row in wanted if row.name not in NO_NUMBERS]
    if not wanted:
        raise UsageError(f"-m {', '.join(asked.measures)}: a text for each query, and no number; name another measure")
    metrics = list(dict.fromkeys(metric for row in wanted for metric in row.metrics))
    found = values(config, metrics)
    named_anyway = asked.summary and any(row.name == "runid" for row in wanted)
    for system in found.order:
        if len(found.order) > 1 and not named_anyway:
            yield _line("runid", "all", system)
        yield from _of_system(found, system, wanted, asked)


def _of_system(found: Values, system: str, wanted: Sequence[Row], asked: Asked) -> Iterator[str]:
    its = found.found[system]
    statuses = np.array(its.statuses, dtype=np.str_)
    counts = ~np.isin(statuses, left_out(found.conventions))
    told = counts if asked.version == VERSION_10 else counts & (statuses != UNANSWERED)
    columns = {row.name: row.values(*(np.nan_to_num(its.values(metric)) for metric in row.metrics)) for row in wanted}
    if asked.per_query:
        for place in sorted(np.flatnonzero(told).tolist(), key=its.queries.__getitem__):
            for name, column in columns.items():
                if name not in ONLY_OF_ALL:
                    yield _line(name, its.queries[place], _shown(name, column[place]))
    if not asked.summary:
        return
    for name, column in columns.items():
        if name == "runid":
            yield _line(name, "all", found.tags.get(system, system))
        elif name == "num_q":
            yield _line(name, "all", str(int(counts.sum())))
        else:
            yield _line(name, "all", _shown(name, compute_aggregated_measure(name, _floats(column[counts]))))


def of_estimates(found: Inferred, *, per_query: bool) -> Iterator[str]:
    """Estimates, and values of queries, of our own metrics in that form."""
    method = found.settings.methods[0]
    estimates = [row for row in found.estimates if row["method"] == method]
    for system in found.values.order:
        its = found.values.found[system]
        if len(found.values.order) > 1:
            yield _line("runid", "all", system)
        for (query, of_query), status in zip(its.per_query().items() if per_query else (), its.statuses, strict=False):
            for metric, value in of_query.items():
                if np.ndim(value) == 0 and status not in left_out(found.values.conventions):
                    yield _line(metric, query, _shown("", value))
        for row in estimates:
            if row["system"] == system:
                value = float("nan") if row["estimate"] is None else row["estimate"]
                yield _line(named(row).replace(" ", "_"), "all", _shown("", value))


def _line(name: str, query: str, value: str) -> str:
    return f"{name:<22}\t{query}\t{value}"


def _shown(name: str, value: float) -> str:
    return str(round(value)) if name.startswith("num_") else f"{value:6.4f}"


def _floats(column: FloatArray) -> list[float]:
    return [float(value) for value in column]
