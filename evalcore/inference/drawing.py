"""The evidence of every measure and contrast, drawn where a method needs it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

import numpy as np

from evalcore.arrays import FloatArray
from evalcore.inference.bootstrap import BLOCK_CELLS, Replicates
from evalcore.inference.evidence import Evidence
from evalcore.inference.influence import Statistic
from evalcore.inference.intervals import RESAMPLING, resamples
from evalcore.inference.measures import Measure
from evalcore.inference.strata import Strata
from evalcore.inference.studentized import studentize


class Drawing:
    """The replicates of all measures and contrasts, drawn when something asks for them."""

    def __init__(
        self,
        design: Strata,
        measures: Sequence[Measure],
        contrasts: Sequence[tuple[int, int]],
        *,
        seed: int,
        replicates: int,
    ) -> None:
        self._design, self._measures, self._contrasts = design, measures, contrasts
        self._seed, self._replicates = seed, replicates

    @cached_property
    def _drawn(self) -> Replicates:
        return Replicates(self._design, self._measures, replicates=self._replicates, seed=self._seed)

    def of_measure(self, place: int) -> FloatArray:
        """(n_replicates,) of a measure, logarithms for a geometric mean; NaN in replicates that say nothing."""
        return self._drawn.measure(place)

    def of_contrast(self, place: int) -> FloatArray:
        """Likewise of a contrast."""
        return self._drawn.difference(*self._contrasts[place])

    def evidence(
        self,
        statistics: Sequence[Statistic],
        replicates: Callable[[int], FloatArray],
        methods: Sequence[str],
        confidence: float,
    ) -> Iterator[Evidence]:
        """Each statistic with the replicates that the methods need of it, one at a time."""
        nothing = np.zeros(0)
        plain = RESAMPLING.intersection(methods)
        at_once = max(1, BLOCK_CELLS // max(1, self._replicates))
        for start in range(0, len(statistics), at_once):
            places = range(start, min(start + at_once, len(statistics)))
            studentized = self._studentized(statistics, replicates, methods, places)
            for place in places:
                drawn = replicates(place) if plain else nothing
                yield Evidence(
                    statistic=statistics[place],
                    confidence=confidence,
                    replicates=np.sort(drawn[~np.isnan(drawn)]),
                    studentized=studentized.get(place, nothing),
                    n_replicates=self._replicates,
                    seed=self._seed,
                )

    def _studentized(
        self,
        statistics: Sequence[Statistic],
        replicates: Callable[[int], FloatArray],
        methods: Sequence[str],
        places: Sequence[int],
    ) -> dict[int, FloatArray]:
        """The studentized replicates of the statistics at these places that a method needs them of."""
        studied = [
            place
            for place in places
            if statistics[place].n_units > 1 and any(resamples(method, statistics[place]) for method in methods)
        ]
        found = studentize(
            [statistics[place] for place in studied],
            [replicates(place) for place in studied],
            strata=self._design.strata,
            seed=self._seed,
        )
        return dict(zip(studied, found, strict=True))
