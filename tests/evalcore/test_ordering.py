"""One order for every metric: by score, and by a stated rule among documents with the same score."""

from typing import get_args

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from evalcore.conventions import Conventions, Ties
from evalcore.errors import DataError
from evalcore.ordering import rank_order
from evalcore.segments import offsets_of
from tests.support import reference
from tests.support.strategies import seeded

every_tie_rule = pytest.mark.parametrize("ties", get_args(Ties))

IDS = ["a", "b", "B", "z", "é", "中", "文", "😀", "d1", "d10", "d2", ""]
SCORES = [0.0, -0.0, 1.0, -1.0, 0.5, 16_777_216.0, 16_777_217.0, 0.1, 0.1 + 1e-12]


def ordered(scores, ids=None, ranks=None, **conventions) -> list[int]:
    """Indices of one ranking."""
    return rank_order(
        np.array(scores, dtype=np.float64),
        np.array([0, len(scores)]),
        doc_ids=None if ids is None else np.array(ids),
        ranks=None if ranks is None else np.array(ranks),
        conventions=Conventions(**conventions),
    ).tolist()


rankings = st.lists(
    st.lists(
        st.tuples(st.sampled_from(SCORES), st.sampled_from(IDS), st.integers(1, 20)),
        max_size=8,
        unique_by=(lambda document: document[1], lambda document: document[2]),
    ),
    max_size=6,
)


@every_tie_rule
@pytest.mark.parametrize("precision", ["float64", "float32"])
@seeded(60)
@given(batch=rankings)
def test_the_order_is_that_of_the_twin(ties, precision, batch):
    conventions = Conventions(ties=ties, score_precision=precision)
    offsets = offsets_of([len(ranking) for ranking in batch])
    documents = [document for ranking in batch for document in ranking]
    scores, ids, ranks = zip(*documents, strict=True) if documents else ((), (), ())
    order = rank_order(
        np.array(scores, dtype=np.float64),
        offsets,
        doc_ids=np.array(ids, dtype=np.str_),
        ranks=np.array(ranks, dtype=np.int64),
        conventions=conventions,
    )
    expected = []
    for start, ranking in zip(offsets, batch, strict=False):
        columns = zip(*ranking, strict=True) if ranking else ([], [], [])
        expected += [start + index for index in reference.rank_order(*columns, conventions)]
    assert order.tolist() == expected


def test_the_highest_score_comes_first():
    assert ordered([0.1, 0.9, 0.5], ["a", "b", "c"]) == [1, 2, 0]


def test_by_default_the_greater_id_wins_a_tie():
    assert ordered([1, 1, 1], ["b", "c", "a"]) == [1, 0, 2]


def test_the_lesser_id_wins_where_the_convention_says_so():
    assert ordered([1, 1, 1], ["b", "c", "a"], ties="doc_id_asc") == [2, 0, 1]


def test_the_input_order_decides_where_the_convention_says_so():
    assert ordered([1, 2, 1, 2], ties="input_order") == [1, 3, 0, 2]


def test_the_rank_column_alone_decides_where_the_convention_says_so():
    assert ordered([3, 2, 1], ranks=[2, 3, 1], ties="rank_column") == [2, 0, 1]


def test_scores_are_not_even_read_where_the_rank_column_decides():
    assert ordered([float("nan"), 2, 1], ranks=[2, 3, 1], ties="rank_column") == [2, 0, 1]


def test_the_same_rank_twice_keeps_the_input_order():
    assert ordered([1, 2, 3], ranks=[1, 1, 0], ties="rank_column") == [2, 0, 1]


def test_a_tie_never_reaches_over_into_the_next_ranking():
    order = rank_order(np.array([1.0, 1.0, 1.0, 1.0]), np.array([0, 2, 2, 4]), doc_ids=np.array(["a", "b", "c", "d"]))
    assert order.tolist() == [1, 0, 3, 2]


def test_ids_compare_as_text_and_not_as_numbers():
    assert ordered([1, 1, 1], ["9", "10", "d2"]) == [2, 0, 1]


