"""TREC files and other programs' values, read plainly with numpy, without any of the project's readers."""

from __future__ import annotations

import csv
import gzip
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from evalcore.conventions import Conventions
from evalcore.metrics import Metric, parse
from evalcore.ordering import rank_order
from evalcore.presets import preset
from evalcore.rankings import Grades, JudgedRankings
from evalcore.segments import offsets_of
from tests.support.data import DATA

Qrels = dict[str, dict[str, float]]


def _text(path: Path) -> str:
    return gzip.decompress(path.read_bytes()).decode() if path.suffix == ".gz" else path.read_text()


def lines_of(path: Path) -> list[str]:
    """The lines of a file, which may be compressed."""
    return _text(path).splitlines()


def read_qrels(path: Path) -> Qrels:
    """query -> document -> grade, from lines of query, iteration, document, grade."""
    qrels: Qrels = {}
    fields = _text(path).split()
    for query, document, grade in zip(fields[0::4], fields[2::4], fields[3::4], strict=True):
        qrels.setdefault(query, {})[document] = float(grade)
    return qrels


@dataclass(frozen=True)
class Run:
    """One system's documents, all of a query together.

    queries   (n_queries,)
    offsets   (n_queries + 1,)  query i has doc_ids[offsets[i]:offsets[i + 1]]
    doc_ids   (n_documents,)
    scores    (n_documents,)
    """

    queries: list[str]
    offsets: np.ndarray
    doc_ids: np.ndarray
    scores: np.ndarray


def read_run(path: Path) -> Run:
    """From lines of query, Q0, document, rank, score, tag, and whatever follows."""
    lines = [line.split() for line in _text(path).splitlines()]
    queries, query_index = np.unique(np.array([line[0] for line in lines]), return_inverse=True)
    together = np.argsort(query_index, kind="stable")
    return Run(
        queries=queries.tolist(),
        offsets=offsets_of(np.bincount(query_index)),
        doc_ids=np.array([line[2] for line in lines])[together],
        scores=np.array([line[4] for line in lines], dtype=np.float64)[together],
    )


def judged_rankings(run: Run, qrels: Qrels, conventions: Conventions) -> tuple[list[str], JudgedRankings]:
    """The queries that are both in the run and judged, and their rankings."""
    order = rank_order(run.scores, run.offsets, doc_ids=run.doc_ids, conventions=conventions)
    ranked = run.doc_ids[order].tolist()
    queries = [query for query in run.queries if query in qrels]
    retrieved = [
        [qrels[query].get(document) for document in ranked[start:stop]]
        for query, start, stop in zip(run.queries, run.offsets[:-1], run.offsets[1:], strict=True)
        if query in qrels
    ]
    judged = [sorted(qrels[query].values(), reverse=True) for query in queries]
    rankings = JudgedRankings(Grades.from_lists(retrieved), Grades.from_lists(judged))
    return queries, rankings.under(conventions)


def read_expected(path: Path) -> dict[str, dict[str, float]]:
    """measure -> query -> value, from rows of query, measure, value."""
    expected: dict[str, dict[str, float]] = {}
    for row in csv.DictReader(_text(path).splitlines()):
        expected.setdefault(row["measure"], {})[row["qid"]] = float(row["value"])
    return expected


@dataclass(frozen=True)
class Printed:
    """A file of values as trec_eval prints them, to 4 decimals, and what it was given.

    all_queries   -c: judged queries that the run does not answer have empty rankings
    depth         -M
    min_grade     -l
    """

    path: str
    run: str = "results.test"
    qrels: str = "qrels.test"
    all_queries: bool = False
    depth: int | None = None
    min_grade: float = 1

    @property
    def version(self) -> int:
        """Of trec_eval."""
        return 9 if self.path.startswith("v9") else 10


PRINTED = [
    Printed(f"{folder}{file}", **given)
    for folder in ("", "v9.0.8_expected/")
    for file, given in {
        "out.test.aq": {},
        "out.test.aqc": {"run": "results.trunc", "all_queries": True},
        "out.test.aqcM": {"run": "results.trunc", "all_queries": True, "depth": 100},
        "out.test.aql": {"qrels": "qrels.rel_level", "min_grade": 2},
        "out.test.meas_params": {},
    }.items()
]


def printed_differences(printed: Printed, wanted: str, *, change: Callable[[Metric], Metric] = lambda metric: metric):
    """Ours less theirs, for every measure of every query whose name matches; where we say undefined they say 0.

    change   what is made of the metric of a name
    """
    qrels, version = read_qrels(DATA / "trec_eval" / printed.qrels), f"trec_eval{'' if printed.version == 9 else 10}"
    run, conventions = read_run(DATA / "trec_eval" / printed.run), preset(version).conventions
    queries, rankings = judged_rankings(run, qrels, conventions)
    if printed.depth is not None:
        rankings = rankings.cut(printed.depth)
    missing = [query for query in qrels if query not in queries] if printed.all_queries else []
    empty = JudgedRankings.from_lists(retrieved=[[]] * len(missing), judged=[list(qrels[q].values()) for q in missing])
    rows = [line.split() for line in (DATA / "trec_eval" / printed.path).read_text().splitlines()]
    theirs = {(row[0], row[1]): row[2] for row in rows if re.fullmatch(wanted, row[0]) and row[1] in qrels}
    differences = []
    for measure in dict.fromkeys(measure for measure, _ in theirs):
        metric = change(parse(measure))
        if hasattr(metric, "min_grade"):
            metric = replace(metric, min_grade=printed.min_grade)
        values = np.concatenate([metric.per_query(rankings), metric.per_query(empty)])
        ours = dict(zip([*queries, *missing], np.nan_to_num(values), strict=True))
        differences += [ours[query] - float(text) for (each, query), text in theirs.items() if each == measure]
    return np.array(differences)
