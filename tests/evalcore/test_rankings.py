"""What a metric may see, and what is refused before it sees it."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from evalcore.conventions import Conventions
from evalcore.errors import DataError
from evalcore.metrics import parse
from evalcore.rankings import Grades, Hits, JudgedRankings
from tests.support.examples import EXAMPLES
from tests.support.strategies import Query, batches, queries, rankings_of, seeded

NAN = float("nan")


def lists(grades: Grades) -> list[list[float | None]]:
    """The grades of each ranking, None for unjudged."""
    return [
        [None if np.isnan(grade) else float(grade) for grade in grades.values[start:stop]]
        for start, stop in zip(grades.offsets[:-1], grades.offsets[1:], strict=True)
    ]


def test_none_and_nan_are_both_unjudged():
    assert lists(Grades.from_lists([[1, None, NAN], [], [0]])) == [[1, None, None], [], [0]]


def test_judged_grades_are_sorted_best_first_within_each_query():
    rankings = JudgedRankings.from_lists(retrieved=[[], [], []], judged=[[0, 2, 1], [], [-1, 3, 0.5]])
    assert lists(rankings.judged) == [[2, 1, 0], [], [3, 0.5, -1]]


def test_retrieved_grades_keep_their_order():
    rankings = JudgedRankings.from_lists(retrieved=[[0, 2, 1]], judged=[[2, 1, 0]])
    assert lists(rankings.retrieved) == [[0, 2, 1]]


def test_the_length_is_the_number_of_rankings():
    assert len(JudgedRankings.from_lists(retrieved=[[], [1, 0]], judged=[[1], [1]])) == 2
    assert len(JudgedRankings.from_lists(retrieved=[], judged=[])) == 0


def test_as_many_judgments_as_rankings_are_needed():
    with pytest.raises(DataError, match=r"2 rankings, but judgments for 1"):
        JudgedRankings.from_lists(retrieved=[[1], [1]], judged=[[1]])


@pytest.mark.parametrize(
    "judged",
    [
        Grades(np.array([1.0, 2.0]), np.array([0, 2])),
        Grades(np.array([2.0, 1.0, 3.0]), np.array([0, 3])),
        Grades(np.array([2.0, NAN]), np.array([0, 2])),
        Grades(np.array([NAN]), np.array([0, 1])),
    ],
    ids=["rising", "rising at the end", "unjudged at the end", "unjudged alone"],
)
def test_judged_grades_that_are_unsorted_or_unjudged_are_refused(judged):
    retrieved = Grades.from_lists([[1]])
    with pytest.raises(DataError, match=r"judged grades must be finite numbers, best first within each ranking"):
        JudgedRankings(retrieved, judged)


def test_the_wrong_order_is_found_in_any_ranking_and_beside_empty_ones():
    judged = Grades(np.array([3.0, 1.0, 2.0]), np.array([0, 0, 1, 1, 3, 3]))
    with pytest.raises(DataError, match=r"best first within each ranking"):
        JudgedRankings(Grades.from_lists([[]] * 5), judged)


def test_grades_may_rise_from_one_query_to_the_next():
    judged = Grades(np.array([1.0, 2.0, 3.0]), np.array([0, 0, 1, 1, 2, 3, 3]))
    assert len(JudgedRankings(Grades.from_lists([[]] * 6), judged)) == 6


@pytest.mark.parametrize("unjudged", [None, NAN])
def test_a_judged_document_must_have_a_grade(unjudged):
    with pytest.raises(DataError, match=r"judged grades must be finite numbers"):
        JudgedRankings.from_lists(retrieved=[[1]], judged=[[1, unjudged]])


CASE = {"retrieved": [[None, 2, -1, 0], [None]], "judged": [[2, 0, -1, -2], [1]]}


@pytest.mark.parametrize(
    ("conventions", "retrieved", "judged"),
    [
        (Conventions(), [[None, 2, -1, 0], [None]], [[2, 0, -1, -2], [1]]),
        (Conventions(unjudged="removed"), [[2, -1, 0], []], [[2, 0, -1, -2], [1]]),
        (Conventions(negative_grade="removed"), [[None, 2, 0], [None]], [[2, 0], [1]]),
        (Conventions(unjudged="removed", negative_grade="removed"), [[2, 0], []], [[2, 0], [1]]),
    ],
    ids=["kept", "unjudged removed", "negative removed", "both removed"],
)
def test_documents_are_removed_as_the_conventions_say(conventions, retrieved, judged):
    rankings = JudgedRankings.from_lists(**CASE).under(conventions)
    assert lists(rankings.retrieved) == retrieved
    assert lists(rankings.judged) == judged


def test_documents_below_a_removed_one_move_up():
    rankings = JudgedRankings.from_lists(retrieved=[[None, -1, 1]], judged=[[1, -1]])
    values = [
        float(parse("RR").per_query(rankings.under(Conventions(unjudged=unjudged, negative_grade=negative)))[0])
        for unjudged, negative in [
            ("not_relevant", "not_relevant"),
            ("removed", "not_relevant"),
            ("not_relevant", "removed"),
            ("removed", "removed"),
        ]
    ]
    assert values == [1 / 3, 1 / 2, 1 / 2, 1]


@pytest.mark.parametrize(
    ("retrieved", "judged"), [([-1], [1, -1]), ([1], [1, -1])], ids=["retrieved", "judged but not retrieved"]
)
def test_a_negative_grade_is_refused_where_the_conventions_say_so(retrieved, judged):
    rankings = JudgedRankings.from_lists(retrieved=[retrieved], judged=[judged])
    with pytest.raises(DataError, match=r"a grade is negative, and negative_grade is error"):
        rankings.under(Conventions(negative_grade="error"))


def test_without_a_negative_grade_nothing_is_refused():
    rankings = JudgedRankings.from_lists(retrieved=[[0, None, 1]], judged=[[1, 0]])
    assert rankings.under(Conventions(negative_grade="error")) is rankings


@seeded(100)
@given(batch=batches(), unjudged=st.sampled_from(["not_relevant", "removed"]), negative=st.booleans())
def test_removing_documents_is_the_same_as_never_having_had_them(batch, unjudged, negative):
    conventions = Conventions(unjudged=unjudged, negative_grade="removed" if negative else "not_relevant")

    def stays(grade: float | None) -> bool:
        return unjudged == "not_relevant" if grade is None else not negative or grade >= 0

    kept = [Query(list(filter(stays, query.retrieved)), list(filter(stays, query.judged))) for query in batch]
    removed, expected = rankings_of(batch).under(conventions), rankings_of(kept)
    assert lists(removed.retrieved) == lists(expected.retrieved)
    assert lists(removed.judged) == lists(expected.judged)


@seeded(50)
@given(query=queries())
def test_the_original_keeps_its_documents_and_values(query):
    rankings = rankings_of([query])
    before = [metric.per_query(rankings) for metric in EXAMPLES]
    rankings.under(Conventions(unjudged="removed", negative_grade="removed"))
    assert lists(rankings.retrieved) == [query.retrieved]
    assert np.array_equal(before, [metric.per_query(rankings) for metric in EXAMPLES], equal_nan=True)


def test_hits_have_the_ranks_that_they_had_among_all_documents():
    grades = Grades.from_lists([[0, 1, 0, 2], [], [3]])
    hits = Hits.among(grades, grades.values >= 1)
    assert hits.ranks.tolist() == [2, 4, 1]
    assert hits.grades.tolist() == [1, 2, 3]
    assert hits.offsets.tolist() == [0, 2, 2, 3]
    assert hits.numbers().tolist() == [1, 2, 1]


@pytest.mark.parametrize(
    ("deepest", "counts"),
    [(None, [2, 0, 1]), (1, [0, 0, 1]), (2, [1, 0, 1]), (np.array([4, 9, 0]), [2, 0, 0])],
    ids=["all", "rank 1", "rank 2", "a rank for each ranking"],
)
def test_hits_are_counted_down_to_a_rank(deepest, counts):
    grades = Grades.from_lists([[0, 1, 0, 2], [], [3]])
    assert Hits.among(grades, grades.values >= 1).counts(deepest).tolist() == counts
