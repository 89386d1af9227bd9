import numpy as np

from evalcore.inference import UnitSums

ALL = ("auto", "t", "hall", "percentile", "bca", "studentized")


def sums_of(*columns, units=None) -> UnitSums:
    """A table from columns of query values; each query its own unit unless units are given."""
    values = np.column_stack(columns).astype(np.float64)
    return UnitSums.from_values([f"q{i:05d}" for i in range(len(values))] if units is None else units, values)
