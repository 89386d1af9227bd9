"""The random numbers: how often each replicate draws each unit."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from evalcore.arrays import FloatArray
from evalcore.errors import DataError

MAX_UNITS = 32_768
"""Above it the draws would favour some units by more than 1e-5 of their probability; fold units into buckets."""
CELLS = 2**15
"""Draws that are counted at once: many enough for few units, few enough to stay in a processor's cache."""


def counts(n_units: int, *, seed: int, start: int, stop: int, stream: int = 0) -> FloatArray:
    """How often each unit is drawn in replicates start .. stop - 1.  (stop - start, n_units)

    A replicate draws n_units times with replacement. Its draws are a function of (seed, replicate, stream) alone:

        numpy's Philox(key=[seed, replicate], counter=[0, 0, 0, stream])
        gives the raw 64-bit words                         w0  w1  w2 ...
        a word is two 32-bit halves, the low half first    h0 = w0 mod 2**32  h1 = w0 >> 32  h2 ...
        draw j is the unit with index                      (h_j * n_units) >> 32

    The counter counts up from its first word, so streams have no word in common: each stratum has its own. Integers
    only, from a raw stream that numpy promises not to change (its distributions it may), so every
    platform and version draws the same. A row sums to n_units; it is of floats, for matrix products.
    Raises DataError unless 1 <= n_units <= 32,768 and 0 <= seed < 2**64.

    Source: Salmon et al. 2011, doi:10.1145/2063384.2063405 (Philox); Efron 1979, doi:10.1214/aos/1176344552.
    """
    if not 1 <= n_units <= MAX_UNITS:
        raise DataError(f"{n_units} units; resampling needs 1 to {MAX_UNITS}, more are folded into buckets first")
    if not 0 <= seed < 2**64:
        raise DataError(f"seed {seed} is not from 0 to 2**64 - 1")
    drawn = np.empty((stop - start, n_units))
    at_once = max(1, CELLS // n_units)
    for first in range(start, stop, at_once):
        last = min(first + at_once, stop)
        words = raw_words((n_units + 1) // 2, seed=seed, start=first, stop=last, stream=stream)
        index = (words.view("<u4")[:, :n_units].astype(np.int64) * n_units) >> 32  # little-endian: the low half first
        index += n_units * np.arange(last - first)[:, np.newaxis]
        drawn[first - start : last - start] = np.bincount(index.ravel(), minlength=index.size).reshape(index.shape)
    return drawn


def blocks(
    n_units: int, *, replicates: int, seed: int, stream: int = 0, cells: int
) -> Iterator[tuple[slice, FloatArray]]:
    """All replicates in blocks of up to `cells` counts: which replicates they are, and their `counts`.

    Where one block holds all it is kept for whoever asks next: the contrasts of the same units, a segment of as many.
    """
    at_once = max(1, cells // n_units)
    counted = _kept if at_once >= replicates else counts
    for start in range(0, replicates, at_once):
        stop = min(start + at_once, replicates)
        yield slice(start, stop), counted(n_units, seed=seed, start=start, stop=stop, stream=stream)


@lru_cache(maxsize=1)
def _kept(n_units: int, *, seed: int, start: int, stop: int, stream: int) -> FloatArray:
    drawn = counts(n_units, seed=seed, start=start, stop=stop, stream=stream)
    drawn.setflags(write=False)
    return drawn


def raw_words(n_words: int, *, seed: int, start: int, stop: int, stream: int = 0) -> npt.NDArray[np.uint64]:
    """The first raw words of numpy's Philox(key=[seed, replicate], counter=[0, 0, 0, stream]) of each replicate.

    Little-endian on every machine.  (stop - start, n_words)
    """
    words = np.empty((stop - start, n_words), dtype="<u8")
    generator = np.random.Philox(0)
    key, counter = (np.array(pair, dtype=np.uint64) for pair in ([seed, 0], [0, 0, 0, stream]))
    # a new generator asks the system for entropy that a key makes useless: four times as long for 50 units
    state = generator.state
    state["state"] = {"counter": counter, "key": key}
    for replicate in range(start, stop):
        key[1] = replicate
        generator.state = state
        words[replicate - start] = generator.random_raw(n_words)
    return words
