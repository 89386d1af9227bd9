"""How many documents two systems have in common: no judgments needed.

A is the first c documents of the ranking and B those of the reference system; all of them without a cutoff.
The order within them does not matter. Both metrics are undefined where both systems returned nothing, and 0
where only one of them did.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from evalcore.arrays import FloatArray, IntArray
from evalcore.metrics.base import Facts, check_cutoff
from evalcore.metrics.top_k import ratio
from evalcore.rankings import JudgedRankings
from evalcore.segments import segment_count

FACTS = Facts(empty=None, higher_is_better=None, needs=frozenset({"documents", "reference"}), judgments=False)


def _common(rankings: JudgedRankings, cutoff: int | None) -> tuple[IntArray, IntArray, IntArray]:
    """How many documents are in both, in A, and in B.  (n_rankings,) each"""
    reference = rankings.need("reference")
    ranks = rankings.ranks_of("reference")
    in_a, in_b = ranks > 0, np.ones(len(ranks), dtype=bool)
    n_a = rankings.retrieved.lengths
    if cutoff is not None:
        in_a &= ranks <= cutoff
        in_b = reference.values <= cutoff
        n_a = np.minimum(n_a, cutoff)
    return segment_count(in_a & in_b, reference.offsets), n_a, segment_count(in_b, reference.offsets)


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlap:
    """The share of the documents that two systems have in common.

        Overlap@c = documents in A and B / the greater number of documents of the two

    Range 0 to 1: 1 if they hold the same documents. Where both systems returned at least c documents it is
    the agreement at depth c. A, B and when it is undefined: `evalcore.metrics.overlap`.

    Source: Webber, Moffat & Zobel 2010, doi:10.1145/1852102.1852106 (agreement).

    >>> rankings = JudgedRankings.from_lists(
    ...     retrieved=[[None, None]], judged=[[]], documents=[["a", "b"]], reference=[["b", "c", "d"]])
    >>> Overlap(cutoff=2).per_query(rankings)
    array([0.5])
    """

    FACTS: ClassVar[Facts] = FACTS
    cutoff: int | None = None

    def __post_init__(self) -> None:
        check_cutoff(self.cutoff)

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,), NaN where both systems returned nothing."""
        n_common, n_a, n_b = _common(rankings, self.cutoff)
        return ratio(n_common, np.maximum(n_a, n_b), otherwise=np.nan)


@dataclass(frozen=True, slots=True, kw_only=True)
class Jaccard:
    """The documents that two systems have in common, as a share of those that either has.

        Jaccard@c = documents in A and B / documents in A or B

    Range 0 to 1: 1 if they hold the same documents. A, B and when it is undefined: `evalcore.metrics.overlap`.

    Source: Jaccard 1912, doi:10.1111/j.1469-8137.1912.tb05611.x.

    >>> rankings = JudgedRankings.from_lists(
    ...     retrieved=[[None, None]], judged=[[]], documents=[["a", "b"]], reference=[["b", "c", "d"]])
    >>> Jaccard().per_query(rankings)
    array([0.25])
    """

    FACTS: ClassVar[Facts] = FACTS
    cutoff: int | None = None

    def __post_init__(self) -> None:
        check_cutoff(self.cutoff)

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,), NaN where both systems returned nothing."""
        n_common, n_a, n_b = _common(rankings, self.cutoff)
        return ratio(n_common, n_a + n_b - n_common, otherwise=np.nan)
