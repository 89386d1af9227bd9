"""What documents are worth: tied documents, unknown grades, and the values of other people's programs."""

import csv
import itertools
import json
import math

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from evalcore.conventions import Conventions
from evalcore.errors import DataError, MetricNameError
from evalcore.metrics import AP, CG, DCG, NDCG, Discount, Gain, Q, name, parse, parse_list
from evalcore.ordering import settled
from evalcore.rankings import JudgedRankings
from tests.support.data import DATA, needs_data
from tests.support.strategies import Query, queries, random_batch, rankings_of, same_bits, seeded, value_of
from tests.support.trec import judged_rankings, read_qrels, read_run

TREC_EVAL = Conventions(score_precision="float32", unanswered="skip")
FALLING = Gain.parse("{-1:0.5,1:4,2:0,3:1}")


@pytest.mark.parametrize("metric", [DCG(), NDCG(cutoff=2), NDCG(discount=Discount.parse("jk2"))], ids=name)
def test_documents_that_share_a_rank_are_discounted_by_it(metric):
    rankings = JudgedRankings.from_lists(retrieved=[[2, 1, 1]], judged=[[2, 1, 1]], scores=[[2.0, 1.0, 1.0]])
    found = metric.per_query(settled(rankings, Conventions(ties="average_rank")))
    if metric == DCG():
        assert found == pytest.approx([2 + 2 / math.log2(3.5)])
    elif metric.cutoff == 2:  # their rank is 2.5
        assert found == pytest.approx([2 / (2 + 1 / math.log2(3))])
    else:
        assert found == pytest.approx([(2 + 2 / math.log2(2.5)) / (3 + 1 / math.log2(3))])


def completed(query: Query, options: list[float]) -> JudgedRankings:
    """The query with all grades that its unjudged documents could have."""
    unjudged = [index for index, grade in enumerate(query.retrieved) if grade is None]
    retrieved, judged = [], []
    for grades in itertools.product(options, repeat=len(unjudged)):
        found = dict(zip(unjudged, grades, strict=True))
        retrieved.append([found.get(index, grade) for index, grade in enumerate(query.retrieved)])
        judged.append([*query.judged, *grades])
    return JudgedRankings.from_lists(retrieved=retrieved, judged=judged)


GAINS = [Gain.parse(gain) for gain in ("linear", "exp2", "binary", "{1:4,2:0,3:1}", "{0:1}")]
DISCOUNTS = [Discount.parse(discount) for discount in ("log2", "ln", "jk2", "zipf", "none")]


@st.composite
def normalised(draw) -> NDCG:
    return NDCG(
        gain=draw(st.sampled_from(GAINS)),
        discount=draw(st.sampled_from(DISCOUNTS)),
        ideal=draw(st.sampled_from(["judged", "retrieved", "full"])),
        min_grade=draw(st.sampled_from([None, None, 1, 2])),
        cutoff=draw(st.sampled_from([None, 1, 2, 3, 5])),
    )


@seeded(250)
@given(metric=normalised(), query=queries(), best=st.sampled_from([1.0, 2.0, 3.0]))
def test_the_bounds_of_ndcg_hold_all_that_unjudged_documents_could_make_of_it_and_are_reached(metric, query, best):
    low, high = (side[0] for side in metric.bounds(rankings_of([query]), best_grade=best))
    options = [grade for grade in (0.0, 0.5, 1.0, 2.0, 3.0) if grade <= best]
    values = metric.per_query(completed(query, options))
    values = values[~np.isnan(values)]
    if not len(values):
        return
    assert low <= values.min() + 1e-12
    assert high >= values.max() - 1e-12
    if not metric.gain.table:  # a table is bounded by the grades between those that it lists, too
        assert low == pytest.approx(values.min(), abs=1e-12)
        assert high == pytest.approx(values.max(), abs=1e-12)


def test_the_best_that_an_unjudged_document_can_be_need_not_be_the_best_grade():
    query = Query([1.0, None, 1.0], [1.0, 1.0])
    low, high = NDCG().bounds(rankings_of([query]), best_grade=3)
    assert high == pytest.approx([1.0])  # with grade 1; grade 3 would stand too low
    assert value_of(NDCG(), Query([1.0, 3.0, 1.0], [3.0, 1.0, 1.0])) < value_of(NDCG(), query) < 1
    assert low == pytest.approx([value_of(NDCG(), Query([1.0, 3.0, 1.0], [3.0, 1.0, 1.0]))])


def test_an_unjudged_document_below_the_cutoff_can_lower_ndcg():
    low, high = NDCG(cutoff=1).bounds(rankings_of([Query([1.0, None], [1.0])]), best_grade=2)
    assert (low.tolist(), high.tolist()) == ([0.5], [1.0])


def test_ndcg_that_no_grade_could_define_has_no_bounds():
    low, high = NDCG().bounds(rankings_of([Query([0.0], [0.0]), Query([None], [])]), best_grade=2)
    assert np.isnan([low[0], high[0]]).all()
    assert (low[1], high[1]) == (1, 1)  # the only document of a query, whatever its grade above 0
    for side in NDCG().bounds(rankings_of([]), best_grade=2):
        assert side.shape == (0,)


