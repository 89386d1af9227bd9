"""Guardrails whose bounds follow from what `evaljob aggregate` inferred: in segments, and of units that cross."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow.dataset as ds

from evalcore.gate import Basis, Judgement, Known, judge_known
from evalcore.verdict import default_margin
from jobs.aggregations import Aggregation
from jobs.tables import ALL

IN = " in "
"""Between a metric and a segment, as in "nDCG@10 in country=de"."""
TWO_WAY = "two_way"
"""The method whose standard error allows for both kinds of units that cross."""


def parted(guardrail: str) -> tuple[str, str | None]:
    """The metric of a guardrail, and its segment if it has one.

    >>> parted("nDCG@10 in country=de"), parted("AP")
    (('nDCG@10', 'country=de'), ('AP', None))
    """
    metric, _, segment = guardrail.partition(IN)
    return metric.strip(), segment.strip() or None


def inferred_before(aggregation: Aggregation, guardrail: str) -> bool:
    """Whether a guardrail's bounds cannot be made from UNIT SUMS: it is in a segment, or two kinds of units cross."""
    return parted(guardrail)[1] is not None or aggregation.manifest["config"].get("crossed") is not None


def known(
    aggregation: Aggregation, guardrails: Sequence[str], *, candidate: str, baseline: str
) -> dict[str, Mapping[str, Any]]:
    """What is known of each such guardrail: a row of CONTRASTS and both sides' values; none of one that is missing."""
    asked = [each for each in guardrails if inferred_before(aggregation, each)]
    wanted = {(metric, segment or ALL): each for each in asked for metric, segment in [parted(each)]}
    pair, segments = [candidate, baseline], ds.field("segment").isin([segment for _, segment in wanted])
    of_pair = ds.field("candidate").isin(pair) & ds.field("baseline").isin(pair) & segments
    of_sides = ds.field("system").isin(pair) & segments
    values: dict[tuple[str, str, str], float | None] = {}
    rows: list[dict[str, Any]] = []
    for estimates, contrasts, chosen in (
        ("segment_estimates", "segment_contrasts", None),
        ("estimates.parquet", "contrasts.parquet", ds.field("method") == TWO_WAY),
    ):
        if wanted and (aggregation.directory / contrasts).exists():
            both = [of_sides, of_pair] if chosen is None else [of_sides & chosen, of_pair & chosen]
            for row in aggregation.read(estimates, both[0]).to_pylist():
                values[row["metric"], row["segment"], row["system"]] = row["estimate"]
            rows += aggregation.read(contrasts, both[1]).to_pylist()
    found: dict[str, Mapping[str, Any]] = {}
    for row in rows:
        key = row["metric"], row["segment"]
        if key in wanted:
            sides = {side: values.get((*key, system)) for side, system in zip(("ours", "theirs"), pair, strict=True)}
            found[wanted[key]] = {**row, **sides, "sign": 1 if row["candidate"] == candidate else -1}
    return found


def judged(
    row: Mapping[str, Any], *, margin: float | None, higher_is_better: bool, strict: bool, level: float
) -> Judgement:
    """The judgement of such a guardrail."""
    contrast = Known(
        candidate=_number(row["ours"]),
        baseline=_number(row["theirs"]),
        delta=row["sign"] * _number(row["delta"]),
        standard_error=_number(row["standard_error"]),
        degrees_of_freedom=_number(row["degrees_of_freedom"]),
        n_queries=row["n_queries"],
        n_units=row["n_units"],
        few=_few(row),
    )
    if margin is None:  # that of the row is of its own baseline, which may be the candidate here
        margin = row["margin"] if row["sign"] == 1 else default_margin(contrast.baseline)
    return judge_known(contrast, margin=margin, higher_is_better=higher_is_better, strict=strict, level=level)


def _few(row: Mapping[str, Any]) -> Basis | None:
    """Why there are no bounds, by the flags of the contrast."""
    if row["delta"] is None:
        return "nothing_counted"
    if row["p_value"] == 1 and row["delta"] == 0 and "degenerate" in row["flags"]:
        return "identical"
    if {"one_unit", "few_clusters"} & set(row["flags"]):
        return "too_few_units"
    return "too_few_differ" if "insufficient" in row["flags"] else None


def _number(value: float | None) -> float:
    return math.nan if value is None else value
