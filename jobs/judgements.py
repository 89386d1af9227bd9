"""A guardrail as verdict.json has it: figures, and what its answer rests on in words."""

from __future__ import annotations

import math
from typing import Any

from evalcore.gate import FEWEST_EFFECTIVE_UNITS, FEWEST_INFORMATIVE_UNITS, Judgement
from jobs.errors import number_of
from jobs.figures import figure, rounded
from jobs.power import sizing


def row(metric: str, segment: str | None, found: Judgement, *, higher_is_better: bool, n_units: int) -> dict[str, Any]:
    """A guardrail as verdict.json has it; n_units are those that its buckets hold, where it has buckets."""
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
        "metric": metric,
        "segment": segment,
        "answer": found.answer,
        "basis": found.basis,
        "reason": f"{metric}{f' in {segment}' if segment else ''} {_reason(found, higher_is_better=higher_is_better)}",
        "higher_is_better": higher_is_better,
        **{key: rounded(value) for key, value in figures.items()},
        "seed_matters": found.seed_matters,
        "informative_units": found.informative_units,
        "n_units": n_units,
        "n_queries": found.n_queries,
        **sizing(found.margin, found.standard_error, found.degrees_of_freedom, n_units),
    }


def _reason(found: Judgement, *, higher_is_better: bool) -> str:
    if found.basis == "bounds":
        return _by_bounds(found, higher_is_better=higher_is_better)
    delta, margin = figure(found.delta, sign="+"), figure(found.margin)
    count = f"fewer than {FEWEST_INFORMATIVE_UNITS}" if found.informative_units is None else found.informative_units
    differ = f"changed by {delta}; {count} of {number_of(found.n_units, 'unit')} differ"
    effective = "too few" if math.isnan(found.effective_units) else f"{found.effective_units:.1f}"
    return {
        "identical": f"is the same on {'its only unit' if found.n_units == 1 else f'all {found.n_units:,} units'}",
        "no_unit_fell": f"{differ}, too few for an interval, but none got worse by the margin of {margin}",
        "few_differ": f"{differ}, too few for it to have got worse by the margin of {margin}",
        "too_few_differ": f"{differ}, and {FEWEST_INFORMATIVE_UNITS} must for an interval",
        "too_few_units": f"has {effective} effective units, and {FEWEST_EFFECTIVE_UNITS} are needed",
        "nothing_counted": "has no query that counts for both systems",
    }[found.basis]


def _by_bounds(found: Judgement, *, higher_is_better: bool) -> str:
    delta, worst, best = (figure(value, sign="+") for value in (found.delta, found.at_worst, found.at_best))
    margin, beyond = figure(found.margin), (found.delta > 0) != higher_is_better and abs(found.delta) >= found.margin
    if found.answer == "passed":
        worse = "it got worse, but by less than" if found.worsened else "it did not get worse by"
        told = f"at worst by {worst}: {worse} the margin of {margin}"
    elif found.answer == "regressed":
        told = f"beyond the margin of {margin}, and at best by {best}"
    elif beyond:
        told = f"beyond the margin of {margin}, but at best by {best}: it may be less, or chance"
    else:
        told = f"at worst by {worst}: it may have got worse by the margin of {margin}"
    seed = "; another seed might answer otherwise, more replicates tell" if found.seed_matters else ""
    return f"changed by {delta}, {told}{seed}"