@pytest.mark.parametrize("metric", [NDCG(), NDCG(cutoff=5, ideal="retrieved"), DCG(cutoff=5), CG()], ids=name)
def test_bounds_hold_the_value_and_are_the_same_in_any_batch(metric):
    batch = random_batch(80, depth=25, seed=3)
    low, high = metric.bounds(rankings_of(batch), best_grade=3)
    values = metric.per_query(rankings_of(batch))
    assert ((low <= values) & (values <= high) | np.isnan(values)).all()
    alone = [metric.bounds(rankings_of([query]), best_grade=3) for query in batch]
    assert same_bits(low, [side[0][0] for side in alone])
    assert same_bits(high, [side[1][0] for side in alone])


@seeded(60)
@given(query=queries(), gain=st.sampled_from(GAINS), cutoff=st.sampled_from([None, 1, 3]))
def test_the_bounds_of_dcg_hold_all_that_unjudged_documents_could_make_of_it(query, gain, cutoff):
    metric = DCG(gain=gain, cutoff=cutoff)
    low, high = (side[0] for side in metric.bounds(rankings_of([query]), best_grade=2))
    values = metric.per_query(completed(query, [0.0, 0.5, 1.0, 2.0]))
    assert low <= values.min() + 1e-12
    assert high >= values.max() - 1e-12
    if not gain.table:
        assert (low, high) == pytest.approx((values.min(), values.max()), abs=1e-12)


@pytest.mark.parametrize("text", ["ERR", "nERR", "nERR@1"])
def test_a_grade_above_the_highest_is_refused(text):
    with pytest.raises(DataError, match="a grade is 5, above 4, the highest that ERR counts with; give max="):
        parse(text).per_query(JudgedRankings.from_lists(retrieved=[[5]], judged=[[5]]))


def test_the_best_ranking_may_hold_a_grade_that_err_refuses():
    rankings = JudgedRankings.from_lists(retrieved=[[1]], judged=[[5, 1]])
    with pytest.raises(DataError, match="above 4"):
        parse("nERR").per_query(rankings)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nDCG(gain=signed)", "gain=signed can be negative"),
        ("Q(gain=signed)", "gain=signed can be negative"),
        ("nDCG(ideal=best)", r'unknown value "best"'),
        ("nDCG(discount=jk1)", 'the base of discount "jk1" must be above 1'),
        ("nDCG(discount=jk)", 'unknown discount "jk"'),
        ("ERR(max=0)", "max is 0.0; it must be above 0"),
        ("ERR(max=2000)", "it must be above 0 and at most 1000"),
        ("SDCG(max=0)@10", "max is 0.0; it must be a finite number above 0"),
        ("SDCG@1000001", "cutoff is 1000001; it must be at most 1000000"),
        ("BPM(T=0)@10", "T is 0.0; it must be a finite number above 0"),
        ("Q(beta=-1)", "beta is -1.0; it must be at least 0"),
        ("ndcg.1=3,x", "is not a metric name|no parameter|gain table"),
    ],
)
def test_what_makes_no_sense_is_refused_by_name(text, message):
    with pytest.raises(MetricNameError, match=message):
        parse(text)


def test_an_ideal_that_does_not_exist_is_refused():
    with pytest.raises(MetricNameError, match='unknown ideal "best"'):
        NDCG(ideal="best")


@pytest.mark.parametrize(
    ("spelled", "canonical"),
    [
        ("ndcg.1=3.5,2=9", "nDCG(gain={1:3.5,2:9})"),
        ("ndcg_1=3.5,2=9.0", "nDCG(gain={1:3.5,2:9})"),
        ("Rndcg.1=3", "Rndcg(gain={1:3})"),
        ("ndcg_p", "nDCG(discount=jk2)"),
        ("ndcg_p.1=3", "nDCG(discount=jk2,gain={1:3})"),
        ("ndcg_rel", "nDCG_rel"),
        ("ideal_dcg", "IDCG"),
        ("nDCG(gains={0: 0, 1: 3.5},dcg='log2')@10", "nDCG(gain={0:0,1:3.5})@10"),
        ("nDCG(dcg='exp-log2')@20", "nDCG(gain=exp2)@20"),
        ("SDCG(dcg='log2', max_rel=4)@10", "SDCG(max=4)@10"),
        ("BPM(T=2,max_rel=4)@10", "BPM(max=4,T=2)@10"),
        ("ndcg_burges@10", "nDCG(gain=exp2)@10"),
    ],
)
def test_names_of_other_programs_are_read(spelled, canonical):
    assert name(parse(spelled)) == canonical


def test_gains_of_trec_eval_stay_together_in_a_list():
    names = [name(metric) for metric in parse_list("AP,ndcg.1=3.5,2=9,P_5")]
    assert names == ["AP", "nDCG(gain={1:3.5,2:9})", "P@5"]


