"""How small a change an aggregation can show, and how many units a smaller one needs; without Spark."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from evalcore.arrays import FloatArray
from evalcore.gate import CONFIDENCE
from evalcore.inference import infer
from evalcore.inference.influence import Statistic
from evalcore.inference.ordered import ordered_sum
from evalcore.inference.planning import chance_to_detect, design_effect, minimal_detectable_effect, units_needed
from evalcore.verdict import default_margin
from jobs.aggregations import Aggregation
from jobs.config import Config
from jobs.errors import UsageError
from jobs.figures import DIGITS, rounded
from jobs.known_guardrails import known
from jobs.named import check_margins


def power(directory: Path, config: Config) -> dict[str, Any]:
    """Of each metric, what the contrast of every system with the baseline can show.

    Raises UsageError for settings that cannot work, DataRefused for damaged files.
    """
    aggregation = Aggregation.of(directory, config)
    made = aggregation.settings(config)
    check_margins(made["margins"], aggregation.measures)
    baseline = aggregation.known_system(made["baseline"])
    candidates = [system for system in aggregation.manifest["systems"] if system != baseline]
    measures = [each for each in aggregation.measures.values() if each.element is None and each.statistic != "median"]
    if not candidates or not measures:
        raise UsageError(f"{directory} holds no contrast: one system alone, or medians, which have no interval")
    sums = aggregation.sums([baseline, *candidates], measures, baseline=baseline)
    asked = [(measure, candidate) for measure in measures for candidate in candidates]
    sides = [sums.pair(candidate, baseline, measure.column) for measure, candidate in asked]
    found = infer(
        sums.table,
        measures=[
            sums.estimated(key, measure) for pair, (measure, _) in zip(sides, asked, strict=True) for key in pair
        ],
        contrasts=[(2 * place, 2 * place + 1) for place in range(len(asked))],
        methods=["t"],
        strata=sums.strata,
    )
    crossing = {
        candidate: known(aggregation, [each.name for each in measures], candidate=candidate, baseline=baseline)
        for candidate in candidates
    }
    rows = []
    for (measure, candidate), statistic, contrast in zip(asked, found.joint.statistics, found.contrasts, strict=True):
        scale = contrast.n_queries if measure.statistic == "sum" else 1
        error, df = scale * statistic.standard_error, statistic.degrees_of_freedom
        (_, of_baseline) = statistic.sides or (statistic, statistic)
        n_units, effect = aggregation.n_units(contrast.n_units), design_effect(statistic)
        if measure.name in crossing[candidate]:  # two kinds of units: the error by one of them is too small
            both, by_unit = crossing[candidate][measure.name], error
            error, df, n_units = both["standard_error"] or math.nan, both["degrees_of_freedom"], both["n_units"]
            effect *= (error / by_unit) ** 2 if by_unit > 0 else math.nan
        margin = made["margins"].get(measure.name) or default_margin(scale * of_baseline.estimate)
        rows.append(
            {
                "metric": measure.name,
                "candidate": candidate,
                "baseline": baseline,
                "standard_deviation": rounded(
                    scale * statistic.deviation if statistic.unpaired else error * math.sqrt(n_units)
                ),
                "correlation": rounded(correlation(statistic)),
                "design_effect": rounded(effect),
                "effective_units": rounded(statistic.effective_units),
                "n_units": n_units,
                "n_queries": contrast.n_queries,
                "standard_error": rounded(error),
                "margin": rounded(margin),
                **sizing(margin, error, df, n_units),
            }
        )
    return {"unit": aggregation.manifest["unit"], "baseline": baseline, "contrasts": rows}


def sizing(margin: float, error: float, df: float, n_units: int) -> dict[str, Any]:
    """What units like these, and more of them, can show; nulls without a standard error above 0.

    margin_in_standard_errors
    p_passed_if_unchanged   the chance of a candidate that is as good as the baseline to pass a gate
    units_to_pass           with which that chance is 90 %
    units_to_detect         with which a delta of the margin is told from 0 with a chance of 80 %
    detectable_effect_80, detectable_effect_90   the least delta that these units tell from 0 with that chance
    """
    told = error > 0
    passing = {"confidence": round(2 * CONFIDENCE - 1, DIGITS)}  # its lower end is the bound of a gate
    return {
        "margin_in_standard_errors": rounded(margin / error) if told else None,
        "p_passed_if_unchanged": rounded(chance_to_detect(margin, error, df, **passing)) if told else None,
        "units_to_pass": units_needed(margin, error, df, n_units, power=0.9, **passing) if told else None,
        "units_to_detect": units_needed(margin, error, df, n_units) if told else None,
        "detectable_effect_80": rounded(minimal_detectable_effect(error, df)) if told else None,
        "detectable_effect_90": rounded(minimal_detectable_effect(error, df, power=0.9)) if told else None,
    }


def correlation(contrast: Statistic) -> float:
    """Between the candidate's and the baseline's units: the higher, the more pairing saves.

    sum of u_g v_g / root of (sum of u_g**2 * sum of v_g**2)      u, v: influence of unit g on either side
    """
    if contrast.sides is None:
        return math.nan
    u, v = (side.influence for side in contrast.sides)

    def product(one: FloatArray, other: FloatArray) -> float:
        return ordered_sum(np.multiply(one, other))

    below = math.sqrt(product(u, u) * product(v, v))
    return product(u, v) / below if below > 0 else math.nan