@pytest.mark.parametrize("dtype", [np.str_, object], ids=["fixed width", "object"])
def test_ids_beyond_ascii_compare_as_their_utf8_bytes(dtype):
    ids = ["é", "😀", "z", "中", "\ufb01"]  # the last one is behind every surrogate of UTF-16, and before the emoji
    order = rank_order(np.ones(5), np.array([0, 5]), doc_ids=np.array(ids, dtype=dtype))
    assert [ids[index] for index in order] == ["😀", "\ufb01", "中", "é", "z"]
    assert [ids[index] for index in order] == sorted(ids, key=str.encode, reverse=True)


def test_an_id_that_begins_another_comes_first_in_ascending_order():
    assert ordered([1, 1, 1], ["d10", "d1", "d"], ties="doc_id_asc") == [2, 1, 0]


def test_minus_zero_ties_with_zero():
    assert ordered([-0.0, 0.0], ["b", "a"]) == [0, 1]
    assert ordered([-0.0, 0.0], ["a", "b"]) == [1, 0]


def test_scores_that_differ_in_64_bits_only_tie_in_32():
    scores = [16_777_216.0, 16_777_217.0]
    assert ordered(scores, ["b", "a"], score_precision="float64") == [1, 0]
    assert ordered(scores, ["b", "a"], score_precision="float32") == [0, 1]


def test_32_bits_keep_scores_apart_that_differ_by_more_than_their_rounding():
    assert ordered([16_777_216.0, 16_777_218.0], ["b", "a"], score_precision="float32") == [1, 0]


def test_large_scores_keep_their_order_in_64_bits():
    assert ordered([1e299, 1e300], ["b", "a"]) == [1, 0]


@pytest.mark.parametrize("score", [float("nan"), float("inf"), float("-inf")])
def test_a_score_that_is_no_finite_number_is_refused_with_a_count_and_a_place(score):
    with pytest.raises(DataError, match=r"2 scores are NaN or infinite; the first at index 1"):
        ordered([1, score, 0, score], ["a", "b", "c", "d"])


@every_tie_rule
@pytest.mark.parametrize("score", [float("nan"), float("inf"), float("-inf")])
def test_a_score_that_is_no_finite_number_ranks_last_where_the_convention_says_so(ties, score):
    if ties != "rank_column":
        assert ordered([score, -5, 3], ["c", "b", "a"], ties=ties, non_finite_score="last") == [2, 1, 0]


def test_scores_that_are_no_finite_numbers_tie_with_each_other():
    scores = [float("inf"), float("nan"), 1, float("-inf")]
    assert ordered(scores, ["b", "c", "d", "a"], non_finite_score="last") == [2, 1, 0, 3]
    assert ordered(scores, ["b", "c", "d", "a"], non_finite_score="last", ties="doc_id_asc") == [2, 3, 0, 1]
    assert ordered(scores, non_finite_score="last", ties="input_order") == [2, 0, 1, 3]


@pytest.mark.parametrize("ties", ["doc_id_desc", "doc_id_asc"])
def test_a_tie_rule_by_id_says_that_it_needs_ids(ties):
    with pytest.raises(DataError, match=f"ties: {ties} needs document ids"):
        ordered([1, 2], ties=ties)


def test_the_rank_column_must_be_there_where_it_decides():
    with pytest.raises(DataError, match=r"ties: rank_column needs the rank column"):
        ordered([1, 2], ["a", "b"], ties="rank_column")


def test_no_ranking_and_empty_rankings_have_an_empty_order():
    assert ordered([], []) == []
    assert rank_order(np.empty(0), np.array([0]), doc_ids=np.empty(0, dtype=np.str_)).tolist() == []


@every_tie_rule
def test_inputs_are_never_written_to(ties):
    columns = [np.array([1.0, 1.0, np.nan]), np.array([0, 3]), np.array(["a", "b", "c"]), np.array([3, 2, 1])]
    for column in columns:
        column.flags.writeable = False
    scores, offsets, ids, ranks = columns
    conventions = Conventions(ties=ties, non_finite_score="last")
    order = rank_order(scores, offsets, doc_ids=ids, ranks=ranks, conventions=conventions)
    assert sorted(order.tolist()) == [0, 1, 2]


def test_many_tied_documents_are_ordered_by_id():
    ids = np.array([f"d{index:06}" for index in range(200_000)])
    order = rank_order(np.ones(200_000), np.array([0, 200_000]), doc_ids=ids)
    assert (order == np.arange(200_000)[::-1]).all()
