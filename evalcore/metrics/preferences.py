"""How many preferences a ranking fulfils: judgments that one document is better than another.

Within a group of a query's preferences a document of a higher level is preferred to one of a lower level. A
preference is fulfilled if the preferred document stands above the other one, which need not be retrieved.

A group is one list of levels, or several that only together say what it prefers, and what follows from that:
a before b in one list and b before c in another make a before c. Judgments of five columns name the lists: query,
group, list, document, level. In those of four columns, and in Parquet, each group is one list. A document stands
once in a list.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from evalcore.arrays import FloatArray
from evalcore.errors import MetricNameError, unknown
from evalcore.metrics.base import UNBOUNDED, Facts
from evalcore.metrics.groups import mean_over_groups
from evalcore.metrics.preference_counts import PAIRS, count, counts, fulfilled_by_pair, grouped
from evalcore.metrics.top_k import ratio
from evalcore.rankings import JudgedRankings
from evalcore.segments import running_count

NEEDS = frozenset({"preferences"})
PER = ("preference", "pair", "group")
DEFINITIONS = ("trec_eval", "stated")


def _check(pairs: str, known: tuple[str, ...] = tuple(PAIRS)) -> None:
    if pairs not in known:
        raise MetricNameError(unknown("value of pairs", str(pairs), known))


@dataclass(frozen=True, slots=True, kw_only=True)
class NumPrefs:
    """Preferences; summed over queries.

        NumPrefs = pairs of a group's documents of which one is preferred, over all groups

    Range from 0. Depends on the judgments and not on the system. A pair counts in every group that has it.
    Defined for every query.

    Source: trec_eval ``prefs_num_prefs_poss``.

    >>> NumPrefs().per_query(JudgedRankings.from_lists(
    ...     retrieved=[[]], judged=[[]], documents=[[]], preferences=[[("a", "", 2), ("b", "", 1), ("c", "", 1)]],
    ... ))
    array([2.])
    """

    FACTS: ClassVar[Facts] = Facts(
        high=UNBOUNDED, statistic="sum", empty=None, higher_is_better=None, needs=NEEDS, order_free=True
    )
    cutoff: ClassVar[None] = None

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,)."""
        _, possible = counts(rankings).of("all")
        return grouped(rankings).per_ranking(possible).astype(np.float64)


@dataclass(frozen=True, slots=True, kw_only=True)
class NumPrefsMet:
    """Preferences that the ranking fulfils; summed over queries.

        NumPrefsMet = preferences whose preferred document stands above the other one, over all groups

    Range from 0. ``pairs`` is ``all``, where a retrieved document stands above one that is not retrieved,
    or ``retrieved``, for pairs with both retrieved alone. Defined for every query.

    Source: trec_eval ``prefs_num_prefs_ful``, ``prefs_num_prefs_ful_ret``.

    >>> NumPrefsMet().per_query(JudgedRankings.from_lists(
    ...     retrieved=[[0, 0]], judged=[[]], documents=[["b", "a"]],
    ...     preferences=[[("a", "", 2), ("b", "", 1), ("c", "", 0)]],
    ... ))
    array([2.])
    """

    FACTS: ClassVar[Facts] = Facts(high=UNBOUNDED, statistic="sum", needs=NEEDS)
    pairs: str = "all"
    cutoff: ClassVar[None] = None

    def __post_init__(self) -> None:
        _check(self.pairs, ("all", "retrieved"))

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,)."""
        fulfilled, _ = counts(rankings).of(self.pairs)
        return grouped(rankings).per_ranking(fulfilled).astype(np.float64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prefs:
    """The share of the preferences that the ranking fulfils.

        Prefs            = preferences fulfilled / preferences
        Prefs(per=pair)  = mean over pairs of documents of that share among the preferences of the pair
        Prefs(per=group) = mean over groups of that share among the preferences of the group

    Range 0 to 1. ``pairs`` says which preferences count: ``all``; ``implied``, those with at least one of the
    documents retrieved; ``retrieved``, those with both. A retrieved document stands above one that is not
    retrieved; where neither is, the preference is not fulfilled. Groups without a preference that counts are
    left out (trec_eval counts them as 0). 0 where the judgments have a preference and none of those that count;
    undefined for a query without any preference.

    Source: trec_eval ``prefs_simp``, ``prefs_pair``, ``prefs_avgjg``, and with ``_ret`` and ``_imp``;
    Carterette, Bennett, Chickering & Dumais 2008, doi:10.1007/978-3-540-78646-7_5.

    >>> rankings = JudgedRankings.from_lists(
    ...     retrieved=[[0, 0]], judged=[[]], documents=[["b", "a"]],
    ...     preferences=[[("a", "", 2), ("b", "", 1), ("c", "", 0)]],
    ... )
    >>> Prefs().per_query(rankings).round(4), Prefs(pairs="retrieved").per_query(rankings)
    (array([0.6667]), array([0.]))
    """

    FACTS: ClassVar[Facts] = Facts(needs_relevant=True, needs=NEEDS)
    per: str = "preference"
    pairs: str = "all"
    cutoff: ClassVar[None] = None

    def __post_init__(self) -> None:
        _check(self.pairs)
        if self.per not in PER:
            raise MetricNameError(unknown("value of per", str(self.per), PER))

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,), NaN where there is no preference that counts."""
        found = grouped(rankings)
        fulfilled, possible = counts(rankings).of(self.pairs)
        if self.per == "group":
            share = mean_over_groups(ratio(fulfilled, possible, otherwise=np.nan), found.ranking, len(rankings))
        elif self.per == "preference":
            share = ratio(found.per_ranking(fulfilled), found.per_ranking(possible), otherwise=np.nan)
        else:
            share = ratio(*fulfilled_by_pair(rankings, self.pairs), otherwise=np.nan)
        return _none_fulfilled(rankings, share)


