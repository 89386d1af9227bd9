"""What the notes say, and when they say nothing."""

from __future__ import annotations

import pytest

from evalcore import parse, parse_list
from jobs.notes import of_answers, of_calibration, of_contrasts, of_scores

COUNTS = {
    "n_misordered": 0,
    "n_rankings": 10,
    "lowest_gain": 1.0,
    "best_grade": 1.0,
    "n_only_judged": 0,
    "n_answered": 10,
    "n_subtopic_names": 2,
}


def scores(metrics, *, by_rank=False, **counts):
    return of_scores(parse_list(metrics), COUNTS | counts, by_rank=by_rank)


def test_of_plain_binary_judgments_there_is_nothing_to_say():
    assert scores("AP,P@5,nDCG@10,alpha_nDCG") == []


@pytest.mark.parametrize("metric", ["AP", "nDCG(gain=binary)@10", "Success@1"])
def test_metrics_that_do_not_tell_grades_apart_are_named_where_there_are_grades(metric):
    assert f"counts alike in {metric}." in scores(f"{metric},nDCG@5", best_grade=3.0)[0]


def test_score_and_rank_order_that_differ_are_told_with_what_would_follow_the_other():
    assert "documents are ordered by score. To follow the rank column" in scores("AP", n_misordered=2)[0]
    assert "documents are ordered by the rank column. To follow score" in scores("AP", n_misordered=2, by_rank=True)[0]


def test_candidates_that_look_sampled_are_told_where_precision_depends_on_them():
    assert "depends on how many were sampled" in scores("P@5", n_only_judged=10)[0]
    assert scores("P@5", n_only_judged=9) == scores("AP", n_only_judged=10) == []


def test_judgments_of_a_single_subtopic_are_told():
    assert "All judgments have the same subtopic" in scores("alpha_nDCG@5", n_subtopic_names=1)[0]
    assert scores("nDCG@5", n_subtopic_names=1) == []


def answered(*rows):
    return [dict(zip(("system", "n_answered", "n_longest"), row, strict=True)) for row in rows]


def test_a_system_that_answers_nothing_or_less_or_shorter_is_told():
    assert of_answers(answered(("A", 5, 10), ("B", 5, 15))) == []
    silent, fewer, shorter = of_answers(answered(("A", 5, 10), ("B", 0, 0), ("C", 4, 1000)))
    assert silent == "B answered none of these queries; is it a run of others?"
    assert "from 4 (C) to 5 (A)" in fewer
    assert "up to 10 documents by A and 1,000 by C" in shorter


def test_calibration_is_that_of_all_queries_together():
    metric = parse("Reliability(bins=2)")
    values = [4, 6, 1.0, 4.8, 2, 5]  # documents, sums of scores, relevant documents of two bins
    rows = [{"metric": f"r{place}", "system": "A", "estimate": value} for place, value in enumerate(values)]
    (note,) = of_calibration(rows, {f"r{place}": metric for place in range(6)})
    # |2 - 1| and |5 - 4.8| of ten documents; the worst bin is off by 1/4
    assert note.startswith("Reliability(bins=2) of A")
    assert "error is 0.1200, the largest of a bin 0.2500" in note


def test_a_sign_that_depends_on_the_cutoff_is_told_and_one_that_does_not_is_not():
    def rows(*deltas):
        return [
            {"metric": f"R@{cutoff}", "candidate": "B", "baseline": "A", "delta": delta} for cutoff, delta in deltas
        ]

    metrics = {f"R@{cutoff}": parse(f"R@{cutoff}") for cutoff in (1, 5)}
    assert "depends on the cutoff: -0.1000 @1, +0.2000 @5" in of_contrasts(rows((1, -0.1), (5, 0.2)), metrics)[0]
    assert of_contrasts(rows((1, 0.1), (5, 0.2)), metrics) == of_contrasts(rows((1, 0.0), (5, 0.2)), metrics) == []
