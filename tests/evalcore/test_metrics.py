"""What must hold for every metric, over random queries."""

from dataclasses import FrozenInstanceError, fields, replace
from math import inf, isnan

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import assume, given

from evalcore.metrics import AP, IDCG, METRICS, NDCG, RR, F, NumRet, P, R, Rprec, Success, name
from tests.support import reference
from tests.support.examples import EXAMPLES
from tests.support.strategies import Query, batches, queries, random_batch, rankings_of, same_bits, seeded, value_of

EXAMPLES_WITH_A_CUTOFF = [metric for metric in EXAMPLES if metric.cutoff is not None]
ONE_AT_BEST = [
    metric
    for metric in EXAMPLES
    if isinstance(metric, (NDCG, Rprec, RR, Success)) or (isinstance(metric, (AP, F, P, R)) and metric.cutoff is None)
]

every_metric = pytest.mark.parametrize("metric", EXAMPLES, ids=name)
every_family = pytest.mark.parametrize("family", METRICS)


def worth(metric, grade: float) -> float:
    """What a judged document adds in the eyes of the metric; above 0 is good to find."""
    if hasattr(metric, "gain"):
        return reference.gain_of(metric, grade)
    return float(grade >= metric.min_grade) if hasattr(metric, "min_grade") else 1.0


def oracle(metric, query: Query) -> Query:
    """The ranking of all documents that are good to find, best first."""
    found = [grade for grade in query.judged if worth(metric, grade) > 0]
    return Query(sorted(found, key=lambda grade: worth(metric, grade), reverse=True), query.judged)


@every_family
def test_every_metric_has_an_example(family):
    assert any(type(metric) is METRICS[family] for metric in EXAMPLES)


@every_family
def test_every_parameter_of_every_metric_has_an_example_away_from_its_default(family):
    of_family = [metric for metric in EXAMPLES if type(metric) is METRICS[family]]
    for field in fields(METRICS[family]):
        assert any(getattr(metric, field.name) != field.default for metric in of_family), field.name


@every_metric
def test_a_metric_is_a_frozen_value_built_from_named_parameters(metric):
    assert replace(metric) == metric
    assert hash(replace(metric)) == hash(metric)
    for field in fields(metric):
        with pytest.raises(FrozenInstanceError):
            setattr(metric, field.name, field.default)
    with pytest.raises(TypeError, match="positional"):
        type(metric)(1)


@every_family
def test_counts_are_summed_over_queries_and_everything_else_is_averaged(family):
    assert METRICS[family].FACTS.statistic == ("sum" if family.startswith("Num") else "mean")


@seeded(150)
@given(batch=batches(), order=st.permutations(EXAMPLES))
def test_every_metric_equals_its_twin(batch, order):
    rankings = rankings_of(batch)
    for metric in order:
        expected = [reference.value(metric, query.retrieved, query.judged, query.extras) for query in batch]
        assert metric.per_query(rankings) == pytest.approx(expected, abs=1e-12, rel=0, nan_ok=True), name(metric)


@every_metric
def test_a_deep_ranking_equals_its_twin(metric):
    for query in random_batch(3, depth=400, seed=1):
        expected = reference.value(metric, query.retrieved, query.judged, query.extras)
        assert value_of(metric, query) == pytest.approx(expected, abs=0, rel=1e-12, nan_ok=True)


@seeded(100)
@given(batch=batches())
def test_values_are_within_the_stated_range(batch):
    rankings = rankings_of(batch)
    for metric in EXAMPLES:
        values = metric.per_query(rankings)
        defined = values[~np.isnan(values)]
        assert (defined >= metric.FACTS.low).all(), name(metric)
        assert (defined <= metric.FACTS.high).all(), name(metric)


@every_metric
def test_the_stated_range_is_no_wider_than_needed(metric):
    perfect = [3.0] * (metric.cutoff or 5)
    query = Query(perfect, perfect)
    assert value_of(metric, query) == metric.FACTS.high or metric.FACTS.high == inf
    assert metric.FACTS.low == 0


@seeded(100)
@given(query=queries())
def test_no_ranking_is_better_than_the_best_one(query):
    rankings = rankings_of([query])
    for metric in EXAMPLES:
        best, found = value_of(metric, oracle(metric, query)), metric.per_query(rankings)[0]
        if not isinstance(metric, NumRet) and not isnan(best) and not isnan(found):
            assert found <= best, name(metric)


@seeded(100)
@given(query=queries())
def test_the_best_ranking_has_the_value_1(query):
    for metric in ONE_AT_BEST:
        best = oracle(metric, query)
        if best.retrieved:
            assert value_of(metric, best) == 1, name(metric)


@seeded(100)
@given(query=queries())
def test_an_empty_ranking_has_the_stated_value(query):
    rankings, empty_rankings = rankings_of([query]), rankings_of([Query([], query.judged)])
    for metric in EXAMPLES:
        empty = metric.per_query(empty_rankings)[0]
        if metric.FACTS.empty is None:  # a property of the judgments alone
            assert empty == metric.per_query(rankings)[0], name(metric)
        elif isnan(metric.FACTS.empty):
            assert isnan(empty), name(metric)
        else:
            assert empty == metric.FACTS.empty or (metric.FACTS.needs_relevant and isnan(empty)), name(metric)


@seeded(100)
@given(query=queries())
def test_a_value_is_undefined_exactly_where_the_metric_says_so(query):
    rankings = rankings_of([query])
    for metric in EXAMPLES:
        undefined = isnan(metric.per_query(rankings)[0])
        if metric.FACTS.needs_relevant:
            assert undefined == (not oracle(metric, query).retrieved), name(metric)
        elif query.retrieved or metric.FACTS.empty is None or not isnan(metric.FACTS.empty):
            assert not undefined, name(metric)


@seeded(50)
@given(query=queries(), below=st.lists(st.sampled_from([None, -1.0, 0.0, 3.0]), min_size=1, max_size=4))
def test_documents_below_the_cutoff_change_nothing(query, below):
    for metric in EXAMPLES_WITH_A_CUTOFF:
        top = (query.retrieved + [0.0] * metric.cutoff)[: metric.cutoff]
        cut, whole = Query(top, query.judged), Query(top + below, query.judged)
        assert same_bits(value_of(metric, cut), value_of(metric, whole)), name(metric)


@seeded(50)
@given(query=queries(), deeper=st.integers(0, 3))
def test_a_cutoff_that_hides_nothing_is_no_cutoff(query, deeper):
    for metric in EXAMPLES_WITH_A_CUTOFF:
        deepest = max(1, len(query.retrieved))
        if isinstance(metric, (IDCG, NDCG)):  # they cut the best ranking too
            deepest = max(deepest, len(query.judged))
        if not isinstance(metric, (F, P)):  # these two fill a short ranking up to the cutoff
            deepest += deeper
        cut, whole = replace(metric, cutoff=deepest), replace(metric, cutoff=None)
        assert same_bits(value_of(cut, query), value_of(whole, query)), name(metric)


@seeded(50)
@given(query=queries())
def test_with_one_relevant_document_average_precision_is_reciprocal_rank(query):
    assume(sum(grade >= 1 for grade in query.judged) == 1)
    for cutoff in (None, 1, 3):
        assert value_of(AP(cutoff=cutoff), query) == value_of(RR(cutoff=cutoff), query)
