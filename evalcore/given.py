"""What callers give as ids and as numbers: texts and doubles of it, or what is wrong with it and where."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any, Literal, TypeAlias

import numpy as np

from evalcore.arrays import FloatArray
from evalcore.errors import DataError

Place: TypeAlias = Callable[[int], str]
"""What says in words where the number at an index was given."""


def by_text(mapping: Mapping[Any, Any], whose: str, *, each: Literal["query", "system"] = "query") -> dict[str, Any]:
    """The same with texts for keys.  Raises DataError if one is no id, or two are one."""
    if not isinstance(mapping, Mapping):
        all_of_them = {"query": "queries", "system": "systems"}[each]
        raise DataError(
            f"the {all_of_them} {whose} are given as {type(mapping).__name__}; "
            f"give a mapping from each {each}, or a table"
        )
    found = dict(zip(texts(list(mapping), f"{each} {whose}"), mapping.values(), strict=True))
    if len(found) < len(mapping):
        raise DataError(f"a {each} {whose} is given twice, as a number and as the text of it")
    return found


def texts(ids: list[Any], what: str) -> list[str]:
    """Ids as texts.  Raises DataError for one that is neither a text nor a whole number."""
    kinds = set(map(type, ids))
    if kinds <= {str}:
        return ids
    for kind in kinds:
        if issubclass(kind, bool) or not issubclass(kind, (str, Integral)):
            first = next(each for each in ids if type(each) is kind)
            raise DataError(f"{what} {first!r} is no id: ids are texts or whole numbers")
    return [str(each) for each in ids]


def numbers(given: list[Any], place: Place) -> FloatArray:
    """(n,)  Raises DataError for what is no number, with its place."""
    for kind in set(map(type, given)):
        if not issubclass(kind, (Real, np.bool_)):
            index = next(index for index, each in enumerate(given) if type(each) is kind)
            raise DataError(f"{place(index)} is {given[index]!r}, which is no number")
    try:
        return np.array(given, dtype=np.float64)
    except OverflowError:
        index = next(index for index, each in enumerate(given) if abs(each) > sys.float_info.max)
        raise DataError(f"{place(index)} is beyond every double: the largest is 1.8e308") from None


def finite(found: FloatArray, place: Place, *, unless: str = "") -> FloatArray:
    """The same.  Raises DataError for NaN and infinite numbers, with examples."""
    bad = np.flatnonzero(~np.isfinite(found))
    if len(bad):
        examples = few([f"{place(index)} is {found[index]}" for index in bad[:4].tolist()])
        raise DataError(f"{len(bad)} numbers are NaN or infinite{unless}: {examples}")
    return found


def few(examples: Sequence[str]) -> str:
    """The first three.

    >>> few(["a", "b", "c", "d"])
    'a; b; c ...'
    """
    return "; ".join(examples[:3]) + (" ..." if len(examples) > 3 else "")
