"""Listed documents in rank order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain, repeat

import numpy as np

from evalcore.arrays import AnyArray, BoolArray, FloatArray, IntArray, Offsets
from evalcore.conventions import TIES_BY_SCORE, Conventions
from evalcore.errors import DataError
from evalcore.given import few, finite
from evalcore.listed import Listed
from evalcore.ordering import random_keys as keys_of
from evalcore.ordering import rank_order, tie_runs
from evalcore.segments import different, index_in_segment, running_count
from evalcore.texts import Texts

BY_RANK = Conventions(ties="doc_id_asc")
"""Equal ranks, which should not be there, are settled as the job does it."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """What a run returned, each query's documents in rank order.

    documents  (n_documents,) codes
    scores     (n_documents,) as given, else what falls with the rank
    offsets    (n_queries + 1,)
    scored     whether scores were given
    """

    documents: IntArray
    scores: FloatArray
    offsets: Offsets
    scored: bool

    @classmethod
    def of(cls, run: Listed, documents: IntArray, texts: Texts, conventions: Conventions) -> Ranked:
        """Raises DataError for what the conventions refuse, and where they need ranks that are not there.

        documents   (n_rows,) codes of the run's documents, of `texts`
        """
        found = cls(documents, *_numbers(run, conventions))
        ranks = run.ranks if conventions.ties == "rank_column" or not found.scored else None
        keep = _one_each(run, found, ranks, conventions)
        if keep is not None:
            rows = np.flatnonzero(keep)
            found = found._taken(rows, running_count(keep)[found.offsets])
            ranks = None if ranks is None else ranks[rows]
        if ranks is not None:
            found = found._by_rank(ranks, texts)
        elif conventions.ties != "rank_column":
            keys = _keys(run.queries, found, texts, conventions)
            order = rank_order(found.scores, found.offsets, doc_ids=keys, conventions=conventions)
            found = found._taken(order, found.offsets)
        return found if conventions.depth == "auto" else found._cut(conventions.depth, conventions)

    def _taken(self, rows: IntArray, offsets: Offsets) -> Ranked:
        return Ranked(self.documents[rows], self.scores[rows], offsets, self.scored)

    def _by_rank(self, ranks: FloatArray, texts: Texts) -> Ranked:
        keys = _by_text(self.documents, texts)
        order = rank_order(-ranks, self.offsets, doc_ids=keys, conventions=BY_RANK)
        return self._taken(order, self.offsets)

    def _cut(self, depth: int, conventions: Conventions) -> Ranked:
        """Up to the depth; of documents that are tied there all, if the tie rule is to look at them all."""
        index = index_in_segment(self.offsets)
        if conventions.ties in TIES_BY_SCORE:
            runs = tie_runs(self.scores, self.offsets, conventions)
            index = np.repeat(index[runs[:-1]], np.diff(runs))
        keep = index < depth
        return self._taken(np.flatnonzero(keep), running_count(keep)[self.offsets])


def _numbers(run: Listed, conventions: Conventions) -> tuple[FloatArray, Offsets, bool]:
    """Scores, offsets, and whether there are scores; where there are none, ranks stand for them."""
    ranks = run.ranks
    if run.values is None or conventions.ties == "rank_column":
        if ranks is None:
            raise DataError(f"ties: rank_column needs the column rank, and {run.whose} has none")
        finite(ranks, lambda row: f"the rank of {run.place(row)}")
        if run.values is None:
            return -ranks, run.offsets, False
    if conventions.non_finite_score == "error" and conventions.ties != "rank_column":
        finite(run.values, run.place, unless=", and non_finite_score is error")
    return run.values, run.offsets, True


def _one_each(run: Listed, found: Ranked, ranks: FloatArray | None, conventions: Conventions) -> BoolArray | None:
    """Which rows to keep so that no query has a document twice; None for all."""
    if conventions.duplicates == "counted" or not _repeated(found.documents, found.offsets):
        return None
    segment = np.repeat(np.arange(len(found.offsets) - 1), np.diff(found.offsets))
    keys: list[AnyArray] = [found.documents, segment]
    if conventions.duplicates == "best_score":
        finite_scores = np.where(np.isfinite(found.scores), found.scores, -np.inf)
        keys = [*([] if ranks is None else [ranks]), -finite_scores, *keys]
    order = np.lexsort(keys)
    same = (found.documents[order][1:] == found.documents[order][:-1]) & (segment[order][1:] == segment[order][:-1])
    first = np.append(True, ~same)
    if conventions.duplicates == "error":
        extra = np.sort(order[~first])
        examples = few([run.place(row) for row in extra[:4].tolist()])
        raise DataError(f"{len(extra)} documents are returned again, and duplicates is error: {examples}")
    keep = np.zeros(len(order), dtype=bool)
    keep[order[np.append(~same, True) if conventions.duplicates == "last" else first]] = True
    return keep


def _repeated(codes: IntArray, offsets: Offsets) -> bool:
    """Whether a segment has a code twice."""
    lengths = np.diff(offsets)
    for length in different(lengths[lengths > 1]):
        items = codes[offsets[:-1][lengths == length][:, None] + np.arange(length)]
        items.sort(axis=1)
        if (items[:, 1:] == items[:, :-1]).any():
            return True
    return False


def _keys(
    queries: list[str], found: Ranked, texts: Texts, conventions: Conventions
) -> AnyArray | Callable[[IntArray], AnyArray] | None:
    """What breaks ties."""
    if conventions.ties == "input_order":
        return None
    if conventions.ties == "random":
        of_query = chain.from_iterable(map(repeat, queries, np.diff(found.offsets).tolist()))
        return keys_of(list(of_query), texts.taken(found.documents).to_list())
    return _by_text(found.documents, texts)


def _by_text(documents: IntArray, texts: Texts) -> Callable[[IntArray], AnyArray]:
    """Numbers in the order of the texts of some documents: only those that are tied need any."""

    def places(rows: IntArray) -> AnyArray:
        distinct, which = np.unique(documents[rows], return_inverse=True)
        return texts.taken(distinct).order()[which]

    return places
