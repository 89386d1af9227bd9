"""Two systems and the guardrails of a gate: what is missing, what can be compared, what each guardrail says."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from evalcore.errors import unknown
from evalcore.gate import FEWEST_EFFECTIVE_UNITS, FEWEST_INFORMATIVE_UNITS, Guardrail, Judgement, judge
from jobs.aggregations import Aggregation
from jobs.errors import number_of
from jobs.measures import Measure
from jobs.power import DIGITS, rounded, sizing
from jobs.sums import Key, Sums


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a verdict depends on beside the sums; `margins` are those that somebody set.  See jobs.config.Gate."""

    baseline: str
    candidate: str
    guardrails: list[str]
    margins: dict[str, float]
    strict: bool
    level: float
    coverage: float
    judged_drop: float
    replicates: int
    seed: int


def missing(aggregation: Aggregation, asked: Asked) -> list[str]:
    """What is not there to be compared: nothing is known of it, not even that it is 0."""
    systems = aggregation.manifest["systems"]
    problems = [
        f"the {side} is missing: {unknown('system', system, systems)}"
        for side, system in (("baseline", asked.baseline), ("candidate", asked.candidate))
        if system not in systems
    ]
    problems += [
        f"a guardrail is missing: {unknown('metric', name, aggregation.measures)}"
        for name in asked.guardrails
        if name not in aggregation.measures
    ]
    answered = {row["system"]: row["n_answered"] for row in aggregation.evaluation.get("answers", [])}
    ours, theirs = (answered.get(system, 0) for system in (asked.candidate, asked.baseline))
    if not problems and ours < asked.coverage * theirs:
        problems.append(
            f"{asked.candidate} answered {ours:,} queries, {asked.baseline} {theirs:,}: is the run whole? "
            f"gate.coverage wants {asked.coverage:.2%} of them"
        )
    return problems


def compared(aggregation: Aggregation, asked: Asked) -> tuple[list[dict[str, Any]], list[str]]:
    """Each guardrail as verdict.json has it, and what makes the two sides incomparable."""
    wanted = [aggregation.measures[name] for name in asked.guardrails]
    shares = [each for each in aggregation.measures.values() if each.name.partition("@")[0] == "Judged"]
    every = list({each.name: each for each in (*wanted, *shares)}.values())
    sums = aggregation.sums([asked.candidate, asked.baseline], every, baseline=asked.baseline)
    sides = [sums.pair(asked.candidate, asked.baseline, measure.column) for measure in wanted]
    found = judge(
        sums.table,
        measures=[sums.estimated(key, measure) for pair, measure in zip(sides, wanted, strict=True) for key in pair],
        guardrails=[
            Guardrail(
                candidate=2 * place,
                baseline=2 * place + 1,
                margin=asked.margins.get(measure.name),
                higher_is_better=measure.higher_is_better is not False,
                most=_most_lost(sums, pair, measure, aggregation.manifest),
                scale=_counted(sums, pair[0]) if measure.statistic == "sum" else 1,
            )
            for place, (pair, measure) in enumerate(zip(sides, wanted, strict=True))
        ],
        strict=asked.strict,
        level=asked.level,
        strata=sums.strata,
        replicates=asked.replicates,
        seed=asked.seed,
    )
    of_baseline = [_counted(sums, ((asked.baseline, None), measure.column)) for measure in wanted]
    problems = [
        f"{measure.name} counts {judgement.n_queries:,} queries for both systems, of {n:,} for {asked.baseline} alone: "
        f"gate.coverage wants {asked.coverage:.2%} of them"
        for measure, judgement, n in zip(wanted, found, of_baseline, strict=True)
        if judgement.n_queries < asked.coverage * n
    ]
    for measure in shares:
        ours, theirs = (
            sums.table.mean(sums.columns[(system, None), measure.column])
            for system in (asked.candidate, asked.baseline)
        )
        if round(theirs - ours, DIGITS) > asked.judged_drop:
            problems.append(
                f"{measure.name} fell from {theirs:.4f} to {ours:.4f}, by more than {asked.judged_drop:g} "
                "(gate.judged_drop): documents that nobody judged count as not relevant"
            )
    return [_row(measure, judgement, aggregation) for measure, judgement in zip(wanted, found, strict=True)], problems


