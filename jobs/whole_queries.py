"""SCORES -> pair counts and movers of the queries whose rows lie together, in one pass that moves nothing.

Job 1 writes the rows of a query one after the other. Those that lie apart, because a task begins between them or
because another program wrote them, are told apart, for `jobs.pairs` to join.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from evalcore.inference.sums import product_factor
from jobs.measures import TIE, Measure

ROWS = 100_000
"""Worked on at a time: few enough to stay in the cache, and for sums of whole numbers to be exact in a double."""
Pair: TypeAlias = tuple[str, str]
Values: TypeAlias = npt.NDArray[np.float64]


def scan(
    values: DataFrame,
    *,
    systems: Sequence[str],
    pairs: Sequence[Pair],
    measures: Sequence[Measure],
    exponents: Mapping[str, int],
    most: int,
) -> DataFrame:
    """Rows of three kinds, each in a column of its own that is null in the others.

    counts  what `pairs.pair_counts` has, of one task
    mover   what `pairs.moved` has, at most `most` of one task for each pair, metric and direction
    apart   the row of a query that has not one row of every system, one after the other

    values  `unit_sums.values`: a query that not every system counts has a row of every system all the same
    pairs   (candidate, baseline)
    """
    scanner = _Scanner(list(systems), list(pairs), list(measures), dict(exponents), most)
    columns = [F.col(measure.column).cast("double") for measure in measures]
    return values.select("query_id", "system", *columns).mapInArrow(scanner.scan, from_arrow_schema(scanner.schema))


@dataclass(frozen=True)
class _Scanner:
    systems: list[str]
    pairs: list[Pair]
    measures: list[Measure]
    exponents: dict[str, int]
    most: int
    schema: pa.Schema = field(init=False)

    def __post_init__(self) -> None:
        sides = [("candidate", pa.string()), ("baseline", pa.string())]
        counted = [(name, pa.int64()) for measure in self.measures for name in counts_of(measure)]
        values = [("candidate_value", pa.float64()), ("baseline_value", pa.float64())]
        kinds = {
            "counts": [*sides, *counted],
            "mover": [*sides, ("metric", pa.string()), ("query_id", pa.string()), *values],
            "apart": [
                ("query_id", pa.string()),
                ("system", pa.string()),
                *((measure.column, pa.float64()) for measure in self.measures),
            ],
        }
        object.__setattr__(self, "schema", pa.schema([(kind, pa.struct(fields)) for kind, fields in kinds.items()]))

    def scan(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The rows of one task."""
        counts: dict[Pair, _Counts] = defaultdict(lambda: _Counts(self.most))
        for table in _cut(batches):
            ids, rows, apart = self._whole(table)
            if apart.any():
                yield self._batch(apart=table.filter(pa.array(apart)).to_pylist())
            for measure in self.measures if len(rows) else ():
                values = table[measure.column].to_numpy()[rows]
                sides = dict(zip(self.systems, values.T, strict=True))
                factors = {}
                if measure.kind == "mean":  # the values are what is summed, so they fit the scale
                    exponent = self.exponents[measure.column]
                    factors = {system: _factors(side, exponent) for system, side in sides.items()}
                for candidate, baseline in self.pairs:
                    found = counts[candidate, baseline]
                    both = (factors[candidate], factors[baseline]) if factors else None
                    found.add(measure, sides[candidate], sides[baseline], both, ids)
        for (candidate, baseline), found in counts.items():
            named = {"candidate": candidate, "baseline": baseline}
            yield self._batch(
                counts=[{**named, **found.counts}],
                mover=[{**named, **mover} for measure in self.measures for mover in found.movers(measure)],
            )

    def _whole(self, table: pa.Table) -> tuple[pa.Array, npt.NDArray[np.intp], npt.NDArray[np.bool_]]:
        """The queries whose rows lie together: their ids, (n, n_systems) the row of each system, and all other rows."""
        ids = table["query_id"].combine_chunks()
        begins = np.concatenate([[True], pc.not_equal(ids[1:], ids[:-1]).to_numpy(zero_copy_only=False)])
        query = np.cumsum(begins) - 1
        first = np.flatnonzero(begins)
        system = pc.index_in(table["system"].combine_chunks(), value_set=pa.array(self.systems)).to_numpy()
        rows = np.full((len(first), len(self.systems)), -1)
        rows[query, system] = np.arange(len(query))
        whole = (rows >= 0).all(axis=1) & (np.diff(first, append=len(query)) == len(self.systems))
        return ids.take(pa.array(first[whole])), rows[whole], ~whole[query]

    def _batch(self, **rows: Sequence[Mapping[str, object]]) -> pa.RecordBatch:
        """Rows of some of the kinds."""
        each = [{kind: row} for kind, of_kind in rows.items() for row in of_kind]
        return pa.RecordBatch.from_pylist(each, schema=self.schema)


