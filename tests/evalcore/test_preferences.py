"""Preferences and judgment groups: what trec_eval prints, and what a loop over every pair finds."""

from dataclasses import replace
from itertools import product

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from evalcore.entries import FURTHER_LIST, Entries
from evalcore.errors import DataError, MetricNameError
from evalcore.metrics import (
    AP,
    DCG,
    GroupMean,
    Judged,
    NumPrefs,
    NumPrefsMet,
    P,
    Prefs,
    PrefsRnonrel,
    parse,
    preference_counts,
    preferences,
)
from evalcore.metrics.preference_counts import PAIRS
from evalcore.ordering import rank_order
from evalcore.presets import preset
from evalcore.rankings import Grades, JudgedRankings
from evalcore.segments import offsets_of
from tests.support.data import DATA, needs_data
from tests.support.families.preferences import counts, is_met, met_share, preferences_of
from tests.support.strategies import random_batch, rankings_of, same_bits, seeded
from tests.support.trec import read_run

TREC_EVAL = preset("trec_eval").conventions
BY_PREFERENCE = replace(TREC_EVAL, ties="doc_id_asc")
"""trec_eval breaks ties the other way round where it reads preferences."""
SHARES = [Prefs(per=per, pairs=pairs) for per, pairs in product(preferences.PER, PAIRS)]

Rows = list[tuple[str, str, str, str, float]]
"""Query, group, list, document, level."""


def ranked_with(queries: list[str], ranked: list[list[str]], rows: Rows) -> JudgedRankings:
    """Rankings of documents, and what is said of them in several groups and lists."""
    rows = [row for query in queries for row in rows if row[0] == query]
    n_ranked = sum(map(len, ranked))
    ids = [*(document for documents in ranked for document in documents), *(row[3] for row in rows)]
    _, documents = np.unique(np.array(ids, dtype=np.str_), return_inverse=True)
    _, groups = np.unique(np.array([row[1] for row in rows], dtype=np.str_), return_inverse=True)
    _, lists = np.unique(np.array([row[2] for row in rows], dtype=np.str_), return_inverse=True)
    nothing = np.zeros(len(queries) + 1, dtype=np.int64)
    return JudgedRankings(
        Grades(np.full(n_ranked, np.nan), offsets_of([len(documents) for documents in ranked])),
        Grades(np.empty(0), nothing),
        documents=documents[:n_ranked],
        preferences=Entries(
            documents=documents[n_ranked:],
            groups=groups + FURTHER_LIST * lists,
            values=np.array([row[4] for row in rows], dtype=np.float64),
            offsets=offsets_of([sum(row[0] == query for row in rows) for query in queries]),
        ),
    )


def printed(path: str) -> dict[tuple[str, str], str]:
    """(measure, query) -> value, as trec_eval prints it."""
    lines = [line.split() for line in (DATA / "trec_eval" / path).read_text().splitlines()]
    return {(measure, query): text for measure, query, text in lines if measure not in ("runid", "num_q")}


CASES = [
    ("out.test.prefs", "prefs.results.test", "prefs.test", BY_PREFERENCE),
    ("out.test.qrels_prefs", "results.test", "qrels.test", BY_PREFERENCE),
    ("out.test.qrels_jg", "results.test", "qrels.123", TREC_EVAL),
]


@needs_data
@pytest.mark.parametrize("folder", ["", "v9.0.8_expected/"])
@pytest.mark.parametrize(("expected", "run_file", "judgments", "conventions"), CASES, ids=[case[0] for case in CASES])
def test_every_line_that_trec_eval_prints_is_ours(folder, expected, run_file, judgments, conventions):
    run = read_run(DATA / "trec_eval" / run_file)
    order = rank_order(run.scores, run.offsets, doc_ids=run.doc_ids, conventions=conventions)
    ranked = [part.tolist() for part in np.split(run.doc_ids[order], run.offsets[1:-1])]
    lines = [line.split() for line in (DATA / "trec_eval" / judgments).read_text().splitlines()]
    rows = [(line[0], line[1], line[2] if len(line) == 5 else "", line[-2], float(line[-1])) for line in lines]
    rankings = ranked_with(run.queries, ranked, rows)
    theirs = printed(folder + expected)
    ours = {}
    for measure in dict.fromkeys(measure for measure, _ in theirs):
        metric = parse(measure)
        values = np.nan_to_num(metric.per_query(rankings))  # where we say undefined they say 0
        overall = values.sum() if metric.FACTS.statistic == "sum" else values.mean()
        for query, value in zip([*run.queries, "all"], [*values, overall], strict=True):
            ours[measure, query] = f"{value:.0f}" if metric.FACTS.statistic == "sum" else f"{value:.4f}"
    assert ours == theirs


