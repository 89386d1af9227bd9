"""Whether a candidate may replace the baseline: how much worse each guardrail can be, and what that means."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from evalcore.errors import DataError
from evalcore.inference import Contrast, Measure, UnitSums, infer
from evalcore.inference.influence import Statistic
from evalcore.inference.joint import Joint
from evalcore.inference.simultaneous import joint_confidence
from evalcore.inference.strata import Labels
from evalcore.verdict import Answer, answer_of_bounds, default_margin

CONFIDENCE = 0.95
"""Of the bound that a guardrail must keep to pass."""
LEVEL = 0.005
"""The chance that anything is called regressed where nothing changed: once in 200 nights."""
FEWEST_EFFECTIVE_UNITS = 8
FEWEST_INFORMATIVE_UNITS = 10
MOST_EVENTS = (2.9957, 4.7439, 6.2958, 7.7537, 9.1535, 10.5130, 11.8424, 13.1481, 14.4346, 15.7052)
"""The mean of a Poisson number below which, with 95 % confidence, it is where 0, 1, ... 9 were counted."""

Basis: TypeAlias = Literal[
    "bounds", "identical", "no_unit_fell", "few_differ", "too_few_differ", "too_few_units", "nothing_counted"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Guardrail:
    """A measure that must not get worse by as much as the margin.

    candidate, baseline   places in the measures
    margin                above 0; None = `verdict.default_margin` of the baseline's estimate
    most                  how much one unit can lose at most
    scale                 what a mean is multiplied with to be what is told: of sums the number of queries
    """

    candidate: int
    baseline: int
    margin: float | None = None
    higher_is_better: bool = True
    most: float = 1.0
    scale: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What is known of a guardrail, in the unit of its margin; NaN where there is nothing to tell.

    delta      candidate - baseline, as are the next two
    at_worst   the delta is better than this, with 95 % confidence
    at_best    the delta is worse than this; wrong for any guardrail with a probability of `level`
    worsened   whether the delta is worse than 0 with 95 % confidence, if this guardrail were the only one
    basis      bounds           the two above decide (`verdict.answer_of_bounds`)
               identical        no unit differs: passed
               no_unit_fell     there are too few units, or too few differ, and none fell by the margin: passed
               few_differ       1 to 9 units differ; if all that may differ lost the most they can, the measure
                                would still not fall by the margin: passed
               too_few_differ   1 to 9 units differ, and more may be lost than the margin: invalid
               too_few_units    fewer than 8 effective units: invalid
               nothing_counted  no query is counted on both sides: invalid
    """

    answer: Answer
    basis: Basis
    margin: float
    candidate: float
    baseline: float
    delta: float
    at_worst: float
    at_best: float
    worsened: bool
    standard_error: float
    degrees_of_freedom: float
    n_queries: int
    n_units: int
    effective_units: float
    informative_units: int


def judge(
    sums: UnitSums,
    *,
    measures: Sequence[Measure],
    guardrails: Sequence[Guardrail],
    strict: bool = False,
    level: float = LEVEL,
    strata: Labels | None = None,
    replicates: int = 9_999,
    seed: int = 0,
) -> list[Judgement]:
    """A judgement of each guardrail.

        at_worst   lower end of the `auto` interval at 90 %            of the gain: the delta, or -delta where
        at_best    upper end of the `auto` interval at 1 - 2 q           lower is better

    q is the level at which each guardrail's own bound must be made for all to hold at once with probability
    1 - level, by max-T (`joint_confidence`). It is kept between level and level / number of guardrails (Bonferroni):
    the skewness of replicates moves it, and the intervals allow for that already.

    Raises DataError for a level that is not a fraction below 1/2, and as `infer` does.
    Source: docs/gate.md; Westfall & Young 1993, Resampling-Based Multiple Testing, section 2.3.
    """
    if not 0 < level < 0.5:
        raise DataError(f"level {level} is not between 0 and 1/2; one false alarm in 200 nights is 0.005")
    gains = [
        (each.candidate, each.baseline) if each.higher_is_better else (each.baseline, each.candidate)
        for each in guardrails
    ]
    shared: dict[str, Any] = {
        "measures": measures, "contrasts": gains, "strata": strata, "replicates": replicates, "seed": seed
    }  # fmt: skip
    single = infer(sums, confidence=2 * CONFIDENCE - 1, **shared)
    at_once = infer(sums, confidence=_confidence_at_once(single.joint, level), **shared)
    return [
        _judged(*each, strict=strict)
        for each in zip(guardrails, single.joint.statistics, single.contrasts, at_once.contrasts, strict=True)
    ]


