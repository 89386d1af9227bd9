"""Small inputs on which some evaluation program was once publicly wrong. None of it may happen here."""

from math import isnan, log2

import numpy as np
import pytest

from evalcore.conventions import Conventions
from evalcore.errors import DataError, MetricNameError
from evalcore.metrics import NDCG, Gain, P, column_name, name, parse, parse_list
from evalcore.ordering import rank_order
from evalcore.rankings import JudgedRankings
from tests.support.examples import EXAMPLES
from tests.support.strategies import Query, rankings_of


def value(metric: str, retrieved: list[float | None], judged: list[float]) -> float:
    return float(parse(metric).per_query(JudgedRankings.from_lists(retrieved=[retrieved], judged=[judged]))[0])


def value_of_run(metric: str, run: dict[str, float], qrels: dict[str, float], *, ties: str = "doc_id_desc") -> float:
    """The metric of scored documents, ordered as the tie rule says."""
    ids = np.array(list(run))
    order = rank_order(
        np.array(list(run.values())), np.array([0, len(run)]), doc_ids=ids, conventions=Conventions(ties=ties)
    )
    return value(metric, [qrels.get(document) for document in ids[order]], list(qrels.values()))


# Ties


def test_two_runs_alike_but_for_the_name_of_a_document_differ_only_by_the_stated_tie_rule():
    qrels = {"x1": 0.0, "x2": 1.0, "x3": 0.0}
    one, other = {"x2": 1.0, "x1": 1.0}, {"x2": 1.0, "x3": 1.0}
    assert value_of_run("nDCG", one, qrels) == 1
    assert value_of_run("nDCG", other, qrels) == pytest.approx(1 / log2(3))
    assert value_of_run("nDCG", one, qrels, ties="input_order") == 1
    assert value_of_run("nDCG", other, qrels, ties="input_order") == 1


@pytest.mark.parametrize(("ties", "expected"), [("doc_id_desc", 1), ("doc_id_asc", 1 / 2)])
def test_reciprocal_rank_with_and_without_a_cutoff_sees_one_order(ties, expected):
    run, qrels = {"m": 0.0, "n": 0.0}, {"m": 0.0, "n": 1.0}
    assert value_of_run("RR", run, qrels, ties=ties) == expected
    assert value_of_run("RR@10", run, qrels, ties=ties) == expected
    assert value_of_run("P@1", run, qrels, ties=ties) == (expected == 1)


def test_precision_and_ndcg_see_a_tie_in_the_same_order():
    run, qrels = {"a": 1.0, "b": 1.0}, {"a": 1.0, "b": 0.0}
    assert [value_of_run(metric, run, qrels) for metric in ("P@1", "nDCG@1", "RR", "AP")] == [0, 0, 1 / 2, 1 / 2]


def test_the_last_of_three_tied_documents_is_first_or_third_by_the_rule_and_not_by_chance():
    run, qrels = {"d1": 1.0, "d2": 1.0, "d3": 1.0}, {"d3": 1.0}
    assert value_of_run("AP", run, qrels) == 1
    assert value_of_run("AP", run, qrels, ties="doc_id_asc") == pytest.approx(1 / 3)


def test_tied_scores_of_two_relevant_documents_cannot_lift_ndcg_above_1():
    assert value_of_run("nDCG@2", {"a": 0.5, "b": 0.5, "c": 0.1}, {"a": 1.0, "b": 1.0, "c": 0.0}) == 1


def test_average_precision_is_reciprocal_rank_where_one_document_is_relevant_ties_or_not():
    run, qrels = {"d1": 1.0, "d2": 1.0, "d3": 1.0}, {"d2": 1.0}
    for ties in ("doc_id_desc", "doc_id_asc", "input_order"):
        assert value_of_run("AP@10", run, qrels, ties=ties) == value_of_run("RR@10", run, qrels, ties=ties)


def test_constant_scores_do_not_put_the_relevant_documents_first():
    run, qrels = dict.fromkeys("abcde", 1.0), dict(zip("abcde", [10.0, 0.0, 0.0, 1.0, 5.0], strict=True))
    assert value_of_run("nDCG", run, qrels) < 1
    assert value_of_run("nDCG", run, qrels, ties="doc_id_asc") < 1


