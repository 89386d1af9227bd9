"""Preferences: one query, every pair of documents of every group."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import groupby

from evalcore.metrics import NumPrefs, NumPrefsMet, Prefs, PrefsRnonrel

Pair = tuple[str, str]


def preferences_of(levels: dict[str, float]) -> Iterator[Pair]:
    """Each preferred document, and what it is preferred to."""
    for document, level in levels.items():
        for other, lower in levels.items():
            if level > lower:
                yield document, other


def groups_of(extras) -> list[dict[str, float]]:
    """The levels of the documents of each group."""
    ordered = sorted(extras.preferences, key=lambda entry: entry[1])
    return [
        {document: level for document, _, level in entries}
        for _, entries in groupby(ordered, key=lambda entry: entry[1])
    ]


def is_met(pair: Pair, ranked: list[str]) -> bool:
    preferred, other = pair
    return preferred in ranked and (other not in ranked or ranked.index(preferred) < ranked.index(other))


def counts(pair: Pair, ranked: list[str], pairs: str) -> bool:
    """Whether the preference counts."""
    n_retrieved = sum(document in ranked for document in pair)
    return n_retrieved >= {"all": 0, "implied": 1, "retrieved": 2}[pairs]


def _share(pairs: list[Pair], ranked: list[str]) -> float:
    return sum(is_met(pair, ranked) for pair in pairs) / len(pairs) if pairs else math.nan


def mean(values: list[float]) -> float:
    """Of those that are defined."""
    defined = [value for value in values if not math.isnan(value)]
    return sum(defined) / len(defined) if defined else math.nan


def met_share(metric: Prefs, ranked: list[str], of_group: list[list[Pair]]) -> float:
    """Of the preferences of each group; 0 where there are some and none counts."""
    if any(of_group) and not any(counts(pair, ranked, metric.pairs) for pairs in of_group for pair in pairs):
        return 0.0
    counted = [[pair for pair in pairs if counts(pair, ranked, metric.pairs)] for pairs in of_group]
    everything = [pair for pairs in counted for pair in pairs]
    if metric.per == "preference":
        return _share(everything, ranked)
    if metric.per == "group":
        return mean([_share(pairs, ranked) for pairs in counted])
    distinct = {frozenset(pair) for pair in everything}
    return mean([_share([pair for pair in everything if frozenset(pair) == each], ranked) for each in distinct])


def _met_share(metric: Prefs, retrieved, judged, extras) -> float:
    return met_share(metric, extras.documents, [list(preferences_of(levels)) for levels in groups_of(extras)])


def _number_met(metric: NumPrefsMet, retrieved, judged, extras) -> float:
    ranked = extras.documents
    return float(
        sum(
            is_met(pair, ranked) and counts(pair, ranked, metric.pairs)
            for levels in groups_of(extras)
            for pair in preferences_of(levels)
        )
    )


def _even(metric: PrefsRnonrel, retrieved, judged, extras) -> float:
    share = mean([_even_share(metric, levels, extras.documents) for levels in groups_of(extras)])
    some = any(list(preferences_of(levels)) for levels in groups_of(extras))
    return 0.0 if math.isnan(share) and some else share


def _even_share(metric: PrefsRnonrel, levels: dict[str, float], ranked: list[str]) -> float:
    in_order = sorted(levels, key=lambda document: ranked.index(document) if document in ranked else len(ranked))
    seen = in_order if metric.pairs == "all" else [document for document in in_order if document in ranked]
    relevant = [document for document in seen if levels[document] > 0]
    others = [document for document in seen if levels[document] <= 0]
    kept = {document: levels[document] for document in relevant + others[: len(relevant)]}
    pairs = list(preferences_of(kept))
    met, possible = sum(is_met(pair, ranked) for pair in pairs), len(pairs)
    more = max(len(relevant) - len(others), 0)
    met += more * sum(document in ranked for document in relevant)
    n_of_more = len(relevant)
    if metric.definition == "trec_eval":
        if metric.pairs == "retrieved":
            n_of_more = sum(level > 0 for level in levels.values())
        if len(relevant) < len(others):  # its own additions: others before others
            for place in range(len(relevant)):
                met += sum(document in ranked for document in others[:place])
                possible += len(others)
    possible += more * n_of_more
    return met / possible if possible else math.nan


VALUES = {
    NumPrefs: lambda metric, retrieved, judged, extras: float(
        sum(len(list(preferences_of(levels))) for levels in groups_of(extras))
    ),
    NumPrefsMet: _number_met,
    Prefs: _met_share,
    PrefsRnonrel: _even,
}
EXAMPLES = [
    NumPrefs(),
    NumPrefsMet(),
    NumPrefsMet(pairs="retrieved"),
    Prefs(),
    Prefs(pairs="retrieved"),
    Prefs(per="pair", pairs="implied"),
    Prefs(per="group"),
    PrefsRnonrel(),
    PrefsRnonrel(pairs="retrieved", definition="stated"),
]