def counts_of(measure: Measure) -> tuple[str, str, str, str]:
    """The columns of pair counts that are of a measure."""
    column = measure.column
    return f"{column}_wins", f"{column}_ties", f"{column}_losses", f"{column}_products"


def _cut(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
    """The rows in larger pieces, which end where a query does."""
    held: list[pa.RecordBatch] = []
    n_held = 0
    for batch in batches:
        held.append(batch)
        n_held += batch.num_rows
        if n_held >= ROWS:
            table = pa.Table.from_batches(held)
            ids = table["query_id"]
            last = table.num_rows - 1
            while last and ids[last - 1] == ids[last]:
                last -= 1
            if last:
                yield table.slice(0, last)
            held = table.slice(last).to_batches()
            n_held = table.num_rows - last
    if n_held:
        yield pa.Table.from_batches(held)


def _factors(values: Values, exponent: int) -> Values:
    """What stands for values in sums of products; 0 for what is not there."""
    whole = np.zeros(len(values))
    there = ~np.isnan(values)
    whole[there] = product_factor(values[there], exponent=exponent)
    return whole


class _Counts:
    """Of one contrast: how often which side wins, and the queries that moved most."""

    def __init__(self, most: int) -> None:
        self.counts: dict[str, int] = {}
        self._most = most
        self._moved: dict[tuple[str, bool], list[tuple[float, str, float, float]]] = {}

    def add(
        self,
        measure: Measure,
        candidate: Values,
        baseline: Values,
        factors: tuple[Values, Values] | None,
        ids: pa.Array,
    ) -> None:
        """Values of the same queries, NaN where there is none; what is missing on either side counts nowhere."""
        delta = candidate - baseline
        there = ~np.isnan(delta)
        rises, falls = (int(np.count_nonzero(side > TIE)) for side in (delta, -delta))
        wins, losses = (falls, rises) if measure.higher_is_better is False else (rises, falls)
        n_there = int(np.count_nonzero(there))
        found: list[int | None] = [wins, n_there - rises - falls, losses, None]
        if factors is not None and n_there:
            found[3] = int(factors[0] @ factors[1])  # whole numbers that add up to less than 2**53: exact
        for name, value in zip(counts_of(measure), found, strict=True):
            if value is not None:
                self.counts[name] = self.counts.get(name, 0) + value
        for rising in (True, False) if self._most else ():
            self._keep((measure.name, rising), delta if rising else -delta, candidate, baseline, ids)

    def _keep(self, key: tuple[str, bool], moved: Values, candidate: Values, baseline: Values, ids: pa.Array) -> None:
        """The largest of those kept and these; of equal ones those whose id comes first."""
        kept = self._moved.setdefault(key, [])
        least = -kept[-1][0] if len(kept) == self._most else 0.0
        rows = np.flatnonzero((moved > TIE) & (moved >= least))
        if len(rows) > self._most:
            rows = rows[moved[rows] >= np.partition(moved[rows], -self._most)[-self._most]]
        if len(rows):
            new = zip(
                (-moved[rows]).tolist(),
                ids.take(pa.array(rows)).to_pylist(),
                candidate[rows].tolist(),
                baseline[rows].tolist(),
                strict=True,
            )
            self._moved[key] = heapq.nsmallest(self._most, [*kept, *new])

    def movers(self, measure: Measure) -> Iterator[dict[str, object]]:
        """The queries that moved most, both ways."""
        for rising in (True, False):
            for _, query_id, candidate, baseline in self._moved.get((measure.name, rising), []):
                yield {
                    "metric": measure.name,
                    "query_id": query_id,
                    "candidate_value": candidate,
                    "baseline_value": baseline,
                }
