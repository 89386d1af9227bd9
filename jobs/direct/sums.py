"""Values of queries -> UNIT SUMS and pair counts: the twin of `jobs.unit_sums`, `jobs.pairs` and `jobs.columns`.

    values   column -> (n_systems, n_queries), NaN = null      rows   (n_systems, n_queries), whether a query counts

The same integers are added, so that the tables hold the same numbers as those of Spark.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evalcore import Conventions, Evaluation
from evalcore.arrays import BoolArray, FloatArray, IntArray
from evalcore.inference import scale_exponent, to_limbs
from evalcore.inference.buckets import fold
from evalcore.inference.sums import product_factor
from evalcore.segments import different
from evalcore.statuses import left_out
from jobs.buckets import buckets_of
from jobs.errors import DataRefused, number_of
from jobs.infer import pairs_of
from jobs.measures import TIE, Measure
from jobs.sums import PARTS, TEXTS


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """SCORES as they enter estimates.

    rows        (n_systems, n_queries)
    values      column of the measure -> (n_systems, n_queries), NaN where a query does not count for it
    added       column of UNIT SUMS -> likewise, what a query adds
    undefined   column of the measure -> likewise, whether there was no value before the conventions gave one
    """

    systems: list[str]
    measures: list[Measure]
    units: list[str]
    weights: FloatArray | None
    rows: BoolArray
    values: dict[str, FloatArray]
    parts: dict[str, FloatArray]
    undefined: dict[str, BoolArray]

    @classmethod
    def of(
        cls,
        found: Mapping[str, Evaluation],
        measures: Sequence[Measure],
        conventions: Conventions,
        *,
        units: Sequence[str],
        weights: FloatArray | None,
    ) -> Counted:
        """Of the evaluations of all systems, over the same queries.

        units     (n_queries,)
        weights   (n_queries,), where queries have any
        """
        statuses = np.array([each.statuses for each in found.values()], dtype=np.str_)
        rows = ~np.isin(statuses, left_out(conventions))
        values: dict[str, FloatArray] = {}
        parts: dict[str, FloatArray] = {}
        undefined: dict[str, BoolArray] = {}
        for measure in measures:
            value = np.array([each.columns[measure.source] for each in found.values()])
            if measure.element is not None:
                value = value[:, :, measure.element]
            undefined[measure.column] = rows & np.isnan(value)
            if measure.statistic == "ratio":
                for side in ("above", "below"):
                    part = np.array([each.columns[f"{measure.source}_{side}"] for each in found.values()])
                    parts[f"{measure.column}_{side}"] = np.where(rows, part, np.nan)
            elif measure.needs_relevant and conventions.fill is not None:
                value = np.where(np.isnan(value), conventions.fill, value)
            values[measure.column] = np.where(rows, value, np.nan)
        return cls(
            systems=list(found),
            measures=list(measures),
            units=list(units),
            weights=weights,
            rows=rows,
            values=values,
            parts=parts,
            undefined=undefined,
        )

    def given(self, system: int, other: int) -> Counted:
        """One system over the queries that another counts too."""
        both = self.rows[[system]] & self.rows[[other]]

        def of_both(columns: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
            return {
                key: np.where(both & ~np.isnan(column[[other]]), column[[system]], np.nan)
                for key, column in columns.items()
            }

        return Counted(
            systems=[self.systems[system]],
            measures=self.measures,
            units=self.units,
            weights=self.weights,
            rows=both,
            values=of_both(self.values),
            parts=of_both(self.parts),
            undefined={key: both & column[[system]] for key, column in self.undefined.items()},
        )

    def added(self, measure: Measure) -> dict[str, FloatArray]:
        """What each query adds to the columns of UNIT SUMS.  (n_systems, n_queries) each, NaN for nothing"""
        value = self.values[measure.column]
        match measure.statistic:
            case "ratio":
                added = [self.parts[f"{measure.column}_{side}"] for side in ("above", "below")]
            case "weighted" | "units":
                weight = self._weight(measure)
                added = [value * weight, np.where(np.isnan(value), np.nan, weight)]
            case "geometric":
                added = [np.log(np.where(np.isnan(value), np.nan, np.maximum(value, measure.floor)))]
            case _:
                added = [value]
        return dict(zip(measure.sums, added, strict=True))

    def _weight(self, measure: Measure) -> FloatArray:
        """That of the queries, or one over the unit's queries with a value."""
        value = self.values[measure.column]
        if measure.statistic == "weighted" and self.weights is not None:
            return np.broadcast_to(self.weights, value.shape)
        _, unit = np.unique(np.array(self.units, dtype=np.str_), return_inverse=True)
        weights = np.full(value.shape, np.nan)
        for system, known in enumerate(~np.isnan(value)):
            times = np.bincount(unit, weights=known)[unit]
            weights[system] = np.divide(1.0, times, out=np.full(len(times), np.nan), where=times > 0)
        return weights


@dataclass(frozen=True, slots=True, kw_only=True)
class Summed:
    """UNIT SUMS and pair counts, and what is to be known of them.

    sums         columns, as `jobs.sums.Sums.of_columns` takes them
    units        (n_queries,) the unit of each, or the bucket that it shares
    restricted   whether contrasts are over the queries that both systems count
    """

    sums: dict[str, Any]
    pairs: list[dict[str, Any]]
    exponents: dict[str, int]
    units: Sequence[str]
    n_units: int
    buckets: int
    restricted: bool


