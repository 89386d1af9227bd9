"""A metric with the judgments of each group by themselves, averaged over the groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from evalcore.arrays import FloatArray, IntArray
from evalcore.errors import MetricNameError
from evalcore.metrics.average_precision import AP
from evalcore.metrics.base import Facts, HasElements, Metric
from evalcore.metrics.top_k import ratio
from evalcore.rankings import Grades, JudgedRankings
from evalcore.segments import offsets_of, segment_sum


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupMean:
    """The mean of another metric over groups of judgments, each of them by itself: one assessor's, say.

        GroupMean(of=M) = sum over the query's judgment groups of M with the judgments of the group / groups

    Range 0 to 1. ``of`` is any metric of this range that reads grades and nothing else: ``GroupMean(of=P@5)``.
    A document without a judgment in the group is unjudged there. Groups where the metric is undefined are
    left out (trec_eval counts them as 0); undefined where that leaves none.

    Source: trec_eval ``map_avgjg``, ``P_avgjg``, ``Rprec_mult_avgjg``.

    >>> rankings = JudgedRankings.from_lists(
    ...     retrieved=[[1, 0]], judged=[[1, 0]], documents=[["a", "b"]],
    ...     preferences=[[("a", "first", 1), ("b", "first", 0), ("b", "second", 1)]],
    ... )
    >>> GroupMean(of=AP()).per_query(rankings)
    array([0.75])
    """

    FACTS: ClassVar[Facts] = Facts(needs_relevant=True, needs=frozenset({"preferences"}))
    of: Metric = AP()  # noqa: RUF009 (frozen)

    def __post_init__(self) -> None:
        facts = getattr(self.of, "FACTS", None)
        if (
            facts is None
            or facts.needs
            or (facts.low, facts.high, facts.statistic, facts.higher_is_better) != (0, 1, "mean", True)
            or isinstance(self.of, HasElements)
        ):
            raise MetricNameError(f"of is {self.of!r}; it must be a metric from 0 to 1 that reads grades alone")

    @property
    def cutoff(self) -> int | None:
        """Deepest rank counted; None counts all."""
        return self.of.cutoff

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,), NaN where the metric is undefined in every group."""
        of_group, ranking = rankings.once("rankings of groups", lambda: _by_group(rankings))
        return mean_over_groups(self.of.per_query(of_group), ranking, len(rankings))


def mean_over_groups(values: FloatArray, ranking: IntArray, n_rankings: int) -> FloatArray:
    """The mean of the values of each ranking that are not NaN, NaN where there is none.  (n_rankings,)

    values    (n_groups,)
    ranking   (n_groups,) index of the ranking; never falls
    """
    kept = np.lexsort((values, ranking))  # summed by size, so that the order of the groups does not matter
    kept = kept[~np.isnan(values[kept])]
    counts = np.bincount(ranking[kept], minlength=n_rankings)
    offsets = offsets_of(counts)
    return ratio(segment_sum(values[kept], offsets[:-1], offsets[1:]), counts, otherwise=np.nan)


def _by_group(rankings: JudgedRankings) -> tuple[JudgedRankings, IntArray]:
    """Each ranking once for each group of its judgments, with those, and the index of the ranking."""
    entries, ranks = rankings.need("preferences"), rankings.ranks_of("preferences")
    n_groups = 1 + entries.groups.max(initial=0)
    of = np.repeat(np.arange(len(rankings)), np.diff(entries.offsets)) * n_groups + entries.groups
    pairs, pair = np.unique(of, return_inverse=True)
    ranking = pairs // n_groups
    offsets = offsets_of(rankings.retrieved.lengths[ranking])
    grades = np.full(offsets[-1], np.nan)
    found = ranks > 0
    grades[offsets[pair[found]] + ranks[found] - 1] = entries.values[found]
    best_first = np.lexsort((-entries.values, pair))
    judged = Grades(entries.values[best_first], offsets_of(np.bincount(pair, minlength=len(pairs))))
    return JudgedRankings(Grades(grades, offsets), judged), ranking
