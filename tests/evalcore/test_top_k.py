"""Precision, recall and their relatives: what they have in common, their bounds, and what trec_eval says."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from evalcore.errors import MetricNameError
from evalcore.metrics import AP, RR, F, P, R, RelativeP, Rprec, SetAP, Utility, name, parse
from evalcore.metrics.base import HasBounds
from evalcore.rankings import JudgedRankings
from tests.support.data import needs_data
from tests.support.strategies import Query, queries, random_batch, rankings_of, same_bits, seeded, value_of
from tests.support.trec import PRINTED, printed_differences

BATCH = random_batch(300, depth=40, seed=11)


def test_capped_recall_is_relative_precision():
    rankings = rankings_of(BATCH)
    for k in (1, 3, 10):
        assert same_bits(R(cutoff=k, cap="k").per_query(rankings), RelativeP(cutoff=k).per_query(rankings))


def test_precision_over_what_is_retrieved_is_never_below_precision_over_the_cutoff():
    rankings = rankings_of(BATCH)
    short, whole = P(cutoff=10, denominator="min(k,n)").per_query(rankings), P(cutoff=10).per_query(rankings)
    assert (short >= whole).all()
    long_enough = rankings.retrieved.lengths >= 10
    assert same_bits(short[long_enough], whole[long_enough])
    assert (short > whole)[~long_enough & (whole > 0)].all()


def test_r_precision_at_once_the_relevant_documents_is_r_precision():
    assert Rprec(mult=1) == Rprec()
    rankings = rankings_of(BATCH)
    close = Rprec(mult=1.0000001).per_query(rankings)
    assert same_bits(Rprec().per_query(rankings), close)


def test_set_average_precision_is_precision_times_recall():
    rankings = rankings_of(BATCH)
    expected = P().per_query(rankings) * R().per_query(rankings)
    assert SetAP().per_query(rankings) == pytest.approx(expected, abs=1e-15, nan_ok=True)


def test_utility_adds_up_to_the_collection_where_every_document_is_worth_1():
    everything = Utility(relret=1, nonrelret=1, relnotret=1, nonrelnotret=1, documents=1000)
    assert set(everything.per_query(rankings_of(BATCH))) == {1000.0}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("P(denominator=min(k,n))", r"denominator=min\(k,n\) needs a cutoff"),
        ("P(denominator=R)@5", r'unknown denominator "R"\. Known: k, min\(k,n\)'),
        ("AP(denominator=k)@5", r'unknown denominator "k"\. Known: R, min\(R,k\), hits, min\(R,k,n\)'),
        ("AP(denominator=min(R,k))", r"denominator=min\(R,k\) needs a cutoff"),
        ("R(cap=k)", r"cap=k needs a cutoff"),
        ("R(cap=R)@5", r'unknown cap "R"\. Known: none, k'),
        ("Rprec(mult=0)", r"mult is 0\.0; it must be above 0"),
        ("Rprec(mult=-1)", r"mult is -1\.0; it must be above 0"),
        ("Utility(nonrelnotret=1)", r"nonrelnotret needs documents"),
        ("Utility(documents=1.5)", r"documents is 1\.5; it must be a whole number"),
        ("SetAP@10", r"SetAP takes no cutoff"),
        ("Utility@10", r"Utility takes no cutoff"),
    ],
)
def test_a_parameter_that_cannot_be_is_refused(text, message):
    with pytest.raises(MetricNameError, match=message):
        parse(text)


def test_a_worth_must_be_a_finite_number():
    with pytest.raises(MetricNameError, match="not a finite number"):
        Utility(relret=float("inf"))


@pytest.mark.parametrize(
    ("spelled", "metric"),
    [
        ("P(denominator=min(k,n))@10", P(cutoff=10, denominator="min(k,n)")),
        ("P(denominator=min( k, n ),rel=2)@10", P(cutoff=10, denominator="min(k,n)", min_grade=2)),
        ("AP(denominator=min(R,k,n))@10", AP(cutoff=10, denominator="min(R,k,n)")),
        ("R(cap=k)@10", R(cutoff=10, cap="k")),
        ("SetRelP", RelativeP()),
        ("set_relative_P", RelativeP()),
        ("relative_P_5", RelativeP(cutoff=5)),
        ("relative_P.5", RelativeP(cutoff=5)),
        ("set_map", SetAP()),
        ("Rprec_mult_0.20", Rprec(mult=0.2)),
        ("Rprec_mult.0.20", Rprec(mult=0.2)),
        ("Rprec_mult_1.00", Rprec()),
        ("utility", Utility()),
        ("f1@10", F(cutoff=10)),
        ("mrr@10", RR(cutoff=10)),
    ],
)
def test_other_spellings_are_read(spelled, metric):
    assert parse(spelled) == metric
    assert parse(name(metric)) == metric


BOUNDED = [P(), P(cutoff=3), P(cutoff=3, denominator="min(k,n)"), P(cutoff=5, min_grade=2), RR(), RR(cutoff=3)]


@seeded(100)
@given(query=queries(), best=st.sampled_from([0.0, 1.0, 3.0]))
def test_bounds_are_the_extremes_over_what_unjudged_documents_could_be(query, best):
    for metric in BOUNDED:
        low, high = metric.bounds(rankings_of([query]), best_grade=best)
        worst, greatest = (
            value_of(metric, Query([grade if grade is not None else given for grade in query.retrieved], query.judged))
            for given in (0.0, best)
        )
        assert isinstance(metric, HasBounds)
        assert low == [worst], name(metric)
        assert high == [greatest], name(metric)


def test_bounds_of_a_hand_worked_query():
    rankings = JudgedRankings.from_lists(retrieved=[[0, None, 1, None]], judged=[[1, 0]])
    assert [side.tolist() for side in P(cutoff=4).bounds(rankings, best_grade=1)] == [[1 / 4], [3 / 4]]
    assert [side.tolist() for side in RR().bounds(rankings, best_grade=1)] == [[1 / 3], [1 / 2]]
    assert [side.tolist() for side in RR(min_grade=2).bounds(rankings, best_grade=1)] == [[0], [0]]


def test_a_batch_without_rankings_has_no_bounds():
    for metric in BOUNDED:
        low, high = metric.bounds(rankings_of([]), best_grade=1)
        assert low.shape == high.shape == (0,)


@needs_data
@pytest.mark.parametrize("printed", PRINTED, ids=lambda printed: printed.path)
def test_what_trec_eval_prints_is_what_we_have(printed):
    wanted = r"num_(ret|rel|rel_ret)|Rprec.*|recip_rank|P_.*|recall_.*|relative_P_.*|success_.*|set_.*|utility"
    differences = printed_differences(printed, wanted)
    assert len(differences) >= 15
    assert np.abs(differences).max() <= 0.5e-4 + 1e-9