def test_the_score_decides_where_the_rank_column_says_otherwise_unless_asked():
    scores, ranks, ids = np.array([1.73, 1.59, 1.98]), np.array([1, 2, 3]), np.array(["a", "b", "c"])
    by_score = rank_order(scores, np.array([0, 3]), doc_ids=ids)
    by_rank = rank_order(scores, np.array([0, 3]), ranks=ranks, conventions=Conventions(ties="rank_column"))
    assert value("RR", [float(ids[i] == "c") for i in by_score], [1]) == 1
    assert value("RR", [float(ids[i] == "c") for i in by_rank], [1]) == pytest.approx(1 / 3)


def test_a_score_of_zero_or_less_is_still_a_returned_document():
    run, qrels = {"a": -3.0, "b": -1.0, "c": 0.0}, {"a": 1.0}
    assert value_of_run("RR", run, qrels) == pytest.approx(1 / 3)
    assert value_of_run("R@3", run, qrels) == 1


def test_a_score_that_is_no_number_is_refused_and_not_sorted_somewhere():
    with pytest.raises(DataError, match=r"1 scores are NaN or infinite"):
        value_of_run("RR", {"a": float("nan"), "b": 1.0}, {"a": 1.0})


# Nothing relevant, nothing found, nothing returned


def test_finding_nothing_is_zero_where_there_is_something_to_find():
    assert [value(metric, [None], [1]) for metric in ("nDCG", "Rprec", "RR", "AP", "R", "F")] == [0] * 6


def test_a_query_with_nothing_to_find_is_undefined_and_neither_zero_nor_one():
    for metric in ("nDCG", "nDCG@10", "Rprec", "AP", "R@10", "F@10"):
        assert isnan(value(metric, [0, 0], [0, 0])), metric


def test_a_query_without_judgments_does_not_disturb_the_next_one():
    rankings = JudgedRankings.from_lists(retrieved=[[None], [2]], judged=[[], [2]])
    for _ in range(5):
        values = parse("nDCG@10").per_query(rankings)
        assert np.array_equal(values, [np.nan, 1], equal_nan=True)


def test_an_empty_ranking_is_zero_for_every_metric_of_quality_alike():
    for metric in ("P@1", "R@1", "nDCG@1", "RR@1", "AP@1", "F@1", "Success@1", "Rprec", "P", "R", "AP"):
        assert value(metric, [], [1]) == 0, metric


def test_no_metric_stumbles_over_a_ranking_of_relevant_documents_alone():
    rankings = rankings_of([Query([1.0, 1.0], [1.0, 1.0])])
    for metric in EXAMPLES:
        assert metric.per_query(rankings).shape == (1,), name(metric)
    for family in ("P", "R", "F", "RR", "AP", "nDCG", "Rprec", "Success", "Bpref", "infAP"):
        assert parse(family).per_query(rankings)[0] == pytest.approx(1, abs=1e-4), family


# Denominators


def test_average_precision_is_divided_by_all_relevant_documents_and_not_by_those_found():
    assert value("AP", [1], [1, 1]) == 1 / 2


def test_a_perfect_top_3_of_6_relevant_documents_has_half_the_average_precision():
    assert value("AP@3", [1, 1, 1], [1] * 6) == 1 / 2


def test_a_cutoff_cuts_average_precision():
    assert value("AP", [None, None, 1, 1], [1, 1]) == pytest.approx((1 / 3 + 2 / 4) / 2)
    assert value("AP@2", [None, None, 1, 1], [1, 1]) == 0
    assert value("AP@3", [None, None, 1, 1], [1, 1]) == pytest.approx(1 / 3 / 2)


def test_reciprocal_rank_success_and_recall_at_1_are_three_different_things():
    assert [value(metric, [1], [1, 1, 1, 1]) for metric in ("RR@1", "Success@1", "R@1")] == [1, 1, 1 / 4]


def test_precision_of_one_relevant_document_returned_is_a_tenth_at_10():
    assert value("P@10", [1], [1]) == 1 / 10


def test_ndcg_without_a_cutoff_has_the_whole_ideal_also_for_a_ranking_of_two():
    assert value("nDCG", [1, None], [1, 1, 1]) == pytest.approx(1 / (1 + 1 / log2(3) + 1 / 2))
    assert value("nDCG@2", [1, None], [1, 1, 1]) == pytest.approx(1 / (1 + 1 / log2(3)))


