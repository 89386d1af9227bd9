"""The best of many candidates by one metric, among those on which no other metric falls; without Spark."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow.dataset as ds

from evalcore.errors import unknown
from evalcore.gate import CONFIDENCE
from evalcore.inference import Contrast, Inference, Interval, infer, simultaneous_intervals
from evalcore.inference.selection import admissible, best_of
from evalcore.inference.simultaneous import max_t
from evalcore.verdict import default_margin, verdict_of_interval
from jobs.aggregations import Aggregation
from jobs.config import Config
from jobs.errors import DataRefused, UsageError
from jobs.figures import DIGITS, rounded
from jobs.measures import Measure
from jobs.named import check_margins
from jobs.selection_reasons import reasons
from jobs.sums import Sums
from jobs.tables import ALL

Row: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """Systems, and the sums that they are compared by: over the same queries for all of them.

    settings   those of the aggregation, but for what is given now
    """

    systems: Sequence[str]
    baseline: str | None
    sums: Sums
    settings: Mapping[str, Any]

    @property
    def candidates(self) -> list[str]:
        """All systems but the baseline."""
        return [system for system in self.systems if system != self.baseline]

    def inferring(self, measure: Measure) -> dict[str, Any]:
        """What inference needs to estimate every system by a measure, in their order."""
        return {
            "measures": [self.sums.estimated(((system, None), measure.column), measure) for system in self.systems],
            "strata": self.sums.strata,
            "replicates": self.settings["replicates"],
            "seed": self.settings["seed"],
        }

    def compared(
        self, measure: Measure, candidates: Sequence[str], baseline: str | None, *, method: str, confidence: float
    ) -> Inference:
        """Estimates of all systems, and contrasts of candidates with one of them, if there is one."""
        place = self.systems.index
        pairs = [] if baseline is None else [(place(candidate), place(baseline)) for candidate in candidates]
        how = self.inferring(measure)
        return infer(self.sums.table, contrasts=pairs, methods=[method], confidence=confidence, **how)

    def scale(self, measure: Measure) -> int:
        """What a mean is multiplied by to be what the measure says: inference knows no sums."""
        column = self.sums.columns[(self.systems[0], None), measure.column]
        return int(self.sums.table.n[:, column].sum()) if measure.statistic == "sum" else 1

    def margin(self, measure: Measure, of_baseline: float) -> float:
        """In the measure's unit."""
        margin = self.settings["margins"].get(measure.name)
        return default_margin(of_baseline) if margin is None else float(margin)


def select(directory: Path, config: Config, *, metric: str, auxiliary: Sequence[str] = ()) -> dict[str, Any]:
    """Candidates by a metric, the best first, compared with the baseline at once; and the best that is admissible.

        low, high     of deltas, that hold together (evalcore.inference.simultaneous); p_adjusted is their max-T
        auxiliary     how each metric that must not fall compares: admissible are those of which all answers are passed
        corrected     what the choice gives on units that had no part in it (evalcore.inference.selection)
        less_chosen   what the other admissible ones are less the chosen one, in intervals that hold together

    Raises UsageError for settings that cannot work, DataRefused for damaged files and for systems that count
    different queries.
    """
    aggregation = Aggregation.of(directory, config)
    primary = _measure(aggregation, metric)
    others = {each.name: each for each in (_measure(aggregation, text) for text in auxiliary)}
    field = _field(aggregation, config, list({primary.name: primary, **others}.values()))
    if others and field.baseline is None:
        raise UsageError("auxiliary metrics must not fall below those of which system? Give --baseline SYSTEM")
    of_baseline, rows = _ranked(field, primary)
    for measure in others.values():
        _keep(field, measure, rows)
    for row in rows:
        row["admissible"] = all(each["answer"] == "passed" for each in row["auxiliary"])
    found = {
        "metric": primary.name,
        "higher_is_better": primary.higher_is_better,
        "auxiliary": list(others),
        "baseline": field.baseline,
        "baseline_estimate": of_baseline,
        **{key: aggregation.manifest[key] for key in ("unit", "n_units", "bucketed")},
        **{key: field.settings[key] for key in ("confidence", "replicates", "seed")},
        "candidates": rows,
        "chosen": _choose(field, primary, [row for row in rows if row["admissible"] and row["estimate"] is not None]),
    }
    return {**found, "reasons": reasons(found)}


def _measure(aggregation: Aggregation, text: str) -> Measure:
    name = aggregation.canonical(text)
    if name not in aggregation.measures:
        raise UsageError(unknown("metric", name, aggregation.measures))
    measure = aggregation.measures[name]
    if measure.higher_is_better is None:
        raise UsageError(f"nobody can choose by {name}: neither direction of it is better")
    if measure.statistic == "median":
        raise UsageError(f"nobody can choose by {name}: a difference of medians has no interval; use another mean")
    return measure


