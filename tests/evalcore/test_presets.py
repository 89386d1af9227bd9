"""Each preset gives the numbers of its tool: on real data, on values the tool documents, or by its formula."""

import csv
import json
import math
from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest

from evalcore import Conventions, evaluate, name, parse
from evalcore.presets import PRESETS, preset
from tests.support.data import DATA, needs_data
from tests.support.documented import DOCUMENTED
from tests.support.trec import lines_of, read_qrels


def mean(run, qrels, metric, of, **changed) -> float:
    """Of one metric under a preset, with some conventions changed."""
    found = evaluate(run, qrels, metric, preset=of, conventions=replace(preset(of).conventions, **changed))
    (only,) = found.mean().values()
    return only


def read_run(path) -> dict[str, list[tuple[str, float]]]:
    found = defaultdict(list)
    for query, _, document, _, score, *_ in map(str.split, lines_of(path)):
        found[query].append((document, float(score)))
    return dict(found)


def test_there_is_a_preset_for_every_tool():
    tools = ["ir_measures", "ranx", "spark_mllib", "recommenders", "sklearn", "lightgbm", "torchmetrics", "beir"]
    assert list(PRESETS) == ["default", "trec_eval", "trec_eval10", *tools, "msmarco", "gdeval"]
    assert all(PRESETS[each].limits for each in PRESETS if each != "default")


@pytest.mark.parametrize("each", PRESETS)
def test_what_short_names_stand_for_can_be_written_out(each):
    for family, parameters in PRESETS[each].short.items():
        at = "@0.5" if family == "IPrec" else "@10" if family.endswith("@") else ""
        metric = parse(f"{family.removesuffix('@')}{at}", short=PRESETS[each].short)
        inside = ",".join(f"{key}={value}" for key, value in parameters.items())
        assert metric == parse(f"{family.removesuffix('@')}({inside}){at}")
        assert name(metric) != name(parse(f"{family.removesuffix('@')}{at}"))


# trec_eval


@needs_data
@pytest.mark.parametrize(("version", "of"), [("v9.0.8", "trec_eval"), ("v10.0", "trec_eval10")])
@pytest.mark.parametrize(
    ("tag", "run", "qrels"),
    [
        ("robust03.oce03noXbmD", "robust03/input.oce03noXbmD.gz", "robust03/qrels.robust03.txt"),
        ("web2012.rm.catb", "web2012/run.web2012.rm.catb.txt.gz", "qrels/qrels.web.151-200.txt"),
    ],
)
def test_trec_eval_prints_the_same_four_decimals(version, of, tag, run, qrels):
    theirs = defaultdict(dict)
    for line in lines_of(DATA / f"expected/cli/{tag}.trec_eval-{version}.q.txt.gz"):
        measure, query, value = line.split()
        theirs[query][measure] = float(value)
    measures = [each for each in theirs["all"] if each not in ("gm_map", "num_q")]
    found = evaluate(read_run(DATA / run), read_qrels(DATA / qrels), measures, preset=of)
    for measure, metric in zip(measures, found.metrics, strict=True):
        for query, value in zip(found.queries, found.counted(metric), strict=True):
            if query in theirs:
                assert value == pytest.approx(theirs[query][measure], rel=0, abs=5.0001e-5), (measure, query)
        ours = found.mean()[name(metric)]
        assert ours == pytest.approx(theirs["all"][measure], rel=0, abs=5.0001e-5), measure


@needs_data
@pytest.mark.parametrize(("folder", "of"), [("v9.0.8_expected", "trec_eval"), ("", "trec_eval10")])
def test_trec_eval_rounds_levels_of_recall_by_its_version(folder, of):
    rows = [line.split() for line in lines_of(DATA / "trec_eval" / folder / "out.test.aq")]
    wanted = [row for row in rows if row[0].startswith(("iprec_at_recall", "11pt_avg")) and row[1] != "all"]
    run, qrels = read_run(DATA / "trec_eval/results.test"), read_qrels(DATA / "trec_eval/qrels.test")
    found = evaluate(run, qrels, "iprec_at_recall,11pt_avg", preset=of)
    curve, eleven = (found.counted(metric) for metric in found.metrics)
    ours = {f"iprec_at_recall_{tenth / 10:.2f}": curve[:, tenth] for tenth in range(11)} | {"11pt_avg": eleven}
    assert len(wanted) == 12 * 3
    for measure, query, value in wanted:
        assert ours[measure][found.queries.index(query)] == pytest.approx(float(value), rel=0, abs=5.0001e-5)


def test_trec_eval_9_leaves_out_what_was_not_answered_and_10_counts_it_as_0():
    run, qrels = {"q1": {"a": 1.0}}, {"q1": {"a": 1}, "q2": {"a": 1}}
    assert (mean(run, qrels, "AP", "trec_eval"), mean(run, qrels, "AP", "trec_eval10")) == (1, 0.5)
    close = {"q1": {"a": 16777217.0, "b": 16777216.0}}
    assert (mean(close, {"q1": ["a"]}, "RR", "trec_eval"), mean(close, {"q1": ["a"]}, "RR", "trec_eval10")) == (0.5, 1)