def _counted(sums: Sums, key: tuple[Key, str]) -> int:
    return int(sums.table.n[:, sums.columns[key]].sum())


def _most_lost(
    sums: Sums, pair: tuple[tuple[Key, str], tuple[Key, str]], measure: Measure, manifest: Mapping[str, Any]
) -> float:
    """How much of a mean one unit can lose, by the scale of its column; of a bucket, if one of its units does."""
    if measure.kind != "mean":
        return math.inf
    columns = [sums.columns[key] for key in pair]
    reach = math.ldexp(1.0, int(sums.table.exponents[columns[0]]))
    if np.any(sums.table.hi[:, columns] < 0):
        reach *= 2
    return reach * len(sums.table.units) / manifest["n_units"] if manifest["bucketed"] else reach


def _row(measure: Measure, found: Judgement, aggregation: Aggregation) -> dict[str, Any]:
    """A guardrail as verdict.json has it."""
    n_units = aggregation.n_units(found.n_units)
    figures = {
        "margin": found.margin,
        "baseline": found.baseline,
        "candidate": found.candidate,
        "delta": found.delta,
        "at_worst": found.at_worst,
        "at_best": found.at_best,
        "standard_error": found.standard_error,
        "degrees_of_freedom": found.degrees_of_freedom,
        "effective_units": found.effective_units,
    }
    return {
        "metric": measure.name,
        "answer": found.answer,
        "basis": found.basis,
        "reason": _reason(measure, found),
        "higher_is_better": measure.higher_is_better,
        **{key: rounded(value) for key, value in figures.items()},
        "informative_units": found.informative_units,
        "n_units": n_units,
        "n_queries": found.n_queries,
        **sizing(found.margin, found.standard_error, found.degrees_of_freedom, n_units),
    }


def _reason(measure: Measure, found: Judgement) -> str:
    """What a guardrail's answer rests on, in words."""
    delta, worst, best = (_number(value, "+") for value in (found.delta, found.at_worst, found.at_best))
    margin, differ = _number(found.margin), f"{found.informative_units:,} of {number_of(found.n_units, 'unit')} differ"
    match found.basis, found.answer:
        case "bounds", "regressed":
            told = f"changed by {delta}, beyond the margin of {margin}, and at best by {best}"
        case "bounds", "passed":
            worse = "it got worse, but by less than" if found.worsened else "it did not get worse by"
            told = f"changed by {delta}, at worst by {worst}: {worse} the margin of {margin}"
        case "bounds", _ if abs(found.delta) >= found.margin and (found.delta > 0) != measure.higher_is_better:
            told = f"changed by {delta}, beyond the margin of {margin}, but at best by {best}: it may be chance"
        case "bounds", _:
            told = f"changed by {delta}, at worst by {worst}: it may have got worse by the margin of {margin}"
        case "identical", _:
            told = f"is the same on {'its only unit' if found.n_units == 1 else f'all {found.n_units:,} units'}"
        case "no_unit_fell", _:
            told = (
                f"changed by {delta}; {differ}, too few for an interval, but none got worse by the margin of {margin}"
            )
        case "few_differ", _:
            told = f"changed by {delta}; {differ}, too few for it to have got worse by the margin of {margin}"
        case "too_few_differ", _:
            told = f"changed by {delta}; {differ}, and {FEWEST_INFORMATIVE_UNITS} must for an interval"
        case "too_few_units", _:
            told = f"has {found.effective_units:.1f} effective units, and {FEWEST_EFFECTIVE_UNITS} are needed"
        case _:
            told = "has no query that counts for both systems"
    return f"{measure.name} {told}"


def _number(value: float, sign: str = "") -> str:
    return f"{value:{sign}.4f}" if abs(value) < 1000 else f"{value:{sign},.0f}"
