"""A name means one metric, and a metric has one name."""

import re

import hypothesis.strategies as st
import pytest
from hypothesis import given

from evalcore.metrics import (
    AP,
    DCG,
    NDCG,
    RR,
    Discount,
    F,
    Gain,
    NumRel,
    NumRelRet,
    NumRet,
    P,
    R,
    Rprec,
    Success,
    column_name,
    name,
    parse,
    parse_list,
)
from tests.support.examples import EXAMPLES
from tests.support.strategies import seeded


@pytest.mark.parametrize("metric", EXAMPLES, ids=name)
def test_a_name_reads_back_as_its_metric(metric):
    assert parse(name(metric)) == metric
    assert name(parse(name(metric))) == name(metric)


@seeded(200)
@given(
    family=st.sampled_from([P, R, Success, RR, AP]),
    min_grade=st.integers(-3, 40).map(lambda quarters: quarters / 4),
    cutoff=st.none() | st.integers(1, 10**9),
)
def test_any_grade_and_cutoff_read_back(family, min_grade, cutoff):
    metric = family(min_grade=min_grade, cutoff=cutoff)
    assert parse(name(metric)) == metric


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        (NDCG(cutoff=10), "nDCG@10"),
        (NDCG(), "nDCG"),
        (P(min_grade=2, cutoff=5), "P(rel=2)@5"),
        (P(min_grade=1.0, cutoff=5), "P@5"),
        (P(min_grade=1.5, cutoff=5), "P(rel=1.5)@5"),
        (F(beta=0.5), "F(beta=0.5)"),
        (F(beta=2, min_grade=3, cutoff=10), "F(beta=2,rel=3)@10"),
        (DCG(gain=Gain.parse("exp2"), cutoff=10), "DCG(gain=exp2)@10"),
        (NDCG(gain=Gain.parse("{1:3.5,2:9}"), discount=Discount.parse("ln")), "nDCG(discount=ln,gain={1:3.5,2:9})"),
        (Rprec(), "Rprec"),
        (NumRelRet(cutoff=3), "NumRelRet@3"),
    ],
)
def test_the_canonical_name_leaves_out_defaults(metric, expected):
    assert name(metric) == expected


@pytest.mark.parametrize(
    ("spelled", "canonical"),
    [
        (" nDCG@10 ", "nDCG@10"),
        ("P(rel=1)@5", "P@5"),
        ("P(rel=1.0)@5", "P@5"),
        ("P()@5", "P@5"),
        ("P( rel = 2 )@5", "P(rel=2)@5"),
        ("P(rel=2.50)@5", "P(rel=2.5)@5"),
        ("nDCG@010", "nDCG@10"),
        ("F(rel=2,beta=3)@5", "F(beta=3,rel=2)@5"),
        ("nDCG(gain=linear,discount=log2)", "nDCG"),
        ("nDCG(discount=log2.0)", "nDCG"),
        ("DCG(discount=log10.0)", "DCG(discount=log10)"),
        ("DCG(gain={2:9,1:3.50})", "DCG(gain={1:3.5,2:9})"),
        ("DCG(gain={ 1 : 3.5 , 2 : 9 })", "DCG(gain={1:3.5,2:9})"),
    ],
)
def test_every_spelling_of_a_metric_has_the_same_canonical_name(spelled, canonical):
    assert name(parse(spelled)) == canonical


@pytest.mark.parametrize(
    ("alias", "canonical"),
    [
        ("Precision@5", "P@5"),
        ("Recall@100", "R@100"),
        ("Recall(rel=2)@100", "R(rel=2)@100"),
        ("HitRate@10", "Success@10"),
        ("MRR@10", "RR@10"),
        ("MAP", "AP"),
        ("NDCG@10", "nDCG@10"),
        ("RPrec", "Rprec"),
        ("SetP", "P"),
        ("SetR", "R"),
        ("SetF(beta=2)", "F(beta=2)"),
        ("Hits@10", "NumRelRet@10"),
    ],
)
def test_an_alias_is_the_metric_that_it_stands_for(alias, canonical):
    assert name(parse(alias)) == canonical


