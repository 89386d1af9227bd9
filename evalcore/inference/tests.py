"""P-values of contrasts beside Student's: each is one function of all contrasts and one line of TESTS."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from evalcore.arrays import FloatArray, IntArray
from evalcore.inference.influence import Statistic
from evalcore.inference.measures import Measure
from evalcore.inference.sums import UnitSums


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Joint:
    """All that a test may see.

    contrasts    pairs of places in `measures`; statistics, one for each
    families     (n_contrasts,) those of one number are asked together
    replicates   gives (n_replicates,) bootstrap deltas for each contrast, NaN in replicates that say nothing
    """

    sums: UnitSums
    measures: Sequence[Measure]
    contrasts: Sequence[tuple[int, int]]
    statistics: Sequence[Statistic]
    families: IntArray
    replicates: Callable[[], list[FloatArray]]
    n_replicates: int
    seed: int


def max_t(joint: Joint) -> FloatArray:
    """Adjusted for all contrasts of a family at once, from their joint bootstrap distribution (single step).

        t_j = |delta_j| / s_j      t*_j = |delta*_j - delta_j| / s_j      s_j the root of the sum of u_g**2
        p_j = (1 + replicates in which the largest t* of the family reaches t_j) / (replicates + 1)

    Family-wise error, so like Holm's p-values but smaller where contrasts correlate.  NaN without a standard error.

    Source: Westfall & Young 1993, Resampling-Based Multiple Testing.
    """
    p_values = np.full(len(joint.statistics), np.nan)
    replicates = joint.replicates()
    for family in np.unique(joint.families):
        largest = np.zeros(joint.n_replicates)
        reached = {}
        for place in np.flatnonzero(joint.families == family).tolist():
            statistic = joint.statistics[place]
            error = statistic.plain_error
            if statistic.n_units < 2 or not error > 0:
                continue
            moved = np.abs(replicates[place] - statistic.estimate) / error
            np.fmax(largest, moved, out=largest)
            reached[place] = abs(statistic.estimate) / error
        for place, t in reached.items():
            p_values[place] = (1 + np.count_nonzero(largest >= t)) / (joint.n_replicates + 1)
    return p_values


TESTS: dict[str, Callable[[Joint], FloatArray]] = {
    "max_t": max_t,
}