def test_the_mean_of_r_precision_counts_a_query_that_found_nothing():
    rankings = JudgedRankings.from_lists(retrieved=[[1], [0]], judged=[[1], [1, 0]])
    assert parse("Rprec").per_query(rankings).mean() == 1 / 2


def test_f_of_beta_2_squares_beta():
    assert value("F(beta=2)@2", [1, 0], [1, 0]) == pytest.approx(5 * 0.5 * 1 / (4 * 0.5 + 1))


# Gain, discount and the ideal


def test_the_ideal_is_sorted_in_whatever_order_judgments_come():
    for judged in ([1, 3, 2], [3, 2, 1], [2, 1, 3]):
        assert value("nDCG", [3, 2, 1], judged) == 1
        assert value("nDCG@2", [3, 2, 1], judged) == 1
        assert value("nDCG(gain=exp2)@3", [3, 2, 1], judged) == 1


def test_the_discount_of_rank_2_is_not_that_of_rank_1():
    assert value("nDCG", [None, 1], [1]) == pytest.approx(1 / log2(3))
    assert value("nDCG", [None, None, 1], [1]) == 1 / 2


def test_grades_are_not_ignored():
    assert value("nDCG(gain=exp2)@1", [1, 3], [3, 1]) == pytest.approx(1 / 7)


def test_the_order_of_relevant_documents_matters_with_graded_gains_only():
    assert value("nDCG(gain=binary)", [1, 3], [3, 1]) == 1
    assert value("nDCG", [1, 3], [3, 1]) == pytest.approx((1 + 3 / log2(3)) / (3 + 1 / log2(3)))
    assert value("nDCG(gain=exp2)", [1, 3], [3, 1]) == pytest.approx((1 + 7 / log2(3)) / (7 + 1 / log2(3)))


def test_a_grade_of_a_half_is_not_rounded_away():
    assert value("CG", [0.5], [0.5]) == 0.5
    assert value("P(rel=0.5)@1", [0.5], [0.5]) == 1


def test_a_grade_above_4_is_as_good_as_any():
    assert value("DCG(gain=exp2)@1", [10], [10]) == 1023


def test_values_are_not_rounded():
    assert value("nDCG@10", [0, 0, 1], [1, 1]) == pytest.approx(0.5 / (1 + 1 / log2(3)), abs=1e-15)


def test_a_gain_beyond_floating_point_is_refused_and_not_infinite():
    assert value("DCG(gain=exp2)@1", [1000], [1000]) == 2.0**1000
    with pytest.raises(DataError, match=r"gain=exp2 of grade 1001 is beyond float64; use gain=linear or a table"):
        value("DCG(gain=exp2)", [1001], [1001])


def test_the_lowest_relevant_grade_changes_precision_but_no_gain():
    retrieved, judged = [1, 3, 2, None], [1, 3, 2]
    assert value("AP(rel=2)", retrieved, judged) == pytest.approx((1 / 2 + 2 / 3) / 2)
    graded = (1 + 3 / log2(3) + 2 / 2) / (3 + 2 / log2(3) + 1 / 2)
    assert value("nDCG", retrieved, judged) == pytest.approx(graded)
    without_ones = (3 / log2(3) + 2 / 2) / (3 + 2 / log2(3))  # unless it is asked for
    assert value("nDCG(rel=2)", retrieved, judged) == pytest.approx(without_ones)


def test_ndcg_with_custom_gains_leaves_plain_ndcg_of_the_same_batch_alone():
    plain, custom = parse("nDCG"), parse("nDCG(gain={1:0,2:0,3:1})@10")
    for metrics in ([plain, custom], [custom, plain]):
        rankings = JudgedRankings.from_lists(retrieved=[[1, 3, 2, None]], judged=[[1, 3, 2]])
        values = {metric: float(metric.per_query(rankings)[0]) for metric in metrics}
        assert values[plain] == pytest.approx((1 + 3 / log2(3) + 2 / 2) / (3 + 2 / log2(3) + 1 / 2))
        assert values[custom] == pytest.approx(1 / log2(3))


