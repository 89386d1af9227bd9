"""Under ties: average a metric is its mean over all orders of the tied documents, of which a closed form knows."""

from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import pairwise, permutations, product
from math import comb

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from evalcore.metrics import (
    AP,
    CG,
    DCG,
    NDCG,
    RNDCG,
    RR,
    SDCG,
    Discount,
    F,
    Gain,
    Judged,
    NumRelRet,
    P,
    R,
    RelativeP,
    Rprec,
    Success,
    name,
)
from evalcore.metrics.base import HasExpectation
from evalcore.metrics.ties import LastRun
from evalcore.ordering import order_by_grade
from evalcore.rankings import JudgedRankings
from evalcore.segments import offsets_of
from tests.support import reference
from tests.support.examples import EXAMPLES
from tests.support.strategies import Query, queries, random_batch, rankings_of, same_bits, seeded

METRICS = [
    *(metric for metric in EXAMPLES if isinstance(metric, HasExpectation)),
    P(cutoff=2),
    P(cutoff=5, denominator="min(k,n)", min_grade=2),
    R(cutoff=3),
    R(cutoff=2, cap="k"),
    F(beta=2),
    F(cutoff=3, beta=0.5),
    Success(cutoff=3, min_grade=2),
    RelativeP(cutoff=2),
    RR(cutoff=2),
    RR(cutoff=4, min_grade=2),
    AP(cutoff=2),
    AP(cutoff=4, denominator="min(R,k,n)", min_grade=2),
    AP(cutoff=1, denominator="hits"),
    AP(cutoff=4, denominator="hits"),
    CG(cutoff=2, gain=Gain.parse("signed")),
    DCG(discount=Discount.parse("jk2")),
    DCG(cutoff=3, gain=Gain.parse("{-1:0.5,1:4,2:0,3:1}")),
    NDCG(cutoff=1),
    NDCG(cutoff=3, gain=Gain.parse("exp2"), discount=Discount.parse("zipf"), min_grade=1),
    NDCG(cutoff=2, ideal="retrieved"),
    SDCG(cutoff=3, max_grade=2),
]
"""Examples, and cutoffs that end within a short run under other parameters."""

every_metric = pytest.mark.parametrize("metric", METRICS, ids=name)


def tied(batch: list[Query], runs: list[list[int]]) -> JudgedRankings:
    """The queries, with the lengths of the runs of tied documents of each."""
    lengths = [length for of_query in runs for length in of_query]
    return replace(rankings_of(batch), tie_runs=offsets_of(lengths), _cache={})


@cache
def of_no_ties() -> JudgedRankings:
    batch = random_batch(200, depth=60, seed=6)
    return tied(batch, [[1] * len(query.retrieved) for query in batch])


@st.composite
def with_runs(draw, longest: int = 6) -> tuple[Query, list[int]]:
    """A query and the lengths of its runs."""
    query = draw(queries())
    retrieved = query.retrieved[:longest]
    edges = [place for place in range(1, len(retrieved)) if draw(st.booleans())]
    ends = [0, *edges, len(retrieved)]
    runs = [stop - start for start, stop in pairwise(ends)]
    return Query(retrieved, query.judged), [length for length in runs if length]


def orders(query: Query, runs: list[int]) -> list[list[float | None]]:
    """The ranking in every order of the documents within runs."""
    starts = np.cumsum([0, *runs])
    pieces = [query.retrieved[start : start + length] for start, length in zip(starts, runs, strict=False)]
    return [[grade for piece in order for grade in piece] for order in product(*map(permutations, pieces))]


@seeded(120)
@given(batch=st.lists(with_runs(longest=5), min_size=1, max_size=4))
def test_the_value_is_the_mean_over_all_orders(batch):
    rankings = tied([query for query, _ in batch], [runs for _, runs in batch])
    for metric in METRICS:
        expected = [
            np.mean([reference.value(metric, order, query.judged) for order in orders(query, runs)])
            for query, runs in batch
        ]
        found = metric.expected(rankings)
        assert found == pytest.approx(expected, abs=1e-12, rel=0, nan_ok=True), name(metric)


