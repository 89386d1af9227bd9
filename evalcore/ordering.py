"""Rank order from scores: which document stands first, and which of two with the same score."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from hashlib import md5

import numpy as np

from evalcore.arrays import AnyArray, FloatArray, IntArray, Offsets
from evalcore.conventions import TIES_BY_SCORE, Conventions
from evalcore.errors import DataError
from evalcore.rankings import JudgedRankings
from evalcore.segments import index_in_segment, segment_sum, sort_segments


def rank_order(
    scores: FloatArray,
    offsets: Offsets,
    *,
    doc_ids: AnyArray | Callable[[IntArray], AnyArray] | None = None,
    ranks: AnyArray | None = None,
    conventions: Conventions | None = None,
) -> IntArray:
    """Indices of the documents of each ranking, best first.  (n_documents,)

    scores    (n_documents,)    higher is better
    offsets   (n_rankings + 1,) ranking i is scores[offsets[i]:offsets[i + 1]]
    doc_ids   (n_documents,)    for ties by document: any type whose order is the order of ids; for
                                ``ties: random`` the keys of `random_keys`. Or what gives them for the documents at
                                some indices, so that only those of tied documents need to be made
    ranks     (n_documents,)    for ``ties: rank_column``: the lowest first, scores not read

    The default conventions break ties by descending document id, as trec_eval does. Strings compare
    by code point, which is the order of their UTF-8 bytes. Tie rules that look at grades start from that
    order too: `settled` does the rest.

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
    keys = _compared(scores, conventions)
    if conventions.ties == "input_order":
        return sort_segments(keys, offsets)
    if doc_ids is None:
        raise DataError(f"ties: {conventions.ties} needs document ids")
    order = sort_segments(keys, offsets, stable=False)
    ascending = conventions.ties in ("doc_id_asc", "random")
    return _break_ties(order, keys, offsets, doc_ids, descending=not ascending)


def random_keys(query_ids: Sequence[str], doc_ids: Sequence[str]) -> AnyArray:
    """Keys for ``ties: random``: the md5 of query, tab and document.  (n_documents,) each

    So the order of two documents depends on them and the query alone.

    >>> random_keys(["q1"], ["d1"])[0][:8]
    'fa18bb89'
    """
    pairs = zip(query_ids, doc_ids, strict=True)
    return np.array([md5(f"{query}\t{doc}".encode(), usedforsecurity=False).hexdigest() for query, doc in pairs])


def tie_runs(scores: FloatArray, offsets: Offsets, conventions: Conventions) -> Offsets:
    """Where each run of tied documents begins, and the end of the last.  (n_runs + 1,)

    scores   (n_documents,) in rank order. Tied are equal numbers at the precision of the conventions, and
             all that are not finite.

    >>> tie_runs(np.array([2.0, 1.0, 1.0, 1.0]), np.array([0, 3, 4]), Conventions())
    array([0, 1, 3, 4])
    """
    if not len(scores):
        return np.zeros(1, dtype=np.int64)
    starts = _starts_of_runs(_compared(scores, conventions), offsets)
    return np.append(np.flatnonzero(starts), len(scores))


def settled(rankings: JudgedRankings, conventions: Conventions) -> JudgedRankings:
    """The rankings as the tie rule wants them, from rankings with scores in any order among tied documents.

    ``optimistic`` and ``pessimistic`` put the best or worst grade of tied documents first, an unjudged
    document counting as grade 0 and standing behind judged ones of that grade; ``average_rank`` gives
    `shared_ranks`; all rules that look at scores give `tie_runs`. Other rules change nothing.
    Raises DataError where scores are missing.
    """
    if conventions.ties not in TIES_BY_SCORE:
        return rankings
    runs = tie_runs(rankings.need("scores"), rankings.retrieved.offsets, conventions)
    found = replace(rankings, tie_runs=runs, _cache={})
    if conventions.ties == "average_rank":
        return replace(found, shared_ranks=_mean_ranks(found), _cache={})
    if conventions.ties == "average":
        return found
    return found.reordered(order_by_grade(found, best_first=conventions.ties == "optimistic"))


def order_by_grade(rankings: JudgedRankings, *, best_first: bool) -> IntArray:
    """Indices of the documents, those of a run of ties in the order of their grades.  (n_documents,)"""
    runs = rankings.need("tie_runs")
    just_below_0 = np.nextafter(0.0, -1.0)  # an unjudged document
    grades = np.where(np.isnan(rankings.retrieved.values), just_below_0, rankings.retrieved.values)
    return sort_segments(-grades if best_first else grades, runs)


def _mean_ranks(rankings: JudgedRankings) -> FloatArray:
    """The mean of the ranks of each document's run.  (n_documents,)"""
    runs = rankings.need("tie_runs")
    ranks = (index_in_segment(rankings.retrieved.offsets) + 1).astype(np.float64)
    sizes = np.diff(runs)
    return np.repeat(segment_sum(ranks, runs[:-1], runs[1:]) / np.maximum(sizes, 1), sizes)


def _compared(scores: FloatArray, conventions: Conventions) -> FloatArray:
    """What sorts ascending into rank order: equal where documents are tied, NaN last.  (n_documents,)"""
    with np.errstate(over="ignore"):  # beyond 32 bits is infinite, and ties with what else is
        keys = -scores.astype(conventions.score_precision)
    finite = np.isfinite(scores)  # before rounding: a large double is infinite as a 32-bit float and still ranks first
    if not finite.all():
        if conventions.non_finite_score == "error":
            raise DataError(f"{int((~finite).sum())} scores are NaN or infinite; the first at index {finite.argmin()}")
        keys[~finite] = np.nan  # NaN sorts behind every number
    return keys


def _starts_of_runs(keys: FloatArray, offsets: Offsets) -> AnyArray:
    """Whether a document is not tied with the one before it, from keys in rank order.  (n_documents,)"""
    starts = np.ones(len(keys), dtype=bool)
    starts[1:] = (keys[1:] != keys[:-1]) & ~(np.isnan(keys[1:]) & np.isnan(keys[:-1]))
    starts[offsets[:-1][np.diff(offsets) > 0]] = True
    return starts


def _break_ties(
    order: IntArray,
    keys: FloatArray,
    offsets: Offsets,
    doc_ids: AnyArray | Callable[[IntArray], AnyArray],
    *,
    descending: bool,
) -> IntArray:
    """The same order, with runs of equal keys put in the order of their ids; only those are sorted again."""
    starts = _starts_of_runs(keys[order], offsets)
    tied = np.flatnonzero(~(starts & np.append(starts[1:], True)))
    if not len(tied):
        return order
    run, of_tied = np.cumsum(starts[tied]), order[tied]
    _, codes = np.unique(doc_ids(of_tied) if callable(doc_ids) else doc_ids[of_tied], return_inverse=True)
    by_id = np.lexsort((-codes if descending else codes, run))
    broken = order.copy()
    broken[tied] = order[tied][by_id]
    return broken
