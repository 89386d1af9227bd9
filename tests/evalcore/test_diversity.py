"""Diversity: worked by hand, against ndeval and a slow twin on real judgments, and what follows from definitions."""

import itertools
from collections import defaultdict
from functools import cache
from math import e, log2

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from evalcore.errors import DataError, MetricNameError
from evalcore.metrics import AP, NDCG, AlphaDCG, AlphaNDCG, ErrIA, Gain, NErrIA, P, Success, name, parse
from evalcore.rankings import JudgedRankings
from tests.support.data import DATA, needs_data
from tests.support.extras import Extras
from tests.support.families import diversity
from tests.support.strategies import same_bits, seeded

# a document and the subtopics that it is relevant to; d is judged and relevant to none, of subtopic 6 there is none
DOCUMENTS = {"a": "12", "b": "2", "c": "2", "d": "", "e": "34", "f": "3", "g": "5", "h": "4"}
Entry = tuple[str, str, float]


def entries_of(documents: dict[str, str]) -> list[Entry]:
    """Judgments by subtopic, in the order of the documents."""
    entries = [(document, subtopic, 1.0) for document, subtopics in documents.items() for subtopic in subtopics]
    return [*entries, ("d", "6", 0.0)]


def of(rankings: list[str], entries: list[Entry]) -> JudgedRankings:
    """Rankings of one query: each letter is a document, best first."""
    return JudgedRankings.from_lists(
        retrieved=[[None] * len(ranking) for ranking in rankings],
        judged=[[] for _ in rankings],
        documents=[list(ranking) for ranking in rankings],
        subtopics=[entries for _ in rankings],
    )


def value(metric: str, ranking: str, documents: dict[str, str] = DOCUMENTS) -> float:
    return float(parse(metric).per_query(of([ranking], entries_of(documents)))[0])


