"""The sections about what becomes of the input before it is scored."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, field_validator, model_validator

from jobs.config_section import Section


def _words(given: object) -> object:
    """Keys of a table as a log has them: YAML reads some words as numbers or booleans."""
    if not isinstance(given, dict):
        return given
    return {str(key).lower() if isinstance(key, bool) else str(key): value for key, value in given.items()}


def _numbers(given: object) -> object:
    """Keys of a table as numbers: where a setting is given singly, or was kept as JSON, they are text."""
    if not isinstance(given, dict):
        return given
    try:
        return {float(key): value for key, value in given.items()}
    except (TypeError, ValueError):
        raise ValueError("keys must be numbers") from None


def _moment(given: str) -> str:
    """A date, or a date with a time."""
    try:
        datetime.fromisoformat(given)
    except ValueError:
        raise ValueError(f'"{given}" is no date or time, such as 2026-11-30 or 2026-11-30T18:00') from None
    return given


Words = Annotated[dict[str, float], BeforeValidator(_words)]
Steps = Annotated[dict[float, float], BeforeValidator(_numbers)]
Share = Annotated[float, Field(gt=0, le=1)]
Propensities = Annotated[dict[float, Share], BeforeValidator(_numbers)]
Moment = Annotated[str, AfterValidator(_moment)]


class Judgments(Section):
    """judgments:  how labels become grades."""

    grades: Words = Field(default={}, description="a grade for every label, such as {Exact: 3, Substitute: 2}")
    steps: Steps = Field(
        default={}, description="the grade of labels from a number on, such as {30: 1, 120: 2}; below all of them 0"
    )
    repeated: Literal["error", "max", "mean", "latest", "majority"] = Field(
        default="error", description="the grade of a document that was judged several times, with different grades"
    )
    after: Moment | None = Field(default=None, description="judgments of this day or time, and earlier, are left out")
    until: Moment | None = Field(default=None, description="judgments later than this day or time are left out")
    positions: Propensities = Field(
        default={}, description="how likely a position is looked at, such as {1: 1.0, 2: 0.6}; for IPS and SNIPS"
    )

    @model_validator(mode="after")
    def _one_way(self) -> Judgments:
        if self.grades and self.steps:
            raise ValueError("give grades for labels that are words, or steps for labels that are numbers, not both")
        return self


class Prepare(Section):
    """prepare:  what is done to the input of all systems alike, by id, before anything is ranked."""

    sample: Share = Field(default=1.0, description="a fixed share of the queries, the same for every system and night")
    self_retrieval: Literal["keep", "remove"] = Field(
        default="keep", description="a document whose id is the query's, in runs and judgments"
    )
    separator: Annotated[str, Field(min_length=1)] | None = Field(
        default=None,
        description='what divides a document from its passage in doc_id, such as "#": the best passage counts',
    )


Level = Annotated[float, Field(ge=0)] | None


class Levels(Section):
    """audit.*:  what a gate does when a share is above a level."""

    warn: Level = Field(default=None, description="above it the gate warns")
    refuse: Level = Field(default=None, description="above it the gate refuses")


class AboveNone(Levels):
    """audit.*:  the same, and the gate warns where there is any."""

    warn: Level = Field(default=0.0, description="above it the gate warns")


class AboveTenth(Levels):
    """audit.*:  the same, and the gate warns above a tenth."""

    warn: Level = Field(default=0.1, description="above it the gate warns")


class AboveFifth(Levels):
    """audit.*:  the same, and the gate warns above a fifth."""

    warn: Level = Field(default=0.2, description="above it the gate warns")


class AboveHalf(Levels):
    """audit.*:  the same, and the gate warns above a half."""

    warn: Level = Field(default=0.5, description="above it the gate warns")


class Audit(Section):
    """audit:  gates on the input."""

    duplicates: AboveNone = Field(default=AboveNone(), description="documents returned more than once for a query")
    non_finite: AboveNone = Field(default=AboveNone(), description="scores that are NaN or infinite")
    ties: Levels = Field(default=Levels(), description="documents with the score of another of their ranking")
    misordered: Levels = Field(default=Levels(), description="rankings whose score and rank disagree")
    outside: Levels = Field(default=Levels(), description="rankings of queries that are not to be scored")
    unjudged: AboveHalf = Field(default=AboveHalf(), description="rankings of queries without judgments")
    unasked: Levels = Field(default=Levels(), description="judged queries that are not to be scored")
    unanswered: AboveTenth = Field(default=AboveTenth(), description="of each system: judged queries without answer")
    no_relevant: AboveHalf = Field(default=AboveHalf(), description="judged rankings with nothing relevant to find")
    repeated: Levels = Field(default=Levels(), description="judgments of a document that is judged already")
    contradictory: AboveNone = Field(default=AboveNone(), description="documents with different grades")
    negative: Levels = Field(default=Levels(), description="grades below 0")
    odd_grades: AboveNone = Field(default=AboveNone(), description="grades outside audit.grades")
    grades: list[float] = Field(default=[], description="the lowest and the highest grade that there should be")
    rows: AboveFifth = Field(default=AboveFifth(), description="row counts, by how much they are off the median")
    earlier: list[str] = Field(default=[], description="evaluations of earlier nights, for that median")

    @field_validator("grades")
    @classmethod
    def _low_and_high(cls, grades: list[float]) -> list[float]:
        if grades and (len(grades) != 2 or grades[0] > grades[1]):
            raise ValueError("give the lowest and the highest grade, such as [0, 3]")
        return grades


def _some(bounds: dict[str, float]) -> dict[str, float]:
    if not bounds:
        raise ValueError("name at least one segment and where it begins")
    return bounds


Bounds = Annotated[dict[str, float], BeforeValidator(_words), AfterValidator(_some)]


class Queries(Section):
    """queries:  what is known of a query, beside its judgments."""

    columns: list[str] | None = Field(
        default=None, description="columns to keep of inputs.queries, or to take of the runs; null = all, or none"
    )
    weight: str | None = Field(
        default=None, description="a column of the runs whose different values, such as requests, are a query's weight"
    )
    text: str | None = Field(default=None, description="the column that holds the text: its length takes its place")
    bands: dict[str, Bounds] = Field(
        default={}, description="segments by where a number begins, such as {weight: {tail: 0, torso: 10, head: 1000}}"
    )
