"""TREC files and other programs' values, read plainly with numpy, without any of the project's readers."""

from __future__ import annotations

import csv
import gzip
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from evalcore.conventions import Conventions
from evalcore.ordering import rank_order
from evalcore.rankings import Grades, JudgedRankings
from evalcore.segments import offsets_of

Qrels = dict[str, dict[str, float]]


def _text(path: Path) -> str:
    return gzip.decompress(path.read_bytes()).decode() if path.suffix == ".gz" else path.read_text()


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
