"""All contrasts at once, as tests see them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evalcore.arrays import FloatArray, IntArray
from evalcore.inference.influence import Statistic
from evalcore.inference.measures import Measure
from evalcore.inference.sums import UnitSums

if TYPE_CHECKING:
    from evalcore.inference.evidence import Evidence


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Joint:
    """All that a test may see.

    contrasts    pairs of places in `measures`; statistics and Student's two-sided p_values, one for each
    families     (n_contrasts,) those of one number are asked together
    replicates   gives (n_replicates,) bootstrap deltas of a contrast, NaN in replicates that say nothing
    evidence     gives what the `auto` interval of each contrast needs
    """

    sums: UnitSums
    measures: Sequence[Measure]
    contrasts: Sequence[tuple[int, int]]
    statistics: Sequence[Statistic]
    p_values: Sequence[float]
    families: IntArray
    replicates: Callable[[int], FloatArray]
    evidence: Callable[[], Iterable[Evidence]]
    n_replicates: int
    seed: int

    def by_family(self) -> Iterator[list[int]]:
        """The places of the contrasts of each family."""
        for family in np.unique(self.families):
            yield np.flatnonzero(self.families == family).tolist()
