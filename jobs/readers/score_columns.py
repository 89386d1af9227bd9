"""Which column of a table of scores holds what, from the names of the columns.

long     a row for each system, query and metric        system  query_id  metric  value
wide     a row for each system and query                system  query_id  nDCG@10  AP …
matrix   a row for each query, of one metric            query_id  bm25  monoT5 …
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from evalcore.errors import unknown
from jobs.errors import UsageError

SYSTEM, QUERY, METRIC, VALUE = "system", "query_id", "metric", "value"
ROLES: dict[str, tuple[str, ...]] = {
    SYSTEM: ("system", "run", "run_id", "runid", "run_name", "tag", "model", "ranker", "variant", "arm"),
    QUERY: ("query_id", "query", "qid", "q_id", "topic", "topic_id"),
    METRIC: ("metric", "measure"),
    VALUE: ("value", "score"),
}
"""What each role may be called; a name that is the role's own goes before the others."""
Kind = Literal["long", "wide", "matrix"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What the configuration says of the columns.

    columns   our name to theirs: a role, a column of queries, or a metric
    metrics   the metrics that are wanted; empty = all
    kept      columns of queries that something asks for: units, segments, strata, weights
    parts     columns that ratios are made of
    by_file   whether a system's name is that of its file
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    metrics: Sequence[str] = ()
    kept: Sequence[str] = ()
    parts: Sequence[str] = ()
    by_file: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """What each column of a table is.

    roles     the column of each role that there is
    kept      the column of each column of queries that is asked for
    values    of a wide table or a matrix: columns that may hold values, by the name that they have for us
    renamed   of a long table: our names of metrics, by theirs
    """

    kind: Kind
    roles: Mapping[str, str]
    kept: Mapping[str, str]
    values: Mapping[str, str]
    renamed: Mapping[str, str] = field(default_factory=dict)

    @property
    def told(self) -> str:
        """How the table is read, as a sentence without its subject."""
        of = {
            "long": "one row for each system, query and metric",
            "wide": "one row for each system and query",
            "matrix": "one row for each query, with a column for each system",
        }
        held = {**self.roles, **self.kept}
        found = [f"{ours} from {theirs}" for ours, theirs in held.items() if ours != theirs]
        if SYSTEM not in self.roles and self.kind != "matrix":
            found.insert(0, "system from the names of the files")
        if QUERY not in self.roles:
            found.insert(0, "query_id from the order of the rows")
        return f"{of[self.kind]}{': ' if found else ''}{', '.join(found)}"


def assign(header: Sequence[str], asked: Asked, *, where: str) -> Columns:
    """What each column holds.  Raises UsageError, at `where`, for what is missing, and for what can be two things."""
    _check(header, asked, where)
    roles = {ours: theirs for ours, theirs in asked.columns.items() if ours in ROLES and theirs in header}
    kept = {ours: asked.columns.get(ours, ours) for ours in asked.kept if ours != QUERY}
    if absent := [theirs for theirs in kept.values() if theirs not in header]:
        raise UsageError(f"{where}: {unknown('column', absent[0], header)}")
    free = [column for column in header if column not in kept.values() and column not in asked.metrics]
    for role in (SYSTEM, QUERY, METRIC):
        if role not in roles and (found := _found(role, free, roles, where)):
            roles[role] = found
    if METRIC in roles and VALUE not in roles and (found := _found(VALUE, free, roles, where)):
        roles[VALUE] = found
    if asked.by_file:
        roles.pop(SYSTEM, None)
    return _columns(header, asked, roles, kept, where)


def _columns(
    header: Sequence[str], asked: Asked, roles: dict[str, str], kept: Mapping[str, str], where: str
) -> Columns:
    renamed = {theirs: ours for ours, theirs in asked.columns.items() if ours not in ROLES and ours not in kept}
    if METRIC in roles:
        _need(roles, (QUERY, VALUE), header, where)
        return Columns(kind="long", roles=roles, kept=kept, values={}, renamed=renamed)
    if strange := [theirs for theirs in (*renamed, *asked.parts) if theirs not in header]:
        raise UsageError(f"{where}: {unknown('column', strange[0], header)}")
    taken = {*roles.values(), *kept.values(), *([""] if "" in header else [])}
    values = {renamed.get(column, column): column for column in header if column not in taken}
    if SYSTEM in roles or asked.by_file:
        _need(roles, (QUERY,), header, where)
        return Columns(kind="wide", roles=roles, kept=kept, values=values)
    if len(asked.metrics) == 1 and asked.metrics[0] not in values:
        return Columns(kind="matrix", roles=roles, kept=kept, values=values)
    raise UsageError(
        f'{where}: there is no column "{SYSTEM}" (columns: {_listed(header)}). Say which it is with '
        "--set aggregate.columns.system=COLUMN; or, if each file is a system, use --system-from file; or, if each "
        "column is a system, name what their values are with --metrics METRIC"
    )


def _check(header: Sequence[str], asked: Asked, where: str) -> None:
    folded = [column.casefold() for column in header if column]
    if twice := sorted({column for column in folded if folded.count(column) > 1}):
        raise UsageError(f"{where}: there is more than one column called {', '.join(twice)}")
    for ours, theirs in asked.columns.items():
        if ours in (*ROLES, *asked.kept) and theirs not in header:
            raise UsageError(f"{where}: aggregate.columns.{ours}: {unknown('column', theirs, header)}")


def _found(role: str, header: Iterable[str], roles: Mapping[str, str], where: str) -> str | None:
    """The column that is called like a role, if there is one."""
    free = [column for column in header if column not in roles.values()]
    if role in free:
        return role
    alike = [column for column in free if "_".join(column.casefold().replace("-", " ").split()) in ROLES[role]]
    if len(alike) > 1:
        raise UsageError(
            f"{where}: {role} may be {' or '.join(alike)}; say which with --set aggregate.columns.{role}={alike[0]}"
        )
    return alike[0] if alike else None


def _need(roles: Collection[str], needed: Sequence[str], header: Sequence[str], where: str) -> None:
    absent = [role for role in needed if role not in roles]
    if absent:
        raise UsageError(
            f'{where}: there is no column "{absent[0]}" (columns: {_listed(header)}). Say which it is with '
            f"--set aggregate.columns.{absent[0]}=COLUMN"
        )


def _listed(header: Sequence[str], *, most: int = 20) -> str:
    return ", ".join(header[:most]) + (f" and {len(header) - most} more" if len(header) > most else "")
