"""A ranking of ten with relevant documents at ranks 2, 5 and 9, where four are known to be relevant."""

from math import log2

import pytest

from evalcore.metrics import parse
from evalcore.rankings import JudgedRankings

RANKING = JudgedRankings.from_lists(
    retrieved=[[0, 1, 0, 0, 1, 0, 0, 0, 1, 0]],
    judged=[[1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0]],
)


def value(metric: str) -> float:
    return float(parse(metric).per_query(RANKING)[0])


def test_recall_counts_the_three_of_four_that_were_found():
    assert value("R@10") == 3 / 4


def test_reciprocal_rank_looks_at_rank_2_alone():
    assert value("RR@10") == 1 / 2


def test_dcg_gives_later_ranks_less():
    assert value("DCG@10") == pytest.approx(1 / log2(3) + 1 / log2(6) + 1 / log2(10), abs=1e-15)
    assert round(value("DCG@10"), 3) == 1.319


def test_the_ideal_has_all_four_at_ranks_1_to_4():
    assert value("IDCG@10") == pytest.approx(1 + 1 / log2(3) + 1 / log2(4) + 1 / log2(5), abs=1e-15)
    assert round(value("IDCG@10"), 3) == 2.562


def test_ndcg_is_the_share_of_the_ideal():
    assert value("nDCG@10") == pytest.approx(value("DCG@10") / value("IDCG@10"), abs=1e-15)
    assert round(value("nDCG@10"), 3) == 0.515


def test_with_binary_grades_the_exponential_gain_changes_nothing():
    assert value("nDCG(gain=exp2)@10") == value("nDCG@10")


def test_moving_rank_9_up_to_rank_3_changes_ndcg_but_neither_recall_nor_reciprocal_rank():
    better = JudgedRankings.from_lists(
        retrieved=[[0, 1, 1, 0, 1, 0, 0, 0, 0, 0]], judged=[[1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0]]
    )
    assert parse("R@10").per_query(better) == [3 / 4]
    assert parse("RR@10").per_query(better) == [1 / 2]
    assert parse("nDCG@10").per_query(better) > value("nDCG@10")
