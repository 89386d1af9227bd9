"""What is counted of the input, and what is refused: the counts and the rules of `jobs.audit` and `jobs.refusals`."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evalcore import Conventions
from evalcore.arrays import IntArray
from evalcore.statuses import NO_RELEVANT, OK, UNANSWERED, UNJUDGED
from evalcore.texts import first_equal
from jobs.direct.parts import FEW, Columns, taken
from jobs.direct.rows import Runs
from jobs.errors import DataRefused, number_of


@dataclass(frozen=True, slots=True)
class Judgments:
    """QRELS, each document of a query once, or once for each subtopic; and what was counted on the way."""

    rows: Columns
    counts: dict[str, Any]


def judgments(
    qrels: Columns, conventions: Conventions, *, by_subtopic: bool, by_propensity: bool, of_one_grade: Sequence[str]
) -> Judgments:
    """Raises DataRefused for negative grades that may not be, and several judgments of one document.

    by_subtopic     whether a document may have a judgment for each subtopic
    by_propensity   whether propensities are read
    of_one_grade    the metrics that take one grade for each document
    """
    if not by_propensity:
        qrels = _without(qrels, "propensity")
    if not qrels:
        return Judgments({}, dict.fromkeys(("n_qrel_rows", "n_repeated", "n_subtopic_names"), 0) | NO_GRADES)
    grades = qrels["relevance"]
    n_negative = int((grades < 0).sum())
    if conventions.negative_grade == "error" and n_negative:
        wrong = _examples(qrels, np.flatnonzero(grades < 0), grade="relevance")
        raise DataRefused(
            f"qrels: {number_of(n_negative, 'negative grade')}, and negative_grade is error: {wrong}; mend them, or "
            "use --set score.conventions.negative_grade=not_relevant (or removed)"
        )
    subtopics = qrels["subtopic"].tolist() if "subtopic" in qrels else [None]
    names = set(subtopics)
    counts = {
        "n_qrel_rows": len(grades),
        "n_negative_grades": n_negative,
        "lowest_gain": min(grades[grades > 0].tolist(), default=None),
        "best_grade": float(grades.max()),
        "n_subtopic_names": 0 if names == {None} else min(2, len(names)),
    }
    if of_one_grade and len(names) > 1:
        _refuse_subtopics(qrels, subtopics, of_one_grade)
    once, n_repeated = _once(qrels, by_subtopic=by_subtopic)
    return Judgments(once, {**counts, "n_repeated": n_repeated})


NO_GRADES = {"n_negative_grades": 0, "lowest_gain": None, "best_grade": None}


def _refuse_subtopics(qrels: Columns, subtopics: Sequence[str | None], of_one_grade: Sequence[str]) -> None:
    seen: dict[tuple[str, str], set[str]] = {}
    for (query, document), subtopic in zip(_keys(qrels), subtopics, strict=True):
        seen.setdefault((query, document), set()).add(subtopic or "")
    if several := sorted((key, sorted(found)) for key, found in seen.items() if len(found) > 1):
        examples = "; ".join(
            f'query "{query}", document "{document}", subtopics {_both(found)}'
            for (query, document), found in several[:FEW]
        )
        raise DataRefused(
            f"qrels: {number_of(len(several), 'document')} judged for several subtopics or groups: {examples}; "
            f"{'; '.join(of_one_grade)} would need one grade for each document. Use metrics of subtopics (such as "
            "alpha_nDCG@20) or of preferences, or judgments with one grade for each document"
        )


def _once(qrels: Columns, *, by_subtopic: bool) -> tuple[Columns, int]:
    """Without rows that repeat others, and how many those are.  Raises DataRefused where two contradict each other."""
    kept = {key: column for key, column in qrels.items() if by_subtopic or key != "subtopic"}
    if not _n_copies(kept):
        return kept, 0
    keys: list[tuple[Any, ...]] = _keys(kept)
    if "subtopic" in kept:
        keys = [(*key, subtopic) for key, subtopic in zip(keys, kept["subtopic"].tolist(), strict=True)]
    first: dict[tuple[Any, ...], int] = {}
    for row, key in enumerate(keys):
        first.setdefault(key, row)
    if len(first) == len(keys):  # of several subtopics
        return kept, 0
    for what, column in (("grades", "relevance"), ("propensities", "propensity")):
        if column not in qrels:
            continue
        found: dict[tuple[Any, ...], set[float]] = {}
        for key, cell in zip(keys, qrels[column].tolist(), strict=True):
            if cell is not None:
                found.setdefault(key, set()).add(cell)
        if other := sorted(
            (((query, document), sorted(each)) for (query, document, *_), each in found.items() if len(each) > 1)
        ):
            examples = "; ".join(
                f'query "{key[0]}", document "{key[1]}", {what} {_both(each)}' for key, each in other[:FEW]
            )
            raise DataRefused(
                f"qrels: {number_of(len(other), 'document')} judged more than once with different {what}: {examples}; "
                "keep one judgment of each"
            )
    once = taken(kept, np.array(list(first.values())))
    if "propensity" in kept:  # one of the copies may have none
        cells = kept["propensity"].tolist()
        known = {key: cell for key, cell in zip(keys, cells, strict=True) if cell is not None}
        once["propensity"] = np.array(list(map(known.get, first)), dtype=object)
    return once, len(keys) - len(first)


def _keys(columns: Columns) -> list[tuple[str, str]]:
    """The query and the document of each row."""
    return list(zip(columns["query_id"].to_list(), columns["doc_id"].to_list(), strict=True))


def _n_copies(columns: Columns) -> int:
    """Rows whose query has the document in an earlier row, whatever the subtopic."""
    queries, documents = columns["query_id"], columns["doc_id"]
    first = first_equal((queries.codes * len(documents.texts) + documents.codes).view(np.uint64))
    return int((first != np.arange(len(first))).sum())


@dataclass(frozen=True, slots=True)
class Answers:
    """RUNS as they enter rankings, and what was counted on the way.

    rows   system -> its columns; each document of a query once unless copies count
    """

    rows: dict[str, Columns]
    counts: dict[str, int]


def answers(runs: Runs, conventions: Conventions, *, by_rank: bool) -> Answers:
    """Raises DataRefused for scores that are not finite and documents returned twice, where that is an error.

    by_rank   whether nothing reads the scores
    """
    rows: dict[str, Columns] = {}
    follows_ranks = conventions.ties == "rank_column"
    not_finite: list[str] = []
    repeated: list[str] = []
    counts = {"n_run_rows": runs.n_rows, "n_non_finite_scores": 0, "n_duplicates": 0, "n_misordered": 0}
    for system, columns in runs.rows.items():
        scores = columns.get("score")
        if scores is not None and not follows_ranks and not np.isfinite(scores).all():
            wrong = np.flatnonzero(~np.isfinite(scores))
            counts["n_non_finite_scores"] += len(wrong)
            not_finite.append(_examples(columns, wrong, system=system, score="score"))
        n_copies = _n_copies(columns)
        counts["n_duplicates"] += n_copies
        counts["n_misordered"] += _misordered(columns)
        if n_copies and conventions.duplicates != "counted":
            keys = _keys(columns)
            again = sorted(key for key, times in Counter(keys).items() if times > 1)[:FEW]
            repeated += [f'system "{system}", query "{query}", document "{document}"' for query, document in again]
            columns = _one_each(columns, keys, conventions)
        rows[system] = _in_order(columns, by_rank=by_rank) if follows_ranks else _without(columns, "rank")
    if not_finite and conventions.non_finite_score == "error":
        raise DataRefused(
            f"runs: {number_of(counts['n_non_finite_scores'], 'NaN or infinite score')}: "
            f"{'; '.join(not_finite[:FEW])}; mend the runs, or rank such documents last with "
            "--set score.conventions.non_finite_score=last"
        )
    if repeated and conventions.duplicates == "error":
        raise DataRefused(
            f"runs: {number_of(counts['n_duplicates'], 'document')} returned more than once for a query: "
            f"{'; '.join(repeated[:FEW])}; mend the runs, or keep one of each with "
            "--set score.conventions.duplicates=first (or best_score, last)"
        )
    return Answers(rows, counts)


def _in_order(columns: Columns, *, by_rank: bool) -> Columns:
    """Rows from the first rank to the last, of equal ranks in the order of the file; ranks are then places."""
    order = np.argsort(columns["rank"], kind="stable")
    kept = _without(columns, "rank", *(["score"] if by_rank else []))
    return {**taken(kept, order), "rank": np.arange(1, len(order) + 1)}


def _without(columns: Columns, *names: str) -> Columns:
    return {key: cells for key, cells in columns.items() if key not in names}


def _misordered(columns: Columns) -> int:
    """Rankings whose document of the best rank has not the best score."""
    if any(key not in columns or None in columns[key].tolist() for key in ("rank", "score")):
        return 0
    queries, codes = columns["query_id"].appearing()
    ranks, scores = (columns[key].astype(np.float64) for key in ("rank", "score"))
    lowest, best = np.full(len(queries), np.inf), np.full(len(queries), -np.inf)
    np.minimum.at(lowest, codes, ranks)
    np.fmax.at(best, codes, scores)
    first = np.empty(len(queries))
    at_first = np.flatnonzero(ranks == lowest[codes])[::-1]  # of several, the first row stays
    first[codes[at_first]] = scores[at_first]
    return int((first < best).sum())


def _one_each(columns: Columns, keys: Sequence[tuple[str, str]], conventions: Conventions) -> Columns:
    """One row for each document of a query, by the convention."""
    ranks = columns["rank"].tolist() if conventions.ties == "rank_column" else None
    scores = columns["score"].tolist() if "score" in columns else [0.0] * len(keys)
    chosen: dict[tuple[str, str], int] = {}

    def goodness(row: int) -> tuple[float, int]:
        score = scores[row]
        return (score if score is not None and math.isfinite(score) else -math.inf, -ranks[row] if ranks else 0)

    for row, key in enumerate(keys):
        known = chosen.setdefault(key, row)
        better = conventions.duplicates == "best_score" and goodness(row) > goodness(known)
        if better or conventions.duplicates == "last":
            chosen[key] = row
    return taken(columns, np.array(sorted(chosen.values())))


def universe(
    statuses: Mapping[str, Sequence[str]],
    asked: Sequence[str],
    runs: Answers,
    qrels: Judgments,
    conventions: Conventions,
    *,
    asked_for_all: bool,
) -> dict[str, int]:
    """Counts of RANKINGS.  Raises DataRefused where runs, judgments and QUERIES speak of other queries than may be.

    statuses        system -> (n_queries,)
    asked           (n_queries,) the universe
    asked_for_all   whether it is all judged queries, and not a list of queries
    """
    times = Counter(status for of_system in statuses.values() for status in of_system)
    counts = {f"n_{status}": times[status] for status in (OK, UNANSWERED, NO_RELEVANT, UNJUDGED)}
    known, answered = set(asked), {system: set(queries_of(rows)) for system, rows in runs.rows.items()}
    outside = sorted(query for queries in answered.values() for query in queries - known)
    counts["n_rankings"] = sum(map(len, answered.values()))
    counts["n_rankings_outside_universe"] = len(outside)
    counts["n_answered"] = counts["n_rankings"] - len(outside)
    counts["n_scores"] = len(asked) * len(statuses)
    if counts[f"n_{OK}"] + counts[f"n_{NO_RELEVANT}"] == 0 and qrels.rows:
        every = set().union(*answered.values())
        raise DataRefused(
            f"runs and judgments have no query in common: the runs have {first(every)}, the judgments "
            f"{first(queries_of(qrels.rows))}, to be scored are {first(asked)}; do all use the same ids?"
        )
    if conventions.unanswered == "error" and counts[f"n_{UNANSWERED}"]:
        raise DataRefused(
            f"runs: {number_of(counts[f'n_{UNANSWERED}'], 'ranking')} missing, and unanswered is error: "
            f"{_with_status(statuses, asked, UNANSWERED)}; complete the runs, or use "
            "--set score.conventions.unanswered=zero (or skip)"
        )
    if conventions.unjudged_query == "error" and asked_for_all and outside:
        raise DataRefused(
            f"runs: {number_of(len(outside), 'ranking')} of queries without judgments, and unjudged_query is error: "
            f"{first(outside)}; judge them or leave them out, or use --set score.conventions.unjudged_query=skip"
        )
    if conventions.unjudged_query == "error" and counts[f"n_{UNJUDGED}"]:
        judged = set(queries_of(qrels.rows))
        unjudged = [query for query in asked if query not in judged]
        raise DataRefused(
            f"--queries: there are queries without judgments, and unjudged_query is error: {first(unjudged)}; leave "
            "them out, or use --set score.conventions.unjudged_query=skip"
        )
    return counts


def _with_status(statuses: Mapping[str, Sequence[str]], asked: Sequence[str], wanted: str) -> str:
    found = [
        f'system "{system}", query "{query}"'
        for system, of_system in statuses.items()
        for query, status in sorted(zip(asked, of_system, strict=True))
        if status == wanted
    ]
    return "; ".join(found[:FEW])


def _examples(columns: Columns, rows: IntArray, *, system: str | None = None, **number: str) -> str:
    """The first three rows, as `system "a", query "q1", document "d1", score nan`."""
    whose = "" if system is None else f'system "{system}", '
    [(word, key)] = number.items()
    wrong = taken({each: columns[each] for each in ("query_id", "doc_id", key)}, rows)
    found = sorted((*pair, cell) for pair, cell in zip(_keys(wrong), wrong[key].tolist(), strict=True))[:FEW]
    return "; ".join(
        f'{whose}query "{query}", document "{document}", {word} {cell:g}' for query, document, cell in found
    )


def queries_of(columns: Columns) -> list[str]:
    """The queries of all rows, each once."""
    return columns["query_id"].appearing()[0] if columns else []


def first(ids: Collection[str]) -> str:
    """The first three, in order."""
    return ", ".join(f'"{each}"' for each in sorted(set(ids))[:FEW])


def _both(cells: Sequence[object]) -> str:
    return " and ".join(f"{cell:g}" if isinstance(cell, float) else f'"{cell}"' for cell in cells)
