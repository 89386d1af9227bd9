"""UNIT SUMS -> ESTIMATES, CONTRASTS: numpy and Arrow on the driver, without a JVM."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from evalcore.inference import Contrast, Estimate, UnitSums, holm, infer
from evalcore.inference import Measure as Estimated
from evalcore.verdict import default_margin, verdict_of_interval
from jobs.errors import DataRefused
from jobs.measures import Measure
from jobs.tables import ALL, CONTRASTS, ESTIMATES

NO_INTERVAL = "no_interval"
"""The flag of a median: it is told, without an interval or a test."""
Key: TypeAlias = tuple[str, str | None]
"""A system, and the system whose counted queries it is restricted to, if any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How intervals are made; see jobs.config.Aggregate.

    restricted   whether a contrast is over the queries that both of its systems count, from sums of their own
    medians      of (system, column of the measure), where medians are asked for
    """

    methods: Sequence[str]
    confidence: float
    replicates: int
    seed: int
    baseline: str | None
    bucketed: bool
    restricted: bool
    medians: Mapping[tuple[str, str], float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Sums:
    """UNIT SUMS as evalcore takes them, with the names of the columns."""

    table: UnitSums
    columns: dict[tuple[Key, str], int]
    undefined: dict[tuple[Key, str], int]

    @classmethod
    def of(
        cls,
        rows: pa.Table,
        *,
        systems: Sequence[str],
        pairs: Sequence[tuple[str, str]],
        measures: Sequence[Measure],
        exponents: Mapping[str, int],
    ) -> Sums:
        """Rows in any order; what has no row counts nothing.

        pairs   of systems whose sums over the queries that both count are in the rows
        """
        units, unit = np.unique(np.array(rows["unit"].to_pylist(), dtype=np.str_), return_inverse=True)
        if any("\0" in each for each in rows["unit"].to_pylist()):
            raise DataRefused("a unit's name contains a NUL character; mend that column and score again")
        both: list[Key] = [key for one, other in pairs for key in ((one, other), (other, one))]
        keys: list[Key] = [*((system, None) for system in systems), *both]
        places = {key: place for place, key in enumerate(keys)}
        place = np.array(
            [places[key] for key in zip(rows["system"].to_pylist(), rows["given"].to_pylist(), strict=True)], dtype=int
        )
        names = [column for measure in measures for column in measure.sums]
        columns = {(key, column): at * len(names) + i for key, at in places.items() for i, column in enumerate(names)}
        shape = (len(units), len(columns))
        arrays = {part: np.zeros(shape, dtype=np.int64) for part in ("n", "hi", "lo", "undefined")}
        for i, column in enumerate(names):
            for part, array in arrays.items():
                array[unit, place * len(names) + i] = rows[f"{column}_{part}"].to_numpy()
        scale = np.tile(np.array([exponents[column] for column in names], dtype=np.int64), len(places))
        undefined = arrays["undefined"].sum(axis=0)
        return cls(
            UnitSums(units, arrays["n"], arrays["hi"], arrays["lo"], scale),
            columns,
            {key: int(undefined[column]) for key, column in columns.items()},
        )

    def pair(self, candidate: str, baseline: str, column: str) -> tuple[tuple[Key, str], tuple[Key, str]]:
        """Which sums of two systems are over the queries that both count."""
        if ((candidate, baseline), column) in self.columns:
            return ((candidate, baseline), column), ((baseline, candidate), column)
        return ((candidate, None), column), ((baseline, None), column)

    def estimated(self, key: tuple[Key, str], measure: Measure) -> Estimated:
        """What inference makes of a measure's sums."""
        below = self.columns[key[0], f"{measure.column}_below"] if measure.kind == "ratio" else None
        return Estimated(column=self.columns[key], below=below, kind=measure.kind)

    def total(self, column: int, less: int | None = None) -> float:
        """The sum of a column, or of one less another over the same queries, rounded once; NaN if nothing counts."""
        n = int(self.table.n[:, column].sum())
        if n == 0:
            return math.nan
        subtracted = self.table.exact_mean(less) if less is not None else 0
        return float((self.table.exact_mean(column) - subtracted) * n)


def pairs_of(systems: Sequence[str], baseline: str | None) -> list[tuple[str, str]]:
    """(candidate, baseline) of each contrast: against the baseline, or all pairs, the later name the candidate."""
    if baseline is not None:
        return [(system, baseline) for system in systems if system != baseline]
    return [(later, earlier) for earlier, later in combinations(systems, 2)]


