import numpy as np

from evalcore.inference import UnitSums
from evalcore.inference.draws import counts

ALL = ("auto", "t", "hall", "percentile", "bca", "studentized")


def sums_of(*columns, units=None) -> UnitSums:
    """A table from columns of query values; each query its own unit unless units are given."""
    values = np.column_stack(columns).astype(np.float64)
    ids = [f"q{i:05d}" for i in range(len(values))] if units is None else units
    return UnitSums.from_values(ids, values, contrasts=[(0, column) for column in range(1, len(columns))])


class SameDraws(np.random.Generator):
    """Hands our own draws, as indices of units, to a program that asks numpy's Generator for them."""

    def __init__(self, seed=0):
        super().__init__(np.random.PCG64(0))
        self._of, self._next = seed, 0

    def integers(self, low, high=None, size=None, dtype=np.int64, endpoint=False):  # noqa: FBT002
        assert high is None or low == 0
        n_units = low if high is None else high
        rows = 1 if np.ndim(size) == 0 else size[0]
        drawn = counts(n_units, seed=self._of, start=self._next, stop=self._next + rows).astype(np.int64)
        self._next += rows
        indices = np.array([np.repeat(np.arange(n_units), times) for times in drawn], dtype=dtype)
        return indices[0] if np.ndim(size) == 0 else indices
