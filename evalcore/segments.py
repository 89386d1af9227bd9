"""Kernels over segments: many short lists laid end to end, with the offsets where each begins.

    values   7 5 5 | 9 | | 1 1        offsets  0 3 4 4 6        four segments, the third is empty

Every result reads only its own segment, so a query's value is the same to the last bit whichever
batch or partition it lands in. That is why no kernel takes differences of a running total of
floats; differences of running counts are whole numbers and exact.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evalcore.arrays import AnyArray, BoolArray, FloatArray, IntArray, Offsets


def offsets_of(lengths: IntArray | Sequence[int]) -> Offsets:
    """Where segments of these lengths begin, and the end of the last.  (n,) -> (n + 1,)

    >>> offsets_of([3, 1, 0, 2])
    array([0, 3, 4, 4, 6])
    """
    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def segment_sum(values: FloatArray, starts: IntArray, stops: IntArray) -> FloatArray:
    """Sum of values[start:stop] for each segment; an empty one sums to 0.  (n_segments,)

    The segments must not overlap and must come in order; items between them are passed over.

        values   7 5 5 | 9 | | 1 1     starts 0 3 4 4     stops 2 4 4 6     sums 12 9 0 2
    """
    sums = np.zeros(len(starts))
    filled = np.flatnonzero(stops > starts)  # reduceat would return values[start] for an empty segment
    if filled.size:
        edges = np.column_stack([starts[filled], stops[filled]]).ravel()
        if edges[-1] == len(values):  # the last sum runs to the end by itself; its edge would be out of bounds
            edges = edges[:-1]
        sums[filled] = np.add.reduceat(values, edges)[::2]
    return sums


def segment_count(flags: BoolArray, offsets: Offsets) -> IntArray:
    """How many flags are set in each segment.  (n_items,) -> (n_segments,)"""
    return np.diff(running_count(flags)[offsets])


def running_count(flags: BoolArray) -> IntArray:
    """How many flags are set before each index, and in all.  (n_items,) -> (n_items + 1,)

    >>> running_count(np.array([True, False, True]))
    array([0, 1, 1, 2])
    """
    return offsets_of(flags.view(np.int8))


def index_in_segment(offsets: Offsets) -> IntArray:
    """Position of each item in its own segment, from 0.  (n_items,)

    >>> index_in_segment(np.array([0, 3, 4, 4, 6]))
    array([0, 1, 2, 0, 0, 1])
    """
    return np.arange(offsets[-1]) - np.repeat(offsets[:-1], np.diff(offsets))


def different(numbers: IntArray) -> IntArray:
    """Numbers from 0, each once and rising; np.unique would import numpy's masked arrays to look for some.

    >>> different(np.array([3, 1, 3]))
    array([1, 3])
    """
    return np.flatnonzero(np.bincount(numbers))


def sort_segments(values: AnyArray, offsets: Offsets, *, stable: bool = True) -> IntArray:
    """Ascending order of the items within each segment, as indices into values.  (n_items,)

    stable   whether equal items keep their order; where that does not matter it takes half of the time
    Segments of one length are sorted together as the rows of a matrix: short rows sort in cache,
    where one sort of everything by (segment, value) would not.
    """
    order = np.empty(len(values), dtype=np.int64)
    lengths = np.diff(offsets)
    for length in different(lengths[lengths > 0]):
        starts = offsets[:-1][lengths == length]
        items = starts[:, None] + np.arange(length)
        ranked = np.argsort(values[items], axis=1, kind="stable" if stable else None)
        order[items] = starts[:, None] + ranked
    return order


def accumulate(ufunc: np.ufunc, values: FloatArray, offsets: Offsets) -> FloatArray:
    """Running sum, or another running result, within each segment.  (n_items,)

    >>> accumulate(np.add, np.array([7.0, 5.0, 5.0, 9.0]), np.array([0, 3, 4]))
    array([ 7., 12., 17.,  9.])
    """
    running = np.empty(len(values))
    lengths = np.diff(offsets)
    for length in different(lengths[lengths > 0]):
        items = offsets[:-1][lengths == length][:, None] + np.arange(length)
        running[items] = ufunc.accumulate(values[items], axis=1)
    return running
