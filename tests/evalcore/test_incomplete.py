"""Documents judged not relevant are told from documents never judged."""

import math

import pytest
from hypothesis import given

from evalcore.errors import MetricNameError
from evalcore.metrics import AP, Bpref, GMBpref, InfAP, Judged, NumNonRelJudgedRet, Unjudged, parse
from tests.support.data import DATA, needs_data
from tests.support.strategies import Query, queries, seeded, value_of
from tests.support.trec import PRINTED, judged_rankings, printed_differences, read_qrels, read_run


@seeded(60)
@given(query=queries())
def test_bpref_is_the_same_with_unjudged_documents_taken_out(query):
    condensed = Query([grade for grade in query.retrieved if grade is not None], query.judged)
    for metric in (Bpref(), Bpref(min_grade=2, negative="not_relevant"), GMBpref()):
        assert value_of(metric, query) == pytest.approx(value_of(metric, condensed), abs=0, nan_ok=True)


@seeded(60)
@given(query=queries(grades=[0.0, 1.0, 2.0]))
def test_where_everything_is_judged_inferred_precision_is_precision(query):
    judged = Query([grade for grade in query.retrieved if grade is not None], query.judged)
    assert value_of(InfAP(), judged) == pytest.approx(value_of(AP(), judged), abs=2e-5, nan_ok=True)


@seeded(60)
@given(query=queries())
def test_every_returned_document_is_judged_or_unjudged(query):
    for cutoff in (None, 1, 3):
        shares = value_of(Judged(cutoff=cutoff), query), value_of(Unjudged(cutoff=cutoff), query)
        assert sum(shares) == 1 or not query.retrieved


def test_a_negative_grade_is_no_judgment_unless_it_is_said_to_be_one():
    query = Query([-1.0, 1.0], [1.0, 0.0, -1.0])
    assert value_of(Bpref(), query) == 1
    assert value_of(Bpref(negative="not_relevant"), query) == 0
    assert value_of(NumNonRelJudgedRet(), query) == 0


@pytest.mark.parametrize("text", ["Bpref(negative=judged)", "gm_bpref(negative=no)"])
def test_a_word_that_negative_grades_cannot_be_is_refused(text):
    with pytest.raises(MetricNameError, match="unknown value"):
        parse(text)


@needs_data
@pytest.mark.parametrize("printed", PRINTED, ids=lambda printed: printed.path)
def test_every_printed_value_of_trec_eval_is_ours_to_its_decimals(printed):
    differences = printed_differences(printed, "bpref|infAP|num_nonrel_judged_ret")
    assert abs(differences).max(initial=0) <= 0.5001e-4


@needs_data
@pytest.mark.parametrize(
    ("run", "qrels", "min_grade", "printed"),
    [("results.test", "qrels.test", 1, 0.0083), ("results.test", "qrels.rel_level", 2, 0.0004)],
)
def test_the_geometric_mean_of_bpref_is_that_of_trec_eval(run, qrels, min_grade, printed):
    from evalcore.presets import preset

    conventions = preset("trec_eval").conventions
    _, rankings = judged_rankings(
        read_run(DATA / "trec_eval" / run), read_qrels(DATA / "trec_eval" / qrels), conventions
    )
    found = GMBpref(min_grade=min_grade).per_query(rankings)
    found[[math.isnan(value) for value in found]] = 1e-5
    assert round(math.exp(sum(map(math.log, found)) / len(found)), 4) == printed
