"""The gates on the input: a count and what it is a share of, against a level that warns and one that refuses."""

from __future__ import annotations

import glob
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, Literal, TypedDict

from evalcore.statuses import NO_RELEVANT, OK, UNANSWERED, UNJUDGED
from jobs import store
from jobs.config_input import Audit, Levels
from jobs.errors import UsageError

Outcome = Literal["passed", "warned", "refused"]
Counts = Mapping[str, Any]


class Finding(TypedDict):
    """What one gate says.

    count, of   how many of how many; of row counts: how many there are, and the median of earlier nights
    share       of the one in the other; of row counts: how far they are apart, as a share of the median
    where       the system that it is about, None for all
    examples    up to three
    """

    gate: str
    meaning: str
    count: float
    of: float
    share: float
    warn: float | None
    refuse: float | None
    outcome: Outcome
    where: str | None
    examples: list[str]


@dataclass(frozen=True, slots=True)
class Gate:
    """What is counted, of how many, and what it is called."""

    count: str
    of: str
    meaning: str


GATES = {
    "duplicates": Gate("n_duplicates", "n_documents", "documents returned more than once for a query"),
    "non_finite": Gate("n_non_finite_scores", "n_run_rows", "scores that are NaN or infinite"),
    "ties": Gate("n_tied", "n_documents", "documents with the score of another one of their ranking"),
    "misordered": Gate("n_misordered", "n_rankings", "rankings whose score and rank disagree on the first document"),
    "outside": Gate("n_rankings_outside_universe", "n_rankings", "rankings of queries that are not to be scored"),
    "unjudged": Gate(f"n_{UNJUDGED}", "n_scores", "rankings of queries to be scored without a judgment"),
    "unasked": Gate("n_judged_unasked", "n_judged_queries", "judged queries that are not to be scored"),
    "no_relevant": Gate(f"n_{NO_RELEVANT}", "n_judged_answered", "judged rankings of queries with nothing relevant"),
    "repeated": Gate("n_repeated", "n_qrel_rows", "judgments of a document that is judged already"),
    "contradictory": Gate("n_contradictory", "n_qrel_rows", "documents judged several times, with different grades"),
    "negative": Gate("n_negative_grades", "n_qrel_rows", "grades below 0"),
    "odd_grades": Gate("n_odd_grades", "n_qrel_rows", "grades outside audit.grades"),
}
"""In the order in which they are told; `unanswered` and the row counts are beside them."""


def findings(counts: Counts, answers: Sequence[Mapping[str, Any]], settings: Audit, *, n_systems: int) -> list[Finding]:
    """What every gate says, passed ones among them.

    counts    of the audit
    answers   a row for each system, of `jobs.summary.answers`

    Raises what `earlier` raises.
    """
    judged = counts[f"n_{OK}"] + counts[f"n_{NO_RELEVANT}"]
    known = {**counts, "n_judged_answered": judged}
    found = [
        _finding(name, gate.meaning, known[gate.count], known[gate.of], getattr(settings, name))
        for name, gate in GATES.items()
        if gate.count in known
    ]
    found += [
        _finding(
            "unanswered",
            "judged queries without an answer",
            row[f"n_{UNANSWERED}"],
            row["n_judged"],
            settings.unanswered,
            where=row["system"],
        )
        for row in answers
    ]
    return found + _rows(counts, settings, n_systems=n_systems)


def earlier(settings: Audit) -> list[dict[str, Any]]:
    """The manifests of earlier evaluations.  Raises UsageError and DataRefused for one that is not there or damaged."""
    found = []
    for pattern in settings.earlier:
        paths = sorted(glob.glob(pattern))
        if not paths:
            raise UsageError(f"audit.earlier: nothing matches {pattern}; name folders that `evaljob score` made")
        found += [store.read_evaluation(Path(path)) for path in paths]
    return found


def _rows(counts: Counts, settings: Audit, *, n_systems: int) -> list[Finding]:
    """Row counts against the median of earlier evaluations; runs by system, so that a new system is no surprise."""
    before = earlier(settings)
    if not before:
        return []
    found = []
    tables = {"rows of runs, by system": "n_run_rows", "rows of judgments": "n_qrel_rows", "queries": "n_scores"}
    for meaning, key in tables.items():
        by_system = key != "n_qrel_rows"
        nights = [each["counts"][key] / (len(each["systems"]) if by_system else 1) for each in before]
        now, usual = counts[key] / (n_systems if by_system else 1), median(nights)
        share = abs(now - usual) / usual if usual else float(now > 0)
        told = f"{meaning}, beside {len(nights)} earlier"
        found.append(_told("rows", told, now, usual, share, settings.rows, where=None))
    return found


def _finding(gate: str, meaning: str, count: int, of: int, levels: Levels, *, where: str | None = None) -> Finding:
    return _told(gate, meaning, count, of, count / of if of else 0.0, levels, where=where)


def _told(
    gate: str, meaning: str, count: float, of: float, share: float, levels: Levels, *, where: str | None
) -> Finding:
    return {
        "gate": gate,
        "meaning": meaning,
        "count": count,
        "of": of,
        "share": share,
        "warn": levels.warn,
        "refuse": levels.refuse,
        "outcome": outcome(share, levels),
        "where": where,
        "examples": [],
    }


def outcome(share: float, levels: Levels) -> Outcome:
    """Above a level, not at it: a level of 0 allows none.

    >>> from jobs.config_input import Levels
    >>> [outcome(share, Levels(warn=0, refuse=0.5)) for share in (0, 0.5, 0.6)]
    ['passed', 'warned', 'refused']
    """
    if levels.refuse is not None and share > levels.refuse:
        return "refused"
    return "warned" if levels.warn is not None and share > levels.warn else "passed"


def sentence(finding: Finding) -> str:
    """A finding in words: how many of how many, the level that it is above, examples."""
    level = "refuse" if finding["outcome"] == "refused" else "warn"
    bound = finding["refuse"] if level == "refuse" else finding["warn"]
    where = f"{finding['where']}: " if finding["where"] is not None else ""
    count, of, share = finding["count"], finding["of"], finding["share"]
    much = f"{count:,.0f} of {of:,.0f}, {share:.1%}"
    if finding["gate"] == "rows":
        much = f"{count:,.0f}, and the median is {of:,.0f}, {share:.1%} apart"
    limit = f", above audit.{finding['gate']}.{level} of {bound:.1%}" if bound is not None else ""
    examples = f": {'; '.join(finding['examples'])}" if finding["examples"] else ""
    return f"{where}{finding['meaning']}: {much}{limit}{examples}"
