"""The choices that change a number: each value is listed, each wrong one refused with what is right."""

from dataclasses import FrozenInstanceError, fields
from typing import get_args, get_type_hints

import pytest

from evalcore.conventions import Conventions
from evalcore.errors import ConventionError
from evalcore.presets import PRESETS, preset

CHOICES = {
    field.name: get_args(get_type_hints(Conventions)[field.name])
    for field in fields(Conventions)
    if field.name not in ("depth", "rounding")
}


@pytest.mark.parametrize(("convention", "choice"), [(name, value) for name in CHOICES for value in CHOICES[name]])
def test_every_listed_value_is_taken(convention, choice):
    assert getattr(Conventions(**{convention: choice}), convention) == choice


@pytest.mark.parametrize("convention", CHOICES)
def test_the_default_is_the_first_value_listed(convention):
    assert getattr(Conventions(), convention) == CHOICES[convention][0]


@pytest.mark.parametrize("convention", CHOICES)
@pytest.mark.parametrize("wrong", ["nonsense", "", None, 1, True])
def test_a_value_that_is_not_listed_is_refused_with_those_that_are(convention, wrong):
    with pytest.raises(ConventionError, match=rf'unknown value of {convention} "{wrong}"\. .*Known: ') as error:
        Conventions(**{convention: wrong})
    assert str(error.value).endswith(f"Known: {', '.join(CHOICES[convention])}.")


def test_a_misspelled_value_is_shown_the_nearest_one():
    with pytest.raises(ConventionError, match=r'unknown value of ties "docid_desc"\. Did you mean "doc_id_desc"\?'):
        Conventions(ties="docid_desc")


@pytest.mark.parametrize("depth", ["auto", 1, 1_000, 10**9])
def test_depth_is_auto_or_a_whole_number_from_1(depth):
    assert Conventions(depth=depth).depth == depth


@pytest.mark.parametrize("depth", [0, -1, 1.5, 10.0, True, None, "10", "all"])
def test_any_other_depth_is_refused(depth):
    with pytest.raises(ConventionError, match=r'depth is .*; it must be "auto" or a whole number from 1'):
        Conventions(depth=depth)


@pytest.mark.parametrize(
    ("conventions", "removes"),
    [
        (Conventions(), False),
        (Conventions(negative_grade="error"), False),
        (Conventions(unjudged="removed"), True),
        (Conventions(negative_grade="removed"), True),
    ],
)
def test_conventions_say_whether_ranks_may_shift(conventions, removes):
    assert conventions.removes_documents is removes


def test_conventions_are_frozen():
    with pytest.raises(FrozenInstanceError):
        Conventions().ties = "doc_id_asc"


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_found_by_its_name(name):
    assert preset(name) is PRESETS[name]


def test_the_default_preset_changes_nothing():
    assert preset("default").conventions == Conventions()


def test_trec_eval_compares_scores_in_32_bits_and_leaves_out_what_a_run_did_not_answer():
    conventions = preset("trec_eval").conventions
    assert (conventions.score_precision, conventions.unanswered, conventions.ties) == ("float32", "skip", "doc_id_desc")


def test_an_unknown_preset_is_refused_with_the_nearest_and_all_known():
    with pytest.raises(
        ConventionError, match=r'unknown preset "treceval"\. Did you mean "trec_eval"\? Known: default, '
    ):
        preset("treceval")