@pytest.mark.parametrize(
    ("metric", "ranking", "expected"),
    [
        # a adds 2, b and c repeat subtopic 2, e adds 2: 2 1/2 1/4 0 2; the greedy ranking a e g b f: 2 2 1 1/2 1/2
        ("alpha_nDCG@1", "abcde", 1),
        ("alpha_nDCG@2", "abcde", (2 + 1 / 2 / log2(3)) / (2 + 2 / log2(3))),
        ("alpha_nDCG@3", "abcde", (2 + 1 / 2 / log2(3) + 1 / 4 / 2) / (2 + 2 / log2(3) + 1 / 2)),
        ("alpha_nDCG(alpha=1)@3", "abcde", 2 / (2 + 2 / log2(3) + 1 / 2)),
        ("alpha_nDCG(alpha=0)@3", "abcde", (2 + 1 / log2(3) + 1 / 2) / (2 + 2 / log2(3) + 1 / 2)),
        ("alpha_nDCG@2", "bx", 1 / (2 + 2 / log2(3))),
        ("alpha_nDCG", "h", 1 / (2 + sum(g / log2(r) for r, g in enumerate([2, 1, 0.5, 0.5, 0.5, 0.25], start=3)))),
        ("alpha_DCG@1", "abcde", 2 / 5),  # of 5 subtopics, not 6
        ("alpha_DCG@2", "abcde", (2 + 1 / 2 / log2(3)) / (5 + 5 / 2 / log2(3))),
        ("alpha_DCG", "ab", (2 + 1 / 2 / log2(3)) / (5 + 5 / 2 / log2(3))),  # without a cutoff: the length
        ("ERR_IA@2", "xe", (2 / 2) / (5 + 5 / 2 / 2)),
        ("ERR_IA@3", "xe", (2 / 2) / (5 + 5 / 2 / 2 + 5 / 4 / 3)),  # a short ranking is filled up
        ("nERR_IA@2", "xe", (2 / 2) / (2 + 2 / 2)),
        ("NRBP", "xea", (2 / 2 + 2 / 4) * 0.75 / 5),
        ("NRBP(alpha=0.2,beta=0.8)", "xba", (0.8 + 0.64 * (1 + 0.8)) * (1 - 0.8 * 0.8) / 5),
        ("NRBP(beta=0)", "ae", 2 / 5),  # nobody goes on to the second document
        ("nNRBP(beta=0)", "be", 1 / 2),
        ("StRecall@2", "abe", 2 / 5),
        ("StRecall@3", "abe", 4 / 5),
        ("StRecall", "aefg", 1),
        ("P_IA@2", "abe", 3 / 2 / 5),
        ("P_IA@4", "abe", 5 / 4 / 5),
        ("P_IA", "abe", 5 / 3 / 5),
        ("MAP_IA", "bxa", ((1 / 3) / 1 + (1 + 2 / 3) / 3) / 5),  # subtopics 1 and 2
        *[(metric, "", 0) for metric in ("alpha_nDCG", "alpha_DCG", "ERR_IA", "NRBP", "StRecall@2", "P_IA", "MAP_IA")],
        *[(metric, "dx", 0) for metric in ("alpha_nDCG@5", "alpha_DCG@5", "nERR_IA", "nNRBP", "StRecall", "MAP_IA")],
    ],
)
def test_by_hand(metric, ranking, expected):
    assert value(metric, ranking) == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize(
    ("parameters", "ranking", "expected"),
    [
        (
            "alpha=0.5,beta=0.5",
            "bxacedgfh",
            "0.2850226928895612 0.5515222482435596 0.3465806145913211 0.6309306794951441 0.23291015625 "
            "0.4616724738675958 0.3435714285714285",
        ),
        (
            "alpha=0.2,beta=0.8",
            "bxacedgfh",
            "0.23693909787632367 0.5848375451263538 0.26767089640729597 0.6678932870377141 0.278136999936 "
            "0.7144208890694286 0.3435714285714285",
        ),
        (
            "alpha=0.2,beta=0.8",
            "abcdefgh",
            "0.33054466740771077 0.8158844765342959 0.3265817554525296 0.8148878531935589 0.32838193151999995 "
            "0.8434796935497157 0.5269047619047619",
        ),
    ],
)
def test_values_are_those_of_ndeval(parameters, ranking, expected):
    """Printed by ndeval 4.5 as packaged in pyndeval 0.0.8."""
    alpha = parameters.partition(",")[0]
    metrics = [f"{metric}({alpha})@5" for metric in ("ERR_IA", "nERR_IA", "alpha_DCG", "alpha_nDCG")]
    metrics += [f"NRBP({parameters})", f"nNRBP({parameters})", "MAP_IA"]
    found = [value(metric, ranking) for metric in metrics]
    assert found == pytest.approx([float(text) for text in expected.split()], rel=1e-14)


def test_of_documents_that_add_as_much_the_greedy_ranking_takes_the_greatest_id():
    assert value("alpha_nDCG@2", "cb", {"a": "12", "b": "24", "c": "13"}) == 1
    # after c each of a and b repeats one subtopic: the greedy ranking is not the best, and the best is above 1
    overlapping = {"a": "13", "b": "24", "c": "12"}
    assert value("alpha_nDCG@2", "ab", overlapping) == pytest.approx((2 + 2 / log2(3)) / (2 + 1.5 / log2(3)))
    assert value("alpha_nDCG@2", "cb", overlapping) == 1


def test_judgments_of_at_least_rel_count_and_grades_above_do_not_weigh():
    entries = [("a", "1", 2.0), ("b", "1", 1.0), ("c", "2", 3.0)]
    rankings = of(["ab", "bc"], entries)
    assert parse("StRecall(rel=2)").per_query(rankings).tolist() == [1 / 2, 1 / 2]
    assert parse("P_IA(rel=2)@2").per_query(rankings).tolist() == [1 / 4, 1 / 4]
    assert parse("StRecall(rel=3)").per_query(rankings).tolist() == [0, 1]
    assert parse("alpha_DCG@1").per_query(rankings).tolist() == [1 / 2, 1 / 2]


@pytest.mark.parametrize("metric", diversity.EXAMPLES, ids=name)
def test_without_a_relevant_document_of_any_subtopic_every_metric_is_undefined(metric):
    assert np.isnan(metric.per_query(of(["ab", ""], [("a", "1", 0.0)]))).all()
    assert np.isnan(metric.per_query(of(["ab", ""], []))).all()


