"""Agreement of two orders: worked by hand, against scipy and published values, and what follows from definitions."""

import itertools
import json
from math import isnan, log, nan, sqrt
from statistics import mean

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from scipy import stats

from evalcore.conventions import Conventions
from evalcore.errors import DataError, MetricNameError
from evalcore.metrics import METRICS, RBO, KendallTau, RefKendallTau, RefSpearman, Spearman, TauAP, WeightedTau, parse
from evalcore.rankings import JudgedRankings
from evalcore.scoring import by_column, score
from tests.support.data import DATA, needs_data
from tests.support.strategies import same_bits, seeded

OF_SCORES = [Spearman(), KendallTau(), KendallTau(variant="a"), TauAP(), WeightedTau()]
ORDER_FREE = [metric() for metric in METRICS.values() if metric.FACTS.order_free and metric.FACTS.needs == {"scores"}]
PAIRS = st.lists(
    st.tuples(st.sampled_from([0.0, 0.1, 0.25, 0.5, 1.0]), st.sampled_from([None, -1, 0, 1, 2])), max_size=7
)


def scored(pairs) -> JudgedRankings:
    """One ranking of documents given as (score, grade), best first."""
    grades = [grade for _, grade in pairs]
    judged = [grade for grade in grades if grade is not None]
    return JudgedRankings.from_lists(retrieved=[grades], judged=[judged], scores=[[score for score, _ in pairs]])


def value(metric, pairs) -> float:
    if isinstance(metric, str):
        metric = parse(metric)
    return float(metric.per_query(scored(pairs))[0])


def against(metric: str, ranking: str, reference: str) -> float:
    """A metric of two rankings; each letter is a document, best first."""
    rankings = JudgedRankings.from_lists(
        retrieved=[[None] * len(ranking)], judged=[[]], documents=[list(ranking)], reference=[list(reference)]
    )
    return float(parse(metric).per_query(rankings)[0])


@pytest.mark.parametrize(
    ("metric", "pairs", "expected"),
    [
        ("Spearman", [(3, 2), (2, 1), (1, 0)], 1),
        ("Spearman", [(3, 0), (2, 1), (1, 2)], -1),
        ("Spearman", [(4, 2), (3, 3), (2, 1), (1, 0)], 1 - 6 * 2 / (4 * 15)),
        ("Spearman", [(2, 1), (2, 0), (1, 0)], 0.75 / 1.5),  # ranks 1.5 1.5 3 and 1 2.5 2.5
        ("Spearman", [(3, 2), (2, None), (1, 0)], 1),  # an unjudged document takes no rank
        ("KendallTau", [(4, 2), (3, 3), (2, 1), (1, 0)], (5 - 1) / 6),
        ("KendallTau", [(2, 1), (2, 0), (1, 0)], 1 / sqrt(2 * 2)),
        ("KendallTau(variant=a)", [(2, 1), (2, 0), (1, 0)], 1 / 3),
        ("KendallTau(variant=a)", [(1, 1), (1, 0)], 0),  # a system without an order is neither right nor wrong
        ("TauAP", [(3, 2), (2, 1), (1, 0)], 1),
        ("TauAP", [(3, 0), (2, 1), (1, 2)], -1),
        ("TauAP", [(3, 1), (2, 2), (1, 0)], 2 / 2 * (0 / 1 + 2 / 2) - 1),  # a fault at the top costs more
        ("TauAP", [(3, 2), (2, 0), (1, 1)], 2 / 2 * (1 / 1 + 1 / 2) - 1),  # than one below
        ("TauAP", [(3, 1), (2, 1), (1, 0)], 2 / 2 * (0.5 / 1 + 2 / 2) - 1),  # equal grades are right by half
        ("TauAP", [(1, 2), (1, 1), (1, 0)], 0),
        ("WeightedTau", [(2, 1), (1, 0)], 1),
        # ranks by score weigh 1 1/2 1/3, pairs 3/2 4/3 5/6; by grade the first two weigh 1/2 1 and the sums are alike
        ("WeightedTau", [(3, 1), (2, 2), (1, 0)], (-3 / 2 + 4 / 3 + 5 / 6) / (3 / 2 + 4 / 3 + 5 / 6)),
    ],
)
def test_the_value_is_the_one_worked_out_by_hand(metric, pairs, expected):
    assert value(metric, pairs) == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize("metric", OF_SCORES, ids=repr)
def test_where_the_grades_give_no_order_agreement_is_undefined(metric):
    assert isnan(value(metric, []))
    assert isnan(value(metric, [(1, 1)]))
    assert isnan(value(metric, [(1, None), (2, 1)]))
    assert isnan(value(metric, [(2, 1), (1, 1)]))


def test_where_the_scores_give_no_order_a_correlation_is_undefined_and_others_are_0():
    constant = [(1, 2), (1, 1), (1, 0)]
    assert [value(metric, constant) for metric in OF_SCORES] == pytest.approx([nan, nan, 0, 0, nan], nan_ok=True)


