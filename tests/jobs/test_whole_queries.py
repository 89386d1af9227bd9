"""One pass over rows that lie together finds what a loop over queries finds, however the rows are cut."""

from collections import defaultdict
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs import whole_queries
from jobs.measures import Measure
from jobs.whole_queries import _Scanner
from tests.support.strategies import seeded

SYSTEMS = ["A", "B", "C"]
PAIRS = [(later, earlier) for earlier, later in combinations(SYSTEMS, 2)]
MEASURES = [
    Measure(name="AP", source="ap", column="ap", bounded=True),
    Measure(name="LogLoss", source="log_loss", column="log_loss", higher_is_better=False),
    Measure(name="PCOC", source="pcoc", column="pcoc", statistic="ratio"),
]
EXPONENTS = {"ap": 0, "log_loss": 2, "pcoc": 2, "pcoc_below": 2}
MOST = 2
values = st.none() | st.integers(-8, 8).map(lambda eighths: eighths / 8)
tables = st.lists(
    st.tuples(st.sets(st.sampled_from(SYSTEMS), min_size=1), st.lists(values, min_size=9, max_size=9)), max_size=12
)


def rows_of(queries):
    return [
        {"query_id": f"q{number}", "system": system, "ap": a, "log_loss": b, "pcoc": c}
        for number, (systems, given) in enumerate(queries)
        for place, system in enumerate(sorted(systems))
        for a, b, c in [given[3 * place : 3 * place + 3]]
    ]


def batches(rows, sizes):
    """The rows in batches of these sizes, again and again."""
    schema = pa.schema(
        [("query_id", pa.string()), ("system", pa.string()), *((m.column, pa.float64()) for m in MEASURES)]
    )
    at = 0
    while at < len(rows):
        for size in sizes:
            yield pa.RecordBatch.from_pylist(rows[at : at + size], schema=schema)
            at += size


def scan(rows, sizes=(7,)):
    scanner = _Scanner(SYSTEMS, PAIRS, MEASURES, EXPONENTS, MOST)
    found = [row for batch in scanner.scan(batches(rows, sizes)) for row in batch.to_pylist()]
    return {kind: [row[kind] for row in found if row[kind] is not None] for kind in ("counts", "mover", "apart")}


def by_hand(rows, candidate, baseline, measure):
    """(wins, ties, losses, products) and the movers, a query at a time."""
    of_query = defaultdict(dict)
    for row in rows:
        of_query[row["query_id"]][row["system"]] = row[measure.column]
    wins = ties = losses = 0
    products = []
    moved = []
    for query, found in of_query.items():
        ours, theirs = found[candidate], found[baseline]
        if ours is None or theirs is None:
            continue
        better = (theirs - ours) if measure.higher_is_better is False else (ours - theirs)
        wins, ties, losses = wins + (better > 0), ties + (better == 0), losses + (better < 0)
        scale = 2 ** (15 - EXPONENTS[measure.column])
        products.append(round(ours * scale) * round(theirs * scale))
        moved.append((ours - theirs, query, ours, theirs))
    most = []
    for sign in (1, -1):
        there = [each for each in moved if each[0] * sign > 0]
        most += sorted(there, key=lambda each: (-each[0] * sign, each[1]))[:MOST]
    return (wins, ties, losses, sum(products) if products and measure.kind == "mean" else None), most


@seeded(max_examples=200)
@given(tables, st.lists(st.integers(1, 5), min_size=1, max_size=3), st.integers(1, 9))
def test_what_lies_together_is_counted_as_query_by_query(queries, sizes, rows_at_a_time):
    rows = rows_of(queries)
    whole = [
        row
        for number, (systems, _) in enumerate(queries)
        if len(systems) == 3
        for row in rows
        if row["query_id"] == f"q{number}"
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(whole_queries, "ROWS", rows_at_a_time)
        found = scan(rows, sizes)
    assert found["apart"] == [row for row in rows if row not in whole]
    counted = {(row["candidate"], row["baseline"]): row for row in found["counts"]}
    assert set(counted) == (set(PAIRS) if whole else set())
    for pair, row in counted.items():
        for measure in MEASURES:
            expected, moved = by_hand(whole, *pair, measure)
            assert tuple(row[name] for name in whole_queries.counts_of(measure)) == expected
            of_pair = [
                (
                    each["candidate_value"] - each["baseline_value"],
                    each["query_id"],
                    each["candidate_value"],
                    each["baseline_value"],
                )
                for each in found["mover"]
                if (each["candidate"], each["baseline"], each["metric"]) == (*pair, measure.name)
            ]
            assert of_pair == moved


def test_rows_of_a_query_that_another_comes_between_are_apart():
    rows = rows_of([(set(SYSTEMS), [0.5] * 9)] * 3)
    mixed = [rows[0], rows[3], *rows[1:3], *rows[4:]]
    assert {row["query_id"] for row in scan(mixed)["apart"]} == {"q0", "q1"}


def test_a_system_twice_in_place_of_another_makes_no_whole_query():
    rows = rows_of([(set(SYSTEMS), [0.5] * 9)])
    assert scan([rows[0], rows[0], rows[1]])["counts"] == []
    assert len(scan([rows[0], rows[1], rows[1], rows[2]])["apart"]) == 4


def test_sums_of_products_are_exact_over_many_rows():
    near = 1 - 2.0**-15
    batch = next(batches(rows_of([(set(SYSTEMS), [near] * 9)] * 1_000), (3_000,)))
    scanner = _Scanner(SYSTEMS, PAIRS, MEASURES, EXPONENTS, MOST)
    (first, *_) = (row["counts"] for found in scanner.scan(iter([batch] * 100)) for row in found.to_pylist())
    assert first["ap_products"] == 100_000 * (2**15 - 1) ** 2


def test_of_equal_deltas_the_first_ids_are_kept_from_every_part():
    queries = [({"A", "B", "C"}, [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0])] * 500
    rows = list(reversed(rows_of(queries)))
    order = np.arange(len(rows)).reshape(-1, 3)[:, ::-1].ravel()
    moved = [row for row in scan([rows[at] for at in order], (11,))["mover"] if row["candidate"] == "B"]
    assert [(row["metric"], row["query_id"]) for row in moved] == [("AP", "q0"), ("AP", "q1")]
