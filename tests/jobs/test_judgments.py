"""Labels to grades: words, numbers, clicks; judgments repeated, of a time, with propensities."""

from __future__ import annotations

import datetime as dt
import functools
import math

import pytest
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from jobs.config_file import load
from jobs.errors import UsageError
from jobs.judgments import flaws, graded
from jobs.rankings import judgments


def settings_of(**given):
    return load(None, flags={f"judgments.{key}": value for key, value in given.items()}).judgments


def frame_of(spark, rows, columns="label string"):
    """Rows of judgments of the documents d1, d2 … of a query, unless their columns say otherwise."""
    if "doc_id" not in columns:
        columns = f"query_id string, doc_id string, {columns}"
        rows = [("q", f"d{number}", *row) for number, row in enumerate(rows, start=1)]
    return spark.createDataFrame(rows, columns)


def all_grades(*cases):
    """The grades of several cases, each a frame and settings, in one job."""
    parts = [
        graded(frame, settings_of(**given)).select(F.lit(case).alias("case"), "doc_id", "relevance")
        for case, (frame, given) in enumerate(cases)
    ]
    rows = functools.reduce(DataFrame.unionAll, parts).orderBy("case", "doc_id").collect()
    return [[row.relevance for row in rows if row.case == case] for case in range(len(cases))]


def test_words_numbers_and_booleans_get_the_grades_of_the_table(spark):
    words = frame_of(spark, [("Exact",), ("exact",), (" Exact",), ("Irrelevant",), (None,)])
    clicks = frame_of(spark, [(True,), (False,)], "label boolean")
    stars = frame_of(spark, [(5,), (4,), (3,)], "label int")
    halves = frame_of(spark, [(5.0,), (4.0,), (4.5,)], "label double")
    texts = frame_of(spark, [("5",), ("5.0",)])
    assert all_grades(
        (words, {"grades": {"Exact": 3, "Irrelevant": 0}}),
        (clicks, {"grades": {True: 2, False: 1}}),
        (stars, {"grades": {5: 2, 4: 1}}),
        (halves, {"grades": {5: 2, "4": 1}}),
        (texts, {"grades": {5: 2}}),
    ) == [[3, None, None, 0, None], [2, 1], [2, 1, None], [2, 1, None], [2, None]]


def test_other_labels_are_numbers_read_strictly_or_on_steps(spark):
    texts = frame_of(spark, [("1",), ("-.5",), ("2e0",), ("1f",), ("good",), ("NaN",), ("inf",)])
    clicks = frame_of(spark, [(True,), (False,), (None,)], "label boolean")
    values = frame_of(spark, [(math.nan,), (math.inf,), (2.0,)], "label double")
    seconds = frame_of(spark, [(0.0,), (29.9,), (30.0,), (120.0,), (1e9,), (math.nan,), (None,)], "label double")
    stars = frame_of(spark, [("3.5",), ("4",), ("many",)])
    assert all_grades(
        (texts, {}),
        (clicks, {}),
        (values, {}),
        (seconds, {"steps": {120: 2, 30: 1}}),
        (stars, {"steps": {4: 1}}),
    ) == [
        [1, -0.5, 2, None, None, None, None],
        [1, 0, None],
        [None, None, 2],
        [0, 0, 1, 2, 2, None, None],
        [0, 1, None],
    ]


REPEATED = [("d1", "1"), ("d1", "1"), ("d1", "3"), ("d2", "0"), ("d2", "2"), ("d2", "0"), ("d2", "2"), ("d3", "1")]


def test_repeated_judgments_become_one_by_the_rule(spark):
    rows = [("q", doc, label, subtopic) for subtopic in "ab" for doc, label in REPEATED]
    frame = frame_of(spark, rows, "query_id string, doc_id string, label string, subtopic string")
    expected = {"error": [3, 2, 1], "max": [3, 2, 1], "mean": [5 / 3, 1, 1], "majority": [1, 2, 1]}
    parts = []
    for rule in expected:
        qrels = graded(frame, settings_of(repeated=rule))
        for by_subtopic in (False, True):
            needs = frozenset({"subtopics"} if by_subtopic else {})
            made = judgments(qrels if by_subtopic else qrels.where("subtopic = 'a'"), needs=needs, repeated=rule)
            parts.append(made.drop("entries").withColumns({"rule": F.lit(rule), "by_subtopic": F.lit(by_subtopic)}))
    found = functools.reduce(DataFrame.unionByName, parts).orderBy("doc_id").collect()
    for rule, grades in expected.items():
        for by_subtopic in (False, True):
            of_rule = [row for row in found if (row.rule, row.by_subtopic) == (rule, by_subtopic)]
            assert [row.relevance for row in of_rule] == grades, rule
            times = 2 if by_subtopic else 1
            counts = [(row.n_repeated, row.n_contradictory) for row in of_rule]
            assert counts == [(2 * times, times), (3 * times, times), (0, 0)]


TIMES = ["2026-11-29T23:59:59", "2026-11-30T00:00:00", "2026-11-30T23:59:59", "2026-12-01T00:00:00"]


