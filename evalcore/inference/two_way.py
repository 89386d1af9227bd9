"""Queries that depend on each other in two ways that cross: those of one user, and those of one text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from evalcore.errors import DataError
from evalcore.inference.distributions import student_t_cdf, student_t_quantile
from evalcore.inference.estimates import Contrast, Estimate, exponential, infer
from evalcore.inference.evidence import Interval
from evalcore.inference.measures import Measure
from evalcore.inference.sums import UnitSums

Either = TypeVar("Either", Estimate, Contrast)


def two_way(
    one: UnitSums,
    other: UnitSums,
    both: UnitSums,
    *,
    measures: Sequence[Measure] | None = None,
    contrasts: Sequence[tuple[int, int]] = (),
    confidence: float = 0.95,
) -> tuple[list[Estimate], list[Contrast]]:
    """Estimates and contrasts of queries that depend on each other where they share a unit of either kind.

        variance = V_one + V_other - V_both, but not below V_one or V_other        each CR2
        df       = the fewer of those that V_one and V_other have; G - 1 for units of one size
        interval = estimate +- q * root of variance        q the quantile of Student's t, of a geometric mean in logs

    one, other   sums of the same columns over the same queries, by one kind of unit and by the other
    both         by pairs of units: queries that share both; pairs may share buckets

    The interval is called "two_way". n_units is the number of the fewer units, and a flag holds if it holds for
    either kind. effect_size is over the deltas of pairs of units, and there is no relative_interval (NaN). With
    df = the fewer G - 1, as is usual, intervals for units of very unequal size cover too little: 90 to 95 % where
    these cover 94 to 99 %.

    Raises DataError if the three tables are not sums of the same queries.

    Source: Cameron, Gelbach & Miller 2011, doi:10.1198/jbes.2010.07136; on sums that come out too low, below 0 even,
    MacKinnon, Nielsen & Webb 2024, arXiv:2406.08880.
    """
    _check(one, other, both)
    found = [
        infer(sums, measures=measures, contrasts=contrasts, methods=["t"], confidence=confidence)
        for sums in (one, other, both)
    ]
    kinds = ["mean" if measures is None else measures[place].kind for place in range(len(found[0].estimates))]
    estimates = [
        _joined(of_both, (a, b), of_both.estimate, confidence=confidence, logarithmic=kind == "geometric")
        for a, b, of_both, kind in zip(*(each.estimates for each in found), kinds, strict=True)
    ]
    deltas = [
        _with_p_value(_joined(of_both, (a, b), of_both.delta, confidence=confidence), (a, b))
        for a, b, of_both in zip(*(each.contrasts for each in found), strict=True)
    ]
    return estimates, deltas


def _joined(
    both: Either, ways: tuple[Either, Either], value: float, *, confidence: float, logarithmic: bool = False
) -> Either:
    squares = [way.standard_error * way.standard_error for way in ways]
    added = sum(squares) - both.standard_error * both.standard_error
    error = math.nan if math.isnan(added) else math.sqrt(max(added, *squares))
    df = min(way.degrees_of_freedom for way in ways)
    reach = student_t_quantile((1 + confidence) / 2, df) * error
    ends = Interval(value - reach, value + reach)
    if logarithmic:
        ratio = exponential(reach / value)
        ends = Interval(value / ratio, value * ratio)
    raised = [flag for way in ways for flag in way.flags if flag != "degenerate"] + ["degenerate"] * (error == 0)
    found: Either = replace(
        both,
        standard_error=error,
        degrees_of_freedom=df,
        n_units=min(way.n_units for way in ways),
        flags=tuple(dict.fromkeys(raised)),
        intervals={"two_way": ends},
        end_errors={"two_way": both.end_errors["t"]},
    )
    return found


def _with_p_value(contrast: Contrast, ways: tuple[Contrast, Contrast]) -> Contrast:
    error, p_value = contrast.standard_error, max(way.p_value for way in ways)
    if error > 0:
        t = abs(contrast.delta) / error
        p_value = max(2 * student_t_cdf(-t, contrast.degrees_of_freedom), math.ulp(0.0))
    return replace(contrast, p_value=p_value, relative_interval=Interval(math.nan, math.nan))


def _check(one: UnitSums, other: UnitSums, both: UnitSums) -> None:
    """Raises DataError unless all are sums of the same queries."""
    for name, sums in (("other", other), ("both", both)):
        if len(sums.exponents) != len(one.exponents):
            raise DataError(f"{len(one.exponents)} columns by one unit, {len(sums.exponents)} by {name}")
        for column in range(len(one.exponents)):
            here, there = int(one.n[:, column].sum()), int(sums.n[:, column].sum())
            if here != there or (here and one.exact_mean(column) != sums.exact_mean(column)):
                raise DataError(
                    f"column {column} has {here} queries and mean {one.mean(column)} by one unit, {there} and "
                    f"{sums.mean(column)} by {name}: the tables must be sums of the same queries"
                )
