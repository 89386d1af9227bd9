"""A wrong name is refused, and the message says what is wrong and what would be right."""

import hypothesis.strategies as st
import pytest
from hypothesis import given

from evalcore.errors import MetricNameError
from evalcore.metrics import AP, CG, DCG, METRICS, NDCG, RR, F, NumRelRet, P, R, Success, name, parse, parse_list
from tests.support.strategies import seeded


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nDGC", r'unknown metric "nDGC"\. Did you mean "nDCG"\? There are \d+ known names\.$'),
        ("nDGC@10", r'unknown metric "nDGC"\. Did you mean "nDCG"\?'),
        ("Sucess@10", r'unknown metric "Sucess(@10)?"\. Did you mean "Success"\?'),
        ("goodness", r'unknown metric "goodness"\. Known: P, R, F, '),
        ("P@0", r"P@0: cutoff is 0; it must be a whole number from 1"),
        ("P_0", r"P_0: cutoff is 0; it must be a whole number from 1"),
        ("P@-5", r"P@-5: cutoff is -5; it must be a whole number from 1"),
        ("nDCG@1.5", r"nDCG@1\.5: cutoff is 1\.5; it must be a whole number from 1"),
        ("nDCG@", r'"nDCG@" is not a metric name'),
        ("nDCG@ten", r'"nDCG@ten" is not a metric name'),
        ("nDCG 10", r'"nDCG 10" is not a metric name'),
        ("", r'"" is not a metric name'),
        ("@10", r'"@10" is not a metric name'),
        ("Rprec@10", r"Rprec@10: Rprec takes no cutoff"),
        ("NumRet@10", r"NumRet@10: NumRet takes no cutoff"),
        ("NumRel@10", r"NumRel@10: NumRel takes no cutoff"),
        ("P(k=5)", r'P\(k=5\): P has no parameter "k=5"\. Known: denominator, rel\.'),
        ("P(2)@5", r'P\(2\)@5: P has no parameter "2"\. Known: denominator, rel\.'),
        ("P(rel)@5", r'P\(rel\)@5: P has no parameter "rel"\. Known: denominator, rel\.'),
        ("P(rel=2,)@5", r'P\(rel=2,\)@5: P has no parameter ""\. Known: denominator, rel\.'),
        ("P(beta=2)@5", r'P has no parameter "beta=2"\. Known: denominator, rel\.'),
        ("NumRet(rel=2)", r'NumRet has no parameter "rel=2"\. Known: none\.'),
        ("nDCG(max=2)", r'nDCG has no parameter "max=2"\. Known: discount, gain, ideal, rel\.'),
        ("P(rel=2,rel=3)@5", r'P\(rel=2,rel=3\)@5: parameter "rel" is given twice'),
        ("P(rel=1,rel=1)@5", r'P\(rel=1,rel=1\)@5: parameter "rel" is given twice'),
        ("P(rel=two)@5", r'P\(rel=two\)@5: rel: "two" is not a number'),
        ("P(rel=)@5", r'P\(rel=\)@5: rel: "" is not a number'),
        ("P(rel=nan)@5", r'rel: "nan" is not a number'),
        ("P(rel=inf)@5", r'rel: "inf" is not a number'),
        ("P(rel=1=2)@5", r'rel: "1=2" is not a number'),
        ("F(beta=0)", r"F\(beta=0\): beta is 0\.0; it must be above 0 and at most"),
        ("F(beta=-1)", r"beta is -1\.0; it must be above 0 and at most"),
        ("nDCG(gain=exp)", r'nDCG\(gain=exp\): gain: unknown gain "exp"\. Did you mean "exp2"\?'),
        ("nDCG(gain=)", r'gain: unknown gain ""\. Known: linear, exp2, binary, '),
        ("nDCG(gain={})", r'gain table "\{\}" is not \{grade:gain,\.\.\.\}'),
        ("nDCG(gain={1})", r'gain table "\{1\}" is not'),
        ("nDCG(gain={1:2,})", r'gain table "\{1:2,\}" is not'),
        ("nDCG(gain={1:2,1.0:3})", r"with each grade once"),
        ("nDCG(gain={1:-2})", r"no negative gain"),
        ("nDCG(gain={1:1.2.3})", r'gain table "\{1:1\.2\.3\}" is not'),
        ("nDCG(gain={1:2)", r'gain: unknown gain "\{1:2"'),
        ("nDCG(gain={1:2}{2:3})", r'gain table "\{1:2\}\{2:3\}" is not'),
        (
            "nDCG(discount=sqrt)",
            r'discount: unknown discount "sqrt"\. Known: log2, ln, log<base>, jk<base>, zipf, none\.',
        ),
        ("nDCG(discount=log)", r'unknown discount "log"\. Did you mean "log2"\?'),
        ("nDCG(discount=log1)", r'the base of discount "log1" must be above 1'),
        ("nDCG(discount=log0.5)", r'the base of discount "log0\.5" must be above 1'),
    ],
)
def test_a_wrong_name_says_what_is_wrong_and_what_is_known(text, message):
    with pytest.raises(MetricNameError, match=message):
        parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "AP; DROP TABLE scores",
        "AP--",
        "AP`",
        'AP"',
        "AP' OR '1'='1",
        "nDCG@10\nAP",
        "nDCG@10; --",
        "../AP",
        "AP\x00",
        "${AP}",
        "__class__",
        "P(rel=__import__('os'))@5",
        "P(rel=1)(rel=2)@5",
        "P(min_grade=2)@5",
        "P(cutoff=2)",
        "\u0410\u0420",  # Cyrillic letters that look like AP
    ],
)
def test_text_that_is_no_name_is_refused(text):
    with pytest.raises(MetricNameError):
        parse(text)


