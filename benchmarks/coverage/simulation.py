"""From a setting to how often each interval holds the truth."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from zlib import crc32

import numpy as np

from benchmarks.coverage.settings import Setting
from evalcore.arrays import FloatArray
from evalcore.inference import INTERVALS, Contrast, Estimate, infer

CHUNK = 100
"""Data sets that share the draws of a bootstrap: their intervals depend on each other a little, chunks do not."""
COSTLY = {"wild": 10}
"""Intervals that take long, and how many times fewer data sets they get."""
HULLS = {
    "t + hall": ("t", "hall"),
    "t + studentized": ("t", "studentized"),
    "hall + studentized": ("hall", "studentized"),
}
"""Rules beside INTERVALS: the least interval that holds both."""
ROUNDING = 1e-12
NORMAL = 1.959963984540054
"""A normal interval reaches so many standard errors to each side."""


@dataclass(frozen=True, kw_only=True)
class Coverage:
    """Of one interval in one setting, as shares of the data sets.

    coverage   the interval holds the truth; error is its Monte-Carlo standard error, from the chunks
    below      the truth is below the interval; above likewise
    width      mean width, where there is an interval, over that of a normal interval with the true standard error
    usual      the median instead of the mean, which a few endless intervals cannot move
    """

    coverage: float
    error: float
    below: float
    above: float
    width: float
    usual: float


@dataclass(frozen=True, kw_only=True)
class Found:
    """A setting's result.

    deviation, bias   of the estimates
    flagged           share of data sets by flag
    seconds           of the processor
    """

    data_sets: int
    truth: float
    deviation: float
    bias: float
    informative: float
    flagged: dict[str, float]
    seconds: float
    intervals: dict[str, Coverage]


def simulate(
    setting: Setting,
    *,
    data_sets: int,
    methods: Sequence[str] = tuple(INTERVALS),
    ignoring_clusters: bool = False,
    chunk: int = CHUNK,
    seed: int = 0,
) -> Found:
    """Draws data sets and asks for intervals. The same seed gives the same data sets, whatever else is simulated."""
    started = time.process_time()
    key = crc32(setting.name.encode())
    estimates, ends, flags = [], [], []
    informative = math.nan
    for number in range(data_sets // chunk):
        drawn = setting.sampler.draw(np.random.default_rng([seed, key, number]), chunk)
        drawn = drawn.by_query() if ignoring_clusters else drawn
        if number == 0:
            informative = drawn.informative()
        measures, contrasts = drawn.asked()
        inference = infer(
            drawn.sums(),
            measures=measures,
            contrasts=contrasts,
            methods=methods,
            replicates=setting.replicates,
            seed=((seed & 0xFF) << 56) + (key << 24) + number,
        )
        found: list[Contrast] | list[Estimate] = inference.contrasts or inference.estimates
        estimates.append([each.delta if isinstance(each, Contrast) else each.estimate for each in found])
        ends.append([[each.intervals[method] for method in methods] for each in found])
        flags += [flag for each in found for flag in each.flags]
    truth = setting.sampler.truth
    values = np.array(estimates)
    deviation = float(np.std(values))
    by_method = with_hulls(dict(zip(methods, np.moveaxis(np.array(ends), 2, 0), strict=True)))
    return Found(
        data_sets=values.size,
        truth=truth,
        deviation=deviation,
        bias=float(values.mean()) - truth,
        informative=informative,
        flagged={flag: flags.count(flag) / values.size for flag in sorted(set(flags))},
        seconds=time.process_time() - started,
        intervals={name: covered(each, truth=truth, deviation=deviation) for name, each in by_method.items()},
    )


def with_hulls(ends: dict[str, FloatArray]) -> dict[str, FloatArray]:
    """The ends of all methods and of those HULLS whose parts are there.  Each: (n_chunks, chunk, 2)"""
    hulls = {}
    for name, (one, other) in HULLS.items():
        if one in ends and other in ends:
            low, high = np.minimum(ends[one], ends[other]), np.maximum(ends[one], ends[other])
            hulls[name] = np.stack([low[..., 0], high[..., 1]], axis=-1)
    return ends | hulls


def covered(ends: FloatArray, *, truth: float, deviation: float) -> Coverage:
    """Coverage from the ends of one method's intervals.  (n_chunks, chunk, 2)"""
    low, high = ends[..., 0], ends[..., 1]
    below, above = truth < low - ROUNDING, truth > high + ROUNDING
    holds = (low - ROUNDING <= truth) & (truth <= high + ROUNDING)
    by_chunk = holds.mean(axis=1)
    widths = (high - low)[~np.isnan(high - low)] / (2 * NORMAL * deviation)
    return Coverage(
        coverage=float(holds.mean()),
        error=float(by_chunk.std(ddof=1)) / math.sqrt(len(by_chunk)) if len(by_chunk) > 1 else math.nan,
        below=float(below.mean()),
        above=float(above.mean()),
        width=float(widths.mean()) if widths.size else math.nan,
        usual=float(np.median(widths)) if widths.size else math.nan,
    )