def test_subtopics_of_the_same_name_in_two_queries_are_two_subtopics():
    rankings = JudgedRankings.from_lists(
        retrieved=[[1], [1]],
        judged=[[1], [1]],
        documents=[["a"], ["a"]],
        subtopics=[[("a", "1", 1)], [("b", "1", 1), ("b", "2", 1)]],
    )
    assert parse("StRecall").per_query(rankings).tolist() == [1, 0]
    assert parse("alpha_nDCG").per_query(rankings).tolist() == [1, 0]


def test_a_ranking_whose_every_document_covers_everything_has_the_value_1():
    documents = dict.fromkeys("abcdefg", "123")
    for metric in ("alpha_DCG@7", "alpha_DCG", "ERR_IA@3", "ERR_IA(alpha=0.3)@7", "P_IA@7", "MAP_IA", "StRecall@1"):
        assert value(metric, "abcdefg", documents) == 1, metric
    assert value("NRBP", "abcdefg", documents) == pytest.approx(1 - 0.25**7)  # what an endless one would add is missing


@pytest.mark.parametrize("cutoff", [1, 3, None])
def test_with_one_subtopic_they_are_the_metrics_that_know_no_subtopics(cutoff):
    retrieved = [[1, 0, 1, 1], [0, 0, 1, 0], [0], []]
    judged = [[1, 1, 1, 1, 0]] * 4
    documents = [[f"{'r' if grade else 'n'}{place}" for place, grade in enumerate(row)] for row in retrieved]
    relevant = [[(doc, "1", 1.0) for doc in row if doc[0] == "r"] for row in documents]
    entries = [[*row, *((f"missed{place}", "1", 1.0) for place in range(4 - len(row)))] for row in relevant]
    rankings = JudgedRankings.from_lists(retrieved=retrieved, judged=judged, documents=documents, subtopics=entries)
    at = "" if cutoff is None else f"@{cutoff}"
    for metric, plain in (
        ("P_IA", P(cutoff=cutoff)),
        ("StRecall", Success(cutoff=cutoff)),
        ("alpha_nDCG(alpha=0)", NDCG(gain=Gain.parse("binary"), cutoff=cutoff)),
    ):
        assert parse(metric + at).per_query(rankings) == pytest.approx(plain.per_query(rankings), rel=1e-14), metric
    assert parse("MAP_IA").per_query(rankings) == pytest.approx(AP().per_query(rankings), rel=1e-14)


@st.composite
def covers(draw) -> dict[str, str]:
    """Up to five documents with subtopics each, at least one of them with any."""
    subtopics = st.lists(st.sampled_from("1234"), unique=True).map("".join)
    found = draw(st.lists(subtopics, min_size=1, max_size=5).filter(any))
    return dict(zip("abcde", found, strict=False))


@seeded(40)
@given(documents=covers(), alpha=st.sampled_from([0, 0.25, 0.5, 1]), cutoff=st.sampled_from([1, 2, 3, None]))
def test_the_best_ranking_is_no_worse_than_the_greedy_one_and_no_better_than_its_bound(documents, alpha, cutoff):
    orders = ["".join(order) for order in itertools.permutations(documents)]
    for metric in (AlphaNDCG(alpha=alpha, cutoff=cutoff), NErrIA(alpha=alpha, cutoff=cutoff)):
        values = metric.per_query(of(orders, entries_of(documents)))
        assert 1 in values  # the greedy ranking is one of them
        assert values.max() <= e / (e - 1) == metric.FACTS.high
    for metric in (AlphaDCG(alpha=alpha, cutoff=cutoff), ErrIA(alpha=alpha, cutoff=cutoff)):
        assert metric.per_query(of(orders, entries_of(documents))).max() <= 1


@cache
def web_2013() -> dict[str, list[Entry]]:
    entries = defaultdict(list)
    for line in (DATA / "qrels" / "qrels.web.201-250.ndeval.txt").read_text().splitlines():
        query, subtopic, document, grade = line.split()
        entries[query].append((document, subtopic, float(grade)))
    return dict(entries)


