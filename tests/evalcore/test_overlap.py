"""How many documents two systems have in common."""

import numpy as np
import pytest

from evalcore.errors import DataError
from evalcore.metrics import Jaccard, Overlap
from evalcore.rankings import JudgedRankings


def of(documents: str, reference: str) -> JudgedRankings:
    """One query: each letter is a document, best first."""
    return JudgedRankings.from_lists(
        retrieved=[[None] * len(documents)], judged=[[]], documents=[list(documents)], reference=[list(reference)]
    )


@pytest.mark.parametrize(
    ("documents", "reference", "cutoff", "overlap", "jaccard"),
    [
        ("abc", "bcd", None, 2 / 3, 2 / 4),
        ("abc", "bcd", 1, 0, 0),
        ("abc", "bcd", 2, 1 / 2, 1 / 3),
        ("abc", "bcd", 10, 2 / 3, 2 / 4),  # short lists are not filled up
        ("abc", "cba", None, 1, 1),  # the order does not matter
        ("abc", "cba", 1, 0, 0),  # but for what is among the first
        ("ab", "abcd", None, 2 / 4, 2 / 4),
        ("abcd", "ab", None, 2 / 4, 2 / 4),
        ("abcd", "ab", 2, 1, 1),
        ("xyzab", "abcde", 4, 1 / 4, 1 / 7),  # b stands below the cutoff on one side
        ("abc", "", None, 0, 0),
        ("", "abc", 2, 0, 0),
        ("", "", 3, np.nan, np.nan),
    ],
)
def test_by_hand(documents, reference, cutoff, overlap, jaccard):
    rankings = of(documents, reference)
    assert Overlap(cutoff=cutoff).per_query(rankings) == pytest.approx([overlap], nan_ok=True)
    assert Jaccard(cutoff=cutoff).per_query(rankings) == pytest.approx([jaccard], nan_ok=True)


@pytest.mark.parametrize("metric", [Overlap(), Overlap(cutoff=2), Jaccard(), Jaccard(cutoff=2)])
def test_which_system_is_the_reference_does_not_matter(metric):
    for one, other in (("abcd", "bx"), ("abc", ""), ("ab", "cd")):
        assert metric.per_query(of(one, other)) == metric.per_query(of(other, one))


def test_a_document_of_another_query_is_another_document():
    rankings = JudgedRankings.from_lists(
        retrieved=[[None], [None]], judged=[[], []], documents=[["a"], ["b"]], reference=[["b"], ["b"]]
    )
    assert Overlap().per_query(rankings).tolist() == [0, 1]


def test_without_a_reference_there_is_an_error_and_no_value():
    with pytest.raises(DataError, match="needs reference"):
        Overlap().per_query(JudgedRankings.from_lists(retrieved=[[1]], judged=[[1]], documents=[["a"]]))
