"""Guardrails in segments of the queries: from the contrasts that `evaljob aggregate` made of each segment."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow.dataset as ds

from evalcore.gate import Basis, Judgement, Known, judge_known
from jobs.aggregations import Aggregation

IN = " in "
"""Between a metric and a segment, as in "nDCG@10 in country=de"."""


def parted(guardrail: str) -> tuple[str, str | None]:
    """The metric of a guardrail, and its segment if it has one.

    >>> parted("nDCG@10 in country=de"), parted("AP")
    (('nDCG@10', 'country=de'), ('AP', None))
    """
    metric, _, segment = guardrail.partition(IN)
    return metric.strip(), segment.strip() or None


def known(
    aggregation: Aggregation, guardrails: Sequence[str], *, candidate: str, baseline: str
) -> dict[str, Mapping[str, Any]]:
    """What is known of each guardrail in a segment: rows of CONTRASTS and both sides' values; none if missing."""
    wanted = {parted(each): each for each in guardrails if parted(each)[1] is not None}
    if not wanted or not (aggregation.directory / "segment_contrasts").is_dir():
        return {}
    pair, segments = [candidate, baseline], [segment for _, segment in wanted]
    of_pair = ds.field("candidate").isin(pair) & ds.field("baseline").isin(pair) & ds.field("segment").isin(segments)
    of_sides = ds.field("system").isin(pair) & ds.field("segment").isin(segments)
    values = {
        (row["metric"], row["segment"], row["system"]): row["estimate"]
        for row in aggregation.read("segment_estimates", of_sides).to_pylist()
    }
    found: dict[str, Mapping[str, Any]] = {}
    for row in aggregation.read("segment_contrasts", of_pair).to_pylist():
        key = row["metric"], row["segment"]
        if key in wanted:
            sides = {side: values.get((*key, system)) for side, system in zip(("ours", "theirs"), pair, strict=True)}
            found[wanted[key]] = {**row, **sides, "sign": 1 if row["candidate"] == candidate else -1}
    return found


def judged(
    row: Mapping[str, Any], *, margin: float | None, higher_is_better: bool, strict: bool, level: float
) -> Judgement:
    """The judgement of a guardrail in a segment."""
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
    margin = row["margin"] if margin is None else margin
    return judge_known(contrast, margin=margin, higher_is_better=higher_is_better, strict=strict, level=level)


def _few(row: Mapping[str, Any]) -> Basis | None:
    """Why the segment has no bounds, by the flags of its contrast."""
    if row["delta"] is None:
        return "nothing_counted"
    if row["p_value"] == 1 and row["delta"] == 0 and "degenerate" in row["flags"]:
        return "identical"
    if {"one_unit", "few_clusters"} & set(row["flags"]):
        return "too_few_units"
    return "too_few_differ" if "insufficient" in row["flags"] else None


def _number(value: float | None) -> float:
    return math.nan if value is None else value
