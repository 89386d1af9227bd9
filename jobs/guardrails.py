"""Two systems and the guardrails of a gate: what is missing, what can be compared, what each guardrail says."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evalcore.errors import unknown
from evalcore.gate import Guardrail, Judgement, judge
from jobs import known_guardrails as before
from jobs.aggregations import Aggregation
from jobs.figures import DIGITS
from jobs.judgements import row
from jobs.known_guardrails import inferred_before, parted
from jobs.measures import Measure
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
    metrics = {name: parted(name)[0] for name in asked.guardrails}
    problems += [
        f"a guardrail is missing: {unknown('metric', metric, aggregation.measures)}"
        for metric in dict.fromkeys(metrics.values())
        if metric not in aggregation.measures
    ]
    known = before.known(aggregation, asked.guardrails, candidate=asked.candidate, baseline=asked.baseline)
    problems += [
        f"a guardrail is missing: {name} has too few units, or was not aggregated for these systems and segments"
        for name, metric in metrics.items()
        if inferred_before(aggregation, name) and metric in aggregation.measures and name not in known
    ]
    answered = {row["system"]: row["n_answered"] for row in aggregation.manifest.get("answers", [])}
    ours, theirs = (answered.get(system, 0) for system in (asked.candidate, asked.baseline))
    if not problems and ours < asked.coverage * theirs:
        problems.append(
            f"{asked.candidate} answered {ours:,} queries, {asked.baseline} {theirs:,}: is the run whole? "
            f"gate.coverage wants {asked.coverage:.2%} of them"
        )
    return problems


def compared(aggregation: Aggregation, asked: Asked) -> tuple[list[dict[str, Any]], list[str]]:
    """Each guardrail as verdict.json has it, and what makes the two sides incomparable.

    Of the level each guardrail that was inferred before has its share, and the others have theirs together.
    """
    whole = [name for name in asked.guardrails if not inferred_before(aggregation, name)]
    shares = [name for name in aggregation.measures if name.partition("@")[0] == "Judged"]
    needed = [aggregation.measures[name] for name in dict.fromkeys([*whole, *shares])]
    found: dict[str, Judgement] = {}
    problems = []
    if needed:
        sums = aggregation.sums([asked.candidate, asked.baseline], needed, baseline=asked.baseline)
        found = _judged(sums, [aggregation.measures[name] for name in whole], asked, aggregation.manifest)
        problems = [*_uncounted(sums, found, asked, aggregation), *_judged_less(sums, shares, asked, aggregation)]
    known = before.known(aggregation, asked.guardrails, candidate=asked.candidate, baseline=asked.baseline)
    rows = []
    for guardrail in asked.guardrails:
        metric, segment = parted(guardrail)
        better = aggregation.measures[metric].higher_is_better is not False
        if guardrail in known:
            found[guardrail] = before.judged(
                known[guardrail],
                margin=asked.margins.get(metric),
                higher_is_better=better,
                strict=asked.strict,
                level=asked.level / len(asked.guardrails),
            )
        judgement = found[guardrail]
        n_units = judgement.n_units if guardrail in known else aggregation.n_units(judgement.n_units)
        rows.append(row(metric, segment, judgement, higher_is_better=better, n_units=n_units))
    return rows, problems


def _judged(sums: Sums, measures: Sequence[Measure], asked: Asked, manifest: Mapping[str, Any]) -> dict[str, Judgement]:
    """Judgements over all queries, by the name of the measure."""
    if not measures:
        return {}
    sides = [sums.pair(asked.candidate, asked.baseline, measure.column) for measure in measures]
    found = judge(
        sums.table,
        measures=[sums.estimated(key, measure) for pair, measure in zip(sides, measures, strict=True) for key in pair],
        guardrails=[
            Guardrail(
                candidate=2 * place,
                baseline=2 * place + 1,
                margin=asked.margins.get(measure.name),
                higher_is_better=measure.higher_is_better is not False,
                most=_most_lost(sums, pair, measure, manifest),
                scale=_counted(sums, pair[0]) if measure.statistic == "sum" else 1,
            )
            for place, (pair, measure) in enumerate(zip(sides, measures, strict=True))
        ],
        strict=asked.strict,
        level=asked.level * len(measures) / len(asked.guardrails),
        strata=sums.strata,
        replicates=asked.replicates,
        seed=asked.seed,
    )
    return {measure.name: judgement for measure, judgement in zip(measures, found, strict=True)}


def _uncounted(sums: Sums, found: Mapping[str, Judgement], asked: Asked, aggregation: Aggregation) -> Iterator[str]:
    """Guardrails that too few of the baseline's queries count for on both sides, unless none could: two arms."""
    for name, judgement in found.items():
        of_baseline = _counted(sums, ((asked.baseline, None), aggregation.measures[name].column))
        unpaired = judgement.n_queries == 0 and not math.isnan(judgement.delta)
        if judgement.n_queries < asked.coverage * of_baseline and not unpaired:
            yield (
                f"{name} counts {judgement.n_queries:,} queries for both systems, of {of_baseline:,} for "
                f"{asked.baseline} alone: gate.coverage wants {asked.coverage:.2%} of them"
            )


def _judged_less(sums: Sums, shares: Sequence[str], asked: Asked, aggregation: Aggregation) -> Iterator[str]:
    """Shares of judged documents that fell too far."""
    for name in shares:
        column = aggregation.measures[name].column
        ours, theirs = (
            sums.table.mean(sums.columns[(system, None), column]) for system in (asked.candidate, asked.baseline)
        )
        if round(theirs - ours, DIGITS) > asked.judged_drop:
            yield (
                f"{name} fell from {theirs:.4f} to {ours:.4f}, by more than {asked.judged_drop:g} (gate.judged_drop): "
                "documents that nobody judged count as not relevant"
            )


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