def shuffled_run(rng: np.random.Generator, *, deepest: int) -> list[list[str]]:
    """For each query some of its judged documents, the relevant ones more likely, and one that is not judged."""
    run = []
    for entries in web_2013().values():
        documents = sorted({document for document, _, _ in entries})
        relevant = {document for document, _, grade in entries if grade >= 1}
        weights = np.array([30.0 if document in relevant else 1.0 for document in documents])
        n_shown = min(len(documents), int(rng.integers(1, deepest)))
        shown = rng.choice(documents, size=n_shown, replace=False, p=weights / weights.sum()).tolist()
        run.append(rng.permutation([*shown, "unjudged"]).tolist())
    return run


@needs_data
@pytest.mark.parametrize("metric", diversity.EXAMPLES, ids=name)
def test_rankings_of_real_judgments_have_the_values_of_the_twin(metric):
    run = shuffled_run(np.random.default_rng(11), deepest=60)
    subtopics = [[entry for entry in entries if entry[2] >= 1] for entries in web_2013().values()]
    rankings = JudgedRankings.from_lists(
        retrieved=[[None] * len(documents) for documents in run],
        judged=[[] for _ in run],
        documents=run,
        subtopics=list(web_2013().values()),
    )
    expected = [
        diversity.VALUES[type(metric)](metric, [], [], Extras([], documents, [], [], entries, [], []))
        for documents, entries in zip(run, subtopics, strict=True)
    ]
    assert metric.per_query(rankings) == pytest.approx(expected, rel=1e-12, abs=0, nan_ok=True)


@needs_data
def test_a_query_has_the_same_bits_alone_and_among_others_in_another_order():
    run, entries = shuffled_run(np.random.default_rng(12), deepest=60), list(web_2013().values())

    def rankings(queries: list[int]) -> JudgedRankings:
        return JudgedRankings.from_lists(
            retrieved=[[None] * len(run[query]) for query in queries],
            judged=[[] for _ in queries],
            documents=[run[query] for query in queries],
            subtopics=[entries[query] for query in queries],
        )

    backwards = list(range(len(run)))[::-1]
    for metric in diversity.EXAMPLES:
        together = metric.per_query(rankings(backwards))[::-1]
        assert same_bits(together[:10], [metric.per_query(rankings([query]))[0] for query in range(10)]), name(metric)


def test_a_cutoff_may_be_as_deep_as_a_cutoff_can_be():
    for metric in ("alpha_DCG@2147483647", "ERR_IA@2147483647", "nERR_IA@2147483647", "P_IA@2147483647"):
        assert 0 < value(metric, "abc") < 1
    assert value("ERR_IA@2147483647", "abc") == pytest.approx(value("ERR_IA@1000", "abc"), rel=1e-15)


@pytest.mark.parametrize("text", ["alpha_nDCG(alpha=1.5)@10", "ERR_IA(alpha=-0.1)", "NRBP(beta=2)", "nNRBP(alpha=2)"])
def test_a_share_that_is_none_is_refused(text):
    with pytest.raises(MetricNameError, match="must be from 0 to 1"):
        parse(text)


def test_other_names_are_read():
    assert [name(parse(text)) for text in ("strec@10", "AP_IA", "alpha_nDCG(alpha=0.5)@10")] == [
        "StRecall@10",
        "MAP_IA",
        "alpha_nDCG@10",
    ]


def test_without_subtopics_or_documents_there_is_an_error_and_no_value():
    with pytest.raises(DataError, match="needs subtopics"):
        parse("StRecall").per_query(JudgedRankings.from_lists(retrieved=[[1]], judged=[[1]], documents=[["a"]]))
    with pytest.raises(DataError, match="needs documents"):
        parse("StRecall").per_query(
            JudgedRankings.from_lists(retrieved=[[1]], judged=[[1]], subtopics=[[("a", "1", 1)]])
        )


def test_where_nothing_ever_stops_the_user_and_nothing_bores_him_nrbp_is_0():
    assert value("NRBP(alpha=0,beta=1)", "ab") == 0
