"""Replicates of every mean, measure and difference, exact sums by matrix products."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evalcore.arrays import FloatArray, IntArray
from evalcore.inference import draws
from evalcore.inference.measures import Measure, replicated
from evalcore.inference.strata import Strata
from evalcore.inference.sums import LIMB_BITS, UnitSums

BLOCK_CELLS = 2**21
"""Numbers in a block's largest matrix: 16 MiB, few enough that the allocator hands out the same pages again."""
TOTAL_BITS = 52
"""Totals of limbs stay within 2**52, so that the difference of two stays below the 2**53 that doubles hold exactly."""


def replicate_measures(
    strata: Strata,
    measures: Sequence[Measure],
    contrasts: Sequence[tuple[int, int]],
    *,
    replicates: int,
    seed: int,
) -> tuple[list[FloatArray], list[FloatArray]]:
    """Each measure and each difference in every replicate, units drawn within strata; (n_replicates,) each.

        measure = sum over strata of pi_h * the measure in replicate stratum h       (strata.py)

    Geometric means are logarithms, but not in differences. A difference of two means is taken between sums, where
    both have the same pi_h.  NaN in a replicate that drew no query of a stratum which counts.
    """
    shares = [[float(share) for share in strata.shares(measure)] for measure in measures]
    of_means = {
        place: (measures[candidate].column, measures[baseline].column)
        for place, (candidate, baseline) in enumerate(contrasts)
        if measures[candidate].kind == measures[baseline].kind == "mean" and shares[candidate] == shares[baseline]
    }
    found = [np.full(replicates, 0.0 if any(of_strata) else np.nan) for of_strata in shares]
    between = {place: np.full(replicates, 0.0 if any(shares[contrasts[place][0]]) else np.nan) for place in of_means}
    for h, stratum in enumerate(strata.strata):
        means, deltas = replicate_means(
            stratum.sums, list(of_means.values()), replicates=replicates, seed=seed, stream=stratum.stream
        )
        for place, measure in enumerate(measures):
            if shares[place][h]:
                found[place] += shares[place][h] * replicated(means, measure)
        for place, delta in zip(of_means, deltas, strict=True):
            if shares[contrasts[place][0]][h]:
                between[place] += shares[contrasts[place][0]][h] * delta
    values = [
        np.exp(each) if measure.kind == "geometric" else each for each, measure in zip(found, measures, strict=True)
    ]
    differences = [
        between[place] if place in of_means else values[candidate] - values[baseline]
        for place, (candidate, baseline) in enumerate(contrasts)
    ]
    return found, differences


def replicate_means(
    sums: UnitSums,
    contrasts: Sequence[tuple[int, int]] = (),
    *,
    replicates: int,
    seed: int,
    stream: int = 0,
    block_cells: int = BLOCK_CELLS,
) -> tuple[FloatArray, FloatArray]:
    """Means of the columns, and differences of the means of (candidate, baseline) columns, in every replicate.

        counts  (replicates, n_units)      the same for all columns, so contrasts are paired
        mean  = counts @ sums / counts @ n         NaN in a replicate that drew no query of the column
        delta = mean of the candidate - mean of the baseline

    Returns (n_columns, replicates) and (n_contrasts, replicates). Sums are cut into limbs so narrow that the
    products add up to whole numbers below 2**53: the result has the same bits for any block size, BLAS and
    thread count. A delta over the same queries is taken between the sums, so it is 0 in every replicate for
    a system and its copy.  Memory: the result and a few matrices of `block_cells` doubles.
    Raises DataError for more than 32,768 units.
    """
    n_units, n_columns = sums.n.shape
    means = np.full((n_columns, replicates), np.nan)
    deltas = np.full((len(contrasts), replicates), np.nan)
    if n_units == 0:
        return means, deltas
    candidate, baseline = np.array(contrasts, dtype=np.intp).reshape(-1, 2).T
    distinct_n, n_of = np.unique(sums.n, axis=1, return_inverse=True)
    n_of = n_of.reshape(n_columns)  # numpy 2.0 gives it a second axis
    exponents = sums.exponents.astype(np.int32)
    same_queries = (n_of[candidate] == n_of[baseline]) & (exponents[candidate] == exponents[baseline])
    width = TOTAL_BITS - (n_units - 1).bit_length()
    limbs = split(sums.hi, sums.lo, width=width)
    columns = np.hstack([*limbs, distinct_n]).astype(np.float64)
    block = max(1, block_cells // max(n_units, columns.shape[1], len(limbs) * len(contrasts)))
    for start in range(0, replicates, block):
        stop = min(start + block, replicates)
        totals = draws.counts(n_units, seed=seed, start=start, stop=stop, stream=stream) @ columns
        drawn = totals[:, len(limbs) * n_columns :][:, n_of]
        drawn[drawn == 0] = np.nan
        by_limb = totals[:, : len(limbs) * n_columns].reshape(stop - start, len(limbs), n_columns)
        mean = np.ldexp(_join(by_limb, width=width), exponents - 2 * LIMB_BITS) / drawn
        between = _join(by_limb[:, :, candidate] - by_limb[:, :, baseline], width=width)
        delta = np.ldexp(between, exponents[candidate] - 2 * LIMB_BITS) / drawn[:, candidate]
        means[:, start:stop] = mean.T
        deltas[:, start:stop] = np.where(same_queries, delta, mean[:, candidate] - mean[:, baseline]).T
    return means, deltas


def split(hi: IntArray, lo: IntArray, *, width: int) -> list[IntArray]:
    """The numbers hi * 2**30 + lo cut into limbs of `width` bits (31 to 52), the most significant first.

        number = (... limbs[0] * 2**width + limbs[1]) * 2**width + ...

    The first limb carries the sign and is at most 2**width in magnitude, the others are from 0 to 2**width - 1.

    >>> [limb.tolist() for limb in split(np.array([3, -1]), np.array([5, 0]), width=31)]
    [[1, -1], [1073741829, 1073741824]]
    """
    high, low = hi + (lo >> LIMB_BITS), lo & (2**LIMB_BITS - 1)
    taken = width - LIMB_BITS  # bits of `high` that fill up the lowest limb
    limbs = [((high & (2**taken - 1)) << LIMB_BITS) | low]
    high = high >> taken
    while np.abs(high).max(initial=0) > 2**width:
        limbs.append(high & (2**width - 1))
        high = high >> width
    return [high, *reversed(limbs)]


def _join(limbs: FloatArray, *, width: int) -> FloatArray:
    """Numbers from their limbs; of two limbs, rounded once.  (n_rows, n_limbs, n_columns) -> (n_rows, n_columns)"""
    joined = limbs[:, 0]
    for limb in range(1, limbs.shape[1]):
        joined = np.ldexp(joined, width) + limbs[:, limb]
    return joined
