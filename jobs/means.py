"""Rows of several data sets -> the rows of their means, each data set with one vote; without Spark."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from evalcore.inference import Contrast, Estimate, Interval, holm
from evalcore.inference.datasets import mean_contrast, mean_estimate
from evalcore.verdict import verdict_of_interval
from jobs.figures import rounded

Row: TypeAlias = dict[str, Any]
FIGURES = ("standard_error", "degrees_of_freedom", "method", "low", "high", "n_queries", "n_units", "flags")
OF_ESTIMATE = ("metric", "system", "statistic", "estimate", *FIGURES)
TESTED = ("delta", "relative_delta", "p_value", "p_adjusted", "effect_size", "margin", "verdict")
OF_CONTRAST = ("metric", "candidate", "baseline", "statistic", *TESTED, *FIGURES)


def over(
    estimates: Sequence[Sequence[Row]],
    contrasts: Sequence[Sequence[Row]],
    *,
    better: Mapping[str, bool | None],
    restricted: bool,
    confidence: float,
) -> dict[str, list[Row]]:
    """Rows of all data sets, those of one metric and system or pair together, and their means.

    estimates, contrasts   of each data set, in the same order
    better       whether a higher value is better, by metric
    restricted   whether a contrast may be over other queries than its baseline's estimate
    """
    of_systems, of_pairs = (list(zip(*rows, strict=True)) for rows in (estimates, contrasts))
    of_system = {
        (rows[0]["metric"], rows[0]["system"]): [math.nan if restricted else known(row["estimate"]) for row in rows]
        for rows in of_systems
    }
    mean_contrasts = [
        of_contrasts(
            rows,
            of_system[rows[0]["metric"], rows[0]["baseline"]],
            higher_is_better=better[rows[0]["metric"]],
            confidence=confidence,
        )
        for rows in of_pairs
    ]
    adjust(mean_contrasts)
    return {
        "estimates": [row for rows in of_systems for row in rows],
        "contrasts": [row for rows in of_pairs for row in rows],
        "mean_estimates": [of_estimates(rows, confidence=confidence) for rows in of_systems],
        "mean_contrasts": mean_contrasts,
    }


def of_estimates(rows: Sequence[Row], *, confidence: float) -> Row:
    """The mean of one metric and system over data sets, with Student's interval (evalcore.inference.datasets)."""
    of_each = [Estimate(estimate=known(row["estimate"]), **_figures(row)) for row in rows]
    mean = mean_estimate(of_each, confidence=confidence)
    told = {key: rows[0][key] for key in ("metric", "system", "statistic")}
    return told | {"estimate": rounded(mean.estimate)} | _told(mean)


def of_contrasts(
    rows: Sequence[Row], baselines: Sequence[float], *, higher_is_better: bool | None, confidence: float
) -> Row:
    """The mean of one metric and pair of systems over data sets, and how many data sets have which verdict.

    The margin is the mean of the margins. The verdict is inconclusive where too few units of a data set differ.
    p_adjusted is for `adjust` to fill in.
    """
    of_each = [
        Contrast(
            delta=known(row["delta"]),
            relative_delta=known(row["relative_delta"]),
            relative_interval=Interval(math.nan, math.nan),
            p_value=known(row["p_value"]),
            p_values={},
            effect_size=known(row["effect_size"]),
            **_figures(row),
        )
        for row in rows
    ]
    mean = mean_contrast(of_each, baselines, confidence=confidence)
    margin = math.fsum(row["margin"] for row in rows) / len(rows)
    told = {key: rows[0][key] for key in ("metric", "candidate", "baseline", "statistic")}
    told |= {key: rounded(getattr(mean, key)) for key in ("delta", "relative_delta", "p_value", "effect_size")}
    told |= {"p_adjusted": None, "margin": rounded(margin), "verdict": None, **_told(mean)}
    if higher_is_better is not None:
        told["verdict"] = verdict_of_interval(
            *mean.intervals["t"],
            margin=margin,
            higher_is_better=higher_is_better,
            sufficient=all("insufficient" not in row["flags"] or row["p_value"] == 1 for row in rows),
        )
        verdicts = Counter(row["verdict"] for row in rows)
        told["data_sets"] = {each: verdicts[each] for each in ("improved", "regressed", "equivalent", "inconclusive")}
    return told


def adjust(contrasts: Sequence[Row]) -> None:
    """Fill in p_adjusted: Holm's, over the contrasts of a metric."""
    for metric in dict.fromkeys(row["metric"] for row in contrasts):
        rows = [row for row in contrasts if row["metric"] == metric]
        for row, adjusted in zip(rows, holm([known(row["p_value"]) for row in rows]).tolist(), strict=True):
            row["p_adjusted"] = rounded(adjusted)


def known(value: float | None) -> float:
    """Null in a table is NaN inside evalcore."""
    return math.nan if value is None else value


def _figures(row: Row) -> dict[str, Any]:
    """What estimates and contrasts share."""
    return {
        "standard_error": known(row["standard_error"]),
        "degrees_of_freedom": known(row["degrees_of_freedom"]),
        "n_queries": row["n_queries"],
        "n_units": row["n_units"],
        "flags": tuple(row["flags"]),
        "intervals": {},
        "end_errors": {},
    }


def _told(mean: Estimate | Contrast) -> Row:
    """Likewise, of a mean."""
    low, high = (rounded(end) for end in mean.intervals["t"])
    error, df = rounded(mean.standard_error), rounded(mean.degrees_of_freedom)
    return dict(zip(FIGURES, (error, df, "t", low, high, mean.n_queries, mean.n_units, list(mean.flags)), strict=True))
