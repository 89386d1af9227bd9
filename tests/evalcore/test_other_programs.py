"""Every query of real runs has the value that pytrec_eval (trec_eval 9.0.8) gives it."""

from dataclasses import replace

import numpy as np
import pytest

from evalcore.metrics import AP, Metric, parse
from evalcore.presets import preset
from tests.support.data import DATA, needs_data
from tests.support.trec import judged_rankings, read_expected, read_qrels, read_run

CUTOFFS = (1, 3, 5, 10, 20, 100, 1000)
MEASURES = [
    *("map", "ndcg", "recip_rank", "Rprec", "set_P", "set_recall", "set_F", "num_ret", "num_rel", "num_rel_ret"),
    *("ndcg_rel", "Rndcg", "G", "binG", "set_map", "bpref", "infAP", "num_nonrel_judged_ret"),
    *(f"{family}_{k}" for family in ("P", "recall", "map_cut", "ndcg_cut", "success", "relative_P") for k in CUTOFFS),
]

ROBUST = ("InexpC2", "MU03rob01", "NLPR03vb10", "humR03dc", "oce03noXbmD", "pircRBa1", "rutcor03100", "uic0301")
WEB = ("ql.cata", "ql.catb-filtered", "rm.cata-filtered", "rm.catb")
CRANFIELD = ("bm25", "bm25k12b75", "bm25stem", "bm25title", "coord", "lmdir", "tfidf")
CRANFIELD_QRELS = "cranfield/qrels.cranfield.graded.txt"

# expected values, judgments, run
CASES = [
    *((f"robust03.{s}", "robust03/qrels.robust03.txt", f"robust03/input.{s}.gz") for s in ROBUST),
    *((f"web2012.{s}", "qrels/qrels.web.151-200.txt", f"web2012/run.web2012.{s}.txt.gz") for s in WEB),
    *((f"cranfield.{s}", CRANFIELD_QRELS, f"cranfield/run.cranfield.{s}.txt.gz") for s in CRANFIELD),
    ("trec_eval.results_test", "trec_eval/qrels.test", "trec_eval/results.test"),
    ("trec_eval.results_trunc", "trec_eval/qrels.test", "trec_eval/results.trunc"),
]

TREC_EVAL = preset("trec_eval").conventions
CONDENSED = replace(TREC_EVAL, unjudged="removed", negative_grade="removed")  # trec_eval -J


def at_grade_2(metric: Metric) -> Metric:
    """What trec_eval -l 2 makes of a measure: gains do not change."""
    return replace(metric, min_grade=2) if hasattr(metric, "min_grade") and not hasattr(metric, "gain") else metric


def differences(expected_of, qrels, run, *, conventions=TREC_EVAL, change=lambda metric: metric) -> np.ndarray:
    """Ours less theirs, for every measure of every query; where we say undefined they say 0."""
    queries, rankings = judged_rankings(read_run(DATA / run), read_qrels(DATA / qrels), conventions)
    expected = read_expected(DATA / "expected" / f"{expected_of}.perquery.csv.gz")
    found = np.array([change(parse(measure)).per_query(rankings) for measure in MEASURES])
    theirs = np.array([[expected[measure][query] for query in queries] for measure in MEASURES])
    assert len(queries) == len(expected["map"])
    return np.nan_to_num(found, nan=0.0) - theirs


@needs_data
@pytest.mark.parametrize(("expected_of", "qrels", "run"), CASES, ids=[case[0] for case in CASES])
def test_every_value_of_a_real_run_is_that_of_trec_eval(expected_of, qrels, run):
    assert np.abs(differences(expected_of, qrels, run)).max() <= 1e-12


@needs_data
@pytest.mark.parametrize(
    ("expected_of", "qrels", "run"),
    [
        ("robust03.rutcor03100.l2", "robust03/qrels.robust03.txt", "robust03/input.rutcor03100.gz"),
        ("trec_eval.rel_level_l2", "trec_eval/qrels.rel_level", "trec_eval/results.test"),
    ],
)
def test_with_relevance_from_grade_2_too(expected_of, qrels, run):
    found = np.abs(differences(expected_of, qrels, run, change=at_grade_2))
    n_relevant = read_expected(DATA / "expected" / f"{expected_of}.perquery.csv.gz")["num_rel"]
    queries, _ = judged_rankings(read_run(DATA / run), read_qrels(DATA / qrels), TREC_EVAL)
    # trec_eval gives Rndcg, and of the measures of gain it alone, the value 0 where nothing is of grade 2
    found[MEASURES.index("Rndcg"), [n_relevant[query] == 0 for query in queries]] = 0
    assert found.max() <= 1e-12


@needs_data
def test_with_unjudged_documents_removed_too():
    files = ("trec_eval.judged_only_J", "trec_eval/qrels.test", "trec_eval/results.test")
    assert np.abs(differences(*files, conventions=CONDENSED)).max() <= 1e-12


@needs_data
def test_64_bit_scores_move_average_precision_where_scores_tie_in_32_bits_only():
    files = ("robust03.oce03noXbmD", "robust03/qrels.robust03.txt", "robust03/input.oce03noXbmD.gz")
    moved = differences(*files, conventions=replace(TREC_EVAL, score_precision="float64"))[MEASURES.index("map")]
    assert np.count_nonzero(np.abs(moved) > 1e-12) == 12  # as trec_eval 10.0, which compares in 64 bits, against 9.0.8


@needs_data
def test_the_tie_rule_decides_a_run_of_tied_scores():
    run, qrels = read_run(DATA / "robust03/input.rutcor03100.gz"), read_qrels(DATA / "robust03/qrels.robust03.txt")
    _, descending = judged_rankings(run, qrels, TREC_EVAL)
    _, ascending = judged_rankings(run, qrels, replace(TREC_EVAL, ties="doc_id_asc"))
    ndcg = parse("nDCG@10")
    assert round(float(ndcg.per_query(descending).mean()), 5) == 0.15310
    assert round(float(ndcg.per_query(ascending).mean()), 5) != 0.15310
    assert not np.allclose(AP().per_query(descending), AP().per_query(ascending))