@dataclass(frozen=True, slots=True, kw_only=True)
class PrefsRnonrel:
    """The share of preferences fulfilled, with as many documents of level 0 as of higher ones in each group.

        PrefsRnonrel = mean over groups of preferences fulfilled / preferences, where a group has
                       R documents of a level above 0 and, of its N others, the first R in rank order;
                       if N < R, R - N more that all retrieved documents of a level above 0 are preferred to

    Range 0 to 1. So the number of documents judged not relevant does not decide how much a query matters.
    ``pairs`` is ``all``, or ``retrieved`` for retrieved documents alone, in R and N too. ``definition`` is
    ``trec_eval``, which does not do quite what it states and whose numbers are in print, or ``stated``, the
    formula above. What trec_eval adds: where N > R and the group is one list, each of the N documents
    counts as preferred to each of the R; of retrieved documents alone, with N < R, the R - N more are
    preferences of all R documents and not of the retrieved ones, and a group of several lists keeps R documents
    of those not retrieved too. Groups without a preference are left out; undefined for a query without any.

    Source: trec_eval ``prefs_avgjg_Rnonrel``, ``prefs_avgjg_Rnonrel_ret``.

    >>> rankings = JudgedRankings.from_lists(
    ...     retrieved=[[0, 1]], judged=[[]], documents=[["b", "a"]],
    ...     preferences=[[("a", "", 1), ("b", "", 0), ("c", "", 0)]],
    ... )
    >>> PrefsRnonrel().per_query(rankings), PrefsRnonrel(definition="stated").per_query(rankings)
    (array([0.]), array([0.]))
    """

    FACTS: ClassVar[Facts] = Facts(needs_relevant=True, needs=NEEDS)
    pairs: str = "all"
    definition: str = "trec_eval"
    cutoff: ClassVar[None] = None

    def __post_init__(self) -> None:
        _check(self.pairs, ("all", "retrieved"))
        if self.definition not in DEFINITIONS:
            raise MetricNameError(unknown("value of definition", str(self.definition), DEFINITIONS))

    def per_query(self, rankings: JudgedRankings) -> FloatArray:
        """(n_rankings,), NaN where there is no preference that counts."""
        found = grouped(rankings)
        entries = rankings.need("preferences")
        n, several = len(found.ranking), found.several
        as_trec_eval = self.definition == "trec_eval"
        # retrieved documents first and in rank order; one that stands in several lists of the group counts once
        order = np.lexsort((found.ranks, found.ranks == 0, found.group))
        group, retrieved, relevant = found.group[order], found.ranks[order] > 0, entries.values[order] > 0
        keys = group * (1 + found.documents.max(initial=0)) + found.documents[order]
        _, first, same = np.unique(keys, return_index=True, return_inverse=True)
        once = np.zeros(len(order), dtype=bool)
        once[first] = True
        n_relevant, n_others, relevant_ret, others_ret = (
            np.bincount(group[once & some], minlength=n)
            for some in (relevant, ~relevant, relevant & retrieved, ~relevant & retrieved)
        )
        wanted, given = (n_relevant, n_others) if self.pairs == "all" else (relevant_ret, others_ret)
        kept = np.where(several, n_relevant, wanted) if as_trec_eval else wanted
        before = running_count(once & ~relevant)
        number = before[:-1] - before[np.searchsorted(group, group)]
        keep = np.zeros(len(order), dtype=bool)
        keep[order] = (relevant | (number < kept[group]) | (wanted >= given)[group])[first][same]
        fulfilled, possible = count(found, keep).of(self.pairs)
        more = np.maximum(wanted - given, 0)
        fulfilled = fulfilled + relevant_ret * more
        possible = possible + (n_relevant if as_trec_eval else wanted) * more
        if as_trec_eval:
            own = ~several & (wanted < given)
            met = np.minimum(wanted, others_ret)
            fulfilled = fulfilled + np.where(own, met * (met - 1) // 2 + (wanted - met) * others_ret, 0)
            possible = possible + np.where(own, wanted * given, 0)
        share = mean_over_groups(ratio(fulfilled, possible, otherwise=np.nan), found.ranking, len(rankings))
        return _none_fulfilled(rankings, share)


def _none_fulfilled(rankings: JudgedRankings, share: FloatArray) -> FloatArray:
    """0 and not undefined where the judgments have a preference and the ranking has none that counts."""
    _, possible = counts(rankings).of("all")
    judged = grouped(rankings).per_ranking(possible) > 0
    return np.where(np.isnan(share) & judged, 0.0, share)
