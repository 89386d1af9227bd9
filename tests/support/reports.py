"""Publicly reported faults of evaluation programs, kept outside the project: their inputs and what is right.

`EXPECTED` holds every number that they expect of a metric, in the terms of this project. What else they expect has
tests of its own, named in `ELSEWHERE`; a key that is in neither place is an error, so that none is passed over.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

PATH = Path(__file__).resolve().parents[3] / "shared" / "cases" / "public_reports.json"
REPORTS: dict[str, dict[str, Any]] = (
    {report["id"]: report for report in json.loads(PATH.read_text(encoding="utf-8"))} if PATH.is_file() else {}
)
TOLERANCE = 1e-9

needs_reports = pytest.mark.skipif(not REPORTS, reason="the folder ../shared/cases is not there")

MEANING: dict[str, dict[str, str]] = {
    # tie rules
    "docid_desc": {"ties": "doc_id_desc"},
    "docid_asc": {"ties": "doc_id_asc"},
    "average": {"ties": "average"},
    "ndcg docid_desc": {"ties": "doc_id_desc", "metric": "nDCG"},
    "ndcg input_order": {"ties": "input_order", "metric": "nDCG"},
    "ndcg average": {"ties": "average", "metric": "nDCG"},
    "by score RR": {"metric": "RR"},
    "by rank RR": {"metric": "RR", "ties": "rank_column"},
    # what counts in a mean
    "missing=zero": {"unanswered": "zero"},
    "missing=skip": {"unanswered": "skip"},
    "with topics": {"queries": "topics"},
    "without topics": {},
    "mean AP": {"metric": "AP", "over": "all"},
    "rows": {"metric": "AP"},
    "0": {"metric": "nDCG", "no_relevant": "zero", "over": "all"},
    "1": {"metric": "nDCG", "no_relevant": "one", "over": "all"},
    "skip": {"metric": "nDCG", "no_relevant": "skip", "over": "all"},
    # repeated documents
    "duplicates=first": {"duplicates": "first"},
    "Recall@2 (first)": {"metric": "R@2", "duplicates": "first"},
    "nDCG@2 (first)": {"metric": "nDCG@2", "duplicates": "first"},
    # denominators
    "AP (R)": {"metric": "AP"},
    "AP (hits)": {"metric": "AP(denominator=hits)"},
    "AP@3 R": {"metric": "AP@3"},
    "AP@3 min(R,k)": {"metric": "AP(denominator=min(R,k))@3"},
    "R_cap@1": {"metric": "R(cap=k)@1"},
    "R": {"metric": "NumRel"},  # the number of relevant documents, and not recall
    # gains
    "nDCG l=2 (trec)": {"metric": "nDCG"},
    "nDCG l=2 (ranx, gains<2 -> 0)": {"metric": "nDCG(rel=2)"},
    "AP l=2": {"metric": "AP(rel=2)"},
    "exp2 nDCG@3": {"metric": "nDCG(gain=exp2)@3"},
    "binary": {"metric": "nDCG(gain=binary)"},
    "linear": {"metric": "nDCG"},
    "exp2": {"metric": "nDCG(gain=exp2)"},
    **{
        name: {"metric": name}
        for name in ("nDCG", "nDCG@1", "nDCG@2", "nDCG@10", "nDCG@20", "AP", "AP@2", "AP@10", "RR", "RR@1", "RR@10")
    },
    **{name: {"metric": name} for name in ("P@1", "Recall@1", "Recall@2", "Recall@3", "Rprec", "Success@1")},
}
ELSEWHERE = {
    *("error", "duplicates=error", "error_on", "identical_dups", "all", "warn"),
    *("n_rows", "n_extra_queries", "missing", "extra", "nan"),
    *("loads", "AP of itself", "peak_rss_MB_max", "seconds_max"),
    *("bonferroni", "holm", "bh", "mean diff", "95% CI", "randomisation p (exact, two-sided)", "decision", "reason"),
}


@dataclass(frozen=True)
class Case:
    """A report's input.

    runs     system -> query -> (document, score), in the order in which they were given
    qrels    query -> (document, grade), in that order
    topics   the queries to be evaluated; None for all that are judged
    """

    runs: dict[str, dict[str, list[tuple[str, float]]]]
    qrels: dict[str, list[tuple[str, float]]]
    topics: list[str] | None = None

    def judged(self) -> dict[str, Any]:
        """The judgments as `evaluate` takes them: as lists of documents where one is there twice."""
        found: dict[str, Any] = {query: dict(rows) for query, rows in self.qrels.items()}
        for query, rows in self.qrels.items():
            if len(found[query]) < len(rows):
                assert {grade for _, grade in rows} == {1}
                found[query] = [document for document, _ in rows]
        return found


@dataclass(frozen=True)
class Expected:
    """The value of a query, or the mean over all queries (None), that a report expects of a metric."""

    case: str
    key: str
    value: float
    metric: str
    system: str
    query: str | None
    topics: bool
    conventions: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        return f"{self.case} {self.key}"


def case(number: str) -> Case:
    """The input of a report that has runs and judgments."""
    given = REPORTS[number]["input"]
    if "labels" in given:
        labels, scores = given["labels"], given["scores"]
        tables = (labels, scores) if isinstance(labels[0], list) else ([labels], [scores])
        runs = {f"q{i}": [(f"d{j}", score) for j, score in enumerate(row)] for i, row in enumerate(tables[1])}
        qrels = {f"q{i}": [(f"d{j}", grade) for j, grade in enumerate(row)] for i, row in enumerate(tables[0])}
        return Case({"A": runs}, qrels)
    if "pred" in given:
        ranked = [(document, -float(rank)) for rank, document in enumerate(given["pred"])]
        judged = list(zip(given["labels_in_given_order"], given["rel"], strict=True))
        return Case({"A": {"q": ranked}}, {"q": judged})
    qrels = _judgments(given)
    if "runs_with_rank" in given:
        by_rank = {q: sorted(rows, key=lambda row: row[1]) for q, rows in given["runs_with_rank"].items()}
        return Case({"A": {q: [(doc, score) for doc, _, score in rows] for q, rows in by_rank.items()}}, qrels)
    runs = {}
    for system, run in given.get("runs", given.get("runs_str_ids", {})).items():
        by_query = run if isinstance(run, dict) else {next(iter(qrels)): run}
        runs[system] = {query: _rows(answer) for query, answer in by_query.items()}
        if given.get("drop_self"):
            runs[system] = {q: [(doc, score) for doc, score in rows if doc != q] for q, rows in runs[system].items()}
    return Case(runs, qrels, given.get("topics"))


def _judgments(given: Mapping[str, Any]) -> dict[str, list[tuple[str, float]]]:
    if "qrels_lines" in given:
        rows = [(query, doc, float(grade)) for query, _, doc, grade in map(str.split, given["qrels_lines"])]
    elif "qrels_rows" in given:
        rows = given["qrels_rows"]
    else:
        return {q: list(grades.items()) for q, grades in given.get("qrels", given.get("qrels_int_ids")).items()}
    found: dict[str, list[tuple[str, float]]] = {}
    for query, doc, grade in rows:
        found.setdefault(query, []).append((doc, grade))
    return found


def _rows(answer: Any) -> list[tuple[str, float]]:
    return [(doc, score) for doc, score in (answer.items() if isinstance(answer, dict) else answer)]


def expected_of(number: str) -> Iterator[Expected]:
    """Every number that a report expects of a metric."""
    expected = REPORTS[number]["expected"]
    if set(expected) <= ELSEWHERE:
        return
    content = case(number)
    for keys, value in _leaves(expected):
        if ELSEWHERE.intersection(keys):
            continue
        parts: dict[str, str] = {}
        for key in keys:
            if key in MEANING:
                parts |= MEANING[key]
            elif key in content.runs:
                parts["system"] = key
            elif key in content.qrels:
                parts["query"] = key
            else:
                raise LookupError(f'{number}: what is "{key}"?')
        of_all = parts.pop("over", None) or ("query" not in parts and len(content.qrels) > 1)
        yield Expected(
            case=number,
            key=" ".join(keys),
            value=value,
            metric=parts.pop("metric", "nDCG"),
            system=parts.pop("system", next(iter(content.runs))),
            query=None if of_all else parts.pop("query", next(iter(content.qrels))),
            topics=parts.pop("queries", "") == "topics",
            conventions=tuple(sorted(parts.items())),
        )


def _leaves(tree: Mapping[str, Any], above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    for key, value in tree.items():
        if isinstance(value, dict):
            yield from _leaves(value, (*above, key))
        else:
            yield (*above, key), value


EXPECTED: list[Expected] = [expected for number in REPORTS for expected in expected_of(number)]
EXPECTED_OF_QUERIES = [expected for expected in EXPECTED if expected.query is not None]
EXPECTED_MEANS = [expected for expected in EXPECTED if expected.query is None]


def reported(number: str) -> pytest.MarkDecorator:
    """Marks the test of what a report expects beside numbers of metrics."""
    assert number[0] == "B"
    return needs_reports
