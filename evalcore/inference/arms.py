"""Two or more arms of an experiment: each unit, a user, is in one of them, and nothing is paired."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from evalcore.errors import DataError
from evalcore.inference.sums import UnitSums


def arm_of_units(sums: UnitSums, arms: Mapping[str, Sequence[int]]) -> npt.NDArray[np.str_]:
    """The arm of each unit, to be its stratum: replicates then draw each arm from itself.  (n_units,)

    arms   the columns of each arm; those that no arm names do not matter here

    A contrast of columns of two arms has Welch's degrees of freedom with this and without. Tests that exchange the
    two systems within units, as sign flips do, have nothing to exchange and are NaN. A unit that counts no query is
    put into the first arm, where it adds nothing.  Raises DataError for a unit that counts queries in two arms.

    >>> sums = UnitSums.from_values(["u1", "u2"], np.array([[1.0, np.nan], [np.nan, 0.0]]))
    >>> arm_of_units(sums, {"A": [0], "B": [1]}).tolist()
    ['A', 'B']
    """
    names = list(arms)
    counted = np.array([sums.n[:, list(columns)].any(axis=1) for columns in arms.values()])
    crossing = np.flatnonzero(counted.sum(axis=0) > 1)
    if crossing.size:
        unit = crossing[0]
        both = [name for name, counts in zip(names, counted[:, unit], strict=True) if counts]
        raise DataError(
            f'{len(crossing)} of {len(sums.units)} units count queries in two arms; "{sums.units[unit]}" is the first, '
            f"in {' and '.join(both)}: leave them out, or contrast the arms without strata"
        )
    arm: npt.NDArray[np.str_] = np.array(names)[np.argmax(counted, axis=0)]
    return arm
