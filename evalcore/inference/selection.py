"""Choosing the best of many candidates, whose estimate is then too good: it was chosen for its luck as well."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evalcore.errors import DataError
from evalcore.inference.bootstrap import Replicates
from evalcore.inference.estimates import Contrast, infer
from evalcore.inference.measures import Measure
from evalcore.inference.ordered import ordered_sum
from evalcore.inference.strata import Labels, Strata, of_units
from evalcore.inference.sums import UnitSums
from evalcore.verdict import Answer, answer_of_bounds, answer_of_gate


@dataclass(frozen=True, slots=True, kw_only=True)
class Best:
    """The chosen candidate, in the measure's unit or, against a baseline, as a delta.

    place       of the measure that was chosen
    naive       its estimate, too good on average by what the choice adds
    corrected   what a candidate chosen in this way gives on units that did not choose it
    """

    place: int
    naive: float
    corrected: float


def best_of(
    sums: UnitSums,
    candidates: Sequence[int],
    *,
    baseline: int | None = None,
    measures: Sequence[Measure] | None = None,
    higher_is_better: bool = True,
    strata: Labels | None = None,
    stratum_weights: Mapping[str, float] | None = None,
    replicates: int = 9_999,
    seed: int = 0,
) -> Best:
    """The best of some measures, given by their places, with an estimate that is corrected for the choice.

        corrected = mean over replicates of the measure, on the units that the replicate did not draw,
                    of the candidate that is best on those that it drew

    The units that choose and those that tell are different ones, so it does not favour the chosen: it is right on
    average for candidates that are all equal, and too modest for others, because a replicate chooses by 63 % of the
    units only: by 0.6 standard errors on average if one candidate is ahead by three, by 0.1 if all are spread over
    two. It speaks of the choice as a whole; if one candidate is far ahead it is its estimate.
    There is no interval: for one take simultaneous intervals (simultaneous.py), or a part of the units that had
    no part in the choice (`held_out`). Of equal candidates the first is the best.

    Raises DataError if there is no candidate, or none that has a value.

    Source: Tsamardinos, Greasidou & Borboudakis 2018, doi:10.1007/s10994-018-5714-4 (bootstrap bias correction).
    """
    if measures is None:
        measures = [Measure(column=column) for column in range(len(sums.exponents))]
    pairs = [] if baseline is None else [(place, baseline) for place in candidates]
    found = infer(
        sums, measures=measures, contrasts=pairs, methods=["t"], strata=strata, stratum_weights=stratum_weights
    )
    deltas = [contrast.delta for contrast in found.contrasts]
    values = [found.estimates[place].estimate for place in candidates] if baseline is None else deltas
    naive = dict(zip(candidates, values, strict=True))
    known = [place for place in candidates if not math.isnan(naive[place])]
    if not known:
        raise DataError(f"there is no best of {len(candidates)} candidates, of which none has a value")
    sign = 1.0 if higher_is_better else -1.0
    place = max(known, key=lambda candidate: sign * naive[candidate])
    design = Strata.of(sums, strata, stratum_weights)
    drawn, left = (
        Replicates(design, measures, replicates=replicates, seed=seed, out_of_bag=out) for out in (False, True)
    )
    best, told = np.full(replicates, -np.inf), np.full(replicates, np.nan)
    for candidate in known:
        of_drawn, of_left = (
            each.value(candidate) if baseline is None else each.difference(candidate, baseline)
            for each in (drawn, left)
        )
        better = sign * of_drawn > best  # not where NaN
        best[better], told[better] = sign * of_drawn[better], of_left[better]
    told = told[~np.isnan(told)]
    return Best(
        place=place,
        naive=naive[place],
        corrected=ordered_sum(told) / len(told) if len(told) else math.nan,
    )


def held_out(sums: UnitSums, *, share: float = 0.5, key: str = "held out") -> tuple[UnitSums, UnitSums]:
    """The table in two: units that choose, and about `share` of all that had no part in it and then tell.

        a unit tells if the first 8 hexadecimal digits of md5("<key>:<unit id>") < share * 16**8

    The same unit is on the same side whatever the table. Draw a new key before you look, not after.
    Raises DataError unless share is a fraction, or if a side is empty.
    """
    if not 0 < share < 1:
        raise DataError(f"share {share} is not a fraction between 0 and 1")
    digits = [
        hashlib.md5(f"{key}:{unit}".encode(), usedforsecurity=False).hexdigest()[:8] for unit in sums.units.tolist()
    ]
    tells = np.array([int(number, 16) < share * 16**8 for number in digits], dtype=np.bool_)
    if not tells.any() or tells.all():
        raise DataError(f"with key {key!r} all of {len(tells)} units are on one side: take another key or more units")
    return of_units(sums, np.flatnonzero(~tells)), of_units(sums, np.flatnonzero(tells))


def admissible(
    auxiliary: Sequence[Contrast], margins: Sequence[float], *, method: str, higher_is_better: Sequence[bool]
) -> Answer:
    """Whether a candidate keeps all auxiliary metrics, of which it has one contrast each with the baseline.

        passed        every interval is above -margin: admissible
        regressed     one is below 0 and its delta at most -margin
        inconclusive  otherwise, and without an interval

    which is what a gate says (verdict.py), for each metric with its margin and its better side. Intervals of
    confidence 0.9 have one-sided bounds of 95 %. Choose the best of the primary metric among those that passed.
    Raises DataError if the lists do not fit each other.
    """
    if not len(auxiliary) == len(margins) == len(higher_is_better):
        raise DataError(
            f"{len(auxiliary)} contrasts, {len(margins)} margins and {len(higher_is_better)} directions: "
            "each metric needs one of each"
        )
    answers: list[Answer] = []
    for contrast, margin, higher in zip(auxiliary, margins, higher_is_better, strict=True):
        delta, (low, high) = contrast.delta, contrast.intervals[method]
        ends = (delta, low, high) if higher else (-delta, -high, -low)
        answers.append(answer_of_bounds(*ends, margin=margin))
    return answer_of_gate(answers)
