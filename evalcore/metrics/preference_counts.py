"""Counts of preferences, fulfilled and possible, from what is said of each document of each group.

Pairs are counted and not listed, save where it matters which pairs they are: where several lists together say
what a group prefers, and where groups have pairs in common.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from evalcore.arrays import BoolArray, FloatArray, IntArray
from evalcore.entries import FURTHER_LIST
from evalcore.errors import DataError
from evalcore.rankings import JudgedRankings
from evalcore.segments import index_in_segment, offsets_of, running_count

MOST_PAIRS = 2**22
"""Pairs of documents that are looked at together, to bound the memory."""
PAIRS = {"all": 3, "retrieved": 1, "implied": 2}
"""How many kinds of pairs count, of those with both documents retrieved, one of them, and neither."""


@dataclass(frozen=True, slots=True)
class Grouped:
    """The documents of all groups.

    group       (n_entries,) index of the group; those of a ranking are neighbours
    documents   (n_entries,) two are equal where ranking and document are
    lists, levels, ranks   (n_entries,) rank 0 = not retrieved
    ranking     (n_groups,) index of the ranking
    n_rankings
    """

    group: IntArray
    documents: IntArray
    lists: IntArray
    levels: IntArray
    ranks: IntArray
    ranking: IntArray
    n_rankings: int

    @classmethod
    def of(cls, rankings: JudgedRankings) -> Grouped:
        """The preferences of the rankings."""
        entries = rankings.need("preferences")
        row = np.repeat(np.arange(len(rankings)), np.diff(entries.offsets))
        lists, groups = np.divmod(entries.groups, FURTHER_LIST)
        n_groups = 1 + groups.max(initial=0)
        keys, group = np.unique(row * n_groups + groups, return_inverse=True)
        _, documents = np.unique(row * (1 + entries.documents.max(initial=0)) + entries.documents, return_inverse=True)
        _, levels = np.unique(entries.values, return_inverse=True)
        ranks = rankings.ranks_of("preferences")
        return cls(group, documents, lists, levels, ranks, keys // n_groups, len(rankings))

    @property
    def several(self) -> BoolArray:
        """(n_groups,) whether the group has several lists."""
        first = np.full(len(self.ranking), -1)
        first[self.group] = self.lists
        other = np.zeros(len(self.ranking), dtype=bool)
        other[self.group[self.lists != first[self.group]]] = True
        return other

    def per_ranking(self, per_group: IntArray) -> IntArray:
        """(n_groups,) -> (n_rankings,)"""
        return _sums(self.ranking, per_group, self.n_rankings)


@dataclass(frozen=True, slots=True)
class Counts:
    """Preferences of each group: fulfilled and possible, (3, n_groups): both documents retrieved, one, neither."""

    fulfilled: IntArray
    possible: IntArray

    def of(self, pairs: str) -> tuple[IntArray, IntArray]:
        """Fulfilled and possible.  (n_groups,) each"""
        return self.fulfilled[: PAIRS[pairs]].sum(axis=0), self.possible[: PAIRS[pairs]].sum(axis=0)


def _sums(index: IntArray, values: IntArray | BoolArray, n: int) -> IntArray:
    """The sum of the whole numbers of each index.  (n_items,) -> (n,)"""
    return np.bincount(index, weights=values, minlength=n).astype(np.int64)  # exact: below 2^53


def grouped(rankings: JudgedRankings) -> Grouped:
    """The documents of all groups of preferences."""
    return rankings.once("preferences", lambda: Grouped.of(rankings))


def counts(rankings: JudgedRankings) -> Counts:
    """Of all preferences."""
    found = grouped(rankings)
    return rankings.once("preference counts", lambda: count(found, np.ones(len(found.group), dtype=bool)))


def count(found: Grouped, keep: BoolArray) -> Counts:
    """Among the documents whose flag is set."""
    n = len(found.ranking)
    several = found.several
    some = np.flatnonzero(keep & ~several[found.group])
    group, levels, ranks = found.group[some], found.levels[some], found.ranks[some]
    # documents that are not retrieved stand last, the lowest level first: among them none stands before a lower one
    last = ranks == 0
    order = np.lexsort((np.where(last, levels, ranks), last, group))
    group, levels, last = group[order], levels[order], last[order]
    before = [_falls(group[seen], levels[seen], n) for seen in (~last, np.ones(len(last), dtype=bool))]
    different = [_different(group[seen], levels[seen], n) for seen in (~last, np.ones(len(last), dtype=bool), last)]
    fulfilled = np.stack([before[0], before[1] - before[0], np.zeros(n, dtype=np.int64)])
    possible = np.stack([different[0], different[1] - different[0] - different[2], different[2]])
    if not several.any():
        return Counts(fulfilled, possible)
    above, below = _pairs(found, several)
    kept = keep[above] & keep[below]
    listed = _tally(found, above[kept], below[kept])
    return Counts(fulfilled + listed.fulfilled, possible + listed.possible)


def _different(group: IntArray, levels: IntArray, n: int) -> IntArray:
    """Pairs of documents of different levels.  (n_groups,)"""
    most = 1 + levels.max(initial=0)
    keys, equal = np.unique(group * most + levels, return_counts=True)
    return (np.bincount(group, minlength=n) ** 2 - _sums(keys // most, equal**2, n)) // 2


def _falls(group: IntArray, levels: IntArray, n: int) -> IntArray:
    """Pairs of documents of which the first stands before the second and has a higher level.  (n_groups,)

    From the highest binary digit of the levels down: of two documents that are equal so far the one with a 1
    has the higher level. What is equal so far stands together, in its order.
    """
    total = np.zeros(n, dtype=np.int64)
    equal = group
    for digit in reversed(range(int(levels.max(initial=0)).bit_length())):
        ones = (levels >> digit & 1).astype(bool)
        before = running_count(ones)
        higher = before[:-1] - before[np.searchsorted(equal, equal)]
        total += _sums(group[~ones], higher[~ones], n)
        equal = 2 * equal + ones
        order = np.argsort(equal, kind="stable")
        group, levels, equal = group[order], levels[order], equal[order]
    return total


def _pairs(found: Grouped, wanted: BoolArray) -> tuple[IntArray, IntArray]:
    """The preferred entry and the other one of every preference of the wanted groups.  (n_pairs,) each

    A document that stands in several lists of the group is there with one of its entries.
    """
    rows = np.flatnonzero(wanted[found.group])
    rows = rows[np.lexsort((-found.levels[rows], found.lists[rows], found.group[rows]))]
    group, lists, levels = found.group[rows], found.lists[rows], found.levels[rows]
    new_list = np.append(True, (group[1:] != group[:-1]) | (lists[1:] != lists[:-1]))[: len(rows)]
    new_level = new_list | np.append(True, levels[1:] != levels[:-1])[: len(rows)]
    ends_of_list, ends_of_level = (_ends(new) for new in (new_list, new_level))
    n_lower = ends_of_list - ends_of_level
    above = np.repeat(rows, n_lower)
    below = rows[np.repeat(ends_of_level, n_lower) + index_in_segment(offsets_of(n_lower))]
    in_several = found.several[found.group[above]]
    if not in_several.any():
        return above, below
    followed = _followed(found, above[in_several], below[in_several])
    return np.append(above[~in_several], followed[0]), np.append(below[~in_several], followed[1])


def _ends(new: BoolArray) -> IntArray:
    """Where the run of each item ends.  (n_items,) flags of those that begin one -> (n_items,)"""
    edges = np.append(np.flatnonzero(new), len(new))
    return np.repeat(edges[1:], np.diff(edges))


def _followed(found: Grouped, above: IntArray, below: IntArray) -> tuple[IntArray, IntArray]:
    """The same preferences, each once, and all that follow from those of the same group."""
    both = np.concatenate([above, below])
    most = 1 + found.documents.max()
    keys, first, which = np.unique(
        found.group[both] * most + found.documents[both], return_index=True, return_inverse=True
    )
    groups, sizes = np.unique(keys // most, return_counts=True)
    starts = offsets_of(sizes)[:-1]
    of = np.searchsorted(groups, found.group[above])
    rows, columns = which[: len(above)] - starts[of], which[len(above) :] - starts[of]
    pairs = []
    for size in np.unique(sizes):  # groups of one size are matrices of one shape
        some = np.flatnonzero(sizes == size)
        here = np.isin(of, some)
        before = np.zeros((len(some), size, size), dtype=np.float32)
        before[np.searchsorted(some, of[here]), rows[here], columns[here]] = 1
        for _ in range(int(size).bit_length()):  # each doubles the length of the chains followed
            before = np.minimum(before + before @ before, 1)
        if before.diagonal(axis1=1, axis2=2).any():
            raise DataError("preferences of one group contradict each other: a document is preferred to itself")
        matrix, row, column = np.nonzero(before)
        pairs.append((both[first[starts[some[matrix]] + row]], both[first[starts[some[matrix]] + column]]))
    return np.concatenate([pair[0] for pair in pairs]), np.concatenate([pair[1] for pair in pairs])


def _kinds(found: Grouped, above: IntArray, below: IntArray) -> tuple[IntArray, BoolArray]:
    """Of each pair: how many of its documents are not retrieved, and whether the preference is fulfilled."""
    ranks, others = found.ranks[above], found.ranks[below]
    return (ranks == 0).astype(np.int64) + (others == 0), (ranks > 0) & ((others == 0) | (ranks < others))


def _tally(found: Grouped, above: IntArray, below: IntArray) -> Counts:
    missing, fulfilled = _kinds(found, above, below)
    shape = (3, len(found.ranking))
    index = missing * shape[1] + found.group[above]
    size = shape[0] * shape[1]
    possible = np.bincount(index, minlength=size).reshape(shape)
    return Counts(np.bincount(index[fulfilled], minlength=size).reshape(shape), possible)


def fulfilled_by_pair(rankings: JudgedRankings, pairs: str) -> tuple[FloatArray, IntArray]:
    """The sum over pairs of documents of the share of their preferences fulfilled, and the pairs.  (n_rankings,)"""
    found = grouped(rankings)
    fulfilled, possible = counts(rankings).of(pairs)
    # of the other groups no pair is in a second group
    listed = rankings.once("groups that share pairs", lambda: _in_several_groups(found) | found.several)
    worth = found.per_ranking(np.where(listed, 0, fulfilled)).astype(np.float64)
    n_pairs = found.per_ranking(np.where(listed, 0, possible))
    for groups in _parts(found, listed):
        worth_here, pairs_here = _by_pair(found, groups, PAIRS[pairs])
        worth, n_pairs = worth + worth_here, n_pairs + pairs_here
    return worth, n_pairs


def _in_several_groups(found: Grouped) -> BoolArray:
    """Whether the group has two documents that other groups of the query have too.  (n_groups,)"""
    most = 1 + found.documents.max(initial=0)
    keys = np.unique(found.group * most + found.documents)
    group, documents = keys // most, keys % most
    shared = np.bincount(documents, minlength=most)[documents] > 1
    return np.bincount(group[shared], minlength=len(found.ranking)) > 1


def _parts(found: Grouped, wanted: BoolArray) -> Iterator[BoolArray]:
    """The wanted groups in parts of whole rankings, each with few pairs if it is more than one ranking."""
    sizes = np.where(wanted, np.bincount(found.group, minlength=len(wanted)) ** 2, 0)
    until = np.cumsum(found.per_ranking(sizes))
    start = 0
    while start < len(until) and until[-1] > (done := until[start - 1] if start else 0):
        stop = max(start + 1, int(np.searchsorted(until, done + MOST_PAIRS, side="right")))
        yield wanted & (found.ranking >= start) & (found.ranking < stop)
        start = stop


def _by_pair(found: Grouped, groups: BoolArray, kinds: int) -> tuple[FloatArray, IntArray]:
    """The sum over pairs of documents of the share of their preferences fulfilled, and the pairs.  (n_rankings,)"""
    above, below = _pairs(found, groups)
    missing, fulfilled = _kinds(found, above, below)
    counted = missing < kinds
    above, below, fulfilled = above[counted], below[counted], fulfilled[counted]
    one, other = found.documents[above], found.documents[below]
    most = 1 + found.documents.max(initial=0)
    keys, first, which = np.unique(
        np.minimum(one, other) * most + np.maximum(one, other), return_index=True, return_inverse=True
    )
    n_met, n_all = _sums(which, fulfilled, len(keys)), np.bincount(which, minlength=len(keys))
    ranking = found.ranking[found.group[above[first]]]
    worth = np.zeros(found.n_rankings)
    for number in np.unique(n_all):  # sums of whole numbers first: no order of the pairs can change the bits
        some = n_all == number
        worth += _sums(ranking[some], n_met[some], found.n_rankings) / number
    return worth, np.bincount(ranking, minlength=found.n_rankings)
