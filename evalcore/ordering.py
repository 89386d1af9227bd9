"""Rank order from scores: which document stands first, and which of two with the same score."""

from __future__ import annotations

import numpy as np

from evalcore.arrays import AnyArray, FloatArray, IntArray, Offsets
from evalcore.conventions import Conventions
from evalcore.errors import DataError
from evalcore.segments import sort_segments


def rank_order(
    scores: FloatArray,
    offsets: Offsets,
    *,
    doc_ids: AnyArray | None = None,
    ranks: AnyArray | None = None,
    conventions: Conventions | None = None,
) -> IntArray:
    """Indices of the documents of each ranking, best first.  (n_documents,)

    scores    (n_documents,)    higher is better
    offsets   (n_rankings + 1,) ranking i is scores[offsets[i]:offsets[i + 1]]
    doc_ids   (n_documents,)    for ties by document: any type whose order is the order of ids
    ranks     (n_documents,)    for ``ties: rank_column``: the lowest first, scores not read

    The default conventions break ties by descending document id, as trec_eval does. Strings compare
    by code point, which is the order of their UTF-8 bytes.

    Raises DataError for NaN or infinite scores unless ``non_finite_score: last``, and where an
    array that the tie rule needs is missing.

    >>> rank_order(np.array([1.0, 2.0, 1.0]), np.array([0, 3]), doc_ids=np.array(["a", "b", "c"]))
    array([1, 2, 0])
    """
    conventions = conventions or Conventions()
    if conventions.ties == "rank_column":
        if ranks is None:
            raise DataError("ties: rank_column needs the rank column")
        return sort_segments(ranks, offsets)
    with np.errstate(over="ignore"):  # beyond 32 bits is infinite, and ties with what else is
        keys = -scores.astype(conventions.score_precision)
    finite = np.isfinite(scores)  # before rounding: a large double is infinite as a 32-bit float and still ranks first
    if not finite.all():
        if conventions.non_finite_score == "error":
            raise DataError(f"{int((~finite).sum())} scores are NaN or infinite; the first at index {finite.argmin()}")
        keys[~finite] = np.nan  # NaN sorts behind every number
    order = sort_segments(keys, offsets)
    if conventions.ties == "input_order":
        return order
    if doc_ids is None:
        raise DataError(f"ties: {conventions.ties} needs document ids")
    return _break_ties(order, keys, offsets, doc_ids, descending=conventions.ties == "doc_id_desc")


def _break_ties(
    order: IntArray, keys: FloatArray, offsets: Offsets, doc_ids: AnyArray, *, descending: bool
) -> IntArray:
    """The same order, with runs of equal keys put in the order of their ids; only those are sorted again."""
    ranked = keys[order]
    starts_run = np.ones(len(order), dtype=bool)
    starts_run[1:] = (ranked[1:] != ranked[:-1]) & ~(np.isnan(ranked[1:]) & np.isnan(ranked[:-1]))
    starts_run[offsets[:-1][np.diff(offsets) > 0]] = True
    run = np.cumsum(starts_run)
    tied = np.flatnonzero(np.bincount(run)[run] > 1)
    _, codes = np.unique(doc_ids[order[tied]], return_inverse=True)
    by_id = np.lexsort((-codes if descending else codes, run[tied]))
    broken = order.copy()
    broken[tied] = order[tied][by_id]
    return broken
