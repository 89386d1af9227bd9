"""Rows of ESTIMATES and CONTRASTS from what was inferred, and the settings that they depend on."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from evalcore.inference import Contrast, Estimate
from evalcore.verdict import default_margin, verdict_of_interval
from jobs.figures import rounded
from jobs.measures import Measure
from jobs.named import canonical
from jobs.sums import Key, Sums

if TYPE_CHECKING:  # executors need no configuration
    from jobs.config import Aggregate

NO_INTERVAL = "no_interval"
"""The flag of a difference of medians: it is told, without an interval or a test."""
WOODRUFF = "woodruff"
"""The method of the interval of a quantile."""
MEDIAN = 0.5
MONTE_CARLO = "monte_carlo"
"""The flag of a contrast whose verdict another seed could change."""


QuantileKey: TypeAlias = tuple[str, str, float]
"""System, column of the measure, level."""


class Quantile(NamedTuple):
    """A quantile of a system's values and the ends of its interval, None where there is none."""

    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How intervals are made; see jobs.config.Aggregate.

    restricted   whether a contrast is over the queries that both of its systems count, from sums of their own
    quantiles    of the values of systems, where they are asked for
    tie_ranges   of (system, name of the metric): how far ties can move the mean, where that diagnostic is there
    """

    methods: Sequence[str]
    confidence: float
    replicates: int
    seed: int
    baseline: str | None
    bucketed: bool
    restricted: bool
    tests: Sequence[str] = ()
    adjust: str = "holm"
    margins: Mapping[str, float] = field(default_factory=dict)
    quantiles: Mapping[QuantileKey, Quantile] = field(default_factory=dict)
    tie_ranges: Mapping[tuple[str, str], float] = field(default_factory=dict)

    @classmethod
    def of(cls, chosen: Aggregate, **found: Any) -> Settings:  # noqa: ANN401 (fields of the class)
        """As the configuration has them, with what it does not know: bucketed, restricted, quantiles, tie_ranges."""
        same = ("methods", "confidence", "replicates", "seed", "baseline", "tests", "adjust")
        margins = {canonical(metric): margin for metric, margin in chosen.margins.items()}
        return cls(**{**{key: getattr(chosen, key) for key in same}, "margins": margins, **found})


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of ESTIMATES and CONTRASTS from what was inferred."""

    sums: Sums
    settings: Settings
    segment: str
    judged_gaps: Collection[tuple[str, str]]

    def of_estimate(self, estimate: Estimate, measure: Measure, system: str) -> list[dict[str, Any]]:
        """A row for each interval method; none for a median, which has rows of its own."""
        key: tuple[Key, str] = ((system, None), measure.column)
        scale = estimate.n_queries if measure.statistic == "sum" else 1
        shared: dict[str, Any] = {
            "segment": self.segment,
            "system": system,
            "metric": measure.name,
            "statistic": measure.statistic,
            "estimate": _value(estimate.estimate * scale),
            "standard_error": _value(estimate.standard_error * scale),
            "degrees_of_freedom": rounded(estimate.degrees_of_freedom),
            "confidence": self.settings.confidence,
            "n_queries": estimate.n_queries,
            "n_units": estimate.n_units,
            "n_undefined": self.sums.undefined[key],
            "flags": self._flags(estimate.flags),
        }
        if measure.statistic == "sum":
            shared["estimate"] = _value(self.sums.total(self.sums.columns[key]))
        rows = [
            {
                **shared,
                "method": method,
                **_ends(ends, estimate.estimate, shared["estimate"], scale),
                "end_error": rounded(estimate.end_errors[method] * scale),
            }
            for method, ends in estimate.intervals.items()
        ]
        return [] if measure.statistic == "median" else rows

    def of_quantiles(self, measure: Measure, system: str) -> list[dict[str, Any]]:
        """A row for each level of the values' quantiles."""
        key: tuple[Key, str] = ((system, None), measure.column)
        n = self.sums.table.n[:, self.sums.columns[key]]
        return [
            {
                "segment": self.segment,
                "system": system,
                "metric": measure.name,
                "statistic": "median" if level == MEDIAN else f"quantile {level:g}",
                "estimate": found.value,
                "method": WOODRUFF,
                "confidence": self.settings.confidence,
                "n_queries": int(n.sum()),
                "n_units": int(np.count_nonzero(n)),
                "n_undefined": self.sums.undefined[key],
                "flags": self._flags(()),
                "low": found.low,
                "high": found.high,
            }
            for (whose, column, level), found in self.settings.quantiles.items()
            if (whose, column) == (system, measure.column)
        ]

    def of_contrast(
        self,
        contrast: Contrast,
        measure: Measure,
        pair: tuple[str, str],
        *,
        sides: tuple[tuple[Key, str], tuple[Key, str]],
        baseline: float,
        p_adjusted: float,
        counts: Mapping[str, Any],
    ) -> list[dict[str, Any]]:
        """A row for each interval method.

        sides      the sums of candidate and baseline that were contrasted
        baseline   its estimate
        counts     wins, ties and losses of the pair, by column
        """
        scale: float = contrast.n_queries if measure.statistic == "sum" else 1
        ours, theirs = (int(self.sums.table.n[:, self.sums.columns[side]].sum()) for side in sides)
        if measure.statistic == "sum" and ours != theirs:
            scale = math.nan  # of two totals over different queries no mean over common ones tells
        margin = self.settings.margins.get(measure.name)
        if margin is None:
            margin = default_margin(0.0 if math.isnan(baseline * scale) else baseline * scale)
        shared: dict[str, Any] = {
            "segment": self.segment,
            "candidate": pair[0],
            "baseline": pair[1],
            "metric": measure.name,
            "statistic": measure.statistic,
            "delta": _value(contrast.delta * scale),
            "relative_delta": _value(contrast.relative_delta),
            "relative_low": rounded(contrast.relative_interval.low),
            "relative_high": rounded(contrast.relative_interval.high),
            "standard_error": _value(contrast.standard_error * scale),
            "degrees_of_freedom": rounded(contrast.degrees_of_freedom),
            "confidence": self.settings.confidence,
            "p_value": rounded(contrast.p_value),
            "p_adjusted": rounded(p_adjusted),
            **{f"p_{test}": rounded(value) for test, value in contrast.p_values.items()},
            "effect_size": rounded(contrast.effect_size),
            **{part: counts.get(f"{measure.column}_{part}", 0) for part in ("wins", "ties", "losses")},
            "n_queries": contrast.n_queries,
            "n_units": contrast.n_units,
            "margin": margin,
            "flags": self._flags(contrast.flags, *self._doubts(pair, measure, margin)),
        }
        if measure.statistic == "sum":
            one, other = (self.sums.columns[side] for side in sides)
            shared["delta"] = _value(self.sums.total(one, other))
        if measure.statistic == "median":
            tested = [key for key in shared if key.startswith("p_")]
            shared |= {**self._median_delta(pair, measure), **dict.fromkeys(("standard_error", "effect_size", *tested))}
            shared["flags"].append(NO_INTERVAL)
        rows = []
        for method, (low, high) in contrast.intervals.items():
            verdict = None  # of a metric that has no better direction
            if measure.higher_is_better is not None and measure.statistic != "median":
                verdict = verdict_of_interval(
                    low * scale,
                    high * scale,
                    margin=margin,
                    higher_is_better=measure.higher_is_better,
                    sufficient="insufficient" not in contrast.flags or contrast.p_value == 1,
                )
            ends = _ends((low, high), contrast.delta, shared["delta"], scale)
            error = contrast.end_errors[method] * scale
            row = {**shared, "method": method, **ends, "end_error": rounded(error), "verdict": verdict}
            if measure.statistic == "median":
                row |= dict.fromkeys(("low", "high", "end_error", "relative_low", "relative_high"))
            elif _near((low * scale, high * scale), (0.0, margin, -margin), reach=2 * error):
                row["flags"] = [*shared["flags"], MONTE_CARLO]
            rows.append(row)
        return rows

    def _median(self, system: str, measure: Measure) -> float | None:
        found = self.settings.quantiles.get((system, measure.column, MEDIAN))
        return found.value if found else None

    def _median_delta(self, pair: tuple[str, str], measure: Measure) -> dict[str, float | None]:
        """The difference of two medians; null where the two are not of the same queries."""
        candidate, baseline = (self._median(system, measure) for system in pair)
        if candidate is None or baseline is None or self.settings.restricted:
            return {"delta": None, "relative_delta": None}
        delta = candidate - baseline
        return {"delta": delta, "relative_delta": delta / baseline if baseline else None}

    def _doubts(self, pair: tuple[str, str], measure: Measure, margin: float) -> list[str]:
        """What a contrast may rest on beside the systems' answers."""
        most = max((self.settings.tie_ranges.get((system, measure.name), 0.0) for system in pair), default=0.0)
        raised = {"ties_matter": most > margin, "judged_gap": pair in self.judged_gaps}
        return [flag for flag, holds in raised.items() if holds]

    def _flags(self, flags: Sequence[str], *more: str) -> list[str]:
        return [*flags, *more, *(["bucketed"] if self.settings.bucketed else [])]


def _near(ends: tuple[float, float], bounds: Sequence[float], *, reach: float) -> bool:
    """Whether an end is so close to a bound that another seed could put it on the other side."""
    return any(abs(end - bound) < reach for end in ends for bound in bounds)


def _ends(ends: tuple[float, float], at: float, told: float | None, scale: float) -> dict[str, float | None]:
    """Both ends of an interval; one that is the estimate itself stays what is told of the estimate."""
    low, high = (told if end == at else rounded(end * scale) for end in ends)
    return {"low": low, "high": high}


def _value(number: float) -> float | None:
    """NaN inside evalcore is null in a table."""
    return None if math.isnan(number) else float(number)