def _confidence_at_once(joint: Joint, level: float) -> float:
    """1 - 2 q."""
    by_max_t = joint_confidence(joint, confidence=1 - level, side="upper")
    known = by_max_t[~np.isnan(by_max_t)]
    one, bonferroni = 1 - 2 * level, 1 - 2 * level / max(1, len(joint.statistics))
    return min(max(one, float(known.max())), bonferroni) if known.size else one


def _judged(guardrail: Guardrail, gain: Statistic, single: Contrast, at_once: Contrast, *, strict: bool) -> Judgement:
    better = guardrail.higher_is_better
    sides = [guardrail.scale * side.estimate for side in gain.sides or ()]
    candidate, baseline = sides if better else reversed(sides)
    margin = default_margin(baseline) if guardrail.margin is None else guardrail.margin
    least = margin / guardrail.scale
    lower, upper = single.intervals["auto"].low, at_once.intervals["auto"].high
    basis = _basis(gain, least, most=guardrail.most)
    match basis:
        case "bounds":
            answer = answer_of_bounds(gain.estimate, lower, upper, margin=least, strict=strict)
        case "identical":
            answer, lower, upper = "passed", 0.0, 0.0
        case "no_unit_fell":
            answer, lower, upper = "passed", float(np.nanmin(gain.values)), math.nan
        case "few_differ":
            answer, lower, upper = "passed", -_most_lost(gain, guardrail.most), math.nan
        case _:
            answer, lower, upper = "invalid", math.nan, math.nan
    sign = guardrail.scale if better else -guardrail.scale
    return Judgement(
        answer=answer,
        basis=basis,
        margin=margin,
        candidate=candidate,
        baseline=baseline,
        delta=sign * gain.estimate + 0.0,  # no -0.0
        at_worst=sign * lower + 0.0,
        at_best=sign * upper + 0.0,
        worsened=basis == "bounds" and single.intervals["auto"].high < 0,
        standard_error=guardrail.scale * gain.standard_error,
        degrees_of_freedom=gain.degrees_of_freedom,
        n_queries=single.n_queries,
        n_units=single.n_units,
        effective_units=gain.effective_units,
        informative_units=gain.informative_units,
    )


def _basis(gain: Statistic, margin: float, *, most: float) -> Basis:
    if math.isnan(gain.estimate):
        return "nothing_counted"
    if gain.informative_units == 0:
        return "identical"
    enough = round(gain.effective_units, 9) >= FEWEST_EFFECTIVE_UNITS  # of 10 equal units the sum is 9.999...
    if enough and gain.informative_units >= FEWEST_INFORMATIVE_UNITS:
        return "bounds"
    if not np.isnan(gain.values).all() and min(gain.estimate, float(np.nanmin(gain.values))) > -margin:
        return "no_unit_fell"
    if not enough:
        return "too_few_units"
    return "few_differ" if _most_lost(gain, most) < margin else "too_few_differ"


def _most_lost(gain: Statistic, most: float) -> float:
    """What is lost if as many units differ as may, with 95 % confidence, and each loses `most`.

    Source: Garwood 1936, doi:10.1093/biomet/28.3-4.437 (the limit of a Poisson mean).
    """
    return MOST_EVENTS[gain.informative_units] / gain.effective_units * most
