"""Texts as arrays: equal ones are found, whatever they are made of, and codes follow the rows."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from evalcore.ids import Ids, unified
from evalcore.listed import order_of
from evalcore.texts import Texts, first_equal
from tests.support.strategies import seeded

ANY = st.text(st.characters(blacklist_categories=()), max_size=40)  # halves of surrogate pairs too
FEW = st.sampled_from(["", "\0", "\0\0", "a", "a\0", "abcdefgh", "abcdefgh\0", "abcdefghi", "é" * 9, "x" * 500])
LISTS = st.lists(st.one_of(FEW, ANY), max_size=60)


def first_of_each(texts: list) -> list[int]:
    return [texts.index(text) for text in texts]


@seeded(100)
@given(LISTS)
def test_the_first_equal_text_is_found(texts):
    assert Texts.of(texts).first_equal().tolist() == first_of_each(texts)


@seeded(30)
@given(LISTS)
def test_texts_that_share_a_hash_are_told_apart(texts):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Texts, "_hashes", lambda self, words: np.zeros(len(self), dtype=np.uint64))
        assert Texts.of(texts).first_equal().tolist() == first_of_each(texts)


@seeded(60)
@given(LISTS)
def test_texts_come_back_and_are_ordered_by_code_point(texts):
    held = Texts.of(texts)
    assert held.to_list() == texts
    distinct = list(dict.fromkeys(texts))
    places = Texts.of(distinct).order()
    assert [distinct[index] for index in np.argsort(places)] == sorted(distinct)


@pytest.mark.parametrize("n_different", [1, 7, 1000, 100_000])
def test_equal_keys_are_found_however_many_there_are(n_different):
    keys = np.random.default_rng(0).integers(0, n_different, 100_000).astype(np.uint64)
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    assert np.array_equal(first_equal(keys), first[which])


@seeded(60)
@given(LISTS, LISTS)
def test_an_id_has_one_code_in_all_columns(one, other):
    repeated = np.arange(len(other)).repeat(2)
    texts, codes = unified([Ids(Texts.of(one)), Ids(Texts.of(other), repeated)])
    named = texts.to_list()
    assert len(set(named)) == len(named)
    assert [named[code] for code in codes[0]] == one
    assert [named[code] for code in codes[1]] == [text for text in other for _ in range(2)]


def test_ids_are_numbered_in_the_order_in_which_they_appear():
    codes = np.array([3, 3, 3, 1, 1, 3, 0])
    names, found = Ids(Texts.of(["a", "b", "unused", "b"]), codes).appearing()
    assert names == ["b", "a"]
    assert found.tolist() == [0, 0, 0, 0, 0, 0, 1]


@pytest.mark.parametrize("most", [2, 65_536, 65_537, 2**31])
def test_codes_are_sorted_stably_of_any_size(most):
    codes = np.random.default_rng(1).integers(0, most, 5_000)
    codes[:2] = most - 1, 0
    assert np.array_equal(order_of(codes), np.argsort(codes, kind="stable"))
    assert order_of(np.sort(codes)) is None
