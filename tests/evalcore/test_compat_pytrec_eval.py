"""RelevanceEvaluator gives the dictionaries that pytrec_eval gives."""

import math
import random

import pytest

from evalcore import DataError, MetricNameError
from evalcore.compat.pytrec_eval import (
    RelevanceEvaluator,
    compute_aggregated_measure,
    parse_qrel,
    parse_run,
    supported_measures,
    supported_nicknames,
)
from tests.support.data import DATA, needs_data
from tests.support.trec import lines_of, read_expected

QRELS = {"q1": {"a": 1, "b": 0, "c": 2}, "q2": {"a": 1}, "q3": {}}
RUN = {"q1": {"a": 0.5, "b": 0.9, "x": 0.7}, "q3": {"a": 1.0}, "q4": {"a": 1.0}}
CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
PARAMETERS = [
    "P_1,7",
    "map_cut.3",
    "ndcg_cut_4",
    "iprec_at_recall_0.25,0.33",
    "Rprec_mult_0.3",
    "success_2",
    "recall.2",
]


def drawn(seed: int) -> tuple[dict, dict]:
    """Judgments and a run, with ties, ties in 32 bits only, negative grades and unanswered queries."""
    draw = random.Random(seed)
    grades = [[0, 1], [0, 1, 2, 3], [-1, 0, 0, 1, 2], [-2, 0, 1, 4], [0, 0, 0, 1]][seed % 5]
    qrels = {
        f"q{i}": {"d0": 0, **{f"d{j}": draw.choice(grades) for j in draw.sample(range(1, 60), draw.randint(1, 40))}}
        for i in range(20)
    }

    def score() -> float:
        return draw.choice([draw.random(), float(draw.randint(0, 5)), 16777216.0 + draw.randint(0, 2)])

    run = {f"q{i}": {f"d{j}": score() for j in draw.sample(range(80), draw.randint(1, 60))} for i in range(2, 22)}
    return qrels, run


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("level", [1, 2, 3])
@pytest.mark.parametrize("judged_only", [False, True])
def test_every_measure_of_random_data_is_that_of_the_package(seed, level, judged_only):
    package = pytest.importorskip("pytrec_eval")
    qrels, run = drawn(seed)
    for measures in (["all_trec"], PARAMETERS):
        settings = {"relevance_level": level, "judged_docs_only_flag": judged_only}
        theirs = package.RelevanceEvaluator(qrels, measures, **settings).evaluate(run)
        ours = RelevanceEvaluator(qrels, measures, **settings).evaluate(run)
        assert ours.keys() == theirs.keys()
        for query, values in theirs.items():
            # no document left after judged_docs_only: the package divides 0 by 0 for interpolated precision
            wanted = {measure: 0.0 if math.isnan(value) else value for measure, value in values.items()}
            assert ours[query] == pytest.approx(wanted, rel=0, abs=1e-12)
            assert list(ours[query]) == list(values)


def test_the_measures_and_nicknames_are_those_of_the_package():
    package = pytest.importorskip("pytrec_eval")
    assert supported_measures == package.supported_measures
    assert {name: package.supported_nicknames[name] for name in supported_nicknames} == supported_nicknames


@needs_data
@pytest.mark.parametrize(
    ("tag", "qrels", "run"),
    [
        ("trec_eval.results_test", "trec_eval/qrels.test", "trec_eval/results.test"),
        ("web2012.rm.catb", "qrels/qrels.web.151-200.txt", "web2012/run.web2012.rm.catb.txt.gz"),
        ("cranfield.coord", "cranfield/qrels.cranfield.graded.txt", "cranfield/run.cranfield.coord.txt.gz"),
    ],
)
def test_every_measure_of_a_real_run_is_that_of_the_package(tag, qrels, run):
    expected = read_expected(DATA / f"expected/{tag}.perquery.csv.gz")
    evaluator = RelevanceEvaluator(parse_qrel(lines_of(DATA / qrels)), expected.keys() & set(names()))
    found = evaluator.evaluate(parse_run(lines_of(DATA / run)))
    assert len(found) == len(expected["map"])
    for query, values in found.items():
        assert values == pytest.approx({m: expected[m][query] for m in values}, rel=0, abs=1e-12)
    assert len(values) > 70


def names() -> list[str]:
    cut = ("P", "recall", "map_cut", "ndcg_cut", "success", "relative_P")
    levels = [f"iprec_at_recall_{tenth / 10:.2f}" for tenth in range(11)]
    return [*supported_measures, *(f"{each}_{k}" for each in cut for k in (1, 3, 5, 10, 20, 100, 1000)), *levels]


