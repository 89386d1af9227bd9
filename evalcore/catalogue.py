"""What a whole run shows of the catalogue: how much of it, how evenly, and how well known.

These are no means over queries: two queries that show the same documents cover no more than one of them.
`counts` says how often each document was shown in the first ranks of all rankings; documents that were
never shown may be left out.
"""

from __future__ import annotations

import numpy as np

from evalcore.arrays import FloatArray, IntArray, Offsets
from evalcore.errors import DataError
from evalcore.metrics.base import check_cutoff
from evalcore.metrics.top_k import ratio
from evalcore.segments import segment_sum


def coverage(counts: IntArray, n_catalogue: int) -> float:
    """The share of the catalogue that was shown at all.

        coverage = documents shown / documents of the catalogue

    counts   (n_documents,)

    Range 0 to 1. Raises DataError where more documents were shown than the catalogue has, or it has none.

    Source: Ge, Delgado-Battenfeld & Jannach 2010, doi:10.1145/1864708.1864761.

    >>> coverage(np.array([5, 1, 0]), 4)
    0.5
    """
    return len(_shown(counts, n_catalogue)) / n_catalogue


def gini(counts: IntArray, n_catalogue: int) -> float:
    """How unevenly the catalogue was shown.

        gini = sum over documents i, the least shown first, of (2 i - n - 1) counts_i / (n * sum of counts)

    counts   (n_documents,); n is the size of the catalogue, and documents never shown count as 0

    Range 0, all documents were shown as often, to 1 - 1/n, one document was shown alone. NaN where nothing was
    shown. Raises DataError where more documents were shown than the catalogue has, or it has none.

    Source: Fleder & Hosanagar 2009, doi:10.1287/mnsc.1080.0974.

    >>> gini(np.array([1, 3]), 2), gini(np.array([7]), 4)
    (0.25, 0.75)
    """
    shown = np.sort(_shown(counts, n_catalogue)).astype(np.float64)
    places = np.arange(n_catalogue - len(shown) + 1, n_catalogue + 1)
    total = shown.sum()
    return float(((2.0 * places - n_catalogue - 1) * shown).sum() / (n_catalogue * total)) if total else np.nan


def entropy(counts: IntArray) -> float:
    """How many yes-or-no questions it takes to guess a shown document: Shannon's entropy, in bits.

        entropy = -sum over documents of p log2 p,  p = counts / sum of counts

    counts   (n_documents,)

    Range 0, one document was shown alone, to log2 of the documents shown. NaN where nothing was shown.
    Raises DataError for a count below 0.

    Source: Shannon 1948, doi:10.1002/j.1538-7305.1948.tb01338.x.

    >>> entropy(np.array([4, 4, 0])), entropy(np.array([2, 1, 1]))
    (1.0, 1.5)
    """
    shown = _shown(counts)
    if not len(shown):
        return np.nan
    shares = shown / shown.sum()
    return float((shares * np.abs(np.log2(shares))).sum())


def novelty(popularity_share: FloatArray, offsets: Offsets, cutoff: int | None = None) -> FloatArray:
    """How little known the shown documents are: the mean of their self-information, in bits.  (n_rankings,)

        novelty@c = mean over the documents in the first c ranks of -log2 share

    popularity_share   (n_documents,)    share of the users, or of the impressions, that knew the document
                                         before, above 0 and up to 1; in rank order
    offsets            (n_rankings + 1,) ranking i is popularity_share[offsets[i]:offsets[i + 1]]

    Range from 0, everybody knew them. A ranking shorter than c is not filled up. NaN for an empty one.
    Raises DataError for a share that is not above 0 and up to 1: no finite number says how new a document is
    that nobody knew.

    Source: Zhou et al. 2010, doi:10.1073/pnas.1000488107.

    >>> novelty(np.array([0.5, 0.125, 1.0]), np.array([0, 2, 3]))
    array([2., 0.])
    """
    check_cutoff(cutoff)
    wrong = ~((popularity_share > 0) & (popularity_share <= 1))
    if wrong.any():
        raise DataError(
            f"{int(wrong.sum())} shares of popularity are not above 0 and up to 1;"
            f" the first is {popularity_share[wrong.argmax()]}"
        )
    starts, lengths = offsets[:-1], np.diff(offsets)
    n_shown = lengths if cutoff is None else np.minimum(lengths, cutoff)
    return ratio(segment_sum(np.abs(np.log2(popularity_share)), starts, starts + n_shown), n_shown, otherwise=np.nan)


def _shown(counts: IntArray, n_catalogue: int | None = None) -> IntArray:
    """The counts above 0.  Raises DataError where the counts cannot be those of such a catalogue."""
    if (counts < 0).any():
        raise DataError(f"a document was shown {counts.min()} times")
    shown = counts[counts > 0]
    if n_catalogue is not None and n_catalogue < max(1, len(shown)):
        raise DataError(f"{len(shown)} documents were shown, but the catalogue has {n_catalogue}")
    return shown
