"""Columns of ids as codes: two are equal where the ids are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evalcore.arrays import AnyArray, IntArray
from evalcore.segments import offsets_of
from evalcore.texts import Texts, first_equal


@dataclass(frozen=True, slots=True)
class Ids:
    """A column of ids.

    texts  of the ids, in any order; some may be there twice, or belong to no row
    codes  (n_rows,) which of the texts each row holds; None where row i holds text i
    """

    texts: Texts
    codes: IntArray | None = None

    def __len__(self) -> int:
        return len(self.texts) if self.codes is None else len(self.codes)

    @classmethod
    def joined(cls, columns: Sequence[Ids]) -> Ids:
        """One after another; no text is there twice.

        >>> Ids.joined([Ids(Texts.of(["b", "a"])), Ids(Texts.of(["c", "b"]))]).to_list()
        ['b', 'a', 'c', 'b']
        """
        texts, codes = unified(columns)
        return cls(texts, np.concatenate(codes))

    @classmethod
    def of_numbers(cls, numbers: AnyArray) -> Ids:
        """Whole numbers, each the id that its text is."""
        keys = numbers.astype(np.uint64 if numbers.dtype.kind == "u" else np.int64).view(np.uint64)
        first = first_equal(keys)
        codes, distinct = numbered(first)
        return cls(Texts.of([str(number) for number in numbers[distinct].tolist()]), codes)

    def text(self, row: int) -> str:
        """The id of a row."""
        return self.texts.taken(np.array([row if self.codes is None else self.codes[row]])).to_list()[0]

    def to_list(self) -> list[str]:
        """The id of every row."""
        texts = self.texts.to_list()
        return texts if self.codes is None else [texts[code] for code in self.codes.tolist()]

    def taken(self, rows: IntArray) -> Ids:
        """Some rows, in this order."""
        return Ids(self.texts, rows if self.codes is None else self.codes[rows])

    def appearing(self) -> tuple[list[str], IntArray]:
        """The different ids in the order in which they first appear, and which of them each row holds.

        >>> Ids(Texts.of(["b", "a", "b", "unused"]), np.array([2, 1, 0])).appearing()
        (['b', 'a'], array([0, 1, 0]))
        """
        same = self.texts.first_equal()
        codes, distinct = numbered(same if self.codes is None else same[self.codes], most=len(self.texts))
        return self.taken(distinct).texts_of_rows().to_list(), codes

    def distinct(self) -> Ids:
        """The same with each text once."""
        texts, (codes,) = unified([self])
        return Ids(texts, codes)

    def texts_of_rows(self) -> Texts:
        """The text of each row."""
        return self.texts if self.codes is None else self.texts.taken(self.codes)


def unified(columns: Sequence[Ids]) -> tuple[Texts, list[IntArray]]:
    """Different texts, and the columns as codes of these: an id has one code in all of them."""
    several = {id(column.texts): column.texts for column in columns}  # columns may share theirs
    texts = Texts.joined(list(several.values())) if len(several) > 1 else columns[0].texts
    numbers, distinct = numbered(texts.first_equal())
    bounds = dict(zip(several, offsets_of([len(each) for each in several.values()]).tolist(), strict=False))
    codes = []
    for column in columns:
        start = bounds[id(column.texts)]
        own = numbers[start : start + len(column.texts)]
        codes.append(own if column.codes is None else own[column.codes])
    return texts.taken(distinct), codes


def numbered(keys: IntArray, *, most: int | None = None) -> tuple[IntArray, IntArray]:
    """Keys as numbers from 0 in the order in which they appear, and the row where each appears first.

    keys   (n_rows,) from 0, less than `most`; by default of `first_equal`, which are rows
    """
    most = len(keys) if most is None else most
    starts = np.flatnonzero(np.append(True, keys[1:] != keys[:-1])[: len(keys)])
    if len(starts) < len(keys) / 2:  # rows of one query mostly follow one another
        of_runs, distinct = numbered(keys[starts], most=most)
        return np.repeat(of_runs, np.diff(np.append(starts, len(keys)))), starts[distinct]
    firsts = np.full(most, len(keys))
    firsts[keys[::-1]] = np.arange(len(keys))[::-1]
    distinct = np.sort(firsts[firsts < len(keys)])
    numbers = np.empty(len(firsts), dtype=np.int64)
    numbers[keys[distinct]] = np.arange(len(distinct))
    return numbers[keys], distinct
