"""Replicates in units of their own standard errors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evalcore.arrays import FloatArray
from evalcore.inference import draws
from evalcore.inference.bootstrap import BLOCK_CELLS
from evalcore.inference.influence import Statistic
from evalcore.inference.ordered import ordered_sum, to_whole
from evalcore.inference.strata import Stratum

LEAST_ERROR = 1e-3
"""Replicates whose standard error is below this share of the estimate's say nothing and are left out: rounding to
whole numbers can make an error of 0 as large as 2**-11, of 32,768 units."""


def studentize(
    statistics: Sequence[Statistic],
    replicates: Sequence[FloatArray],
    *,
    strata: Sequence[Stratum] = (),
    seed: int,
    block_cells: int = BLOCK_CELLS,
) -> list[FloatArray]:
    """(replicate - estimate) / standard error of the replicate, ascending, for each statistic.

        error*^2 = sum of c_g (u_g - d h_g)**2 / (sum of c_g h_g)**2       d = sum of c_g u_g / sum of c_g h_g
                 = (sum c u^2 - 2 d sum c u h + d^2 sum c h^2) / (sum c h)^2

    c_g is how often the replicate draws unit g, u_g and h_g its influence and share; d is then replicate - estimate,
    of sides that count different queries to first order. Of several strata the sum of theirs, h_g in the divisor
    being the share of the stratum. The draws are those of `replicates` (n_replicates,), so both must have the same
    strata and seed. u^2, u h, h^2, h and u are rounded to so many bits that all products add up to whole numbers
    below 2**53: the result has the same bits everywhere.

    Source: Efron & Tibshirani 1993, An Introduction to the Bootstrap, section 12.5; for a ratio of sums by
    linearisation, Davison & Hinkley 1997, Bootstrap Methods and their Application, section 2.7.
    """
    if not statistics:
        return []
    n_units, n_replicates = len(statistics[0].share), len(replicates[0])
    shares, share_of = _distinct([statistic.share for statistic in statistics])
    influences = np.column_stack([statistic.influence for statistic in statistics])
    parts = [influences**2, influences * shares[:, share_of], influences, shares**2, shares]
    whole, scales = zip(*(to_whole(part, terms=n_units) for part in parts), strict=True)
    columns = np.hstack(whole)
    ends = np.cumsum([part.shape[1] for part in whole])
    drawn = [(stratum.rows, stratum.stream) for stratum in strata] or [(np.arange(n_units), 0)]
    squares = np.zeros((len(statistics), n_replicates))
    for rows, stream in drawn:
        of_units, weights = columns[rows], [ordered_sum(share[rows]) for share in shares.T]
        for block, counts in draws.blocks(
            len(rows), replicates=n_replicates, seed=seed, stream=stream, cells=block_cells
        ):
            totals = counts @ of_units
            uu, uh, u, hh, h = (
                np.ldexp(total, -scale).T
                for total, scale in zip(np.split(totals, ends[:-1], axis=1), scales, strict=True)
            )
            h[h == 0] = np.nan
            for place, shared in enumerate(share_of):
                if weights[shared] > 0:
                    d = u[place] / h[shared]
                    square = uu[place] - 2 * d * uh[place] + d * d * hh[shared]
                    squares[place, block] += square * (weights[shared] / h[shared]) ** 2
    return [
        _in_errors(replicated - statistic.estimate, square, least=LEAST_ERROR * statistic.standard_error)
        for statistic, replicated, square in zip(statistics, replicates, squares, strict=True)
    ]


def _in_errors(moved: FloatArray, square: FloatArray, *, least: float) -> FloatArray:
    """What replicates moved by over their standard errors, ascending, without those that say nothing."""
    says = square > least * least  # not where NaN
    found = moved[says] / np.sqrt(square[says])
    return np.sort(found[np.isfinite(found)])


def _distinct(shares: Sequence[FloatArray]) -> tuple[FloatArray, list[int]]:
    """Each share once, as columns, and which of them each statistic has: most contrasts share one."""
    places: dict[bytes, int] = {}
    share_of = [places.setdefault(share.tobytes(), len(places)) for share in shares]
    first = dict(zip(share_of, shares, strict=True))
    return np.column_stack([first[place] for place in range(len(places))]), share_of
