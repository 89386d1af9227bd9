"""Scores, document ids, propensities, subtopics, preferences and a reference ranking for any query of grades.

All follow from places alone: the same document has the same extras whatever ranks below it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Extras:
    """One query's lists, as `JudgedRankings.from_lists` takes them."""

    scores: list[float]
    documents: list[str]
    propensities: list[float | None]
    judged_propensities: list[float]
    subtopics: list[tuple[str, str, float]]
    preferences: list[tuple[str, str, float]]
    reference: list[str]


def extras_of(retrieved: Sequence[float | None], judged: Sequence[float]) -> Extras:
    """Judged documents are j0, j1 …; a retrieved grade takes the next of them that has this grade."""
    free: dict[float, deque[int]] = {}
    for place, grade in enumerate(judged):
        free.setdefault(grade, deque()).append(place)
    documents, propensities = [], []
    for rank, grade in enumerate(retrieved):
        place = free[grade].popleft() if grade is not None and free.get(grade) else None
        documents.append(f"u{rank}" if place is None else f"j{place}")
        unknown = None if grade is None else 0.5  # a grade of no judged document, in impossible queries
        propensities.append(unknown if place is None else _propensity(place))
    return Extras(
        scores=[_score(rank) for rank in range(len(retrieved))],
        documents=documents,
        propensities=propensities,
        judged_propensities=[_propensity(place) for place in range(len(judged))],
        subtopics=[
            (f"j{place}", f"s{subtopic}", grade)
            for place, grade in enumerate(judged)
            for subtopic in sorted({place % 3, place * 7 % 5})
        ],
        preferences=[(f"j{place}", f"g{place % 2}", grade) for place, grade in enumerate(judged)],
        reference=[name for place in range(len(judged)) for name in (f"j{place}", f"u{2 * place}")],
    )


def _score(rank: int) -> float:
    """Falling from 1, with runs of one, two and three tied documents."""
    block, within = divmod(rank, 6)
    return 1 / (1 + 3 * block + (within >= 1) + (within >= 3))


def _propensity(place: int) -> float:
    return 1 / (1 + place % 4)
