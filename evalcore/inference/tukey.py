"""Many systems at once: could the same values, handed out to the systems at random, differ that much?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import itemgetter

import numpy as np

from evalcore.arrays import FloatArray, IntArray
from evalcore.inference.bootstrap import BLOCK_CELLS
from evalcore.inference.influence import Statistic
from evalcore.inference.joint import Joint
from evalcore.inference.ordered import to_whole
from evalcore.inference.randomization import contributions


def tukey_hsd(joint: Joint) -> FloatArray:
    """Randomised Tukey HSD of the means of a family's systems: the chance of any false rejection, if all are equal.

        range* = largest - smallest mean after each unit's sums were handed out to the systems anew
        p of two systems = (1 + replicates with range* >= |delta|) / (replicates + 1)

    Whole units are handed out, so their queries may depend on each other. NaN for a family of systems that do not
    count the same queries in every unit.

    Not all k! orders of a unit's k sums are drawn, but k of them, which takes a tenth of the time: the systems stand
    in a circle, another one for each unit, and each takes over the sum of the system so many places on. Turning
    circles undoes and repeats itself as all orders do, which is all that a randomisation test needs to be exact.

        numpy's Philox(key=[seed, g]) gives the raw 64-bit words of unit g:    w0 ... w(k-1)  then  v0  v1  ...
        its circle is the stable ascending order of w; in replicate i it turns by (h_i * k) >> 32 places, h_i being
        the 32-bit halves of v, the low half first

    Source: Carterette 2012, doi:10.1145/2094072.2094076; that any group of exchanges will do: Hemerik & Goeman 2018,
    doi:10.1007/s11749-017-0571-1.
    """
    found = np.full(len(joint.contrasts), np.nan)
    for places in joint.by_family():
        sides = [
            side
            for place in places
            for side in zip(joint.contrasts[place], joint.statistics[place].sides or (), strict=True)
        ]
        systems = dict(sorted(sides, key=itemgetter(0)))
        if not _alike([*systems.values()]):
            continue
        whole, ties = _whole([*systems.values()])
        totals = dict(zip(systems, whole.sum(axis=0).tolist(), strict=True))
        reached = [abs(totals[a] - totals[b]) - ties for a, b in (joint.contrasts[place] for place in places)]
        ranges = np.sort(_ranges(whole, replicates=joint.n_replicates, seed=joint.seed))
        times = len(ranges) - np.searchsorted(ranges, reached, side="left")
        found[places] = (1 + times) / (joint.n_replicates + 1)
    return found


def _alike(systems: Sequence[Statistic]) -> bool:
    """Whether all count the same queries, and any."""
    one = systems[0]
    return bool(one.n.any()) and all(
        np.array_equal(other.n, one.n) and np.array_equal(other.share, one.share) for other in systems
    )


def _whole(systems: Sequence[Statistic]) -> tuple[FloatArray, float]:
    """What each unit adds to each system, as whole numbers (n_units, n_systems), and how far apart equal ranges are."""
    added = np.column_stack([contributions(system) for system in systems])
    whole, scale = to_whole(added.reshape(-1, 1), terms=len(added))
    resolution = max(system.resolution for system in systems)
    # rounding to whole numbers moves each of two ranges by up to the number of units
    return whole.reshape(added.shape), 2 * len(added) + math.ldexp(2 * resolution, int(scale[0]))


def _ranges(added: FloatArray, *, replicates: int, seed: int, block_cells: int = BLOCK_CELLS) -> FloatArray:
    """The largest less the smallest sum over units in each replicate.  (n_units, n_systems) -> (replicates,)"""
    n_systems = added.shape[1]
    found = np.empty(replicates)
    block = max(1, block_cells // n_systems)
    for start in range(0, replicates, block):
        stop = min(start + block, replicates)
        totals = np.zeros((stop - start, n_systems))
        taken = np.empty_like(totals)
        for unit, of_systems in enumerate(added):
            circle, places = _drawn(unit, n_systems, replicates=replicates, seed=seed)
            np.take(_turned(of_systems, circle), places[start:stop], axis=0, out=taken, mode="clip")
            totals += taken
        found[start:stop] = np.ptp(totals, axis=1)
    return found


def _drawn(unit: int, n_systems: int, *, replicates: int, seed: int) -> tuple[IntArray, IntArray]:
    """The systems in the order of a unit's circle, (n_systems,), and how far it turns, (replicates,)."""
    generator = np.random.Philox(key=np.array([seed, unit], dtype=np.uint64))
    circle = np.argsort(generator.random_raw(n_systems), kind="stable")
    words = generator.random_raw((replicates + 1) // 2)
    halves = words.astype("<u8", copy=False).view("<u4")[:replicates]  # little-endian: the low half comes first
    return circle, (halves.astype(np.int64) * n_systems) >> 32


def _turned(of_systems: FloatArray, circle: IntArray) -> FloatArray:
    """What each system has after the circle turned by 0, 1, ... places.  (n_systems,) -> (n_systems, n_systems)"""
    standing = np.argsort(circle)
    turns = np.arange(len(circle))[:, np.newaxis]
    turned: FloatArray = of_systems[circle[(standing + turns) % len(circle)]]
    return turned