@pytest.mark.parametrize("retrieved", [[0, 1, 0, 2, None, 1], [1, 2, 1, 0, 1, 1], [0, 0, 0, 0, 0, 1], [3] * 6])
def test_one_long_run_has_the_mean_over_all_orders_too(retrieved):
    query = Query(retrieved, [*[grade for grade in retrieved if grade is not None], 1.0, 2.0])
    for metric in METRICS:
        expected = np.mean([reference.value(metric, order, query.judged) for order in set(permutations(retrieved))])
        assert metric.expected(tied([query], [[6]])) == pytest.approx([expected], abs=1e-12, rel=0), name(metric)


@every_metric
def test_without_ties_it_is_the_value_to_the_last_bit(metric):
    rankings = of_no_ties()
    if isinstance(metric, RNDCG):
        assert metric.expected(rankings) == pytest.approx(metric.per_query(rankings), abs=1e-15, rel=0, nan_ok=True)
    else:
        assert same_bits(metric.expected(rankings), metric.per_query(rankings))


@seeded(80)
@given(batch=st.lists(with_runs(longest=8), max_size=4))
def test_the_value_lies_between_the_worst_and_the_best_order(batch):
    rankings = tied([query for query, _ in batch], [runs for _, runs in batch])
    for metric in METRICS:
        if getattr(metric, "denominator", "k") == "hits" and metric.cutoff not in (None, 1):
            continue  # one more hit can make it worse
        if hasattr(metric, "gain") and metric.gain.table:
            continue  # what is best by grade need not be best by a table of gains
        low, high = (
            metric.per_query(rankings.reordered(order_by_grade(rankings, best_first=best_first)))
            for best_first in (False, True)
        )
        found = metric.expected(rankings)
        if not metric.FACTS.monotone:
            low, high = np.full(len(batch), metric.FACTS.low), np.full(len(batch), metric.FACTS.high)
        both = ~np.isnan(found)
        assert (found[both] >= low[both] - 1e-15).all(), name(metric)
        assert (found[both] <= high[both] + 1e-15).all(), name(metric)


@seeded(40)
@given(batch=st.lists(with_runs(longest=8), max_size=5))
def test_a_query_has_the_same_value_alone_and_in_a_batch(batch):
    together = tied([query for query, _ in batch], [runs for _, runs in batch])
    for metric in METRICS:
        alone = [metric.expected(tied([query], [runs]))[0] for query, runs in batch]
        assert same_bits(metric.expected(together), alone), name(metric)


@cache
def of_long_runs() -> tuple[JudgedRankings, list[JudgedRankings]]:
    """Queries in a batch, and each alone."""
    batch = random_batch(60, depth=300, seed=7)
    rng = np.random.default_rng(8)
    runs = []
    for query in batch:
        n = len(query.retrieved)
        edges = np.unique([0, n, *rng.integers(0, n + 1, size=3)])
        runs.append(np.diff(edges).tolist())
    return tied(batch, runs), [tied([query], [of_query]) for query, of_query in zip(batch, runs, strict=True)]


