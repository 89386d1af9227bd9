"""Twins and examples of the losses that rankers are trained on."""

from __future__ import annotations

import math

from evalcore.metrics import LambdaLoss, ListNetLoss, RankNetLoss
from tests.support.families.agreement import judged_scores
from tests.support.families.gain import discount_of, exponential_gain
from tests.support.families.pairwise import pair_log_losses

NAN = float("nan")


def _list_net(metric, retrieved, judged, extras) -> float:
    scores, grades = judged_scores(retrieved, extras)
    if not scores:
        return NAN
    by_score, by_grade = (math.fsum(math.exp(value) for value in values) for values in (scores, grades))
    return -math.fsum(
        math.exp(grade) / by_grade * math.log(math.exp(score) / by_score)
        for score, grade in zip(scores, grades, strict=True)
    )


def _rank_net(metric, retrieved, judged, extras) -> float:
    losses = pair_log_losses(*judged_scores(retrieved, extras))
    return math.fsum(losses) if losses else NAN


def _discount(rank: int) -> float:
    return discount_of("log2", rank)


def _lambda_loss(metric, retrieved, judged, extras) -> float:
    scores, grades = judged_scores(retrieved, extras)
    documents = sorted(zip(scores, grades, strict=True), reverse=True)
    best = math.fsum(
        exponential_gain(grade) * _discount(rank) for rank, grade in enumerate(sorted(judged, reverse=True), start=1)
    )
    losses = []
    for i, (score_i, grade_i) in enumerate(documents, start=1):
        for j, (score_j, grade_j) in enumerate(documents, start=1):
            if exponential_gain(grade_i) > exponential_gain(grade_j) and best:
                apart = abs(i - j)
                rho = abs(_discount(i) - _discount(j))
                delta = _discount(apart) - _discount(apart + 1)
                weight = (rho + metric.mu * delta) * (exponential_gain(grade_i) - exponential_gain(grade_j)) / best
                losses.append(weight * math.log2(1 + math.exp(score_j - score_i)))
    return math.fsum(losses) if losses else NAN


VALUES = {LambdaLoss: _lambda_loss, ListNetLoss: _list_net, RankNetLoss: _rank_net}
EXAMPLES = [ListNetLoss(), RankNetLoss(), LambdaLoss(), LambdaLoss(mu=0)]