DOCUMENTS = "abcdef"


@st.composite
def judgments(draw) -> Rows:
    """Groups of lists of one query, none of which contradicts the others of its group."""
    strength = {document: draw(st.integers(0, 3)) for document in DOCUMENTS}
    rows = []
    for group in draw(st.sets(st.sampled_from("xyz"))):
        for number in range(draw(st.integers(1, 3))):
            for document in draw(st.sets(st.sampled_from(DOCUMENTS))):
                level = strength[document] if group != "z" else -strength[document]  # z disagrees with x and y
                rows.append(("q", group, str(number), document, float(level)))
    return rows


def preferences_by_group(rows: Rows) -> list[list[tuple[str, str]]]:
    """Each once, with all that follow."""
    found = []
    for group in sorted({row[1] for row in rows}):
        lists = {row[2] for row in rows if row[1] == group}
        pairs = {
            pair
            for each in lists
            for pair in preferences_of({row[3]: row[4] for row in rows if (row[1], row[2]) == (group, each)})
        }
        for _ in DOCUMENTS:
            pairs |= {(first, last) for first, here in pairs for there, last in pairs if here == there}
        found.append(sorted(pairs))
    return found


@seeded(100)
@given(rows=judgments(), order=st.permutations(DOCUMENTS), depth=st.integers(0, 6))
def test_what_is_counted_is_what_a_loop_over_every_pair_finds(rows, order, depth):
    ranked = list(order[:depth])
    rankings, of_group = ranked_with(["q"], [ranked], rows), preferences_by_group(rows)
    everything = [pair for pairs in of_group for pair in pairs]
    assert NumPrefs().per_query(rankings) == len(everything)
    for kind in ("all", "retrieved"):
        met = [is_met(pair, ranked) and counts(pair, ranked, kind) for pair in everything]
        assert NumPrefsMet(pairs=kind).per_query(rankings) == sum(met)
    for metric in SHARES:
        expected = met_share(metric, ranked, of_group)
        assert metric.per_query(rankings) == pytest.approx([expected], abs=1e-15, nan_ok=True), metric


@seeded(30)
@given(several=st.lists(st.tuples(judgments(), st.permutations(DOCUMENTS)), min_size=2, max_size=5))
def test_a_query_has_the_same_bits_alone_and_beside_others_whatever_groups_and_documents_are_called(several):
    metrics = [*SHARES, NumPrefs(), PrefsRnonrel(), PrefsRnonrel(pairs="retrieved"), GroupMean()]
    queries = [f"q{number}" for number in range(len(several))]
    ranked = [list(order[:4]) for _, order in several]
    rows = [(query, *row[1:]) for query, (given_, _) in zip(queries, several, strict=True) for row in given_]
    together = ranked_with(queries, ranked, rows)
    renamed = {"x": "3", "y": "1", "z": "2"}
    for place, query in enumerate(queries):
        own = [(query, renamed[row[1]], *row[2:3], row[3] + "!", row[4]) for row in rows if row[0] == query]
        alone = ranked_with([query], [[document + "!" for document in ranked[place]]], own)
        for metric in metrics:
            assert same_bits(metric.per_query(together)[place], metric.per_query(alone)[0]), metric