def aggregate(
    sums: pa.Table,
    pair_counts: pa.Table,
    *,
    systems: Sequence[str],
    measures: Sequence[Measure],
    exponents: Mapping[str, int],
    settings: Settings,
) -> tuple[pa.Table, pa.Table]:
    """UNIT SUMS and pair counts -> (ESTIMATES, CONTRASTS), a row for each interval method."""
    pairs = pairs_of(systems, settings.baseline)
    restricted_to = pairs if settings.restricted else []
    known = Sums.of(sums, systems=systems, pairs=restricted_to, measures=measures, exponents=exponents)
    by_column = {measure.column: measure for measure in measures}
    places = {key: place for place, key in enumerate(key for key in known.columns if key[1] in by_column)}
    asked = [(pair, measure) for measure in measures for pair in pairs]
    found = infer(
        known.table,
        measures=[known.estimated(key, by_column[key[1]]) for key in places],
        contrasts=[
            (places[one], places[other])
            for pair, measure in asked
            for one, other in [known.pair(*pair, measure.column)]
        ],
        methods=settings.methods,
        confidence=settings.confidence,
        replicates=settings.replicates,
        seed=settings.seed,
    )
    estimates = []
    for measure in measures:
        for system in systems:
            key = ((system, None), measure.column)
            described: dict[str, Any] = {"system": system, "metric": measure.name, "n_undefined": known.undefined[key]}
            if measure.statistic == "sum":
                described["estimate"] = _value(known.total(known.columns[key]))
            if measure.statistic == "median":
                described["estimate"] = _median(settings, system, measure)
            estimates += _estimate_rows(found.estimates[places[key]], measure, described, settings)
    counts = {(row["candidate"], row["baseline"]): row for row in pair_counts.to_pylist()}
    adjusted = _adjusted([measure for _, measure in asked], found.contrasts)
    contrasts = []
    for (pair, measure), contrast, p_adjusted in zip(asked, found.contrasts, adjusted, strict=True):
        row = counts.get(pair, {})
        outcomes = {part: row.get(f"{measure.column}_{part}", 0) for part in ("wins", "ties", "losses")}
        one, other = known.pair(*pair, measure.column)
        described = {"candidate": pair[0], "baseline": pair[1], "metric": measure.name, "p_adjusted": p_adjusted}
        if measure.statistic == "sum":
            described["delta"] = _value(known.total(known.columns[one], known.columns[other]))
        if measure.statistic == "median":
            described |= _median_delta(settings, pair, measure)
        baseline = found.estimates[places[other]].estimate
        contrasts += _contrast_rows(contrast, measure, {**described, **outcomes}, baseline, settings)
    return pa.Table.from_pylist(estimates, ESTIMATES), pa.Table.from_pylist(contrasts, CONTRASTS)


def _median(settings: Settings, system: str, measure: Measure) -> float | None:
    return settings.medians.get((system, measure.column))


def _median_delta(settings: Settings, pair: tuple[str, str], measure: Measure) -> dict[str, float | None]:
    """The difference of two medians; null where the two are not of the same queries."""
    candidate, baseline = (_median(settings, system, measure) for system in pair)
    if candidate is None or baseline is None or settings.restricted:
        return {"delta": None, "relative_delta": None}
    delta = candidate - baseline
    return {"delta": delta, "relative_delta": delta / baseline if baseline else None}


def _adjusted(measures: Sequence[Measure], contrasts: Sequence[Contrast]) -> list[float]:
    """Holm's p-values; a family is the contrasts of one measure."""
    adjusted = np.full(len(contrasts), np.nan)
    p_values = np.array([contrast.p_value for contrast in contrasts])
    for column in dict.fromkeys(measure.column for measure in measures):
        family = np.array([measure.column == column for measure in measures]) & ~np.isnan(p_values)
        adjusted[family] = holm(p_values[family])
    return [float(value) for value in adjusted]


def _estimate_rows(
    estimate: Estimate, measure: Measure, described: Mapping[str, Any], settings: Settings
) -> list[dict[str, Any]]:
    scale = estimate.n_queries if measure.statistic == "sum" else 1
    shared = {
        "segment": ALL,
        "statistic": measure.statistic,
        "estimate": _value(estimate.estimate * scale),
        "standard_error": _value(estimate.standard_error * scale),
        "confidence": settings.confidence,
        "n_queries": estimate.n_queries,
        "n_units": estimate.n_units,
        "flags": _flags(estimate.flags, settings),
        **described,
    }
    if measure.statistic == "median":
        shared |= {"standard_error": None, "flags": [*shared["flags"], NO_INTERVAL]}
    return [
        {**shared, "method": method, **_ends(low, high, scale, measure)}
        for method, (low, high) in estimate.intervals.items()
    ]


def _ends(low: float, high: float, scale: int, measure: Measure) -> dict[str, float | None]:
    if measure.statistic == "median":
        return {"low": None, "high": None}
    return {"low": _value(low * scale), "high": _value(high * scale)}


def _contrast_rows(
    contrast: Contrast, measure: Measure, described: Mapping[str, Any], baseline: float, settings: Settings
) -> list[dict[str, Any]]:
    scale = contrast.n_queries if measure.statistic == "sum" else 1
    margin = default_margin(0.0 if math.isnan(baseline) else baseline * scale)
    shared = {
        "segment": ALL,
        "statistic": measure.statistic,
        "delta": _value(contrast.delta * scale),
        "relative_delta": _value(contrast.relative_delta),
        "standard_error": _value(contrast.standard_error * scale),
        "confidence": settings.confidence,
        "p_value": _value(contrast.p_value),
        "effect_size": _value(contrast.effect_size),
        "n_queries": contrast.n_queries,
        "n_units": contrast.n_units,
        "flags": _flags(contrast.flags, settings),
        **described,
        "p_adjusted": _value(described["p_adjusted"]),
    }
    if measure.statistic == "median":
        nothing = dict.fromkeys(("standard_error", "p_value", "p_adjusted", "effect_size"))
        shared |= {**nothing, "flags": [*shared["flags"], NO_INTERVAL]}
    rows = []
    for method, (low, high) in contrast.intervals.items():
        verdict = None  # of a metric that has no better direction
        higher_is_better = measure.metric.FACTS.higher_is_better
        if higher_is_better is not None and measure.statistic != "median":
            verdict = verdict_of_interval(
                low * scale,
                high * scale,
                margin=margin,
                higher_is_better=higher_is_better,
                sufficient="insufficient" not in contrast.flags or contrast.p_value == 1,
            )
        rows.append({**shared, "method": method, **_ends(low, high, scale, measure), "verdict": verdict})
    return rows


def _flags(flags: Sequence[str], settings: Settings) -> list[str]:
    return [*flags, *(["bucketed"] if settings.bucketed else [])]


def _value(number: float) -> float | None:
    """NaN inside evalcore is null in a table."""
    return None if math.isnan(number) else float(number)