@cache
def of_runs_of_three() -> tuple[JudgedRankings, list[JudgedRankings]]:
    """Likewise."""
    batch = random_batch(60, depth=30, seed=2)
    runs = [[3] * (len(query.retrieved) // 3) + [1] * (len(query.retrieved) % 3) for query in batch]
    return tied(batch, runs), [tied([query], [of_query]) for query, of_query in zip(batch, runs, strict=True)]


@every_metric
@pytest.mark.parametrize("rankings", [of_long_runs, of_runs_of_three])
def test_queries_of_many_runs_have_the_same_value_alone_and_in_a_batch(metric, rankings):
    together, alone = rankings()
    assert same_bits(metric.expected(together), [metric.expected(each)[0] for each in alone])


KNOWING = [P, R, F, Success, Rprec, RelativeP, RR, AP, NumRelRet, Judged, CG, DCG, NDCG, RNDCG, SDCG]


@pytest.mark.parametrize("family", KNOWING)
def test_these_metrics_say_that_they_know(family):
    assert any(type(metric) is family for metric in METRICS)
    assert isinstance(family(), HasExpectation)


@every_metric
def test_no_ranking_and_empty_rankings_have_values(metric):
    assert metric.expected(tied([], [])).shape == (0,)
    empty = [Query([], [1.0]), Query([], [])]
    assert same_bits(metric.expected(tied(empty, [[], []])), metric.per_query(rankings_of(empty)))


def one_run(n_documents: int, n_relevant: int, *, above: tuple[int, int] = (0, 0)) -> JudgedRankings:
    """A run behind some documents of which the first ones are relevant."""
    grades = [1.0] * above[1] + [0.0] * (above[0] - above[1])
    grades += [1.0] * n_relevant + [0.0] * (n_documents - n_relevant)
    rankings = JudgedRankings.from_lists(retrieved=[grades], judged=[grades])
    return replace(rankings, tie_runs=offsets_of([1] * above[0] + [n_documents]), _cache={})


@pytest.mark.parametrize(("size", "hits"), [(2_000, 1), (2_000, 7), (3_000, 900), (1_000, 999), (2_000, 2_000)])
def test_the_first_of_some_in_a_long_run_stands_where_exact_fractions_say(size, hits):
    for above, cutoff in ((0, None), (3, None), (3, 50)):
        exact = sum(
            Fraction(comb(size - place, hits - 1), comb(size, hits)) / (above + place)
            for place in range(1, size - hits + 2)
            if cutoff is None or above + place <= cutoff
        )
        found = RR(cutoff=cutoff).expected(one_run(size, hits, above=(above, 0)))
        assert found == pytest.approx([float(exact)], abs=0, rel=1e-12)


@pytest.mark.parametrize(
    ("size", "hits", "seen"), [(2_000, 7, 10), (2_000, 900, 800), (1_500, 3, 1_498), (999, 998, 1)]
)
def test_what_is_found_of_a_long_run_is_what_exact_fractions_say(size, hits, seen):
    chances = {
        number: Fraction(comb(hits, number) * comb(size - hits, seen - number), comb(size, seen))
        for number in range(max(0, seen - size + hits), min(hits, seen) + 1)
    }
    success = Success(cutoff=seen).expected(one_run(size, hits))
    assert success == pytest.approx([float(sum(chances[number] for number in chances if number))], abs=0, rel=1e-12)
    reciprocal = [Fraction(1, rank) for rank in range(4, 4 + seen)]
    once, places = sum(reciprocal), sum(place * share for place, share in enumerate(reciprocal))
    mean = sum(
        chance
        * (2 + Fraction(number, seen) * (3 * once + Fraction(number - 1, max(seen - 1, 1)) * places))
        / (2 + number)
        for number, chance in chances.items()
    )
    found = AP(cutoff=seen + 3, denominator="hits").expected(one_run(size, hits, above=(3, 2)))
    assert found == pytest.approx([float(mean)], abs=0, rel=1e-12)


def test_a_run_of_a_million_documents_is_no_trouble():
    rankings = one_run(1_000_000, 500_000)
    assert P(cutoff=10).expected(rankings) == 0.5
    assert Success(cutoff=10).expected(rankings) == pytest.approx(1 - 0.5**10, abs=1e-7)
    assert AP(cutoff=400_000, denominator="hits").expected(rankings) == pytest.approx(0.5, abs=1e-4)
    assert RR().expected(one_run(1_000_000, 1)) == pytest.approx(sum(1 / np.arange(1, 1e6 + 1)) / 1e6, rel=1e-9)


def test_the_last_run_is_the_one_that_holds_the_last_rank_counted():
    rankings = tied([Query([1, 0, 1, 1, 0], [1] * 3), Query([], []), Query([0, 1], [1])], [[1, 3, 1], [], [2]])
    wanted = np.array([0, 1, 1, 2, 3, 3, 3, 4])
    last = LastRun.of(rankings, wanted, 3)
    assert last.above.tolist() == [1, 0, 0]
    assert last.hits_above.tolist() == [1, 0, 0]
    assert last.size.tolist() == [3, 0, 2]
    assert last.hits.tolist() == [2, 0, 1]
    assert last.seen.tolist() == [2, 0, 2]
    assert last.hits_seen().tolist() == [1 + 2 * 2 / 3, 0, 1]