def test_a_document_graded_as_junk_neither_gains_nor_loses_anything():
    assert value("nDCG", [-2, 1], [1, -2]) == pytest.approx(1 / log2(3))
    assert value("DCG", [-2], [1, -2]) == 0


# State and arguments


def test_the_second_evaluation_of_the_same_batch_gives_the_same():
    rankings = JudgedRankings.from_lists(retrieved=[[0, 1]], judged=[[0, 1]])
    for _ in range(2):
        assert parse("nDCG@2").per_query(rankings) == pytest.approx([1 / log2(3)])
        assert parse("nDCG@20").per_query(rankings) == pytest.approx([1 / log2(3)])


def test_rankings_are_paired_with_judgments_by_place_and_never_cross_over():
    rankings = JudgedRankings.from_lists(retrieved=[[1], [0, 1]], judged=[[1], [1, 0]])
    assert parse("AP").per_query(rankings).tolist() == [1, 1 / 2]


@pytest.mark.parametrize("name", ["P@0", "P_0", "P.0", "nDCG@-1", "AP@2.5", "recall_0", "ndcg_cut_0"])
def test_a_cutoff_that_is_no_rank_is_an_error_and_no_crash(name):
    with pytest.raises(ValueError, match=r"cutoff is|is not a metric name"):
        parse(name)


@pytest.mark.parametrize(
    "text",
    [
        "P(rel=0.00001)",
        "P(rel=10000000000000000)",
        "nDCG(gain={1:1000000})",
        "nDCG(discount=log1000000)",
        "F(beta=0.30000000000000004)",
        "nDCG(gain={1:0.1234567})",
        "nDCG(discount=log1.0000001)",
    ],
)
def test_a_number_in_a_name_keeps_every_digit_and_has_no_exponent(text):
    assert name(parse(text)) == text
    assert parse(name(parse(text))) == parse(text)


def test_two_gain_tables_that_differ_late_are_two_metrics():
    assert len(parse_list("DCG(gain={1:0.1234567}),DCG(gain={1:0.1234568})")) == 2


def test_scores_beyond_32_bits_tie_at_infinity():
    conventions = Conventions(score_precision="float32")
    order = rank_order(
        np.array([1e299, 1e300]), np.array([0, 2]), doc_ids=np.array(["a", "b"]), conventions=conventions
    )
    assert order.tolist() == [1, 0]


def test_rounding_lifts_no_perfect_ranking_above_one():
    rankings = JudgedRankings.from_lists(retrieved=[[0.1, 0.2, 0.3, 0.7]], judged=[[0.1, 0.2, 0.3, 0.7]])
    assert parse("nDCG(discount=none)").per_query(rankings)[0] == 1.0


@pytest.mark.parametrize(
    ("text", "hint"),
    [("nDGC@10", 'Did you mean "nDCG"'), ("mrrr@10", 'Did you mean "mrr"'), ("map_@10", 'Did you mean "map"')],
)
def test_a_misspelt_family_is_recognised_in_spite_of_its_cutoff(text, hint):
    with pytest.raises(MetricNameError, match=hint):
        parse(text)


def test_the_name_of_another_program_takes_a_cutoff():
    assert parse("map@10") == parse("AP@10")


@pytest.mark.parametrize(
    "text",
    [
        "P@" + "9" * 5000,
        "Judged@" + "9" * 30,
        "Judged@" + "9" * 12,
        "F(beta=1" + "0" * 200 + ")",
        "P(rel=1" + "0" * 400 + ")",
    ],
)
def test_a_number_of_absurd_size_is_refused_by_name(text):
    with pytest.raises(MetricNameError):
        parse(text)


@pytest.mark.parametrize("make", [lambda: P(min_grade=float("nan")), lambda: NDCG(gain="exp2"), lambda: Gain("foo")])
def test_parts_of_a_wrong_kind_are_refused_when_the_metric_is_made(make):
    with pytest.raises(MetricNameError):
        make()


def test_a_numpy_integer_is_a_cutoff_and_minus_zero_is_zero():
    assert P(cutoff=np.int64(5)) == P(cutoff=5)
    assert column_name(parse("P(rel=-0)")) == column_name(parse("P(rel=0)"))


def test_an_infinite_grade_is_refused():
    with pytest.raises(DataError, match="finite"):
        JudgedRankings.from_lists(retrieved=[[1]], judged=[[float("inf")]])
