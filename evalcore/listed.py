"""Runs and judgments as rows, query by query: what mappings and tables alike become."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from evalcore.arrays import FloatArray, IntArray, Offsets
from evalcore.errors import DataError
from evalcore.given import Place
from evalcore.ids import Ids, numbered
from evalcore.segments import offsets_of, running_count
from evalcore.tables import DOCUMENT, QUERY, Columns, Table

SCORE, RANK, SYSTEM, RELEVANCE, SUBTOPIC, PROPENSITY = "score", "rank", "system", "relevance", "subtopic", "propensity"


@dataclass(frozen=True, slots=True)
class Listed:
    """Documents of queries, in the order in which they were given.

    whose      what this is to the caller, for messages: "the run"
    queries    (n_queries,) ids, each once
    offsets    (n_queries + 1,)
    documents  (n_rows,)
    values     (n_rows,) scores, grades or propensities; None where documents are given alone
    ranks      (n_rows,) of a run, where it has any
    groups     (n_rows,) subtopics or groups of preferences, where there are any
    """

    whose: str
    queries: list[str]
    offsets: Offsets
    documents: Ids
    values: FloatArray | None
    ranks: FloatArray | None = None
    groups: Ids | None = None

    @property
    def numbers(self) -> FloatArray:
        """The values; none where there are none."""
        return np.empty(0) if self.values is None else self.values

    def known(self) -> Listed:
        """Without the rows whose value is NaN."""
        keep = ~np.isnan(self.numbers)
        return replace(self._rows(np.flatnonzero(keep)), offsets=running_count(keep)[self.offsets])

    def query(self, row: int) -> str:
        """To which the row belongs."""
        return self.queries[int(np.searchsorted(self.offsets, row, side="right")) - 1]

    def place(self, row: int) -> str:
        """The row in words."""
        return f"query {self.query(row)} of {self.whose}, document {self.documents.text(row)}"

    def place_of(self, what: str) -> Place:
        """The value of a row in words; `what` it is: "the grade"."""
        return lambda row: f"{what} of query {self.query(row)}, document {self.documents.text(row)}"

    def of(self, queries: Sequence[str]) -> Listed:
        """The rows of these queries, in their order; a query that is not here has none."""
        if list(queries) == self.queries:
            return self
        known = {query: index for index, query in enumerate(self.queries)}
        index = np.array([known.get(query, len(known)) for query in queries], dtype=np.int64)
        lengths = np.append(np.diff(self.offsets), 0)[index]
        offsets = offsets_of(lengths)
        rows = np.arange(offsets[-1]) + np.repeat(self.offsets[index] - offsets[:-1], lengths)
        return replace(self._rows(rows), queries=list(queries), offsets=offsets)

    def _rows(self, rows: IntArray) -> Listed:
        """Some rows, with the queries and offsets of before."""
        return replace(
            self,
            documents=self.documents.taken(rows),
            values=None if self.values is None else self.values[rows],
            ranks=None if self.ranks is None else self.ranks[rows],
            groups=None if self.groups is None else self.groups.taken(rows),
        )

    def by_query(self, names: list[str], codes: IntArray) -> Listed:
        """Rows in any order, of queries by their codes, brought together."""
        order = order_of(codes)
        found = self if order is None else self._rows(order)
        return replace(found, queries=names, offsets=offsets_of(np.bincount(codes, minlength=len(names))))


def order_of(codes: IntArray) -> IntArray | None:
    """The stable order of codes below 2**32; None if they are in order.  (n_rows,)

    numpy sorts 16 bits at a time by counting, so two passes of that are quicker than one of comparisons.
    """
    if (codes[1:] >= codes[:-1]).all():
        return None
    order = np.argsort((codes & 0xFFFF).astype(np.uint16), kind="stable")
    if codes.max() > 0xFFFF:
        order = order[np.argsort((codes[order] >> 16).astype(np.uint16), kind="stable")]
    return order


def runs_of(table: Table, *, whose: Callable[[str], str]) -> dict[str, Listed]:
    """System -> its rows; a table without a column ``system`` is of one system, that has no name.

    whose   what a system's run is to the caller

    Raises DataError for ids and numbers that are none, and where there is neither a score nor a rank.
    """
    columns = Columns.of(table, (QUERY, DOCUMENT, SCORE, RANK, SYSTEM), whose=whose(""))
    queries, documents = columns.ids(QUERY), columns.ids(DOCUMENT)
    place = _place(queries, documents, columns.whose)
    number = RANK if RANK in columns and SCORE not in columns else SCORE
    first = columns.numbers(number, place)
    scores = first if number == SCORE else None
    ranks = first if number == RANK else columns.numbers(RANK, place) if RANK in columns else None
    nothing = offsets_of([])
    names, codes = queries.appearing()
    if SYSTEM not in columns or not len(documents):
        run = Listed(columns.whose, [], nothing, documents, scores, ranks)
        return {"": run.by_query(names, codes)}
    systems, of_row = columns.ids(SYSTEM).appearing()
    if len(systems) > 1:
        documents = documents.distinct()  # once for all systems
    order = order_of(of_row)
    bounds = offsets_of(np.bincount(of_row, minlength=len(systems))).tolist()
    found = {}
    for system, start, stop in zip(systems, bounds[:-1], bounds[1:], strict=True):
        rows = np.arange(start, stop) if order is None else order[start:stop]
        whole = Listed(whose(system), [], nothing, documents, scores, ranks)
        own, first_rows = numbered(codes[rows], most=len(names))
        asked = [names[code] for code in codes[rows[first_rows]].tolist()]
        found[system] = whole._rows(rows).by_query(asked, own)
    return found


def judgments_of(
    table: Table, value: str = RELEVANCE, also: str | None = None, *, whose: str = "the judgments"
) -> tuple[Listed, Listed | None]:
    """The rows of a table of judgments, with the values of one column, and of another if it is there.

    Raises DataError for ids and numbers that are none. Rows without a number in the other column are left out there.
    """
    columns = Columns.of(table, (QUERY, DOCUMENT, value, SUBTOPIC, *([also] if also else [])), whose=whose)
    queries, documents = columns.ids(QUERY), columns.ids(DOCUMENT)
    place = _place(queries, documents, whose)
    groups = columns.ids(SUBTOPIC, null="") if SUBTOPIC in columns else None
    rows = Listed(whose, [], offsets_of([]), documents, columns.numbers(value, place), groups=groups)
    names, codes = queries.appearing()
    found = rows.by_query(names, codes)
    if also is None or also not in columns:
        return found, None
    return found, replace(rows, values=columns.numbers(also, place)).by_query(names, codes).known()


def weights_of(table: Table) -> tuple[list[str], FloatArray | None]:
    """The queries of a table, each once, and their weights if it has a column ``weight``."""
    columns = Columns.of(table, (QUERY, "weight"), whose="the queries")
    ids = columns.ids(QUERY)
    names, codes = ids.appearing()
    if len(names) < len(codes):
        twice = ids.text(int(np.flatnonzero(np.bincount(codes)[codes] > 1)[0]))
        raise DataError(f"the table of queries has {len(codes)} rows and {len(names)} queries; query {twice} is twice")
    if "weight" not in columns:
        return names, None
    return names, columns.numbers("weight", lambda row: f"the weight of query {ids.text(row)}")


def _place(queries: Ids, documents: Ids, whose: str) -> Callable[[int], str]:
    return lambda row: f"query {queries.text(row)} of {whose}, document {documents.text(row)}"