def test_scores_that_are_no_numbers_are_tied_behind_all_others():
    odd = [(2, 1), (-5, 0), (np.inf, 1), (-np.inf, 2), (np.nan, 0)]
    plain = [(2, 1), (-5, 0), (-9, 1), (-9, 2), (-9, 0)]
    for metric in OF_SCORES:
        assert same_bits(value(metric, odd), value(metric, plain))


def random_lists(n: int) -> list[list[tuple[float, int]]]:
    rng = np.random.default_rng(7)
    lists = []
    for _ in range(n):
        size = rng.integers(0, 30)
        scores, grades = np.round(rng.random(size), rng.integers(1, 4)), rng.integers(-1, 4, size)
        lists.append(sorted(zip(scores.tolist(), grades.tolist(), strict=True), key=lambda pair: -pair[0]))
    return lists


@pytest.mark.parametrize(
    ("metric", "theirs"),
    [(Spearman(), stats.spearmanr), (KendallTau(), stats.kendalltau), (WeightedTau(), stats.weightedtau)],
    ids=lambda part: getattr(part, "__name__", ""),
)
@pytest.mark.filterwarnings("ignore:An input array is constant")
def test_values_are_those_of_scipy(metric, theirs):
    for pairs in random_lists(150):
        x, y = [score for score, _ in pairs], [grade for _, grade in pairs]
        expected = theirs(x, y)[0] if len(pairs) > 1 else nan
        assert value(metric, pairs) == pytest.approx(expected, abs=1e-12, nan_ok=True)


@needs_data
def test_values_are_those_that_scipy_gave_a_list_with_many_ties():
    expected = json.loads((DATA / "expected" / "small_cases_sklearn_scipy.json").read_text())["auc_logloss"]
    pairs = list(zip(expected["p"], expected["y"], strict=True))
    assert value("Spearman", pairs) == pytest.approx(expected["spearman(avg ranks)"], abs=1e-15)
    assert value("KendallTau", pairs) == pytest.approx(expected["kendall_tau_b"], abs=1e-15)


def test_tau_ap_is_that_of_the_authors_of_its_ties():
    truth = [0.67, 0.45, 0.29, 0.12, 0.57, 0.24, 0.94, 0.75, 0.08, 0.54]
    scores = [0.48, 0.68, 0.32, 0.09, 0.06, 0.61, 0.87, 0.22, 0.44, 0.84]
    tied = [round(score, 1) for score in scores]
    # the examples of tauAP_a in the R package ircor
    assert value("TauAP", list(zip(scores, truth, strict=True))) == pytest.approx(0.3928571, abs=5e-8)
    assert value("TauAP", list(zip(tied, truth, strict=True))) == pytest.approx(0.39903, abs=5e-7)


@seeded(25)
@given(pairs=PAIRS)
def test_tau_ap_of_tied_scores_is_the_mean_over_their_orders(pairs):
    pairs = sorted(pairs, key=lambda pair: -pair[0])[:6]
    orders = [
        order
        for order in itertools.permutations(pairs)
        if all(above[0] >= below[0] for above, below in itertools.pairwise(order))
    ]
    untied = [value("TauAP", [(-rank, grade) for rank, (_, grade) in enumerate(order)]) for order in orders]
    assert value("TauAP", pairs) == pytest.approx(mean(untied), abs=1e-12, nan_ok=True)


@seeded(30)
@given(pairs=PAIRS, random=st.randoms(use_true_random=False))
def test_what_reads_scores_does_not_see_the_order_of_the_documents(pairs, random):
    shuffled = random.sample(pairs, len(pairs))
    for metric in ORDER_FREE:
        assert same_bits(metric.per_query(scored(pairs)), metric.per_query(scored(shuffled))), metric


@pytest.mark.parametrize("ties", ["average", "average_rank", "optimistic", "pessimistic"])
def test_what_reads_scores_has_a_value_under_every_tie_rule(ties):
    metrics = by_column(ORDER_FREE)
    found = score(metrics, scored([(0.5, 1), (0.5, 0), (0.25, 2)]), Conventions(ties=ties))
    plain = score(metrics, scored([(0.5, 1), (0.5, 0), (0.25, 2)]), Conventions())
    assert all(same_bits(found[column], plain[column]) for column in plain)