def summed(counted: Counted, conventions: Conventions, *, baseline: str | None, apart: bool) -> Summed:
    """Sums over units, and over the queries that two systems both count where these may differ.

    apart   whether two systems may count different queries

    Raises DataRefused where no query counts, or one has no relevant document and that is an error.
    """
    measures = counted.measures
    if conventions.no_relevant == "error":
        _refuse_undefined(counted)
    at = np.flatnonzero(counted.rows.any(axis=0))
    n_units = len({counted.units[place] for place in at.tolist()})
    if not n_units:
        raise DataRefused("no query counts: all are unjudged, or unanswered and left out; judge them, or score others")
    exponents: dict[str, int] = {}
    for measure in measures:
        for column, added in counted.added(measure).items():
            largest = 1.0 if measure.bounded else float(np.nanmax(np.abs(added), initial=0.0))
            if measure.statistic == "units" and column == measure.column and not measure.bounded:
                largest = float(np.nanmax(np.abs(counted.values[column]), initial=0.0))
            exponents[column] = scale_exponent(largest)
    buckets = buckets_of(n_units)
    units = fold(counted.units, buckets=buckets).tolist() if buckets else counted.units
    by_system = any(counted.undefined[each.column].any() for each in measures if each.undefined_by_system)
    restricted = by_system or apart
    tables = [unit_sums(counted, None, units, exponents)]
    if restricted:
        for candidate, against in pairs_of(counted.systems, baseline):
            for one, other in ((candidate, against), (against, candidate)):
                both = counted.given(counted.systems.index(one), counted.systems.index(other))
                tables.append(unit_sums(both, other, units, exponents))
    pairs = [
        _pair(counted, candidate, against, exponents) for candidate, against in pairs_of(counted.systems, baseline)
    ]
    return Summed(
        sums={key: _joined([table[key] for table in tables]) for key in tables[0]},
        pairs=[pair for pair in pairs if pair],
        exponents=exponents,
        units=units,
        n_units=n_units,
        buckets=buckets,
        restricted=restricted,
    )


def _refuse_undefined(counted: Counted) -> None:
    lacking = np.zeros_like(counted.rows)
    for measure in counted.measures:
        if measure.needs_relevant:
            lacking |= counted.undefined[measure.column]
    if n_rows := int(lacking.sum()):
        raise DataRefused(
            f"{number_of(n_rows, 'row')} without a relevant judged document, and no_relevant is error; judge more, or "
            "use --set score.conventions.no_relevant=zero (or skip, one)"
        )


def _joined(parts: Sequence[Any]) -> Any:  # noqa: ANN401 (lists of texts, or arrays)
    return np.concatenate(parts) if isinstance(parts[0], np.ndarray) else [cell for part in parts for cell in part]


def unit_sums(
    counted: Counted, given: str | None, units: Sequence[str], exponents: Mapping[str, int]
) -> dict[str, Any]:
    """UNIT SUMS of these systems; `given` names the one whose queries they are over."""
    names, unit = np.unique(np.array(units, dtype=np.str_), return_inverse=True)
    tables: list[dict[str, Any]] = []
    for system, rows in enumerate(counted.rows):

        def total(numbers: IntArray | BoolArray, rows: BoolArray = rows) -> IntArray:
            """Of each unit, over the rows that count."""
            sums = np.zeros(len(names), dtype=np.int64)
            np.add.at(sums, unit[rows], numbers[rows])
            return sums

        columns: dict[str, IntArray] = {}
        for measure in counted.measures:
            undefined = total(counted.undefined[measure.column][system].astype(np.int64))
            for column, added in counted.added(measure).items():
                known = ~np.isnan(added[system])
                filled = np.where(known, added[system], 0.0)
                high, low = to_limbs(filled, exponent=exponents[column])
                whole = product_factor(filled, exponent=exponents[column])
                parts = (total(known.astype(np.int64)), total(high), total(low), undefined, total(whole * whole))
                columns |= {f"{column}_{part}": sums for part, sums in zip(PARTS, parts, strict=True)}
        there = different(unit[rows])
        texts = (
            names[there].tolist(),
            [None] * len(there),
            [counted.systems[system]] * len(there),
            [given] * len(there),
        )
        numbers = {key: column[there] for key, column in columns.items()}
        tables.append({**dict(zip(TEXTS, texts, strict=True)), **numbers})
    return {key: _joined([table[key] for table in tables]) for key in tables[0]}


def _pair(counted: Counted, candidate: str, baseline: str, exponents: Mapping[str, int]) -> dict[str, object] | None:
    """Wins, ties, losses and products of two systems; None where no query counts for both."""
    one, other = counted.systems.index(candidate), counted.systems.index(baseline)
    if not (counted.rows[one] & counted.rows[other]).any():
        return None
    row: dict[str, object] = {"candidate": candidate, "baseline": baseline}
    for measure in counted.measures:
        ours, theirs = (counted.values[measure.column][system] for system in (one, other))
        both = ~np.isnan(ours) & ~np.isnan(theirs)
        ours, theirs = ours[both], theirs[both]
        delta = theirs - ours if measure.higher_is_better is False else ours - theirs
        row[f"{measure.column}_wins"] = int((delta > TIE).sum())
        row[f"{measure.column}_ties"] = int((np.abs(delta) <= TIE).sum())
        row[f"{measure.column}_losses"] = int((delta < -TIE).sum())
        product = None
        if measure.kind == "mean" and both.any():
            exponent = exponents[measure.column]
            product = int(product_factor(ours, exponent=exponent) @ product_factor(theirs, exponent=exponent))
        row[f"{measure.column}_products"] = product
    return row
