"""P-values of contrasts beside Student's: each is one function of all contrasts and one line of TESTS."""

from __future__ import annotations

from collections.abc import Callable

from evalcore.arrays import FloatArray
from evalcore.inference.joint import Joint
from evalcore.inference.randomization import sign_flip
from evalcore.inference.ranks import sign, wilcoxon
from evalcore.inference.simultaneous import max_t
from evalcore.inference.tukey import tukey_hsd
from evalcore.inference.wild import wild

TESTS: dict[str, Callable[[Joint], FloatArray]] = {
    "sign_flip": sign_flip,
    "wild": wild,
    "max_t": max_t,
    "tukey_hsd": tukey_hsd,
    "wilcoxon": wilcoxon,
    "sign": sign,
}