@seeded(150)
@given(st.text(max_size=12) | st.from_regex(r"(nDCG|P|F|xyz)(\([a-z=0-9.{}:,]*\))?(@[0-9-]{1,4})?", fullmatch=True))
def test_any_text_is_a_metric_or_a_metric_name_error(text):
    try:
        metric = parse(text)
    except MetricNameError:
        return
    assert parse(name(metric)) == metric


@pytest.mark.parametrize("cutoff", [0, -1, 2.5, True, "10", float("nan")])
@pytest.mark.parametrize("family", [P, R, F, Success, RR, AP, CG, DCG, NDCG, NumRelRet])
def test_a_metric_refuses_a_cutoff_that_is_no_whole_number_from_1(family, cutoff):
    with pytest.raises(MetricNameError, match=r"cutoff is .*; it must be a whole number from 1"):
        family(cutoff=cutoff)


@pytest.mark.parametrize("beta", [0, -2, float("inf"), float("nan")])
def test_f_refuses_a_beta_that_is_no_positive_number(beta):
    with pytest.raises(MetricNameError, match=r"beta is .*; it must be above 0 and at most"):
        F(beta=beta)


@pytest.mark.parametrize("text", ["", " ", ",", [], [""], ["", " "]])
def test_an_empty_list_shows_how_to_write_one(text):
    with pytest.raises(MetricNameError, match=r"no metric is named; for example: nDCG@10,AP,RR@10"):
        parse_list(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("P@5,P@5", r'"P@5" and "P@5" are the same metric; name it once'),
        ("P@5,P(rel=1)@5", r'"P\(rel=1\)@5" and "P@5" are the same metric'),
        ("AP,nDCG,map", r'"map" and "AP" are the same metric'),
        (["Recall@10", "recall_10"], r'"recall_10" and "R@10" are the same metric'),
        ("AP,nDGC", r'unknown metric "nDGC"\. Did you mean "nDCG"\?'),
        ("DCG(gain={1:2,AP", r'"DCG\(gain=\{1:2,AP" is not a metric name'),
    ],
)
def test_a_list_refuses_a_metric_named_twice_or_wrongly(text, message):
    with pytest.raises(MetricNameError, match=message):
        parse_list(text)


def test_the_known_names_that_an_error_lists_are_read():
    with pytest.raises(MetricNameError) as error:
        parse("goodness")
    known = str(error.value).split("Known: ")[1].rstrip(".").split(", ")
    assert known == list(METRICS)
    spelled = ["IPrec@0.5" if family == "IPrec" else family for family in known]  # a recall level has no default
    assert [type(parse(family)) for family in spelled] == list(METRICS.values())
