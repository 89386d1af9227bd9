"""Losses of training: worked by hand, far out where exp is infinite, and beside the metrics that they stand for."""

from math import e, exp, inf, log, log2, nan

import pytest

from evalcore.errors import MetricNameError
from evalcore.metrics import NDCG, Gain, LambdaLoss, ListNetLoss, PairwiseLogLoss, RankNetLoss, name, parse
from evalcore.rankings import JudgedRankings

ALL = [ListNetLoss(), RankNetLoss(), LambdaLoss(), LambdaLoss(mu=0)]


def of(scores, grades, judged=None) -> JudgedRankings:
    known = [grade for grade in grades if grade is not None] if judged is None else judged
    return JudgedRankings.from_lists(retrieved=[grades], judged=[known], scores=[scores])


def value(metric: str, scores, grades, judged=None) -> float:
    return float(parse(metric).per_query(of(scores, grades, judged))[0])


@pytest.mark.parametrize(
    ("metric", "scores", "grades", "expected"),
    [
        ("ListNetLoss", [0, 0], [1, 0], log(2)),
        ("ListNetLoss", [1, 0], [1, 0], log(1 + e) - e / (1 + e)),
        ("ListNetLoss", [1, 5, 0], [1, None, 0], log(1 + e) - e / (1 + e)),  # an unjudged document does not count
        ("ListNetLoss", [3], [1], 0),
        ("ListNetLoss", [1000, 0], [0, 1], 1000 * e / (1 + e)),  # where exp is infinite
        ("ListNetLoss", [0, 0], [1000, 0], log(2)),
        ("ListNetLoss", [], [], nan),
        ("ListNetLoss", [1, nan], [1, 0], nan),
        ("RankNetLoss", [1, 0], [1, 0], log(1 + exp(-1))),
        ("RankNetLoss", [0, 0, 0], [2, 1, 0], 3 * log(2)),
        ("RankNetLoss", [1000, 0], [0, 1], 1000),
        ("RankNetLoss", [1, 0], [1, 1], nan),
        ("RankNetLoss", [1, -inf], [1, 0], nan),
        # gains 3 and 1 of 3 + 1 / log2(3); the discounts of ranks 1 and 2 are 1 and 1 / log2(3), and they are 1 apart
        ("LambdaLoss(mu=0)", [0, 0], [2, 1], 2 / (3 + 1 / log2(3)) * (1 - 1 / log2(3)) * 1),
        ("LambdaLoss", [0, 0], [2, 1], 2 / (3 + 1 / log2(3)) * 11 * (1 - 1 / log2(3)) * 1),
        ("LambdaLoss(mu=0)", [1, 0], [0, 1], (1 - 1 / log2(3)) * log2(1 + e)),
        ("LambdaLoss(mu=1)", [2, 1, 0], [1, None, 0], 2 * (1 - 1 / log2(3)) * log2(1 + exp(-2))),  # ranks 1 and 2
        (
            "LambdaLoss(mu=1)",
            [2, 1, 0],
            [1, 1, 0],
            (
                # ranks 1 and 3 and the drop from 2 to 3; ranks 2 and 3 and the drop from 1 to 2
                (1 - 1 / 2 + 1 / log2(3) - 1 / 2) * log2(1 + exp(-2))
                + (1 / log2(3) - 1 / 2 + 1 - 1 / log2(3)) * log2(1 + exp(-1))
            )
            / (1 + 1 / log2(3)),
        ),
        ("LambdaLoss", [1000, 0], [0, 1], 11 * (1 - 1 / log2(3)) * 1000 / log(2)),
        ("LambdaLoss", [1, 0], [0, -1], nan),  # neither gains
        ("LambdaLoss", [1, 0], [1, 1], nan),
    ],
)
def test_the_value_is_the_one_worked_out_by_hand(metric, scores, grades, expected):
    assert value(metric, scores, grades) == pytest.approx(expected, rel=1e-14, abs=1e-15, nan_ok=True)


def test_with_mu_0_a_pair_weighs_what_changing_places_means_for_ndcg():
    grades = [0.0, 2.0, 1.0, 3.0]
    judged = [*grades, 3.0]  # one was not retrieved
    ndcg = NDCG(gain=Gain.parse("exp2"))

    def of_order(order: list[float]) -> float:
        return float(ndcg.per_query(of([0.0] * 4, order, judged))[0])

    expected = 0.0
    for i in range(4):
        for j in range(i):
            swapped = list(grades)
            swapped[i], swapped[j] = grades[j], grades[i]
            expected += abs(of_order(swapped) - of_order(grades))  # times log2(1 + exp(0)), all but untied
    scores = [3e-9, 2e-9, 1e-9, 0.0]
    assert value("LambdaLoss(mu=0)", scores, grades, judged) == pytest.approx(expected, rel=1e-8)


def test_the_loss_of_pairs_is_their_mean_times_their_number():
    rankings = of([0.5, 0.25, 0.125, 0.0], [1, 0, 2, None])
    assert RankNetLoss().per_query(rankings) == pytest.approx(3 * PairwiseLogLoss().per_query(rankings))


@pytest.mark.parametrize("metric", ALL, ids=name)
def test_better_scores_cost_less(metric):
    grades = [2.0, 1.0, 0.0]
    losses = [metric.per_query(of(scores, grades))[0] for scores in ([2, 1, 0], [1, 1, 1], [0, 1, 2])]
    assert losses == sorted(losses)


def test_the_loss_of_lists_is_least_where_scores_are_grades():
    grades = [2.0, 1.0, 0.0]
    least = value("ListNetLoss", grades, grades)
    assert all(least < value("ListNetLoss", scores, grades) for scores in ([2, 1, 0.1], [2, 0.9, 0], [3, 1, 0]))
    shifted = value("ListNetLoss", [grade + 5 for grade in grades], grades)
    assert least == pytest.approx(shifted, abs=1e-14)


@pytest.mark.parametrize("mu", [-1, inf, nan])
def test_a_wrong_parameter_is_refused(mu):
    with pytest.raises(MetricNameError, match=r"mu is .*; it must be a finite number from 0"):
        LambdaLoss(mu=mu)
