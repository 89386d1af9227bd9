"""What cannot be had together is refused once, by whoever asks first: `check`."""

import pytest

from evalcore import ConventionError, Conventions, JudgedRankings, evaluate, parse_list
from evalcore.scoring import by_column, check, score
from evalcore.statuses import UNANSWERED, UNJUDGED, left_out

RANKINGS = JudgedRankings.from_lists(retrieved=[[0, 1]], judged=[[1, 0]], scores=[[1.0, 1.0]])
REFUSED = [
    ("AP", Conventions(), ["tie"], 'unknown diagnostic "tie". Did you mean "ties"'),
    ("AP", Conventions(depth=5), ["ties"], "the diagnostic of ties looks at all tied documents; use depth: auto"),
    ("AP", Conventions(depth=5, ties="average"), [], "ties: average looks at all tied documents; use depth: auto"),
    ("RR,infAP", Conventions(ties="average"), [], "ties: average is not defined for infAP: no closed form"),
    (
        "P@5",
        Conventions(ties="average_rank"),
        [],
        "ties: average_rank is not defined for P@5: it counts in whole ranks",
    ),
    ("RBO", Conventions(ties="optimistic"), [], "ties: optimistic is not defined for RBO: it compares"),
]


@pytest.mark.parametrize(("metrics", "conventions", "diagnostics", "message"), REFUSED)
def test_what_cannot_be_had_together_is_refused_everywhere(metrics, conventions, diagnostics, message):
    parsed = parse_list(metrics)
    with pytest.raises(ConventionError, match=message):
        check(parsed, conventions, diagnostics)
    with pytest.raises(ConventionError, match=message):
        score(by_column(parsed), RANKINGS, conventions, diagnostics=diagnostics)
    with pytest.raises(ConventionError, match=message):
        evaluate({"q": {"a": 1}}, {"q": {"a": 1}}, metrics, conventions=conventions, diagnostics=diagnostics)


def test_unanswered_queries_are_left_out_where_the_convention_skips_them_and_unjudged_ones_always():
    assert left_out(Conventions()) == left_out(Conventions(unanswered="error")) == (UNJUDGED,)
    assert left_out(Conventions(unanswered="skip")) == (UNJUDGED, UNANSWERED)


@pytest.mark.parametrize(("convention", "fill"), [("zero", 0.0), ("one", 1.0), ("skip", None), ("error", None)])
def test_a_value_that_is_undefined_for_want_of_a_relevant_document_counts_as_the_convention_says(convention, fill):
    assert Conventions(no_relevant=convention).fill == fill