@pytest.mark.parametrize(
    ("trec_name", "metric"),
    [
        ("map", AP()),
        ("map_cut_10", AP(cutoff=10)),
        ("map_cut.10", AP(cutoff=10)),
        ("ndcg", NDCG()),
        ("ndcg_cut_10", NDCG(cutoff=10)),
        ("ndcg_cut.10", NDCG(cutoff=10)),
        ("P_5", P(cutoff=5)),
        ("P.5", P(cutoff=5)),
        ("recall_100", R(cutoff=100)),
        ("success_1", Success(cutoff=1)),
        ("recip_rank", RR()),
        ("Rprec", Rprec()),
        ("set_P", P()),
        ("set_recall", R()),
        ("set_F", F()),
        ("num_ret", NumRet()),
        ("num_rel", NumRel()),
        ("num_rel_ret", NumRelRet()),
    ],
)
def test_names_of_trec_eval_are_read(trec_name, metric):
    assert parse(trec_name) == metric


COLUMNS = {
    "nDCG@10": "ndcg_at_10",
    "nDCG(gain=exp2)@10": "ndcg_gain_exp2_at_10",
    "F(beta=0.5)": "f_beta_0p5",
    "P(rel=2)@5": "p_rel_2_at_5",
    "P(rel=-1)@5": "p_rel_m1_at_5",
    "DCG(gain={-1:0.5,1:3.5})": "dcg_gain_m1_0p5_1_3p5",
    "AP": "ap",
}


@pytest.mark.parametrize(("spelled", "column"), COLUMNS.items())
def test_a_column_name_spells_the_name_in_plain_letters(spelled, column):
    assert column_name(parse(spelled)) == column


@pytest.mark.parametrize("metric", [*EXAMPLES, *map(parse, COLUMNS)], ids=name)
def test_a_column_name_needs_no_quoting_in_sql(metric):
    assert re.fullmatch(r"[a-z][a-z0-9_]*", column_name(metric))


def test_different_metrics_have_different_columns():
    columns = [column_name(metric) for metric in EXAMPLES]
    assert len(set(columns)) == len(EXAMPLES)


def test_columns_stay_apart_where_only_a_sign_a_point_or_a_comma_differs():
    spelled = ["{13:5}", "{1:35}", "{1:3.5}", "{1:3,5:1}", "{-1:35}", "{1:3}", "{1:30}"]
    columns = {column_name(parse(f"DCG(gain={gain})@5")) for gain in spelled}
    assert len(columns) == len(spelled)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("nDCG@10", ["nDCG@10"]),
        ("nDCG@10,AP,RR@10", ["nDCG@10", "AP", "RR@10"]),
        (" nDCG@10 ,\n AP ", ["nDCG@10", "AP"]),
        ("F(beta=2,rel=2)@5,AP", ["F(beta=2,rel=2)@5", "AP"]),
        ("DCG(gain={1:3.5,2:9})@5,AP", ["DCG(gain={1:3.5,2:9})@5", "AP"]),
        ("DCG(gain={1:3.5,2:9},discount=ln),P_5", ["DCG(discount=ln,gain={1:3.5,2:9})", "P@5"]),
        (["nDCG@10", "AP"], ["nDCG@10", "AP"]),
        (["nDCG@10,AP", "RR@10"], ["nDCG@10", "AP", "RR@10"]),
        (("F(beta=2,rel=2)",), ["F(beta=2,rel=2)"]),
        ("P@5,P@10,P(rel=2)@5,P", ["P@5", "P@10", "P(rel=2)@5", "P"]),
    ],
)
def test_a_list_is_split_at_commas_outside_brackets_and_keeps_its_order(text, names):
    assert [name(metric) for metric in parse_list(text)] == names