@seeded(50)
@given(query=queries())
def test_q_measure_that_does_not_see_grades_is_average_precision(query):
    binary = Gain.parse("binary")
    for cutoff in (None, 3):
        expected = value_of(AP(cutoff=cutoff), query)
        assert value_of(Q(beta=0, gain=binary, cutoff=cutoff), query) == pytest.approx(expected, nan_ok=True)


def test_a_grade_that_is_a_ulp_of_the_ideal_away_does_not_pass_1():
    grades = [0.1, 0.2, 0.3, 0.7]
    batch = [Query(list(order), grades) for order in itertools.permutations(grades)]
    for text in ("nDCG", "Rndcg", "nDCG_rel", "Q", "G", "nERR"):
        assert (parse(text).per_query(rankings_of(batch)) <= 1).all(), text


# ---- other people's programs


def printed(path: str) -> dict[tuple[str, str], float]:
    """(measure, query) -> value, from the output of trec_eval."""
    rows = [line.split() for line in (DATA / "trec_eval" / path).read_text().splitlines()]
    return {(row[0], row[1]): float(row[2]) for row in rows if len(row) == 3 and row[0] not in ("runid", "relstring")}


@needs_data
@pytest.mark.parametrize("path", ["out.test.meas_params", "out.test.aq", "v9.0.8_expected/out.test.meas_params"])
def test_measures_of_gain_print_as_trec_eval_prints_them(path):
    run, qrels = read_run(DATA / "trec_eval/results.test"), read_qrels(DATA / "trec_eval/qrels.test")
    names, rankings = judged_rankings(run, qrels, TREC_EVAL)
    mine = ("ndcg", "Rndcg", "G", "binG", "dcg", "ideal_dcg")
    compared = 0
    for (measure, query), value in printed(path).items():
        if measure.startswith(mine) and query != "all":
            found = np.nan_to_num(parse(measure).per_query(rankings)[names.index(query)])
            assert f"{found:.4f}" == f"{value:.4f}", measure
            compared += 1
    assert compared >= 12


@needs_data
def test_scikit_learn_has_the_same_values():
    cases = json.loads((DATA / "expected/small_cases_sklearn_scipy.json").read_text())["sklearn_ndcg"]
    compared = 0
    for case in cases.values():
        order = sorted(range(len(case["y"])), key=lambda i: -case["s"][i])
        if case["args"].get("ignore_ties"):  # it sorts backwards
            order.reverse()
        retrieved = [case["y"][i] for i in order]
        rankings = JudgedRankings.from_lists(
            retrieved=[retrieved], judged=[case["y"]], scores=[[case["s"][i] for i in order]]
        )
        rankings = settled(rankings, Conventions(ties="average"))
        cutoff = case["args"].get("k")
        metrics = {"ndcg": NDCG(ideal="retrieved", cutoff=cutoff), "dcg": DCG(gain=Gain.parse("signed"), cutoff=cutoff)}
        for key, metric in metrics.items():
            if isinstance(case[key], float):
                ignore = case["args"].get("ignore_ties")
                found = metric.per_query(rankings) if ignore else metric.expected(rankings)
                assert np.nan_to_num(found) == pytest.approx([case[key]], abs=1e-12)
                compared += 1
    assert compared >= 14


def test_a_bar_on_grades_takes_gains_away_as_in_ranx():
    query = Query([1.0, 3.0, 2.0, None], [1.0, 3.0, 2.0])
    assert value_of(NDCG(min_grade=2), query) == pytest.approx(0.67876222946, abs=1e-11)
    assert value_of(NDCG(), query) == pytest.approx(0.8174935138, abs=1e-10)


@needs_data
def test_recommenders_have_the_ndcg_that_lenskit_gives_them():
    def rows(name: str) -> list[dict[str, str]]:
        return list(csv.DictReader((DATA / f"lenskit_topn/topn-java-{name}.csv").read_text().splitlines()))

    truth: dict[str, dict[str, float]] = {}
    for row in rows("truth"):
        truth.setdefault(row["user"], {})[row["item"]] = float(row["rating"])
    lists: dict[tuple[str, str], list[tuple[int, str]]] = {}
    for row in rows("recs"):
        lists.setdefault((row["Algorithm"], row["user"]), []).append((int(row["rank"]), row["item"]))
    known = [row for row in rows("metrics") if (row["Algorithm"], row["user"]) in lists]
    keys = [(row["Algorithm"], row["user"]) for row in known]
    rankings = JudgedRankings.from_lists(
        retrieved=[[truth[user].get(item) for _, item in sorted(lists[system, user])] for system, user in keys],
        judged=[list(truth[user].values()) for _, user in keys],
    )
    expected = [float(row["Java.nDCG"]) for row in known]
    assert len(known) == 100
    assert NDCG(discount=Discount.parse("jk2")).per_query(rankings) == pytest.approx(expected, abs=1e-9)
