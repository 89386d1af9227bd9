"""UNIT SUMS of several aggregations -> those of all their queries, without Spark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from evalcore.inference import LIMB_BITS
from evalcore.inference.buckets import fold
from jobs.buckets import MOST_UNITS, buckets_of
from jobs.measures import Measure
from jobs.sums import PARTS
from jobs.tables import UNIT_SUMS

KEYS = [key for key in UNIT_SUMS if key != "n_queries"]
COUNTS = ("wins", "ties", "losses")
SIDES = ("candidate", "baseline")


@dataclass(frozen=True, slots=True, kw_only=True)
class Night:
    """The sums of one aggregation.

    sums        UNIT SUMS of some systems
    pairs       pair counts
    asked       (candidate, baseline) of all pairs that were counted
    exponents   the scale of each column
    buckets     how many buckets the units share, 0 if none
    restricted  whether there are sums over the queries that both of a pair count
    """

    sums: pa.Table
    pairs: pa.Table
    asked: Sequence[tuple[str, str]]
    exponents: Mapping[str, int]
    buckets: int
    restricted: bool


def added(
    nights: Sequence[Night], measures: Sequence[Measure], *, pairs: Sequence[tuple[str, str]]
) -> tuple[pa.Table, pa.Table, dict[str, int], int]:
    """UNIT SUMS and counts of the pairs over all queries, the scale of each column, and how many buckets units share.

    Integers are added, so no order of nights changes a bit. A column takes the largest of its scales; sums of a
    smaller one are brought to it exactly where they can be, else rounded to the nearest. What is not known of a pair
    on one of the nights is null.
    """
    columns = [column for measure in measures for column in measure.sums]
    exponents = {column: max(night.exponents[column] for night in nights) for column in columns}
    restricted = any(night.restricted for night in nights)
    scaled = [_scaled(night, measures, exponents) for night in nights]
    if restricted:
        scaled = [night if night.restricted else _with_given(night, pairs) for night in scaled]
    tables, buckets = _folded(scaled)
    kept = [*KEYS, "n_queries", *(f"{column}_{part}" for column in columns for part in PARTS)]
    whole = pa.concat_tables([table.select(kept) for table in tables], promote_options="permissive")
    summed = whole.group_by(KEYS).aggregate([(column, "sum") for column in kept if column not in KEYS])
    summed = summed.rename_columns([column.removesuffix("_sum") for column in summed.column_names]).select(kept)
    order = [(key, "ascending") for key in KEYS]
    return summed.sort_by(order), _added_pairs(scaled, measures, pairs), exponents, buckets


def _folded(nights: Sequence[Night]) -> tuple[list[pa.Table], int]:
    """The tables with their units in as many buckets, none if all units are few enough to be rows of their own."""
    tables = [night.sums for night in nights]
    units, strata = (
        pc.unique(pa.chunked_array([chunk for table in tables for chunk in table[key].chunks]))
        for key in ("unit", "stratum")
    )
    if any(night.buckets for night in nights):
        fewest = min(night.buckets for night in nights if night.buckets)
        buckets = min(fewest, buckets_of(MOST_UNITS + 1, n_strata=len(strata)))
    else:
        buckets = buckets_of(len(units), n_strata=len(strata))
    if not buckets:
        return tables, 0
    return [_in_buckets(night, buckets) for night in nights], buckets


def _in_buckets(night: Night, buckets: int) -> pa.Table:
    """A table with its units in buckets, which are by stratum where there are strata."""
    units, strata = night.sums["unit"].to_pylist(), night.sums["stratum"].to_pylist()
    if night.buckets == buckets:
        return night.sums
    if night.buckets:
        # a number of buckets that divides another folds them
        places = [f"{int(unit.rpartition('/')[2]) % buckets:04d}" for unit in units]
    else:
        places = fold(units, buckets=buckets).tolist()
    named = [place if stratum is None else f"{stratum}/{place}" for place, stratum in zip(places, strata, strict=True)]
    return night.sums.set_column(night.sums.column_names.index("unit"), "unit", pa.array(named, pa.string()))


def _with_given(night: Night, pairs: Sequence[tuple[str, str]]) -> Night:
    """With sums over the queries that both of a pair count, of a night on which all systems count the same ones."""
    place = night.sums.column_names.index("given")
    tables = [night.sums]
    for one, other in {pair for both in pairs for pair in (both, both[::-1])}:
        rows = night.sums.filter(pc.equal(night.sums["system"], one))
        tables.append(rows.set_column(place, "given", pa.array([other] * rows.num_rows, pa.string())))
    return replace(night, sums=pa.concat_tables(tables, promote_options="permissive"))


def _scaled(night: Night, measures: Sequence[Measure], exponents: Mapping[str, int]) -> Night:
    """The sums of a night at other scales."""
    sums, pairs = night.sums, night.pairs
    for measure in measures:
        for column in measure.sums:
            shift = exponents[column] - night.exponents[column]
            if not shift:
                continue
            high, low, squares = (sums[f"{column}_{part}"].to_pylist() for part in ("hi", "lo", "squares"))
            totals = [_rounded((hi << LIMB_BITS) + lo, shift) for hi, lo in zip(high, low, strict=True)]
            sums = _put(sums, f"{column}_hi", [total >> LIMB_BITS for total in totals])
            sums = _put(sums, f"{column}_lo", [total & ((1 << LIMB_BITS) - 1) for total in totals])
            sums = _put(sums, f"{column}_squares", [_rounded(square, 2 * shift) for square in squares])
            name = f"{column}_products"
            if name in pairs.column_names:
                products = pairs[name].to_pylist()
                pairs = _put(pairs, name, [None if each is None else _rounded(each, 2 * shift) for each in products])
    return replace(night, sums=sums, pairs=pairs)


def _put(table: pa.Table, column: str, values: Sequence[int | None]) -> pa.Table:
    return table.set_column(table.column_names.index(column), column, pa.array(values, pa.int64()))


def _rounded(number: int, shift: int) -> int:
    """A whole number over 2**shift, to the nearest; halves to the even one.

    >>> [_rounded(number, 1) for number in (4, 5, 7, -5)]
    [2, 2, 4, -2]
    """
    whole, rest = number >> shift, number & ((1 << shift) - 1)
    half = 1 << (shift - 1)
    return whole + (rest > half or (rest == half and whole % 2 == 1))


def _added_pairs(nights: Sequence[Night], measures: Sequence[Measure], pairs: Sequence[tuple[str, str]]) -> pa.Table:
    """Counts of each pair over all nights; null where one of them did not count the pair."""
    known = [{(row["candidate"], row["baseline"]): row for row in night.pairs.to_pylist()} for night in nights]
    counts = [f"{measure.column}_{part}" for measure in measures for part in COUNTS]
    products = [f"{measure.column}_products" for measure in measures]
    rows: list[dict[str, Any]] = []
    for pair in pairs:
        found = [_of_pair(rows, night.asked, pair) for rows, night in zip(known, nights, strict=True)]
        there = [row for row in found if row is not None]
        row: dict[str, Any] = dict(zip(SIDES, pair, strict=True))
        row |= {
            column: sum(each.get(column, 0) for each in there) if len(there) == len(found) else None
            for column in counts
        }
        for column in products:
            values = [each[column] for each in there if each.get(column) is not None]
            row[column] = sum(values) if values and len(there) == len(found) else None
        rows.append(row)
    schema = pa.schema(
        [*((side, pa.string()) for side in SIDES), *((each, pa.int64()) for each in (*counts, *products))]
    )
    return pa.Table.from_pylist(rows, schema)


def _of_pair(
    known: Mapping[tuple[str, str], Mapping[str, Any]], asked: Sequence[tuple[str, str]], pair: tuple[str, str]
) -> Mapping[str, Any] | None:
    """What one night counted of a pair, whichever side was the candidate; None where it did not."""
    other = pair[::-1]
    if pair in known:
        return known[pair]
    if other in known:
        row = known[other]
        turned = {"_wins": "_losses", "_losses": "_wins"}
        ends = {column: next((end for end in turned if column.endswith(end)), "") for column in row}
        return {column.removesuffix(end) + turned.get(end, ""): row[column] for column, end in ends.items()}
    return {} if pair in asked or other in asked else None
