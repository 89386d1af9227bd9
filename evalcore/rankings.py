"""What a metric may see: the grades of each ranking in rank order, and of all that was judged."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np

from evalcore.arrays import BoolArray, FloatArray, IntArray, Offsets
from evalcore.conventions import Conventions
from evalcore.entries import Entries, coded
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

    ranks     (n_hits,)         from 1, rising within a ranking; whole numbers, or floats where tied documents
                                share a rank
    grades    (n_hits,)
    offsets   (n_rankings + 1,)
    """

    ranks: IntArray | FloatArray
    grades: FloatArray
    offsets: Offsets

    @classmethod
    def among(cls, grades: Grades, wanted: BoolArray, *, shared_ranks: FloatArray | None = None) -> Hits:
        """The documents whose flag is set."""
        found = np.flatnonzero(wanted)
        offsets = running_count(wanted)[grades.offsets]
        if shared_ranks is not None:
            return cls(shared_ranks[found], grades.values[found], offsets)
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
        """How many hits of the ranking have a rank up to this one's: 1, 2, 3 … unless ranks are shared.  (n_hits,)"""
        numbers = index_in_segment(self.offsets) + 1
        if self.ranks.dtype == np.int64 or not len(numbers):
            return numbers
        last = np.append((self.ranks[1:] != self.ranks[:-1]) | (numbers[1:] == 1), True)  # of those that share a rank
        ends = np.flatnonzero(last)
        return numbers[ends[np.searchsorted(ends, np.arange(len(numbers)))]]