# ir_measures, BEIR, MS MARCO, gdeval


def test_ir_measures_counts_every_judged_query_and_keeps_the_last_copy():
    run = {"q1": [("a", 0.1), ("b", 0.5), ("a", 0.9)]}
    assert mean(run, {"q1": ["a"], "q2": ["a"]}, "RR", "ir_measures") == 0.5


def test_ir_measures_breaks_ties_of_rr_at_a_cutoff_the_other_way_round():
    run, qrels = {"q": {"a": 1.0, "b": 1.0}}, {"q": ["a"]}
    assert mean(run, qrels, "RR", "ir_measures") == 0.5
    assert mean(run, qrels, "RR@10", "ir_measures", ties="doc_id_asc") == 1.0  # what ir_measures 0.4.3 returns


def test_beir_has_means_over_answered_queries_except_of_mrr_and_capped_recall():
    run, qrels = {"q1": {"a": 1.0, "b": 0.5}}, {"q1": dict.fromkeys("abc", 1), "q2": {"a": 1}}
    assert mean(run, qrels, "nDCG@10", "beir") == pytest.approx((1 + 1 / math.log2(3)) / (1.5 + 1 / math.log2(3)))
    beside = {"ties": "input_order", "unanswered": "zero"}
    assert mean(run, qrels, "RR@10", "beir", **beside) == 0.5
    assert mean(run, qrels, "R(cap=k)@2", "beir", **beside) == 0.5


def test_msmarco_reads_ranks_and_divides_by_all_judged_queries():
    run = {"1": ["7", "8", "9"], "2": [*map(str, range(10)), "10"], "4": ["1"]}
    qrels = {"1": ["9", "8"], "2": ["10"], "3": ["1"]}
    assert mean(run, qrels, "RR@10", "msmarco") == pytest.approx((1 / 2 + 0 + 0) / 3)


def test_gdeval_has_exponential_gains_and_prints_five_decimals():
    run, qrels = {"1": {"a": 2.0, "b": 1.0}, "2": {"a": 1.0}}, {"1": {"a": 1, "b": 2, "c": 4}, "2": {"a": 0}}
    found = evaluate(run, qrels, "nDCG@20,ERR@20", preset="gdeval")
    dcg = 1 + 3 / math.log2(3)
    ideal = 15 + 3 / math.log2(3) + 1 / 2
    err = 1 / 16 + 15 / 16 * 3 / 16 / 2
    assert found.per_query()["1"] == {"nDCG(gain=exp2)@20": round(dcg / ideal, 5), "ERR@20": round(err, 5)}
    assert found.mean()["nDCG(gain=exp2)@20"] == round(dcg / ideal, 5)  # query 2 has nothing to gain and is left out


# ranx, MLlib, recommenders, torchmetrics: see also test_compat_*.py


def test_ranx_keeps_the_last_copy_and_puts_nan_last():
    run = {"q1": [("a", 0.9), ("b", 0.5), ("a", 0.1), ("c", math.nan)]}
    assert mean(run, {"q1": ["a"], "q2": ["a"]}, "RR", "ranx") == 0.25


@needs_data
def test_mllib_has_these_values():
    cases = json.loads((DATA / "expected/spark_mllib_cases.json").read_text())["small"]
    compared = 0
    for case in cases.values():
        if all(predicted for predicted, _ in case["pairs"]):
            run = {row: predicted for row, (predicted, _) in enumerate(case["pairs"])}
            qrels = {row: relevant for row, (_, relevant) in enumerate(case["pairs"])}
            for measure, value in case["values"].items():
                assert mean(run, qrels, measure, "spark_mllib") == pytest.approx(value, rel=0, abs=1e-12)
                compared += 1
    assert compared > 40


def test_mllib_has_no_rows_for_what_was_not_answered_unless_they_are_given():
    run, qrels = {"q1": ["a"]}, {"q1": ["a"], "q2": ["a"]}
    assert mean(run, qrels, "AP@5", "spark_mllib") == 1
    assert mean(run | {"q2": []}, qrels, "AP@5", "spark_mllib", unanswered="zero") == 0.5


@pytest.mark.parametrize("each", DOCUMENTED, ids=lambda each: f"{each.preset}-{each.measure}")
def test_values_that_tools_document(each):
    ours = mean(each.run, each.qrels, each.metric, each.preset, **each.changed)
    assert ours == pytest.approx(each.value, rel=0, abs=10**-each.decimals)


def test_recommenders_leaves_users_without_truth_or_predictions_out():
    run, qrels = {1: ["a"], 2: ["a"]}, {1: ["a"], 2: [], 3: ["a"]}
    assert mean(run, qrels, "P@1", "recommenders") == 0.5
    assert mean(run, qrels, "R@1", "recommenders") == 1
    assert mean(run, qrels, "nDCG@1", "recommenders", unanswered="zero") == 0.5