def _field(aggregation: Aggregation, config: Config, measures: Sequence[Measure]) -> Field:
    settings, asked = aggregation.settings(config), config.aggregate.systems
    baseline = settings["baseline"]
    if crossed := aggregation.manifest["config"].get("crossed"):
        raise UsageError(
            f"{aggregation.directory} has units of two kinds, for aggregate.crossed is {crossed}, and intervals that "
            "hold together allow for one kind; aggregate without it"
        )
    for system in (*asked, *([] if baseline is None else [baseline])):
        aggregation.known_system(system)
    check_margins(settings["margins"], aggregation.measures)
    systems = [each for each in aggregation.manifest["systems"] if not asked or each in (*asked, baseline)]
    if len(systems) < 2:
        raise UsageError(f"there is nothing to choose from: {systems[0]} is alone")
    of_systems = ds.field("system").isin(systems) & ds.field("given").is_null()
    sums = Sums.of(
        aggregation.read("unit_sums", (ds.field("segment") == ALL) & of_systems),
        aggregation.read("pairs", ds.field("candidate").isin(systems) & ds.field("baseline").isin(systems)),
        systems=systems,
        pairs=[],
        measures=measures,
        exponents=aggregation.manifest["exponents"],
    )
    for measure in measures:
        n = sums.table.n[:, [sums.columns[(system, None), measure.column] for system in systems]]
        if not n.any():
            raise DataRefused(f"{measure.name} counts no query of {', '.join(systems)}")
        if unlike := [place for place in range(len(systems)) if (n[:, place] != n[:, 0]).any()]:
            one, other = (f"{systems[place]} ({n[:, place].sum():,})" for place in (0, unlike[0]))
            raise DataRefused(
                f"{measure.name} counts other queries for {other} than for {one}, and the best is chosen on the same "
                "for all: score with --set score.conventions.unanswered=zero, or choose among others with --systems"
            )
    return Field(systems=systems, baseline=baseline, sums=sums, settings=settings)


def _ranked(field: Field, measure: Measure) -> tuple[float | None, list[Row]]:
    """The baseline's estimate, and a row for each candidate, the best first."""
    confidence, scale = field.settings["confidence"], field.scale(measure)
    found = field.compared(measure, field.candidates, field.baseline, method="t", confidence=confidence)
    of_system = dict(zip(field.systems, found.estimates, strict=True))
    compared = ("delta", "low", "high", "p_adjusted", "margin", "verdict", "less_chosen", "told_from_chosen")
    rows: list[Row] = [
        {"system": system, "estimate": rounded(scale * of_system[system].estimate)}
        | dict.fromkeys(compared)
        | {"flags": list(of_system[system].flags), "auxiliary": []}
        for system in field.candidates
    ]
    of_baseline = math.nan
    if field.baseline is not None:
        of_baseline = scale * of_system[field.baseline].estimate
        margin = field.margin(measure, of_baseline)
        intervals, p_values = simultaneous_intervals(found.joint, confidence=confidence), max_t(found.joint).tolist()
        for row, contrast, ends, p_value in zip(rows, found.contrasts, intervals, p_values, strict=True):
            row["verdict"] = verdict_of_interval(
                *(scale * end for end in ends),
                margin=margin,
                higher_is_better=measure.higher_is_better is not False,
                sufficient=_sufficient(contrast),
            )
            row |= _ends(contrast, ends, scale)
            row |= {"p_adjusted": rounded(p_value), "margin": rounded(margin), "flags": list(contrast.flags)}
    sign, by = -1.0 if measure.higher_is_better else 1.0, "estimate" if field.baseline is None else "delta"
    rows.sort(key=lambda row: math.inf if row[by] is None else sign * row[by])
    return rounded(of_baseline), [{"rank": rank, **row} for rank, row in enumerate(rows, start=1)]


def _keep(field: Field, measure: Measure, rows: Sequence[Row]) -> None:
    """Add to each row how the system compares with the baseline by a metric that must not fall."""
    scale, better = field.scale(measure), measure.higher_is_better is not False
    confidence = round(2 * CONFIDENCE - 1, DIGITS)  # whose worse end is the bound of a gate
    systems = [row["system"] for row in rows]
    found = field.compared(measure, systems, field.baseline, method="auto", confidence=confidence)
    of_baseline = dict(zip(field.systems, found.estimates, strict=True))[str(field.baseline)].estimate
    margin = field.margin(measure, scale * of_baseline)
    for row, contrast in zip(rows, found.contrasts, strict=True):
        answer = admissible([contrast], [margin / scale], method="auto", higher_is_better=[better])
        low, high = contrast.intervals["auto"]
        row["auxiliary"].append(
            {
                "metric": measure.name,
                "answer": answer if _sufficient(contrast) else "inconclusive",
                "delta": rounded(scale * contrast.delta),
                "at_worst": rounded(scale * (low if better else high)),
                "margin": rounded(margin),
                "flags": list(contrast.flags),
            }
        )


def _choose(field: Field, measure: Measure, rows: Sequence[Row]) -> Row | None:
    """The best of some candidates; adds to the other rows how they compare with it."""
    if not rows:
        return None
    scale, of_system = field.scale(measure), {row["system"]: row for row in rows}
    best = best_of(
        field.sums.table,
        [field.systems.index(system) for system in of_system],
        baseline=None if field.baseline is None else field.systems.index(field.baseline),
        higher_is_better=measure.higher_is_better is not False,
        **field.inferring(measure),
    )
    chosen = field.systems[best.place]
    others = [row for row in rows if row["system"] != chosen]
    confidence, systems = field.settings["confidence"], [row["system"] for row in others]
    found = field.compared(measure, systems, chosen, method="t", confidence=confidence)
    intervals = simultaneous_intervals(found.joint, confidence=confidence)
    for row, contrast, ends in zip(others, found.contrasts, intervals, strict=True):
        row["less_chosen"] = _ends(contrast, ends, scale)
        row["told_from_chosen"] = _sufficient(contrast) and (ends.low > 0 or ends.high < 0)
    corrected = best.corrected if others else best.naive  # of one there is no choice
    told = {"naive": rounded(scale * best.naive), "corrected": rounded(scale * corrected)}
    return {"system": chosen, "estimate": of_system[chosen]["estimate"], "among": len(rows), **told}


def _ends(contrast: Contrast, ends: Interval, scale: int) -> Row:
    low, high = (rounded(scale * end) for end in ends)
    return {"delta": rounded(scale * contrast.delta), "low": low, "high": high}


def _sufficient(contrast: Contrast) -> bool:
    """Whether enough units differ for an interval, or none at all."""
    return "insufficient" not in contrast.flags or contrast.p_value == 1