def test_queries_are_those_of_the_run_that_have_judgments():
    assert RelevanceEvaluator(QRELS, {"map"}).evaluate(RUN) == {"q1": {"map": pytest.approx(1 / 6)}}
    assert RelevanceEvaluator(QRELS, {"map"}).evaluate({"q9": {"a": 1.0}}) == {}
    assert RelevanceEvaluator(QRELS, {"map"}).evaluate({}) == {}
    assert RelevanceEvaluator(QRELS, {"map", "num_ret"}).evaluate({"q2": {}}) == {"q2": {"num_ret": 0.0, "map": 0.0}}
    assert RelevanceEvaluator(QRELS, []).evaluate(RUN) == {"q1": {}}


def test_a_measure_stands_for_its_usual_cutoffs_unless_some_are_named():
    (found,) = RelevanceEvaluator(QRELS, ["ndcg_cut", "P", "success"]).evaluate(RUN).values()
    assert list(found) == [f"{measure}_{k}" for measure in ("P", "ndcg_cut") for k in CUTOFFS] + [
        *("success_1", "success_5", "success_10")
    ]
    (found,) = RelevanceEvaluator(QRELS, ["P_10", "P.5,1", "P"]).evaluate(RUN).values()
    assert list(found) == ["P_1", "P_5", "P_10"]


def test_geometric_means_are_made_of_logarithms():
    (found,) = RelevanceEvaluator({"q": {"a": 1}}, ["gm_map", "map"]).evaluate({"q": {"b": 1.0}}).values()
    assert found == {"map": 0.0, "gm_map": math.log(1e-5)}
    assert compute_aggregated_measure("gm_map", [math.log(0.5), math.log(0.125)]) == pytest.approx(0.25)


def test_num_measures_are_summed_and_the_others_averaged():
    assert compute_aggregated_measure("num_rel", [1.0, 3.0]) == 4
    assert compute_aggregated_measure("P_10", [1.0, 3.0]) == 2
    assert math.isnan(compute_aggregated_measure("map", []))


@pytest.mark.parametrize("measure", ["P.0", "P_0", "recall_0", "ndcg_cut_0", "P.0.5"])
def test_parameters_that_crash_the_package_are_refused(measure):
    with pytest.raises(MetricNameError, match=r"must be a whole number from 1|unknown measure"):
        RelevanceEvaluator(QRELS, {measure})


def test_gains_that_crash_the_package_are_those_of_the_program():
    (found,) = RelevanceEvaluator({"q": {"a": 1, "b": 2}}, {"ndcg.1=3,2=9"}).evaluate({"q": {"a": 1.0}}).values()
    assert found == {"ndcg_1=3,2=9": pytest.approx(3 / (9 + 3 / math.log2(3)))}


@pytest.mark.parametrize(
    ("measure", "match"),
    [("mapp", 'unknown measure "mapp". Did you mean "map"?'), ("map.10", "map.10: map has no parameter here")],
)
def test_what_is_no_measure_is_refused(measure, match):
    with pytest.raises(ValueError, match=match.replace("?", r"\?").replace(".", r"\.")):
        RelevanceEvaluator(QRELS, {measure})


def test_a_level_below_1_and_scores_that_are_not_finite_are_refused():
    with pytest.raises(DataError, match="relevance_level is 0; it must be 1 or more"):
        RelevanceEvaluator(QRELS, {"map"}, relevance_level=0)
    with pytest.raises(DataError, match="NaN or infinite"):
        RelevanceEvaluator(QRELS, {"map"}).evaluate({"q1": {"a": math.nan}})


def test_one_measure_may_be_given_as_a_text():
    assert RelevanceEvaluator(QRELS, "recip_rank").evaluate(RUN) == {"q1": {"recip_rank": 1 / 3}}


def test_lines_of_runs_and_judgments_are_read_as_trec_eval_writes_them():
    assert parse_run(["q1 Q0 a 1 0.5 tag\n", "q1\tQ0\tb\t2\t-1e3\ttag"]) == {"q1": {"a": 0.5, "b": -1000.0}}
    assert parse_qrel(["q1 0 a 1", "q2 0 a -2"]) == {"q1": {"a": 1}, "q2": {"a": -2}}


@pytest.mark.parametrize(
    ("read", "lines", "match"),
    [
        (parse_run, ["q1 Q0 a 1 0.5"], "line 1 is not 6 fields with a number: 5 fields: q1 Q0 a 1 0.5"),
        (parse_run, ["q1 Q0 a 1 0.5 t", "q1 Q0 b 1 x t"], "line 2 is not 6 fields with a number: .* float"),
        (parse_run, ["q1 Q0 a 1 0.5 t", "q1 Q0 a 2 0.4 t"], "line 2: query q1 has document a already"),
        (parse_qrel, ["q1 0 a 1.5"], "line 1 is not 4 fields with a number"),
        (parse_qrel, ["q1 0 a 1", "q1 0 a 1"], "line 2: query q1 has document a already"),
    ],
)
def test_lines_of_another_form_and_repeated_documents_are_refused(read, lines, match):
    with pytest.raises(DataError, match=match):
        read(lines)