def test_torchmetrics_divides_average_precision_by_the_hits_and_averages_ndcg_over_ties():
    run, qrels = {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}, {"q": {"a": 1, "b": 0, "c": 1}}
    assert mean(run, qrels, "AP@2", "torchmetrics") == 1
    tied = {"q": {"a": 1.0, "b": 1.0}}
    assert mean(tied, {"q": {"a": 1, "b": 0}}, "nDCG", "torchmetrics") == pytest.approx((1 + 1 / math.log2(3)) / 2)
    assert mean(tied, {"q": {"a": 0, "b": 0}}, "nDCG", "torchmetrics") == 0


# scikit-learn, LightGBM


@needs_data
def test_sklearn_has_these_values():
    cases = json.loads((DATA / "expected/small_cases_sklearn_scipy.json").read_text())["sklearn_ndcg"]
    compared = 0
    for case in cases.values():
        run, qrels = {"q": dict(enumerate(case["s"]))}, {"q": dict(enumerate(case["y"]))}
        at = f"@{case['args']['k']}" if "k" in case["args"] else ""
        ties = "doc_id_desc" if case["args"].get("ignore_ties") else "average"
        for metric in ("ndcg", "dcg"):
            if isinstance(case[metric], float) and min(case["y"]) >= 0:
                family = {"ndcg": "nDCG", "dcg": "DCG"}[metric]
                assert mean(run, qrels, f"{family}{at}", "sklearn", ties=ties) == pytest.approx(case[metric], abs=1e-12)
                compared += 1
    assert compared == 14


LABELS = [0, 2, 1, 0, 3, 1, 0, 0, 4, 1]
SCORES = [0.3, 0.9, 0.3, 0.1, 0.3, -0.2, 0.5, 0.5, 0.05, -0.7]


def lightgbm_values(labels, scores, *, at) -> dict[str, float]:
    """ndcg and map of one query by LightGBM, before any tree."""
    lightgbm = pytest.importorskip("lightgbm")
    settings = {"objective": "lambdarank", "metric": ["ndcg", "map"], "eval_at": at, "verbose": -1}
    columns = np.arange(len(labels), dtype=float)[:, None]
    data = lightgbm.Dataset(columns, label=labels, group=[len(labels)], init_score=scores)
    return {row[1]: row[2] for row in lightgbm.Booster(settings, data).eval_train()}


@pytest.mark.parametrize("labels", [LABELS, [0] * 10, [1] * 10, [0] * 9 + [1]])
def test_lightgbm_has_these_values(labels):
    at = [1, 3, 5, 10, 20]
    theirs = lightgbm_values(labels, SCORES, at=at)
    run, qrels = {"q": dict(enumerate(SCORES))}, {"q": dict(enumerate(labels))}
    for k in at:
        assert mean(run, qrels, f"nDCG@{k}", "lightgbm") == pytest.approx(theirs[f"ndcg@{k}"], abs=1e-12)
        assert mean(run, qrels, f"AP@{k}", "lightgbm") == pytest.approx(theirs[f"map@{k}"], abs=1e-12)


def test_lightgbm_by_hand():
    run = {"q": {"a": 1.0, "b": 1.0, "c": 0.5}}
    qrels = {"q": {"a": 0, "b": 2, "c": 1}}
    assert mean(run, qrels, "AP@2", "lightgbm") == 0.25  # b is second because a was given first; divided by 2
    found = 3 / math.log2(3)
    assert mean(run, qrels, "nDCG@2", "lightgbm") == pytest.approx(found / (3 + 1 / math.log2(3)))
    assert mean(run, {"q": dict.fromkeys("abc", 0)}, "nDCG@2", "lightgbm") == 1
    assert mean(run, {"q": dict.fromkeys("abc", 0)}, "AP@2", "lightgbm") == 1
    assert mean(run, {"q": dict.fromkeys("abc", 1)}, "AP@10", "lightgbm") == 1


# LensKit has no preset: its metrics are parameters alone


@needs_data
@pytest.mark.parametrize(("column", "metric"), [("Java.nDCG", "nDCG(discount=jk2)"), ("Java.RecipRank", "RR")])
def test_lenskit_has_these_values(column, metric):
    def rows(part):
        return csv.DictReader(lines_of(DATA / f"lenskit_topn/topn-java-{part}.csv"))

    truth, runs = defaultdict(dict), defaultdict(lambda: defaultdict(dict))
    for row in rows("truth"):
        truth[row["user"]][row["item"]] = float(row["rating"])
    for row in rows("recs"):
        runs[row["Algorithm"]][row["user"]][row["item"]] = -float(row["rank"])
    ours = {algorithm: evaluate(run, truth, metric).per_query() for algorithm, run in runs.items()}
    compared = list(rows("metrics"))
    assert len(compared) == 100
    for row in compared:
        (value,) = ours[row["Algorithm"]][row["user"]].values()
        assert value == pytest.approx(float(row[column]), rel=0, abs=1e-12)


def test_the_default_preset_is_the_default_conventions():
    assert PRESETS["default"].conventions == Conventions()
