"""What a metric may see: the grades of each ranking in rank order, and of all that was judged."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from evalcore.arrays import BoolArray, FloatArray, IntArray, Offsets
from evalcore.conventions import Conventions
from evalcore.errors import DataError
from evalcore.segments import index_in_segment, offsets_of, running_count, segment_count, sort_segments

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Grades:
    """The grades of some documents of each ranking, in rank order.

    values    (n_documents,)    grade; NaN = unjudged
    offsets   (n_rankings + 1,) ranking i is values[offsets[i]:offsets[i + 1]]
    """

    values: FloatArray
    offsets: Offsets

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def lengths(self) -> IntArray:
        """(n_rankings,)"""
        return np.diff(self.offsets)

    @classmethod
    def from_lists(cls, lists: Iterable[Sequence[float | None]]) -> Grades:
        """One list of grades for each ranking; None and NaN are unjudged."""
        rows = [np.array([np.nan if grade is None else grade for grade in row], dtype=np.float64) for row in lists]
        values = np.concatenate(rows) if rows else np.empty(0)
        return cls(values, offsets_of([len(row) for row in rows]))

    def kept(self, keep: BoolArray) -> Grades:
        """Without the documents whose flag is down: those below them move up."""
        return Grades(self.values[keep], running_count(keep)[self.offsets])


@dataclass(frozen=True, slots=True)
class Hits:
    """The documents of each ranking that matter to a metric, with the ranks they have there.

    Most documents are not relevant, so metrics work on hits alone: a pass over all documents finds
    them, once for all metrics and cutoffs of a batch.

    ranks     (n_hits,)         from 1, rising within a ranking
    grades    (n_hits,)
    offsets   (n_rankings + 1,)
    """

    ranks: IntArray
    grades: FloatArray
    offsets: Offsets

    @classmethod
    def among(cls, grades: Grades, wanted: BoolArray) -> Hits:
        """The documents whose flag is set."""
        found = np.flatnonzero(wanted)
        offsets = running_count(wanted)[grades.offsets]
        ranks = found - np.repeat(grades.offsets[:-1], np.diff(offsets)) + 1
        return cls(ranks, grades.values[found], offsets)

    def counts(self, deepest: int | IntArray | None) -> IntArray:
        """How many have a rank up to the deepest: one for all, or one for each ranking.  (n_rankings,)"""
        if deepest is None:
            return np.diff(self.offsets)
        if isinstance(deepest, np.ndarray):
            deepest = np.repeat(deepest, np.diff(self.offsets))
        return segment_count(self.ranks <= deepest, self.offsets)

    def numbers(self) -> IntArray:
        """1 for the first hit of a ranking, 2 for its second, and so on.  (n_hits,)"""
        return index_in_segment(self.offsets) + 1


@dataclass(frozen=True, slots=True)
class JudgedRankings:
    """Many rankings, each one system's answer to one query, with the query's judgments.

    retrieved   grades in rank order, NaN = unjudged
    judged      the grades of all judged documents of the query, best first, none NaN

    Raises DataError where the two differ in length or the judged grades are not what they must be.

    >>> rankings = JudgedRankings.from_lists(retrieved=[[0, 2, None]], judged=[[2, 0, 1]])
    >>> rankings.judged.values
    array([2., 1., 0.])
    """

    retrieved: Grades
    judged: Grades
    _cache: dict[Hashable, Any] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        if len(self.retrieved) != len(self.judged):
            raise DataError(f"{len(self.retrieved)} rankings, but judgments for {len(self.judged)}")
        values, offsets = self.judged.values, self.judged.offsets
        falls = values[1:] <= values[:-1]
        falls[offsets[1:-1][(offsets[1:-1] > 0) & (offsets[1:-1] < len(values))] - 1] = True
        if not falls.all() or not np.isfinite(values).all():
            raise DataError("judged grades must be finite numbers, best first within each ranking")

    def __len__(self) -> int:
        return len(self.retrieved)

    @classmethod
    def from_lists(
        cls, *, retrieved: Iterable[Sequence[float | None]], judged: Iterable[Sequence[float]]
    ) -> JudgedRankings:
        """One list for each ranking; judged grades in any order."""
        given = Grades.from_lists(judged)
        best_first = sort_segments(-given.values, given.offsets)
        return cls(Grades.from_lists(retrieved), Grades(given.values[best_first], given.offsets))

    def under(self, conventions: Conventions) -> JudgedRankings:
        """With documents removed, or refused, as the conventions say.

        Raises DataError for a negative grade under ``negative_grade: error``.
        """
        if conventions.negative_grade == "error" and (
            (self.judged.values < 0).any() or (self.retrieved.values < 0).any()
        ):
            raise DataError("a grade is negative, and negative_grade is error")
        if not conventions.removes_documents:
            return self
        grades = self.retrieved.values
        keep, keep_judged = np.ones(len(grades), dtype=bool), np.ones(len(self.judged.values), dtype=bool)
        if conventions.unjudged == "removed":
            keep &= ~np.isnan(grades)
        if conventions.negative_grade == "removed":
            keep &= ~(grades < 0)
            keep_judged &= self.judged.values >= 0
        return JudgedRankings(self.retrieved.kept(keep), self.judged.kept(keep_judged))

    def once(self, key: Hashable, compute: Callable[[], T]) -> T:
        """The value for this key, computed at the first call: what several metrics share."""
        if key not in self._cache:
            self._cache[key] = compute()
        found: T = self._cache[key]
        return found

    def relevant(self, min_grade: float) -> Hits:
        """Retrieved documents with at least this grade."""
        return self.once(
            ("relevant", min_grade), lambda: Hits.among(self.retrieved, self.retrieved.values >= min_grade)
        )

    def n_hits(self, min_grade: float, cutoff: int | None) -> IntArray:
        """(n_rankings,) relevant documents up to the cutoff."""
        return self.once(("n_hits", min_grade, cutoff), lambda: self.relevant(min_grade).counts(cutoff))

    def n_relevant(self, min_grade: float) -> IntArray:
        """(n_rankings,) judged documents with at least this grade, retrieved or not."""
        return self.once(
            ("n_relevant", min_grade), lambda: segment_count(self.judged.values >= min_grade, self.judged.offsets)
        )
