"""Sums -> rows of ESTIMATES and CONTRASTS: numpy and plain Python, without Arrow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from evalcore.inference import Contrast, UnitSums, benjamini_hochberg, bonferroni, holm, infer
from evalcore.inference.two_way import two_way
from jobs.inferred import Rows, Settings
from jobs.measures import Measure
from jobs.sums import Sums

OF_EACH = {"holm": holm, "bonferroni": bonferroni, "benjamini_hochberg": benjamini_hochberg}
"""What adjusts Student's p-values one by one; other names are tests of all contrasts at once."""
MOST_JUDGED_GAP = 0.02
"""Where the shares of judged documents of two systems differ by more, the one judged less is at a disadvantage."""


def pairs_of(systems: Sequence[str], baseline: str | None) -> list[tuple[str, str]]:
    """(candidate, baseline) of each contrast: against the baseline, or all pairs, the later name the candidate."""
    if baseline is not None:
        return [(system, baseline) for system in systems if system != baseline]
    return [(later, earlier) for earlier, later in combinations(systems, 2)]


def inferred_rows(
    known: Sums,
    pair_counts: Sequence[Mapping[str, Any]],
    *,
    systems: Sequence[str],
    measures: Sequence[Measure],
    settings: Settings,
    segment: str,
    whole: bool = True,
    crossed: tuple[UnitSums, UnitSums] | None = None,
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Sums and pair counts of a segment -> rows of (ESTIMATES, CONTRASTS), one for each interval method.

    whole     whether the segment holds every query
    crossed   sums by a second kind of unit and by pairs of both kinds: adds rows of the method two_way
    """
    pairs = pairs_of(systems, settings.baseline)
    by_column = {measure.column: measure for measure in measures}
    places = {key: place for place, key in enumerate(key for key in known.columns if key[1] in by_column)}
    asked = [(pair, measure) for measure in measures for pair in pairs]
    sides = [known.pair(*pair, measure.column) for pair, measure in asked]
    families = [list(by_column).index(measure.column) for _, measure in asked]
    wanted: dict[str, Any] = {
        "measures": [known.estimated(key, by_column[key[1]]) for key in places],
        "contrasts": [(places[one], places[other]) for one, other in sides],
        "confidence": settings.confidence,
    }
    strata = known.strata
    if not whole and strata and min(Counter(strata).values()) < 2:
        strata = None  # nothing is known of how the units of a stratum differ that has one of them here
    found = infer(
        known.table,
        methods=settings.methods,
        tests=_tests(settings),
        families=families,
        strata=strata,
        replicates=settings.replicates,
        seed=settings.seed,
        **wanted,
    )
    inferred = [(found.estimates, found.contrasts, settings.adjust)]
    if crossed is not None:
        by_both = two_way(known.table, *crossed, **wanted)
        inferred.insert(0, (*by_both, settings.adjust if settings.adjust in OF_EACH else "holm"))
    rows = Rows(known, settings, segment, _judged_gaps(known, pairs, measures))
    counts = {(row["candidate"], row["baseline"]): row for row in pair_counts}
    estimates: list[dict[str, Any]] = []
    contrasts: list[dict[str, Any]] = []
    for of_measures, of_pairs, adjust in inferred:
        for measure in measures:
            for system in systems:
                estimates += rows.of_estimate(of_measures[places[(system, None), measure.column]], measure, system)
        adjusted = _adjusted(families, of_pairs, adjust)
        for (pair, measure), both, contrast, p_adjusted in zip(asked, sides, of_pairs, adjusted, strict=True):
            contrasts += rows.of_contrast(
                contrast,
                measure,
                pair,
                sides=both,
                baseline=of_measures[places[both[1]]].estimate,
                p_adjusted=p_adjusted,
                counts=counts.get(pair, {}),
            )
    for measure in measures:
        for system in systems:
            estimates += rows.of_quantiles(measure, system)
    return estimates, contrasts


def _judged_gaps(known: Sums, pairs: Sequence[tuple[str, str]], measures: Sequence[Measure]) -> set[tuple[str, str]]:
    """The pairs whose shares of judged documents differ by much, in any metric that tells them."""
    columns = [measure.column for measure in measures if measure.name.split("@")[0] == "Judged"]

    def share(system: str, column: str) -> float:
        return known.table.mean(known.columns[(system, None), column])

    return {
        pair
        for pair in pairs
        for column in columns
        if abs(share(pair[0], column) - share(pair[1], column)) > MOST_JUDGED_GAP
    }


def _tests(settings: Settings) -> list[str]:
    asked = [*settings.tests, *([] if settings.adjust in OF_EACH else [settings.adjust])]
    return list(dict.fromkeys(asked))


def _adjusted(families: Sequence[int], contrasts: Sequence[Contrast], how: str) -> list[float]:
    """Adjusted p-values; a family is the contrasts of one measure."""
    if how not in OF_EACH:
        return [contrast.p_values[how] for contrast in contrasts]
    adjusted = np.full(len(contrasts), np.nan)
    p_values = np.array([contrast.p_value for contrast in contrasts])
    of_family = np.array(families)
    for family in dict.fromkeys(families):
        tested = (of_family == family) & ~np.isnan(p_values)
        adjusted[tested] = OF_EACH[how](p_values[tested])
    return [float(value) for value in adjusted]