def test_judgments_of_a_time_are_kept(spark):
    frame = frame_of(spark, [(float(index), time) for index, time in enumerate(TIMES)], "label double, time string")
    expected = [
        ({"until": "2026-11-30"}, [0, 1, 2]),
        ({"after": "2026-11-30"}, [3]),
        ({"until": "2026-11-30T00:00"}, [0, 1]),
        ({"until": "2026-11-30T01:00+01:00"}, [0, 1]),
        ({"after": "2026-11-30T00:00"}, [2, 3]),
        ({"after": "2026-11-29", "until": "2026-11-30"}, [1, 2]),
    ]
    assert all_grades(*((frame, given) for given, _ in expected)) == [grades for _, grades in expected]


def test_a_time_is_a_timestamp_a_date_text_or_seconds_and_one_that_is_none_is_kept_for_the_audit(spark):
    seconds = dt.datetime(2026, 11, 30, 12, tzinfo=dt.UTC).timestamp()
    ordinary = (1.0, dt.datetime(2026, 11, 30), dt.date(2026, 11, 30), "2026-11-30 12:00:00.123+00:00", seconds)
    columns = "label double, one timestamp_ntz, two date, three string, four double"
    frame = frame_of(spark, [ordinary, (2.0, None, None, "yesterday", seconds * 1000)], columns)
    named = [frame.withColumnRenamed(column, "time") for column in ("one", "two", "three", "four")]
    cases = [(each, {"until": day}) for each in named for day in ("2026-11-30", "2026-11-29")]
    assert all_grades(*cases) == [[1, None], [None]] * 4
    wrong = flaws(frame.withColumnRenamed("three", "time"), settings_of(until="2026-11-30"))
    assert wrong == ["time yesterday in 1 row is none: it must be a time, a date, or seconds since 1970"]


def test_the_latest_judgment_counts_and_at_the_same_time_the_higher(spark):
    rows = [("q", "d1", 3.0, 100), ("q", "d1", 1.0, 200), ("q", "d2", 1.0, 200), ("q", "d2", 2.0, 200)]
    frame = frame_of(spark, rows, "query_id string, doc_id string, label double, time int")
    qrels = graded(frame, settings_of(repeated="latest"))
    assert [row.relevance for row in judgments(qrels, repeated="latest").orderBy("doc_id").collect()] == [1, 2]


def test_propensities_come_from_the_table_of_positions_or_from_their_column(spark):
    rows = [(1, "1", 0.9), (0, "2", 0.8), (1, "3", 0.7), (1, "first", 0.6)]
    frame = frame_of(spark, rows, "label int, position string, propensity double")
    own = graded(frame, settings_of()).orderBy("doc_id").collect()
    assert [row.propensity for row in own] == [0.9, 0.8, 0.7, 0.6]
    settings = settings_of(positions={1: 1, 2: 0.5})
    found = graded(frame, settings).orderBy("doc_id").collect()
    assert [(row.relevance, row.propensity) for row in found] == [(1, 1), (0, 0.5), (None, None), (None, None)]
    assert flaws(frame, settings) == [
        "position 3 in 1 row is not in judgments.positions",
        "position first in 1 row is not in judgments.positions",
    ]


def test_labels_without_a_grade_are_told_the_most_frequent_first(spark):
    frame = frame_of(spark, [("Exakt",), ("Substitut",), ("Exakt",), (None,), ("Exact",)])
    assert flaws(frame, settings_of(grades={"Exact": 3, "Substitute": 2})) == [
        'label "Exakt" in 2 rows has no grade in judgments.grades. Did you mean "Exact"? Known: Exact, Substitute',
        "there is no label in 1 row",
        'label "Substitut" in 1 row has no grade in judgments.grades. Did you mean "Substitute"? '
        "Known: Exact, Substitute",
    ]
    assert flaws(frame.where("label = 'Exact'"), settings_of())[0].startswith('label "Exact" in 1 row is no finite ')


def test_a_setting_without_its_column_is_refused(spark):
    frame = frame_of(spark, [("1",)])
    with pytest.raises(UsageError) as refused:
        graded(frame, settings_of(until="2026-11-30", repeated="latest", positions={1: 1}))
    assert str(refused.value).splitlines() == [
        f"judgments.{setting} needs the column {column} of the judgments, and there is none "
        "(columns: query_id, doc_id, label)"
        for setting, column in (("positions", "position"), ("until", "time"), ("repeated: latest", "time"))
    ]


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("judgments={grades: {a: 1}, steps: {4: 1}}", "judgments: give grades for labels that are words, or steps "),
        ("judgments.until=yesterday", 'judgments.until: "yesterday" is no date or time, such as 2026-11-30 or '),
        ("judgments.steps={four: 1}", "judgments.steps: keys must be numbers"),
        ("judgments.grades={a: x}", 'judgments.grades.a is "x"; it should be a number'),
        ("judgments.positions={1: 0}", "judgments.positions"),
        ("judgments.repeated=min", "judgments.repeated is \"min\"; it should be 'error', 'max', 'mean', 'latest' or"),
    ],
)
def test_settings_that_cannot_work_are_refused(override, message):
    with pytest.raises(UsageError, match="judgments") as refused:
        load(None, overrides=[override])
    assert message in str(refused.value)
