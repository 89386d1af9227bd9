"""Labels of a file or a log -> QRELS: grades by a declared table, judgments of a time, propensities of positions.

A label that has no grade becomes null, as everything that a reader cannot read: the audit counts it and refuses,
and `flaws` says which labels they are.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from evalcore.errors import unknown
from jobs.config_input import Judgments
from jobs.errors import UsageError, number_of
from jobs.numbers import number

MOST_SECONDS = 1e11
"""A number of seconds since 1970 in the year 5138: a time above it is in milliseconds."""


def graded(frame: DataFrame, settings: Judgments) -> DataFrame:
    """Labels -> QRELS, with the column `time` beside where `repeated` is latest.

    frame   query_id, doc_id as text, label (text, number or boolean) and, where there are, subtopic, propensity,
            position and time (a time, a date, either as text, or seconds since 1970)

    A row whose label, position or time cannot be read, or is not in the table that is to say what it means, has a
    null relevance. Builds a plan and moves nothing. Raises UsageError where a setting needs a column that is missing.
    """
    _check(frame, settings)
    position = _position(frame) if settings.positions else F.lit(None)
    usable = F.lit(True)
    if _reads_time(settings):
        frame = frame.withColumn("time", _time(frame))
        usable = F.col("time").isNotNull()
        for bound, wanted in ((settings.until, True), (settings.after, False)):
            if bound is not None:
                frame = frame.where(F.coalesce(_by(bound) == wanted, F.lit(True)))
    if settings.positions:
        propensity = F.try_element_at(F.create_map(*_pairs(settings.positions)), position)
        usable = usable & propensity.isNotNull()
    else:
        propensity = F.col("propensity") if "propensity" in frame.columns else F.lit(None)
    return frame.select(
        "query_id",
        "doc_id",
        F.when(usable, _grade(frame, settings)).alias("relevance"),
        (F.col("subtopic") if "subtopic" in frame.columns else F.lit(None)).cast("string").alias("subtopic"),
        propensity.cast("double").alias("propensity"),
        *(["time"] if settings.repeated == "latest" else []),
    )


def flaws(frame: DataFrame, settings: Judgments) -> list[str]:
    """What is wrong with the labels, positions and times that `graded` could not read: up to three of each.

    Runs a job over the labels for each.
    """
    _check(frame, settings)
    found = []
    no_grade = _grade(frame, settings).isNull()
    for label, n_rows in _most_frequent(frame.where(no_grade), "label"):
        rows = f"in {number_of(n_rows, 'row')}"
        if label is None:
            found.append(f"there is no label {rows}")
        elif settings.grades:
            _, _, nearest = unknown("label", label, list(settings.grades)).partition(". ")
            found.append(f'label "{label}" {rows} has no grade in judgments.grades. {nearest.rstrip(".")}')
        else:
            found.append(f'label "{label}" {rows} is no finite number; give words a grade with judgments.grades')
    if settings.positions:
        absent = F.try_element_at(F.create_map(*_pairs(settings.positions)), _position(frame)).isNull()
        for position, n_rows in _most_frequent(frame.where(absent), "position"):
            found.append(f"position {position} in {number_of(n_rows, 'row')} is not in judgments.positions")
    if _reads_time(settings):
        for time, n_rows in _most_frequent(frame.where(_time(frame).isNull()), "time"):
            found.append(
                f"time {time} in {number_of(n_rows, 'row')} is none: it must be a time, a date, or seconds since 1970"
            )
    return found


def _check(frame: DataFrame, settings: Judgments) -> None:
    wanted = {
        "position": ["positions"] if settings.positions else [],
        "time": [
            *(key for key in ("after", "until") if getattr(settings, key) is not None),
            *(["repeated: latest"] if settings.repeated == "latest" else []),
        ],
    }
    problems = [
        f"judgments.{reason} needs the column {column} of the judgments, and there is none "
        f"(columns: {', '.join(frame.columns)})"
        for column, reasons in wanted.items()
        for reason in reasons
        if column not in frame.columns
    ]
    if problems:
        raise UsageError("\n".join(problems))


def _grade(frame: DataFrame, settings: Judgments) -> Column:
    """The grade of a label, null where it has none."""
    label, is_number = F.col("label"), isinstance(frame.schema["label"].dataType, T.NumericType)
    if settings.grades:
        table: dict[str, float] | dict[float, float] = settings.grades
        if is_number:
            table = {value: grade for word, grade in settings.grades.items() if (value := _number(word)) is not None}
        return F.try_element_at(F.create_map(*_pairs(table)), label.cast("double" if is_number else "string"))
    if isinstance(frame.schema["label"].dataType, T.BooleanType):
        label = label.cast("int").cast("double")
    else:
        label = label.cast("double") if is_number else number(label.cast("string"))
    label = F.when(F.abs(label) < float("inf"), label)  # NaN is above infinity to Spark
    if not settings.steps:
        return label
    grade = F.lit(0.0)
    for least, given in sorted(settings.steps.items()):
        grade = F.when(label >= least, given).otherwise(grade)
    return F.when(label.isNotNull(), grade)


def _number(word: str) -> float | None:
    try:
        return float(word)
    except ValueError:
        return None


def _pairs(table: dict[str, float] | dict[float, float]) -> list[Column]:
    return [F.lit(item) for pair in table.items() for item in pair]


def _position(frame: DataFrame) -> Column:
    position = F.col("position")
    is_number = isinstance(frame.schema["position"].dataType, T.NumericType)
    return position.cast("double") if is_number else number(position.cast("string"))


def of_a_time(settings: Judgments) -> bool:
    """Whether judgments of other times are left out."""
    return settings.after is not None or settings.until is not None


def _reads_time(settings: Judgments) -> bool:
    return settings.repeated == "latest" or of_a_time(settings)


def _time(frame: DataFrame) -> Column:
    """The column `time` as a timestamp, null where it is none; what has no time zone is UTC, as the session is."""
    time, found = F.col("time"), frame.schema["time"].dataType
    if isinstance(found, T.NumericType):
        seconds = time.cast("double")
        return F.when(F.abs(seconds) < MOST_SECONDS, F.timestamp_seconds(seconds))
    return time.try_cast("timestamp") if isinstance(found, T.StringType) else time.cast("timestamp")


def _by(bound: str) -> Column:
    """Whether the time is at the bound or before it; a day ends with its last moment."""
    moment = datetime.fromisoformat(bound)
    moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    if len(bound) <= len("2026-11-30"):
        return F.col("time") < _literal(moment + timedelta(days=1))
    return F.col("time") <= _literal(moment)


def _literal(moment: datetime) -> Column:
    return F.lit(moment.isoformat()).cast("timestamp")


def _most_frequent(rows: DataFrame, key: str) -> list[tuple[str | None, int]]:
    """The three most frequent values, as text, and in how many rows they are."""
    text = F.col(key).cast("string").alias(key)
    counted = rows.groupBy(text).count().orderBy(F.desc("count"), key).limit(3).collect()
    return [(row[key], row["count"]) for row in counted]