@dataclass(frozen=True, slots=True)
class JudgedRankings:
    """Many rankings, each one system's answer to one query, with the query's judgments.

    retrieved   grades in rank order, NaN = unjudged
    judged      the grades of all judged documents of the query, best first, none NaN

    What only some metrics and tie rules need, None where it was not asked for; (n_documents,) are aligned
    with ``retrieved.values``:

    scores               (n_documents,) as the system gave them, in rank order
    documents            (n_documents,) codes: two are equal where the document ids are
    propensities         (n_documents,) probability that the logged impression behind the grade was looked at
    judged_propensities  aligned with ``judged.values``
    subtopics            judgments by subtopic: one entry for each (document, subtopic)
    preferences          entries of one group are preferred in the order of their values, higher first
    reference            the ranking of the reference system, best first
    tie_runs             (n_runs + 1,) where a run of tied documents begins; none spans two rankings
    shared_ranks         (n_documents,) ranks from 1, where tied documents share theirs

    Raises DataError where lengths differ or the judged grades are not what they must be.

    >>> rankings = JudgedRankings.from_lists(retrieved=[[0, 2, None]], judged=[[2, 0, 1]])
    >>> rankings.judged.values
    array([2., 1., 0.])
    """

    retrieved: Grades
    judged: Grades
    scores: FloatArray | None = None
    documents: IntArray | None = None
    propensities: FloatArray | None = None
    judged_propensities: FloatArray | None = None
    subtopics: Entries | None = None
    preferences: Entries | None = None
    reference: Entries | None = None
    tie_runs: Offsets | None = None
    shared_ranks: FloatArray | None = None
    _cache: dict[Hashable, Any] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        if len(self.retrieved) != len(self.judged):
            raise DataError(f"{len(self.retrieved)} rankings, but judgments for {len(self.judged)}")
        for name, grades in (*((name, self.retrieved) for name in ALIGNED), ("judged_propensities", self.judged)):
            column = getattr(self, name)
            if column is not None and column.shape != grades.values.shape:
                raise DataError(f"{name} has shape {column.shape}, but there are {len(grades.values)} documents")
        for name in LISTED:
            entries = getattr(self, name)
            if entries is not None and len(entries.offsets) != len(self.retrieved.offsets):
                raise DataError(f"{len(self.retrieved)} rankings, but {name} for {len(entries.offsets) - 1}")
        values, offsets = self.judged.values, self.judged.offsets
        falls = values[1:] <= values[:-1]
        falls[offsets[1:-1][(offsets[1:-1] > 0) & (offsets[1:-1] < len(values))] - 1] = True
        if not falls.all() or not np.isfinite(values).all():
            raise DataError("judged grades must be finite numbers, best first within each ranking")

    def __len__(self) -> int:
        return len(self.retrieved)

    @classmethod
    def from_lists(
        cls,
        *,
        retrieved: Iterable[Sequence[float | None]],
        judged: Iterable[Sequence[float]],
        scores: Iterable[Sequence[float]] | None = None,
        documents: Iterable[Sequence[str]] | None = None,
        propensities: Iterable[Sequence[float | None]] | None = None,
        judged_propensities: Iterable[Sequence[float | None]] | None = None,
        subtopics: Iterable[Sequence[tuple[str, str, float]]] | None = None,
        preferences: Iterable[Sequence[tuple[str, str, float]]] | None = None,
        reference: Iterable[Sequence[str]] | None = None,
    ) -> JudgedRankings:
        """One list for each ranking.

        retrieved, scores, documents, propensities   in rank order
        judged, judged_propensities                  of the judged documents, in any order
        subtopics    (document, subtopic, grade)
        preferences  (document, group, level): in a group the higher level is preferred
        reference    documents of the reference system, best first
        """
        given = Grades.from_lists(judged)
        best_first = sort_segments(-given.values, given.offsets)
        shown = None if documents is None else [[(doc, "", 0.0) for doc in row] for row in documents]
        theirs = None
        if reference is not None:
            theirs = [[(doc, "", float(rank)) for rank, doc in enumerate(row, start=1)] for row in reference]
        by_subtopic, preferred = (
            None if given is None else [sorted(row) for row in given] for given in (subtopics, preferences)
        )
        entries = coded(shown, by_subtopic, preferred, theirs)
        return cls(
            retrieved=Grades.from_lists(retrieved),
            judged=Grades(given.values[best_first], given.offsets),
            scores=None if scores is None else Grades.from_lists(scores).values,
            propensities=None if propensities is None else Grades.from_lists(propensities).values,
            judged_propensities=(
                None if judged_propensities is None else Grades.from_lists(judged_propensities).values[best_first]
            ),
            documents=None if entries[0] is None else entries[0].documents,
            subtopics=entries[1],
            preferences=entries[2],
            reference=entries[3],
        )

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
        return self._kept(keep, keep_judged)

    def _kept(self, keep: BoolArray, keep_judged: BoolArray) -> JudgedRankings:
        """Without the documents whose flag is down."""
        aligned = {name: column[keep] for name in ALIGNED if (column := getattr(self, name)) is not None}
        if self.tie_runs is not None:
            aligned["tie_runs"] = np.unique(running_count(keep)[self.tie_runs])
        if self.judged_propensities is not None:
            aligned["judged_propensities"] = self.judged_propensities[keep_judged]
        return replace(
            self,
            retrieved=self.retrieved.kept(keep),
            judged=self.judged.kept(keep_judged),
            _cache={},
            **aligned,
        )

    def cut(self, depth: int) -> JudgedRankings:
        """With the first documents of each ranking."""
        keep = index_in_segment(self.retrieved.offsets) < depth
        return self._kept(keep, np.ones(len(self.judged.values), dtype=bool))

    def reordered(self, order: IntArray) -> JudgedRankings:
        """With the documents of each ranking in another order.  `order` (n_documents,) indexes them, best first."""
        aligned = {name: column[order] for name in ALIGNED if (column := getattr(self, name)) is not None}
        retrieved = Grades(self.retrieved.values[order], self.retrieved.offsets)
        return replace(self, retrieved=retrieved, _cache={}, **aligned)

    def need(self, name: str) -> Any:  # noqa: ANN401 (an array or Entries)
        """What a metric needs and not every caller gives, by its field.  Raises DataError."""
        found = getattr(self, name)
        if found is None:
            raise DataError(f"a metric needs {name.replace('_', ' ')}, and none was given")
        return found

    def once(self, key: Hashable, compute: Callable[[], T]) -> T:
        """The value for this key, computed at the first call: what several metrics share."""
        if key not in self._cache:
            self._cache[key] = compute()
        found: T = self._cache[key]
        return found

    def hits(self, wanted: BoolArray) -> Hits:
        """Retrieved documents whose flag is set.  (n_documents,)"""
        return Hits.among(self.retrieved, wanted, shared_ranks=self.shared_ranks)

    def relevant(self, min_grade: float) -> Hits:
        """Retrieved documents with at least this grade."""
        return self.once(("relevant", min_grade), lambda: self.hits(self.retrieved.values >= min_grade))

    def n_hits(self, min_grade: float, cutoff: int | None) -> IntArray:
        """(n_rankings,) relevant documents up to the cutoff."""
        return self.once(("n_hits", min_grade, cutoff), lambda: self.relevant(min_grade).counts(cutoff))

    def n_relevant(self, min_grade: float) -> IntArray:
        """(n_rankings,) judged documents with at least this grade, retrieved or not."""
        return self.once(
            ("n_relevant", min_grade), lambda: segment_count(self.judged.values >= min_grade, self.judged.offsets)
        )

    def ranks_of(self, name: str) -> IntArray:
        """(n_entries,) the rank of each entry's document in the ranking, from 1; 0 where it was not retrieved.

        name   subtopics, preferences or reference
        """
        return self.once(("ranks of", name), lambda: self._ranks_of(self.need(name)))

    def _ranks_of(self, entries: Entries) -> IntArray:
        documents, offsets = self.need("documents"), self.retrieved.offsets
        most = 1 + max(documents.max(initial=0), entries.documents.max(initial=0))
        here = np.repeat(np.arange(len(self)), np.diff(offsets)) * most + documents
        wanted = np.repeat(np.arange(len(self)), np.diff(entries.offsets)) * most + entries.documents
        order = np.argsort(here, kind="stable")
        place = np.searchsorted(here[order], wanted)
        found = place < len(here)
        found[found] = here[order[place[found]]] == wanted[found]
        ranks = np.zeros(len(wanted), dtype=np.int64)
        ranks[found] = index_in_segment(offsets)[order[place[found]]] + 1
        return ranks


ALIGNED = ("scores", "documents", "propensities", "shared_ranks")
"""Columns of retrieved documents."""
LISTED = ("subtopics", "preferences", "reference")
"""Entries of each query."""
