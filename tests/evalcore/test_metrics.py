"""What must hold for every metric, over random queries."""

from dataclasses import FrozenInstanceError, fields, replace
from math import isnan

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import assume, given

from evalcore.conventions import Conventions
from evalcore.metrics import AP, IDCG, METRICS, NDCG, RR, SDCG, F, P, R, Rprec, Success, name
from evalcore.metrics.base import HasBounds, HasExpectation
from evalcore.metrics.gains import LINEAR
from evalcore.scoring import prepared
from tests.support import reference
from tests.support.examples import EXAMPLES
from tests.support.families.gain import gain_of
from tests.support.strategies import Query, batches, queries, random_batch, rankings_of, same_bits, seeded, value_of

EXAMPLES_WITH_A_CUTOFF = [metric for metric in EXAMPLES if metric.cutoff is not None]
ONE_AT_BEST = [
    metric
    for metric in EXAMPLES
    if isinstance(metric, (NDCG, Rprec, RR, Success)) or (isinstance(metric, (AP, F, P, R)) and metric.cutoff is None)
]
OF_GRADES = [metric for metric in EXAMPLES if not metric.FACTS.needs]
MONOTONE = [metric for metric in OF_GRADES if metric.FACTS.monotone]
BEST_BY_ORACLE = [metric for metric in MONOTONE if metric.cutoff is not None or not isinstance(metric, SDCG)]
"""Without a cutoff SDCG divides by what a ranking of its length can have, and the best one is longer."""
AVERAGED = [metric for metric in EXAMPLES if isinstance(metric, HasExpectation)]
BOUNDED = [metric for metric in EXAMPLES if isinstance(metric, HasBounds)]

FILLED_UP = (F, P, *(METRICS[family] for family in ("alpha_DCG", "ERR_IA", "P_IA", "IPS", "BPM", "SDCG")))
"""A ranking shorter than the cutoff is filled up to it."""

every_metric = pytest.mark.parametrize("metric", EXAMPLES, ids=name)
every_family = pytest.mark.parametrize(
    "family", [family for family, metric in METRICS.items() if not hasattr(metric, "elements")]
)
"""Of one number a query; the metrics whose value is a vector have tests of their own."""


def worth(metric, grade: float) -> float:
    """What a judged document adds in the eyes of the metric; above 0 is good to find."""
    if hasattr(metric, "gain"):
        return gain_of(metric, grade)
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


@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
def test_a_metric_says_how_queries_combine_and_has_what_that_takes(metric):
    assert (metric.FACTS.statistic == "ratio") == hasattr(metric, "parts")
    if metric.__name__.startswith("Num"):
        assert metric.FACTS.statistic == "sum"
    if metric.FACTS.statistic == "geometric":
        assert (metric().per_query(rankings_of([Query([], [1.0])])) > 0).all()


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


@pytest.mark.parametrize("metric", ONE_AT_BEST, ids=name)
def test_a_perfect_ranking_reaches_the_end_of_the_stated_range(metric):
    perfect = [3.0] * (metric.cutoff or 5)
    assert value_of(metric, Query(perfect, perfect)) == metric.FACTS.high == 1
    assert metric.FACTS.low == 0


@seeded(100)
@given(query=queries())
def test_no_ranking_is_better_than_the_best_one(query):
    rankings = rankings_of([query])
    for metric in BEST_BY_ORACLE:
        best, found = value_of(metric, oracle(metric, query)), metric.per_query(rankings)[0]
        if not isnan(best) and not isnan(found):
            assert found <= best + 1e-12, name(metric)


@seeded(100)
@given(query=queries(), data=st.data())
def test_moving_a_better_document_up_never_makes_a_monotone_metric_worse(query, data):
    assume(len(query.retrieved) > 1)
    rank = data.draw(st.integers(0, len(query.retrieved) - 2))
    above, below = query.retrieved[rank : rank + 2]
    for metric in MONOTONE:
        if _may_stand_above(metric, below, above):
            swapped = [*query.retrieved[:rank], below, above, *query.retrieved[rank + 2 :]]
            before, after = value_of(metric, query), value_of(metric, Query(swapped, query.judged))
            gained = after - before if metric.FACTS.higher_is_better is not False else before - after
            assert isnan(gained) or gained >= -1e-12, name(metric)


