"""What is refused of SCORES that are to be summed: a clear message for each, with examples and the next step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from evalcore import Conventions
from jobs.errors import DataRefused, number_of
from jobs.examples import first_ids, listed


class SumFacts(Protocol):
    """What `jobs.pipeline` counts before SCORES are summed."""

    @property
    def n_units(self) -> int: ...  # noqa: D102
    @property
    def n_without_unit(self) -> int: ...  # noqa: D102
    @property
    def n_crossing(self) -> int: ...  # noqa: D102
    @property
    def n_undefined(self) -> int: ...  # noqa: D102
    @property
    def n_bad_weights(self) -> int: ...  # noqa: D102
    @property
    def n_negative_below(self) -> int: ...  # noqa: D102


def of_sums(
    facts: SumFacts, scores: DataFrame, unit: str, conventions: Conventions, *, undefined: Column, negative: Column
) -> None:
    """Raises DataRefused for counted SCORES that cannot be summed by this unit.

    undefined   whether a row lacks a value for want of a relevant document
    negative    whether a denominator of a ratio is below 0
    """
    answer = {"system": "system", "query": "query_id"}
    if facts.n_without_unit:
        examples = first_ids(scores.where(F.col(f"`{unit}`").isNull()))
        raise DataRefused(
            f"{number_of(facts.n_without_unit, 'row')} without a value of {unit}, the unit: queries {examples}; "
            "fill that column in --queries or leave these queries out, and score again"
        )
    if facts.n_bad_weights:
        weight = F.col("weight").cast("double")
        bad = ~F.coalesce((weight >= 0) & (weight < float("inf")), F.lit(False))
        raise DataRefused(
            f"{number_of(facts.n_bad_weights, 'row')} without a weight that is a number from 0: queries "
            f"{first_ids(scores.where(bad))}; fill the column weight of --queries, and score again"
        )
    if facts.n_negative_below:
        raise DataRefused(
            f"{number_of(facts.n_negative_below, 'row')} with a denominator of a ratio below 0: "
            f"{_rows(scores.where(negative), **answer)}; a ratio is of what was counted, from 0"
        )
    if conventions.no_relevant == "error" and facts.n_undefined:
        raise DataRefused(
            f"{number_of(facts.n_undefined, 'row')} without a relevant judged document, and no_relevant is error: "
            f"{_rows(scores.where(undefined), **answer)}; judge more, or score again with "
            "--set score.conventions.no_relevant=zero (or skip, one)"
        )
    if facts.n_crossing:
        raise DataRefused(
            f"{number_of(facts.n_crossing, 'unit')} of {unit} in more than one stratum; strata must part the units: "
            "use another unit or column of strata, or make it a column of segments"
        )
    if facts.n_units == 0:
        raise DataRefused("no query counts: all are unjudged, or unanswered and left out; judge them, or score others")


def of_crossed(n_without: int, column: str) -> None:
    """Raises DataRefused for a column that crosses the units and is not there for every query."""
    if n_without:
        raise DataRefused(
            f"{number_of(n_without, 'row')} without a value of {column}, which crosses the units; fill that column or "
            "leave these queries out, and score again"
        )


def of_segments(n_segments: int, columns: Sequence[str], *, most: int) -> None:
    """Raises DataRefused for columns with so many values that they can be no segments."""
    if n_segments > most:
        raise DataRefused(
            f"{', '.join(columns)}: {n_segments:,} segments with enough units, and at most {most:,} can be told; is it "
            "a column of ids? Name another with aggregate.segments, or raise aggregate.fewest_units"
        )


def _rows(rows: DataFrame, **columns: str) -> str:
    """The first three rows: words, and the columns that they stand for."""
    return "; ".join(listed(rows, **columns))
