"""RBP lies in an interval, and INST looks the longer the less it has found."""

from dataclasses import replace
from itertools import permutations, product

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from evalcore.conventions import Conventions
from evalcore.errors import MetricNameError
from evalcore.metrics import INST, RBP, RBPResidual, parse
from evalcore.rankings import JudgedRankings
from evalcore.scoring import values
from tests.support.strategies import batches, queries, rankings_of, same_bits, seeded, value_of

METRICS = [RBP(), RBP(persistence=0.5, cutoff=3), RBP(max_grade=2, cutoff=4), RBP(min_grade=0), RBPResidual(cutoff=3)]


@seeded(100)
@given(query=queries(), more=st.lists(st.sampled_from([0.0, 1.0, 3.0]), min_size=4, max_size=4))
def test_whatever_the_unknown_grades_are_the_value_lies_between_base_and_base_plus_residual(query, more):
    unknown = iter(more)
    known = [next(unknown) if grade is None else grade for grade in query.retrieved]
    for cutoff in (None, 3):
        base, residual = value_of(RBP(cutoff=cutoff), query), value_of(RBPResidual(cutoff=cutoff), query)
        found = value_of(RBP(cutoff=cutoff), replace(query, retrieved=known))
        assert base - 1e-12 <= found <= base + residual + 1e-12


def test_the_residual_is_all_that_a_longer_ranking_could_add():
    deep = JudgedRankings.from_lists(retrieved=[[None] + [1] * 5_000], judged=[[1]])
    short = JudgedRankings.from_lists(retrieved=[[None]], judged=[[1]])
    residual = RBPResidual(persistence=0.5)
    assert RBP(persistence=0.5).per_query(deep) + residual.per_query(deep) == pytest.approx([1], abs=1e-15)
    assert residual.per_query(short) == [1]


@pytest.mark.parametrize("metric", METRICS[:4])
@seeded(40)
@given(query=queries())
def test_bounds_are_the_least_and_the_greatest_value_over_the_grades_of_unjudged_documents(metric, query):
    best_grade = 3.0
    n_unjudged = query.retrieved.count(None)
    every = []
    for guesses in product([0.0, 1.0, best_grade], repeat=n_unjudged):
        unknown = iter(guesses)
        every.append([next(unknown) if grade is None else grade for grade in query.retrieved])
    found = metric.per_query(JudgedRankings.from_lists(retrieved=every, judged=[query.judged] * len(every)))
    low, high = metric.bounds(rankings_of([query]), best_grade=best_grade)
    assert [low[0], high[0]] == pytest.approx([found.min(), found.max()], abs=1e-12)


def test_bounds_know_that_the_best_grade_may_not_be_relevant():
    unjudged = JudgedRankings.from_lists(retrieved=[[None]], judged=[[]])
    low, high = RBP(min_grade=2).bounds(unjudged, best_grade=1.0)
    assert low == high == [0]


@pytest.mark.parametrize("metric", METRICS)
def test_with_ties_by_average_the_value_is_the_mean_over_all_orders(metric):
    grades, scores = [1.0, None, 0.0, 2.0, 3.0, None], [5.0, 4.0, 4.0, 4.0, 4.0, 1.0]
    tied = JudgedRankings.from_lists(retrieved=[grades], judged=[[3, 2, 1, 0]], scores=[scores])
    tied = replace(tied, tie_runs=np.array([0, 1, 5, 6]))
    orders = [[grades[0], *middle, grades[5]] for middle in permutations(grades[1:5])]
    each = metric.per_query(JudgedRankings.from_lists(retrieved=orders, judged=[[3, 2, 1, 0]] * len(orders)))
    assert metric.expected(tied) == pytest.approx([each.mean()], abs=1e-15)
    assert values(metric, tied, Conventions(ties="average")) == pytest.approx([each.mean()], abs=1e-15)


@pytest.mark.parametrize("metric", METRICS)
@seeded(30)
@given(batch=batches())
def test_without_ties_the_mean_over_all_orders_has_the_bits_of_the_value(metric, batch):
    rankings = rankings_of(batch)
    untied = replace(rankings, tie_runs=np.arange(len(rankings.retrieved.values) + 1))
    assert same_bits(metric.expected(untied), metric.per_query(rankings))


def test_tied_documents_can_share_a_rank():
    shared = JudgedRankings.from_lists(retrieved=[[1, 0]], judged=[[1, 0]])
    shared = replace(shared, shared_ranks=np.array([1.5, 1.5]))
    assert RBP().per_query(shared) == pytest.approx([0.2 * 0.8**0.5], abs=1e-15)


@pytest.mark.parametrize("wanted", [0.5, 1, 3, 10])
def test_the_more_documents_a_reader_wants_the_less_the_first_rank_weighs(wanted):
    first = JudgedRankings.from_lists(retrieved=[[1, 0, 0]], judged=[[1]])
    assert INST(T=wanted).per_query(first) > INST(T=wanted + 1).per_query(first)


@pytest.mark.parametrize(
    "text", ["RBP(p=0)", "RBP(p=1)", "RBPResidual(p=1.5)", "RBP(max=0)", "INST(T=0.4)", "INST(max=0)"]
)
def test_a_parameter_out_of_range_is_refused(text):
    with pytest.raises(MetricNameError, match="must be"):
        parse(text)