def _may_stand_above(metric, grade, other):
    """Whether a document of the one grade is better to find than one of the other; unjudged is worth nothing.

    Of two with the same gain either may stand above.
    """
    if hasattr(metric, "gain"):
        return gain_of(metric, grade) >= gain_of(metric, other)
    return (0.0 if grade is None else grade) > (0.0 if other is None else other)


@seeded(60)
@given(query=queries())
def test_the_mean_over_orders_of_tied_documents_lies_between_the_worst_and_the_best(query):
    rankings = rankings_of([query])
    ordered = {ties: prepared(rankings, Conventions(ties=ties)) for ties in ("average", "pessimistic", "optimistic")}
    for metric in AVERAGED:
        if metric.FACTS.needs or not metric.FACTS.monotone or getattr(metric, "gain", LINEAR).table:
            continue  # what is best by grade need not be best by a table of gains
        worst, best = (metric.per_query(ordered[ties])[0] for ties in ("pessimistic", "optimistic"))
        found = metric.expected(ordered["average"])[0]
        assert isnan(found) == isnan(best), name(metric)
        assert isnan(found) or worst - 1e-12 <= found <= best + 1e-12, name(metric)


@seeded(60)
@given(query=queries(), data=st.data())
def test_bounds_contain_the_value_under_any_completion_of_the_judgments(query, data):
    known = [grade for grade in query.retrieved if grade is not None]
    judged = [*query.judged, *(grade for grade in known if grade not in query.judged)]
    completed, more = [], []
    for grade in query.retrieved:
        if grade is None:
            grade = data.draw(st.sampled_from([0.0, 0.5, 1.0, 2.0, 3.0]))
            more.append(grade)
        completed.append(grade)
    for metric in BOUNDED:
        low, high = metric.bounds(rankings_of([Query(query.retrieved, judged)]), best_grade=3.0)
        value = value_of(metric, Query(completed, [*judged, *more]))
        if not isnan(value) and not isnan(low[0]):
            assert low[0] - 1e-12 <= value <= high[0] + 1e-12, name(metric)


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
        if "reference" in metric.FACTS.needs or isinstance(metric, METRICS["Utility"]):
            continue  # the reference decides, or how many documents there are at all
        empty = metric.per_query(empty_rankings)[0]
        if metric.FACTS.empty is None:  # a property of the judgments alone
            assert empty == metric.per_query(rankings)[0], name(metric)
        elif isnan(metric.FACTS.empty):
            assert isnan(empty), name(metric)
        elif hasattr(metric, "floor"):
            assert isnan(empty) or empty == metric.floor, name(metric)
        else:
            assert empty == metric.FACTS.empty or (metric.FACTS.needs_relevant and isnan(empty)), name(metric)


@seeded(100)
@given(query=queries())
def test_a_value_is_undefined_exactly_where_the_metric_says_so(query):
    rankings = rankings_of([query])
    for metric in EXAMPLES:
        undefined = isnan(metric.per_query(rankings)[0])
        if metric.FACTS.needs or isinstance(metric, METRICS["Accuracy"]):
            continue  # their own tests say where they are undefined
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
        if metric.FACTS.needs_relevant or isinstance(metric, IDCG):  # the best ranking may be cut too
            deepest = max(deepest, len(query.judged))
        if "reference" in metric.FACTS.needs:  # and the reference
            deepest = max(deepest, len(query.extras.reference))
        if "k" in getattr(metric, "denominator", "k").removeprefix("k") or getattr(metric, "cap", "none") == "k":
            continue  # without a cutoff there is no k
        if deepest > len(query.retrieved) and isinstance(metric, FILLED_UP):
            continue
        if not isinstance(metric, FILLED_UP):
            deepest += deeper
        cut, whole = replace(metric, cutoff=deepest), replace(metric, cutoff=None)
        assert same_bits(value_of(cut, query), value_of(whole, query)), name(metric)


@seeded(50)
@given(query=queries())
def test_with_one_relevant_document_average_precision_is_reciprocal_rank(query):
    assume(sum(grade >= 1 for grade in query.judged) == 1)
    for cutoff in (None, 1, 3):
        assert value_of(AP(cutoff=cutoff), query) == value_of(RR(cutoff=cutoff), query)