@pytest.mark.parametrize(
    ("metric", "ranking", "reference", "expected"),
    [
        ("RefSpearman", "abcd", "abcd", 1),
        ("RefSpearman", "abcd", "dcba", -1),
        ("RefSpearman", "xacb", "abyc", 1 - 6 * 2 / (3 * 8)),  # of a, b and c, which both returned
        ("RefSpearman", "ax", "ay", nan),
        ("RefSpearman", "", "ab", nan),
        ("RefKendallTau", "abcd", "abcd", 1),
        ("RefKendallTau", "abcd", "dcba", -1),
        ("RefKendallTau", "xacb", "abyc", (2 - 1) / 3),
        ("RefKendallTau", "ax", "ay", nan),
        ("RefKendallTau", "ab", "", nan),
        ("RBO(p=0.5)", "ab", "cd", 0),
        # agreements 0, 1, and then 1 for ever
        ("RBO(p=0.5)", "ab", "ba", 0.5 * 0 + 0.25 * 1 + 0.25 * 1),
        # agreements 1 and 1/2, and then 1/2 for ever
        ("RBO(p=0.5)", "ab", "ac", 0.5 * 1 + 0.25 / 2 + 0.25 / 2),
        # the longer one goes on: 1, then its second document is one that the shorter one has by supposition
        ("RBO(p=0.5)", "a", "ab", 1),
        ("RBO(p=0.5)", "b", "ab", 0.5 * 0 + 0.25 / 2 + 0.25 / 2),
        ("RBO(p=0.5)@1", "ab", "ac", 1),
        ("RBO(p=0.5)@1", "ab", "ba", 0),
        ("RBO", "", "ab", 0),
        ("RBO", "ab", "", nan),
        # 1 at depth 1, 1/2 at depth 2, and then one document in d: ln 2 is the sum of 0.5^d / d
        ("RBO(form=min,p=0.5)", "ab", "ac", log(2)),
        ("RBO(form=min,p=0.5)", "ab", "ba", 2 * (log(2) - 0.5)),
        ("RBO(form=min,p=0.5)", "a", "ba", log(2) - 0.5),
        ("RBO(form=min)", "ab", "cd", 0),
    ],
)
def test_the_value_beside_a_reference_is_the_one_worked_out_by_hand(metric, ranking, reference, expected):
    assert against(metric, ranking, reference) == pytest.approx(expected, abs=1e-15, nan_ok=True)


@seeded(60)
@given(
    ranking=st.permutations("abcdefgh"),
    reference=st.permutations("abcdefgh"),
    lengths=st.tuples(st.integers(1, 8), st.integers(1, 8)),
    p=st.sampled_from([0.3, 0.8, 0.98]),
)
def test_overlap_is_symmetric_never_below_its_least_and_1_for_equal_rankings(ranking, reference, lengths, p):
    one, other = "".join(ranking[: lengths[0]]), "".join(reference[: lengths[1]])
    found = against(f"RBO(p={p})", one, other)
    assert found == pytest.approx(against(f"RBO(p={p})", other, one), abs=1e-15)
    assert against(f"RBO(form=min,p={p})", one, other) <= found + 1e-15
    assert against(f"RBO(p={p})", one, one) == pytest.approx(1, abs=1e-14)
    assert against("RefSpearman", one, other) == pytest.approx(against("RefSpearman", other, one), nan_ok=True)


@seeded(60)
@given(
    ranking=st.permutations("abcdefgh"),
    reference=st.permutations("abcdefgh"),
    lengths=st.tuples(*[st.integers(1, 8)] * 2),
)
def test_extrapolated_overlap_is_equation_32_of_its_paper(ranking, reference, lengths):
    one, other, p = ranking[: lengths[0]], reference[: lengths[1]], 0.8
    short, long = sorted([one, other], key=len)
    s, n = len(short), len(long)
    overlap = [len(set(short[:d]) & set(long[:d])) for d in range(n + 1)]
    seen = sum(overlap[d] / d * p**d for d in range(1, n + 1))
    supposed = sum(overlap[s] * (d - s) / (s * d) * p**d for d in range(s + 1, n + 1))
    expected = (1 - p) / p * (seen + supposed) + ((overlap[n] - overlap[s]) / n + overlap[s] / s) * p**n
    assert against("RBO(p=0.8)", "".join(one), "".join(other)) == pytest.approx(expected, abs=1e-14)


def test_rounding_does_not_add_up_far_down_a_long_ranking():
    n = 20_000
    documents = [str(i) for i in range(n)]
    rankings = JudgedRankings.from_lists(
        retrieved=[[None] * n], judged=[[]], documents=[documents], reference=[documents[::-1]]
    )
    assert RBO(form="min").per_query(rankings)[0] == pytest.approx(0, abs=1e-15)
    assert RBO().per_query(rankings)[0] == pytest.approx(0, abs=1e-15)


def test_what_is_not_given_is_asked_for():
    rankings = JudgedRankings.from_lists(retrieved=[[1, 0]], judged=[[1, 0]])
    for metric in OF_SCORES:
        with pytest.raises(DataError, match="needs scores"):
            metric.per_query(rankings)
    for metric in (RBO(), RefSpearman(), RefKendallTau()):
        with pytest.raises(DataError, match="needs reference"):
            metric.per_query(rankings)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: KendallTau(variant="c"), 'unknown variant "c"'),
        (lambda: RBO(form="max"), 'unknown form "max"'),
        (lambda: RBO(persistence=1), "p is 1; it must be above 0 and below 1"),
        (lambda: RBO(persistence=0), "p is 0; it must be above 0 and below 1"),
        (lambda: RBO(cutoff=0), "cutoff is 0"),
    ],
)
def test_a_wrong_parameter_is_refused(make, message):
    with pytest.raises(MetricNameError, match=message):
        make()
