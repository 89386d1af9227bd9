"""Kernels over many short lists laid end to end."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from evalcore.segments import (
    accumulate,
    index_in_segment,
    offsets_of,
    running_count,
    segment_count,
    segment_sum,
    sort_segments,
)
from tests.support.strategies import seeded

lists = st.lists(st.lists(st.sampled_from([-1.5, -0.0, 0.0, 0.1, 0.2, 0.3, 7.0, 1e9]), max_size=6), max_size=8)


def laid_end_to_end(rows: list[list[float]]) -> tuple[np.ndarray, np.ndarray]:
    return np.array([value for row in rows for value in row], dtype=np.float64), offsets_of([len(row) for row in rows])


def test_offsets_start_at_zero_and_end_at_the_number_of_items():
    assert offsets_of([3, 1, 0, 2]).tolist() == [0, 3, 4, 4, 6]
    assert offsets_of([]).tolist() == [0]
    assert offsets_of([0, 0]).tolist() == [0, 0, 0]


def test_offsets_of_many_small_integers_do_not_overflow():
    assert offsets_of(np.full(100_000, 127, dtype=np.int8))[-1] == 12_700_000


@seeded(200)
@given(rows=lists, data=st.data())
def test_a_sum_reads_the_first_items_of_its_own_segment_alone(rows, data):
    values, offsets = laid_end_to_end(rows)
    counts = np.array([data.draw(st.integers(0, len(row))) for row in rows], dtype=np.int64)
    sums = segment_sum(values, offsets[:-1], offsets[:-1] + counts)
    alone = [segment_sum(np.array(row), np.array([0]), np.array([n]))[0] for row, n in zip(rows, counts, strict=True)]
    assert sums.tobytes() == np.array(alone, dtype=np.float64).tobytes()
    assert sums == pytest.approx([sum(row[:n]) for row, n in zip(rows, counts, strict=True)], rel=1e-12)


def test_the_sum_of_a_long_segment_has_the_same_bits_beside_any_neighbours():
    rng = np.random.default_rng(0)
    for length in (7, 8, 9, 127, 128, 129, 1_000, 4_097):
        row = rng.random(length)
        alone = segment_sum(row, np.array([0]), np.array([length]))[0]
        for before in (1, 3, 8, 1_001):
            values = np.concatenate([rng.random(before), row, rng.random(5)])
            starts = np.array([0, before, before + length])
            stops = np.array([before, before + length, before + length + 5])
            assert segment_sum(values, starts, stops)[1] == alone


def test_an_empty_segment_sums_to_zero_wherever_it_stands():
    values = np.array([7.0, 5.0])
    starts, stops = np.array([0, 0, 1, 1, 2]), np.array([0, 1, 1, 2, 2])
    assert segment_sum(values, starts, stops).tolist() == [0, 7, 0, 5, 0]


def test_no_segments_have_no_sums():
    nothing = np.empty(0, dtype=np.int64)
    assert segment_sum(np.empty(0), nothing, nothing).shape == (0,)


@seeded(100)
@given(rows=st.lists(st.lists(st.booleans(), max_size=6), max_size=8))
def test_flags_are_counted_segment_by_segment(rows):
    flags = np.array([flag for row in rows for flag in row], dtype=bool)
    offsets = offsets_of([len(row) for row in rows])
    assert segment_count(flags, offsets).tolist() == [sum(row) for row in rows]


def test_a_running_count_passes_what_small_integers_hold():
    assert running_count(np.ones(1_000, dtype=bool))[-1] == 1_000


@seeded(100)
@given(rows=lists)
def test_items_are_numbered_from_zero_in_their_segment(rows):
    _, offsets = laid_end_to_end(rows)
    assert index_in_segment(offsets).tolist() == [index for row in rows for index in range(len(row))]


@seeded(200)
@given(rows=lists)
def test_each_segment_is_sorted_by_itself_and_equal_items_keep_their_order(rows):
    values, offsets = laid_end_to_end(rows)
    expected = []
    for start, row in zip(offsets, rows, strict=False):
        expected += [start + index for index in sorted(range(len(row)), key=lambda i: row[i])]
    assert sort_segments(values, offsets).tolist() == expected


def test_nan_sorts_behind_every_number():
    assert sort_segments(np.array([np.nan, 1.0, np.inf, np.nan, 0.0]), np.array([0, 3, 5])).tolist() == [1, 2, 0, 4, 3]


def test_sorting_writes_to_no_input():
    values, offsets = np.array([2.0, 1.0]), np.array([0, 2])
    values.flags.writeable = offsets.flags.writeable = False
    assert sort_segments(values, offsets).tolist() == [1, 0]


def test_running_results_start_anew_in_each_segment():
    values = np.array([2.0, 3.0, 4.0, 5.0, 6.0, 7.0])
    offsets = np.array([0, 2, 2, 5, 6])
    assert accumulate(np.add, values, offsets).tolist() == [2, 5, 4, 9, 15, 7]
    assert accumulate(np.multiply, values, offsets).tolist() == [2, 6, 4, 20, 120, 7]
    assert accumulate(np.add, np.empty(0), np.array([0, 0])).shape == (0,)
