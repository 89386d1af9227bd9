"""The array types that evalcore's signatures speak of."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
Offsets: TypeAlias = npt.NDArray[np.int64]
"""(n_segments + 1,), starts at 0, never falls: segment i is values[offsets[i]:offsets[i + 1]]."""
AnyArray: TypeAlias = npt.NDArray[Any]
