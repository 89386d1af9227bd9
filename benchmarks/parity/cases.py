"""Runs with their judgments: real data sets, and the same data with something changed."""

from __future__ import annotations

import csv
import gzip
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from evalcore.ordering import rank_order

Run = dict[str, dict[str, float]]
Qrels = dict[str, dict[str, int]]


@dataclass(frozen=True)
class Case:
    """One run with its judgments.  Every query is in both."""

    run: Run
    qrels: Qrels


def case(run: Run, qrels: Qrels) -> Case:
    """Without queries that are in one of them alone."""
    queries = [query for query in run if query in qrels and run[query]]
    return Case({query: run[query] for query in queries}, {query: qrels[query] for query in queries})


def lines(path: Path) -> list[list[str]]:
    """Of a file that may be compressed, split at spaces."""
    text = gzip.decompress(path.read_bytes()).decode() if path.suffix == ".gz" else path.read_text()
    return [line.split() for line in text.splitlines()]


def trec_qrels(path: Path) -> Qrels:
    """Lines of query, iteration, document, grade."""
    qrels: Qrels = {}
    for query, _, document, grade in lines(path):
        qrels.setdefault(query, {})[document] = int(grade)
    return qrels


def trec_run(path: Path) -> Run:
    """Lines of query, Q0, document, rank, score, tag."""
    run: Run = {}
    for query, _, document, _, score, *_ in lines(path):
        run.setdefault(query, {})[document] = float(score)
    return run


def lenskit(folder: Path) -> list[Case]:
    """One case for each algorithm; the rank is the score, because some scores are missing."""

    def rows(part: str) -> Iterator[dict[str, str]]:
        with (folder / f"topn-java-{part}.csv").open() as file:
            yield from csv.DictReader(file)

    qrels: Qrels = {}
    for row in rows("truth"):
        qrels.setdefault(row["user"], {})[row["item"]] = int(float(row["rating"]))
    runs: dict[str, Run] = {}
    for row in rows("recs"):
        runs.setdefault(row["Algorithm"], {}).setdefault(row["user"], {})[row["item"]] = -float(row["rank"])
    return [case(run, qrels) for run in runs.values()]


def ltr(folder: Path) -> list[Case]:
    """The sum of a document's features is its score, once as it is and once rounded so that many are tied."""
    rows = lines(folder / "rank.test")
    sizes = [int(size) for (size,) in lines(folder / "rank.test.query")]
    exact: Run = {}
    qrels: Qrels = {}
    for query, size in enumerate(sizes):
        for place in range(size):
            label, *features = rows.pop(0)
            total = math.fsum(float(feature.partition(":")[2]) for feature in features)
            exact.setdefault(f"{query}", {})[f"d{place:04}"] = total
            qrels.setdefault(f"{query}", {})[f"d{place:04}"] = int(label)
    rounded = {query: {doc: round(score / 20) for doc, score in scores.items()} for query, scores in exact.items()}
    return [case(exact, qrels), case(rounded, qrels)]


def datasets(data: Path) -> dict[str, list[Case]]:
    """Name -> cases."""
    robust, web = trec_qrels(data / "robust03/qrels.robust03.txt"), trec_qrels(data / "qrels/qrels.web.151-200.txt")
    cranfield, trec = (
        trec_qrels(data / "cranfield/qrels.cranfield.graded.txt"),
        trec_qrels(data / "trec_eval/qrels.test"),
    )

    def cases(pattern: str, qrels: Qrels) -> list[Case]:
        return [case(trec_run(path), qrels) for path in sorted(data.glob(pattern))]

    return {
        "robust03": cases("robust03/input.*.gz", robust),
        "web2012": cases("web2012/run.*.gz", web),
        "cranfield": cases("cranfield/run.*.gz", cranfield),
        "trec_eval": cases("trec_eval/results.t*", trec),
        "lenskit_topn": lenskit(data / "lenskit_topn"),
        "ltr": ltr(data / "ltr"),
    }


def returned_only(given: Case) -> Case:
    """With a label for each returned document and none for another, as tools that learn to rank have them."""
    labels = {
        query: {document: max(given.qrels[query].get(document, 0), 0) for document in scores}
        for query, scores in given.run.items()
    }
    return Case(given.run, labels)


def untied(given: Case) -> Case:
    """No scores are tied, and the order is that of trec_eval."""
    run = {}
    for query, scores in given.run.items():
        documents, values = np.array(list(scores), dtype=object), np.array(list(scores.values()))
        order = rank_order(values, np.array([0, len(values)]), doc_ids=documents)
        run[query] = {documents[index]: -float(rank) for rank, index in enumerate(order.tolist())}
    return Case(run, given.qrels)


def without_negative_grades(given: Case) -> Case:
    """Negative grades are 0."""
    return Case(given.run, {query: {d: max(g, 0) for d, g in judged.items()} for query, judged in given.qrels.items()})
