"""Runs, judgments and queries as callers give them, mappings and tables alike -> rows query by query."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evalcore import plain
from evalcore.arrays import FloatArray
from evalcore.errors import DataError
from evalcore.given import by_text, few, finite, numbers
from evalcore.listed import PROPENSITY, Listed, judgments_of, runs_of, weights_of
from evalcore.plain import Qrels, Run
from evalcore.tables import Table, is_table, is_table_of_queries


@dataclass(frozen=True, slots=True)
class Answers:
    """A run, of which only the queries that are asked for are looked at if it is a mapping."""

    whose: str
    given: Listed | dict[str, Any]

    @classmethod
    def of(cls, run: Run | Table, whose: str) -> Answers:
        """Raises DataError for what is no run, or of several systems."""
        if isinstance(run, Listed):
            return cls(whose, run)
        if not is_table(run):
            return cls(whose, by_text(run, f"of {whose}"))
        by_system = runs_of(run, whose=lambda _: whose)
        if len(by_system) > 1:
            examples = few(list(by_system)[:4])
            raise DataError(f"{whose} has {len(by_system)} systems: {examples}; evaluate_runs takes several")
        return cls(whose, next(iter(by_system.values())))

    @property
    def queries(self) -> Collection[str]:
        """All that it names, each once."""
        return self.given.queries if isinstance(self.given, Listed) else self.given.keys()

    def among(self, universe: Sequence[str]) -> Listed:
        """The rows of these queries, in their order."""
        if isinstance(self.given, Listed):
            return self.given.of(universe)
        return plain.run_of(self.given, universe, whose=self.whose)


def read_judgments(
    qrels: Qrels | Table, propensities: Mapping[Any, Mapping[Any, float]] | Table | None, *, needed: bool
) -> tuple[Listed, dict[str, None], Listed | None]:
    """The judgments, the queries that have any, and propensities: those given, else of the judgments if needed.

    Raises DataError for numbers that are not finite.
    """
    chances, whose, what = None, "the propensities", "the propensity"
    if is_table(qrels):
        found, chances = judgments_of(qrels, also=PROPENSITY if needed and propensities is None else None)
        labelled = dict.fromkeys(found.queries)
    else:
        by_query = by_text(qrels, "of the judgments")
        found = plain.judgments_of(by_query)
        labelled = dict.fromkeys(query for query, given in by_query.items() if not isinstance(given, Mapping) or given)
    if is_table(propensities):
        chances, _ = judgments_of(propensities, PROPENSITY, whose=whose)
    elif propensities is not None:
        chances = plain.judgments_of(by_text(propensities, f"of {whose}"), whose=whose, what=what)
    finite(found.numbers, found.place_of("the grade"))
    if chances is not None:
        finite(chances.numbers, chances.place_of(what))
    return found, labelled, chances


def read_queries(queries: Collection[Any] | Mapping[Any, float] | Table) -> tuple[list[str], FloatArray | None]:
    """The queries, each once, and their weights."""
    if is_table_of_queries(queries):
        return weights_of(queries)
    if isinstance(queries, (str, bytes)):
        raise DataError(f"the queries asked for are {queries!r}; give a list of ids, or a mapping to weights")
    if not isinstance(queries, Mapping):
        return list(by_text(dict.fromkeys(queries), "asked for")), None
    weights = by_text(queries, "asked for")
    names = list(weights)
    return names, numbers(list(weights.values()), lambda index: f"the weight of query {names[index]}")
