"""Whether a candidate may replace the baseline: how much worse each guardrail can be, and what that means."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Literal, TypeAlias

import numpy as np

from evalcore.errors import DataError
from evalcore.inference import Contrast, Measure, UnitSums, infer
from evalcore.inference.distributions import student_t_quantile
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

LAW = NormalDist()

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
class Known:
    """What was inferred before of a contrast; `few` says why it has no bounds, if it has none."""

    candidate: float
    baseline: float
    delta: float
    standard_error: float
    degrees_of_freedom: float
    n_queries: int
    n_units: int
    few: Basis | None = None


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
    seed_matters   whether a bound is so near to what decides that other draws might have decided otherwise: within
               two standard deviations over seeds
    informative_units          units that differ; None where nobody counted
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
    seed_matters: bool
    standard_error: float
    degrees_of_freedom: float
    n_queries: int
    n_units: int
    effective_units: float
    informative_units: int | None


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
    # how far the quantile of max-T moves from seed to seed, in standard errors
    drawn = math.sqrt(level * (1 - level) / replicates) / LAW.pdf(LAW.inv_cdf(level)) if len(gains) > 1 else 0.0
    return [
        _judged(*each, strict=strict, drawn=drawn)
        for each in zip(guardrails, single.joint.statistics, single.contrasts, at_once.contrasts, strict=True)
    ]


def judge_known(
    contrast: Known, *, margin: float, higher_is_better: bool = True, strict: bool = False, level: float = LEVEL
) -> Judgement:
    """A judgement from a delta and its standard error, where the sums are not at hand: by Student's bounds.

        at_worst = gain - t at 95 % * standard error      at_best = gain + t at 1 - level * standard error

    `level` is that of this guardrail alone. Skewness is not allowed for.  Raises DataError as `answer_of_bounds` does.
    """
    sign = 1.0 if higher_is_better else -1.0
    gain, error, df = sign * contrast.delta, contrast.standard_error, contrast.degrees_of_freedom
    basis: Basis = contrast.few or "bounds"
    answer: Answer = "invalid"
    lower = upper = math.nan
    if basis == "bounds":
        lower = gain - student_t_quantile(CONFIDENCE, df) * error
        upper = gain + student_t_quantile(1 - level, df) * error
        answer = answer_of_bounds(gain, lower, upper, margin=margin, strict=strict)
    elif basis == "identical":
        answer, lower, upper = "passed", 0.0, 0.0
    return Judgement(
        answer=answer,
        basis=basis,
        margin=margin,
        candidate=contrast.candidate,
        baseline=contrast.baseline,
        delta=contrast.delta,
        at_worst=sign * lower + 0.0,
        at_best=sign * upper + 0.0,
        worsened=basis == "bounds" and 2 * gain - lower < 0,
        seed_matters=False,
        standard_error=error,
        degrees_of_freedom=df,
        n_queries=contrast.n_queries,
        n_units=contrast.n_units,
        effective_units=math.nan,
        informative_units=None,
    )


def _confidence_at_once(joint: Joint, level: float) -> float:
    """1 - 2 q."""
    by_max_t = joint_confidence(joint, confidence=1 - level, side="upper")
    known = by_max_t[~np.isnan(by_max_t)]
    one, bonferroni = 1 - 2 * level, 1 - 2 * level / max(1, len(joint.statistics))
    return min(max(one, float(known.max())), bonferroni) if known.size else one


def _judged(
    guardrail: Guardrail, gain: Statistic, single: Contrast, at_once: Contrast, *, strict: bool, drawn: float
) -> Judgement:
    better = guardrail.higher_is_better
    sides = [guardrail.scale * side.estimate for side in gain.sides or ()]
    candidate, baseline = sides if better else reversed(sides)
    margin = default_margin(baseline) if guardrail.margin is None else guardrail.margin
    least = margin / guardrail.scale
    lower, upper = single.intervals["auto"].low, at_once.intervals["auto"].high
    basis = _basis(gain, least, most=guardrail.most)
    seed_matters = False
    match basis:
        case "bounds":
            errors = single.end_errors["auto"], math.hypot(at_once.end_errors["auto"], drawn * gain.standard_error)
            distances = lower + least, upper + (least if strict else 0.0)
            near = [abs(distance) < 2 * error for distance, error in zip(distances, errors, strict=True)]
            seed_matters = near[0] or (near[1] and gain.estimate <= -least)
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
        seed_matters=seed_matters,
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
    # of 10 equal units the sum is 9.999...
    enough = round(gain.effective_units, 9) >= FEWEST_EFFECTIVE_UNITS
    if gain.unpaired:  # no unit has a gain
        few: Basis = "bounds" if gain.informative_units >= FEWEST_INFORMATIVE_UNITS else "too_few_differ"
        return few if enough else "too_few_units"
    if gain.informative_units == 0 and abs(gain.estimate) <= gain.resolution:
        return "identical"
    if enough and gain.informative_units >= FEWEST_INFORMATIVE_UNITS:
        return "bounds"
    if min(gain.estimate, float(np.nanmin(gain.values))) > -margin:
        return "no_unit_fell"
    if not enough:
        return "too_few_units"
    return "few_differ" if max(_most_lost(gain, most), -gain.estimate) < margin else "too_few_differ"


def _most_lost(gain: Statistic, most: float) -> float:
    """What is lost if as many units differ as may, with 95 % confidence, and each loses `most`.

    Source: Garwood 1936, doi:10.1093/biomet/28.3-4.437 (the limit of a Poisson mean).
    """
    return MOST_EVENTS[gain.informative_units] / gain.effective_units * most