def test_pairs_are_looked_at_in_parts_without_a_trace(monkeypatch):
    rows = [(f"q{n}", group, "", f"d{i}", float(i * n % 5)) for n in range(20) for group in "xyz" for i in range(n)]
    queries, ranked = [f"q{n}" for n in range(20)], [[f"d{i}" for i in range(n // 2)] for n in range(20)]
    whole = Prefs(per="pair").per_query(ranked_with(queries, ranked, rows))
    monkeypatch.setattr(preference_counts, "MOST_PAIRS", 100)
    assert same_bits(Prefs(per="pair").per_query(ranked_with(queries, ranked, rows)), whole)


def test_lists_of_one_group_that_contradict_each_other_are_refused():
    rows = [("q", "g", "1", "a", 2.0), ("q", "g", "1", "b", 1.0), ("q", "g", "2", "b", 2.0), ("q", "g", "2", "a", 1.0)]
    with pytest.raises(DataError, match="contradict"):
        Prefs().per_query(ranked_with(["q"], [["a"]], rows))
    of_two_groups = [(query, number, "", document, level) for query, _, number, document, level in rows]
    assert Prefs().per_query(ranked_with(["q"], [["a"]], of_two_groups)) == [1 / 2]


def test_a_pair_that_two_groups_agree_on_counts_once_by_pair_and_twice_by_preference():
    rows = [("q", group, "", document, level) for group in "xy" for document, level in (("a", 1.0), ("b", 0.0))]
    rankings = ranked_with(["q"], [["a", "b", "c"]], [*rows, ("q", "z", "", "c", 1.0), ("q", "z", "", "a", 0.0)])
    assert Prefs().per_query(rankings) == pytest.approx([2 / 3])
    assert Prefs(per="pair").per_query(rankings) == [1 / 2]
    assert Prefs(per="group").per_query(rankings) == pytest.approx([2 / 3])


def test_without_a_preference_the_share_is_undefined_and_without_one_that_counts_0():
    rankings = ranked_with(["q"], [["c"]], [("q", "x", "", "a", 1.0), ("q", "x", "", "b", 0.0)])
    assert Prefs().per_query(rankings) == [0]
    assert Prefs(pairs="implied").per_query(rankings) == [0]  # it retrieves neither document
    equal = ranked_with(["q"], [["a"]], [("q", "x", "", "a", 1.0), ("q", "x", "", "b", 1.0)])
    assert np.isnan([metric.per_query(equal)[0] for metric in SHARES]).all()


def test_what_trec_eval_adds_to_the_even_share_is_added_by_its_own_definition_alone():
    levels = {"a": 1.0, "b": 0.0, "c": 0.0, "d": 0.0}
    rankings = ranked_with(["q"], [["b", "a", "c"]], [("q", "x", "", *entry) for entry in levels.items()])
    # one relevant document, and of the three others the first: a > b, not met
    assert PrefsRnonrel(definition="stated").per_query(rankings) == [0]
    # trec_eval: b > b, c > b and d > b as well, not met either
    assert PrefsRnonrel().per_query(rankings) == [0]
    levels |= {"e": 1.0}
    rankings = ranked_with(["q"], [["b", "a", "c"]], [("q", "x", "", *entry) for entry in levels.items()])
    # a and e against b and c: a > c is met; trec_eval: b, c, d against b and c too, and of those b > c is met
    assert PrefsRnonrel(definition="stated").per_query(rankings) == [1 / 4]
    assert PrefsRnonrel().per_query(rankings) == [2 / 10]


def test_a_document_that_was_not_judged_in_a_group_is_unjudged_there():
    rows = [("q", "x", "", "a", 1.0), ("q", "y", "", "b", 1.0), ("q", "y", "", "a", 0.0)]
    rankings = ranked_with(["q"], [["a", "b"]], rows)
    assert GroupMean(of=AP()).per_query(rankings) == [(1 + 1 / 2) / 2]
    assert GroupMean(of=P(cutoff=1)).per_query(rankings) == [(1 + 0) / 2]
    nothing_relevant = ranked_with(["q"], [["a"]], [*rows[:1], ("q", "y", "", "a", 0.0)])
    assert GroupMean().per_query(nothing_relevant) == [1]
    assert np.isnan(GroupMean().per_query(ranked_with(["q"], [["a"]], [])))


@pytest.mark.parametrize("of", [DCG(), Judged(), Prefs(), GroupMean()])
def test_a_mean_over_groups_is_of_a_metric_that_reads_grades_and_lies_between_0_and_1(of):
    with pytest.raises(MetricNameError, match="from 0 to 1 that reads grades alone"):
        GroupMean(of=of)


def test_the_depth_that_a_mean_over_groups_needs_is_that_of_its_metric():
    assert parse("P_avgjg_5") == GroupMean(of=P(cutoff=5))
    assert parse("P_avgjg_5").cutoff == 5
    assert parse("map_avgjg").cutoff is None


@pytest.mark.parametrize(
    "text", ["Prefs(per=query)", "Prefs(pairs=some)", "NumPrefsMet(pairs=implied)", "PrefsRnonrel(definition=x)"]
)
def test_an_unknown_word_is_refused(text):
    with pytest.raises(MetricNameError, match="unknown value"):
        parse(text)


def test_a_million_pairs_and_thousands_of_rankings_are_counted_and_not_listed():
    deep = [float(rank % 1_000) for rank in range(100_000)]
    ranked = JudgedRankings.from_lists(
        retrieved=[deep],
        judged=[[]],
        documents=[[str(i) for i in range(100_000)]],
        preferences=[[(str(i), "", level) for i, level in enumerate(deep)]],
    )
    n_levels, of_each = 1_000, 100
    assert NumPrefs().per_query(ranked) == n_levels * (n_levels - 1) // 2 * of_each**2
    # a higher level stands first in 99 + 98 + ... + 1 of the pairs of blocks of 1,000 documents
    assert NumPrefsMet().per_query(ranked) == n_levels * (n_levels - 1) // 2 * (of_each * (of_each - 1) // 2)
    batch = rankings_of(random_batch(2_000, depth=40, seed=2))
    assert (Prefs().per_query(batch) <= 1).sum() > 1_000
