"""Means over all orders of tied documents, in closed form.

Every order of a run of tied documents is as likely as any other. So each of its documents is as good as
the mean of the run, and how many relevant ones stand above a cutoff that cuts through the run is how many
are among that many documents drawn from it.

Without ties each function gives what counting gives, to the last bit.

Source: McSherry & Najork 2008, doi:10.1007/978-3-540-78646-7_38.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from evalcore.arrays import BoolArray, FloatArray, IntArray
from evalcore.rankings import Hits, JudgedRankings
from evalcore.segments import running_count, segment_sum

NEGLIGIBLE = 1e-20
"""Less than this share of the likeliest number drawn, and of all that follow it, is not added."""


@dataclass(frozen=True, slots=True)
class LastRun:
    """The run of tied documents that holds the last rank counted, of each ranking.  (n_rankings,) each

    above, hits_above   documents of the ranking above the run, and how many of them are wanted
    size, hits          documents of the run, and how many of them are wanted
    seen                documents of the run that are counted; fewer than its size where the cutoff cuts through

    All are 0 where no document is counted.
    """

    above: IntArray
    hits_above: IntArray
    size: IntArray
    hits: IntArray
    seen: IntArray

    @classmethod
    def of(cls, rankings: JudgedRankings, before: IntArray, deepest: int | IntArray | None) -> LastRun:
        """Of the first ranks of each ranking.

        before    (n_documents + 1,) how many wanted documents there are before each index
        deepest   the last rank: one for all, one for each ranking, or None for all ranks
        """
        runs, first, lengths = rankings.need("tie_runs"), rankings.retrieved.offsets[:-1], rankings.retrieved.lengths
        end = first + (lengths if deepest is None else np.minimum(lengths, deepest))
        run = np.searchsorted(runs, end) - 1  # the one that holds the document before the end
        start, stop = (np.where(end > first, edge, end) for edge in (runs[run], runs[run + 1]))
        return cls(
            above=start - first,
            hits_above=before[start] - before[first],
            size=stop - start,
            hits=before[stop] - before[start],
            seen=end - start,
        )

    def hits_seen(self) -> FloatArray:
        """The mean of how many wanted documents are counted.  (n_rankings,)"""
        return self.hits_above + self.seen * self.hits / np.maximum(self.size, 1)

    def cut(self) -> LastRun:
        """Of the rankings where the cutoff cuts through a run that holds a wanted document."""
        is_cut = self.is_cut()
        return LastRun(
            self.above[is_cut], self.hits_above[is_cut], self.size[is_cut], self.hits[is_cut], self.seen[is_cut]
        )

    def is_cut(self) -> BoolArray:
        """(n_rankings,)"""
        return (self.seen < self.size) & (self.hits > 0)

    def mean(self, value: Callable[[IntArray], FloatArray]) -> FloatArray:
        """The mean of a value that depends on how many wanted documents of the run are counted.  (n_rankings,)

        value   (n_rankings,) numbers of documents -> (n_rankings,)

        The probabilities follow from that of the likeliest number by their ratios, so that none is too large for
        a float and those that are too small do not matter.
        """
        size, hits, seen = self.size, self.hits, self.seen
        fewest, most = np.maximum(seen - (size - hits), 0), np.minimum(seen, hits)
        likeliest = np.clip((seen + 1) * (hits + 1) // (size + 2), fewest, most)
        total, weights = value(likeliest), np.ones(len(size))
        for step in (1, -1):
            number, weight = likeliest, np.ones(len(size))
            while weight.any():
                end = number == (most if step == 1 else fewest)
                low = number if step == 1 else np.where(end, number, number - 1)  # of the number and the next one
                up = (hits - low) * (seen - low) / ((low + 1) * (size - hits - seen + low + 1.0))
                weight = np.where(end, 0.0, weight * (up if step == 1 else 1 / np.where(end, 1.0, up)))
                weight[weight < NEGLIGIBLE] = 0
                number = np.where(weight > 0, number + step, number)
                total, weights = total + np.where(weight > 0, weight * value(number), 0.0), weights + weight
        return total / weights


def relevant_before(rankings: JudgedRankings, min_grade: float) -> IntArray:
    """How many relevant documents there are before each index.  (n_documents + 1,)"""
    return rankings.once(("relevant before", min_grade), lambda: running_count(rankings.retrieved.values >= min_grade))


def expected_hits(rankings: JudgedRankings, min_grade: float, deepest: int | IntArray | None) -> FloatArray:
    """The mean of the number of relevant documents up to the deepest rank.  (n_rankings,)"""
    return LastRun.of(rankings, relevant_before(rankings, min_grade), deepest).hits_seen()


def expected_precisions(rankings: JudgedRankings, min_grade: float) -> tuple[Hits, FloatArray]:
    """What each document of a run that holds a relevant one adds to the sum of precisions in the mean.

    At the i-th rank of a run with h relevant documents of s stands a relevant one with probability h / s,
    and (i - 1) (h - 1) / (s - 1) others above it in the mean.
    """
    runs, offsets = rankings.need("tie_runs"), rankings.retrieved.offsets
    before = relevant_before(rankings, min_grade)
    sizes, hits = np.diff(runs), np.diff(before[runs])
    documents = Hits.among(rankings.retrieved, np.repeat(hits > 0, sizes))
    ranking = np.repeat(np.arange(len(rankings)), np.diff(documents.offsets))
    place = offsets[ranking] + documents.ranks - 1
    run = np.searchsorted(runs, place, side="right") - 1
    of_run = hits[run]
    above = (
        before[runs[run]]
        - before[offsets[ranking]]
        + (place - runs[run]) * (of_run - 1) / np.maximum(sizes[run] - 1, 1)
    )
    return documents, of_run / sizes[run] * ((above + 1) / documents.ranks)


def expected_reciprocal_rank(rankings: JudgedRankings, min_grade: float, cutoff: int | None) -> FloatArray:
    """The mean of 1 / rank of the first relevant document, 0 where that is below the cutoff.  (n_rankings,)"""
    runs, hits = rankings.need("tie_runs"), rankings.relevant(min_grade)
    values = np.zeros(len(rankings))
    found = np.flatnonzero(np.diff(hits.offsets))
    first = rankings.retrieved.offsets[found]
    run = np.searchsorted(runs, first + hits.ranks[hits.offsets[found]] - 1, side="right") - 1
    above, sizes = runs[run] - first, np.diff(runs)[run]
    of_run = np.diff(relevant_before(rankings, min_grade)[runs])[run]
    for size in np.unique(sizes):  # runs of one size are the rows of a matrix
        rows = np.flatnonzero(sizes == size)
        n_ranks = size if cutoff is None else min(size, cutoff)
        place, n_relevant = np.arange(n_ranks), of_run[rows, None]
        none_yet = np.ones((len(rows), n_ranks))
        np.cumprod((np.maximum(size - n_relevant - place, 0) / (size - place))[:, :-1], axis=1, out=none_yet[:, 1:])
        rank = above[rows, None] + place + 1
        shares = none_yet * (n_relevant / (size - place)) / rank
        if cutoff is not None:
            shares[rank > cutoff] = 0
        starts = np.arange(len(rows)) * n_ranks
        values[found[rows]] = segment_sum(shares.ravel(), starts, starts + n_ranks)
    return values
