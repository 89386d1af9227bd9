"""A query's value depends on that query alone: same bits in any batch, beside anything, again and again."""

from math import log2

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from evalcore.metrics import AP, NDCG, RR, P, R, Rprec, name
from evalcore.rankings import JudgedRankings
from tests.support.examples import EXAMPLES
from tests.support.strategies import Query, batches, random_batch, rankings_of, same_bits, seeded

every_metric = pytest.mark.parametrize("metric", EXAMPLES, ids=name)


@seeded(50)
@given(batch=batches(), order=st.permutations(EXAMPLES))
def test_a_metric_has_the_same_value_whichever_metrics_shared_its_batch_before(batch, order):
    shared = rankings_of(batch)
    for metric in order:
        assert same_bits(metric.per_query(shared), metric.per_query(rankings_of(batch))), name(metric)


@seeded(60)
@given(batch=batches(), random=st.randoms(use_true_random=False))
def test_a_query_has_the_same_value_alone_in_a_batch_and_in_a_shuffled_batch(batch, random):
    order = random.sample(range(len(batch)), len(batch))
    together, shuffled = rankings_of(batch), rankings_of([batch[i] for i in order])
    alone = [rankings_of([query]) for query in batch]
    for metric in EXAMPLES:
        values = metric.per_query(together)
        assert same_bits(values, [metric.per_query(query)[0] for query in alone]), name(metric)
        assert same_bits(values[order], metric.per_query(shuffled)), name(metric)


@pytest.fixture(scope="module")
def ten_thousand():
    batch = random_batch(10_000, depth=40, seed=2)
    sample = np.random.default_rng(3).choice(len(batch), size=200, replace=False)
    return rankings_of(batch), {int(index): rankings_of([batch[index]]) for index in sample}


@every_metric
def test_ten_thousand_rankings_in_one_call_have_the_values_they_have_alone(metric, ten_thousand):
    together, alone = ten_thousand
    values = metric.per_query(together)
    assert values.shape == (10_000,)
    assert same_bits(values[list(alone)], [metric.per_query(ranking)[0] for ranking in alone.values()])


@every_metric
def test_no_ranking_gives_no_value(metric):
    assert metric.per_query(rankings_of([])).shape == (0,)


@every_metric
def test_inputs_are_never_written_to(metric):
    rankings = rankings_of(random_batch(50, depth=20, seed=4))
    for grades in (rankings.retrieved, rankings.judged):
        grades.values.flags.writeable = False
        grades.offsets.flags.writeable = False
    assert metric.per_query(rankings).shape == (50,)  # writing would have raised


@every_metric
def test_a_value_given_out_is_not_changed_by_writing_to_another(metric):
    rankings = rankings_of(random_batch(50, depth=20, seed=5))
    first = metric.per_query(rankings)
    kept = first.copy()
    metric.per_query(rankings)[:] = -1.0
    assert same_bits(first, kept)
    first[:] = -1.0
    assert same_bits(metric.per_query(rankings), kept)


@pytest.mark.parametrize(
    ("metric", "last_alone"),
    [(P(), 1e-6), (R(), 1.0), (RR(), 1e-6), (AP(), 1e-6), (NDCG(), 1 / log2(1_000_001)), (Rprec(), 0.0)],
    ids=lambda example: "" if isinstance(example, float) else name(example),
)
def test_a_ranking_may_hold_a_million_documents(metric, last_alone):
    all_relevant, last_relevant = np.ones(1_000_000), np.zeros(1_000_000)
    last_relevant[-1] = 1
    rankings = JudgedRankings.from_lists(retrieved=[all_relevant, last_relevant], judged=[all_relevant, [1.0]])
    assert metric.per_query(rankings) == pytest.approx([1.0, last_alone], abs=0, rel=1e-12)


@pytest.fixture(scope="module")
def huge():
    """A ranking of 100,000 documents, a relevant one at every thousandth rank, between two small ones."""
    deep = [3.0 if rank % 1_000 == 0 else 0.0 for rank in range(1, 100_001)]
    return rankings_of([Query([3.0], [3.0]), Query(deep, deep), Query([None, 3.0], [3.0])])


@every_metric
def test_a_huge_ranking_leaves_the_values_beside_it_alone(metric, huge):
    values = metric.per_query(huge)
    assert np.isfinite(values[1]) or metric.FACTS.needs or "Accuracy" in name(metric)  # no pairs in its first ranks
    assert same_bits(values[[0, 2]], metric.per_query(rankings_of([Query([3.0], [3.0]), Query([None, 3.0], [3.0])])))
