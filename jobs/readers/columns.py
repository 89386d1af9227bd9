"""Which column of an input is what: `inputs.columns`, names of our own, fields inside structs."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as T

from jobs.errors import UsageError
from jobs.numbers import number
from jobs.readers.formats import Table

WHOLE = (T.IntegerType, T.LongType, T.ShortType, T.ByteType)
ID = (T.StringType, *WHOLE)
NUMBER = (T.DoubleType, T.FloatType, T.DecimalType, *WHOLE)
IDS = ("system", "query_id", "doc_id", "subtopic")
LABEL = "numbers, text or true and false"
OF_DOUBLES = "; write them as text, for numbers with a point do not keep every id above 2**53 apart"


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a table by what they are for us.

    given   our name to theirs, for those that are called otherwise
    """

    table: Table
    given: Mapping[str, str]

    def theirs(self, ours: str) -> str:
        """What the input calls it."""
        return self.given.get(ours, ours)

    def has(self, ours: str) -> bool:
        """Whether the input has it."""
        return self.type_of(ours) is not None

    def type_of(self, ours: str) -> T.DataType | None:
        """The type of a column or of a field inside structs (an array, inside an array's structs); None = absent."""
        name, schema = self.theirs(ours), self.table.frame.schema
        if name in self.table.columns:
            return schema[name].dataType
        return _field(schema, name.split("."))

    def raw(self, ours: str) -> Column:
        """The column as it is."""
        name = self.theirs(ours)
        parts = [name] if name in self.table.columns else name.split(".")
        return F.col(".".join(f"`{part}`" for part in parts))

    def value(self, ours: str) -> Column:
        """An id as text, anything else as numbers; arrays element by element. Null where there is none."""
        column, found = self.raw(ours), self.type_of(ours)
        element = found.elementType if isinstance(found, T.ArrayType) else found
        if element is found:
            return self.convert(ours, column)
        if isinstance(element, T.StringType):
            return F.transform(column, lambda item: self.convert(ours, item))
        return column.cast("array<string>" if ours in IDS else "array<double>")

    def convert(self, ours: str, column: Column) -> Column:
        """A cell, or an element of an array, as an id or a number."""
        found = self.type_of(ours)
        element = found.elementType if isinstance(found, T.ArrayType) else found
        if ours not in IDS:
            return number(column) if isinstance(element, T.StringType) else column.cast("double")
        return self._id(column)

    def _id(self, column: Column) -> Column:
        # reading puts U+FFFD for bytes that are not UTF-8, and would make one id of several
        return F.when(~column.contains("\ufffd"), column) if self.table.texts else column.cast("string")

    def check(self, *needed: str, optional: Sequence[str] = (), arrays: Sequence[str] = ()) -> None:
        """Raises UsageError, once for all, for columns that are not there or hold something else.

        arrays  those that must be arrays; all others must not be
        """
        problems = []
        for ours in dict.fromkeys((*needed, *(name for name in optional if self.has(name)))):
            found = self.type_of(ours)
            if found is None:
                problems.append(self.missing(ours))
                continue
            of_array = isinstance(found, T.ArrayType)
            element = found.elementType if isinstance(found, T.ArrayType) else found
            wanted: tuple[type[T.DataType], ...] = ID if ours in IDS else NUMBER
            if ours == "relevance":
                wanted = (*NUMBER, T.StringType, T.BooleanType)
            if self.table.texts:
                wanted = (T.StringType,)
            whole = isinstance(element, T.DecimalType) and element.scale == 0
            if of_array != (ours in arrays) or not (isinstance(element, wanted) or (whole and ours in IDS)):
                what = "text or whole numbers" if ours in IDS else LABEL if ours == "relevance" else "numbers"
                hint = OF_DOUBLES if ours in IDS and isinstance(element, T.DoubleType) else ""
                problems.append(
                    f'column "{self.theirs(ours)}" is {found.simpleString()}; it must be '
                    f"{'an array of ' if ours in arrays else ''}{what}{hint}"
                )
        if problems:
            raise UsageError(f"{self.table.where}: {'; '.join(problems)}")

    def missing(self, ours: str) -> str:
        """What is said of a column that is not there: the nearest name, and how to name another."""
        theirs, columns = self.theirs(ours), self.table.columns
        told = f'there is no column "{theirs}" (columns: {", ".join(columns)})'
        names = {
            name.casefold(): name for name, _ in paths_of(self.table.frame.schema) if name in columns or "." in name
        }
        near = difflib.get_close_matches(theirs.casefold(), names, n=1)
        if ours != theirs:
            return f"{told}{f'; did you mean {names[near[0]]}?' if near else ''}"
        told = f"{told}; name another with --set inputs.columns.{ours}={names[near[0]] if near else 'COLUMN'}"
        if ours == "score" and self.has("rank"):
            return f"{told}, or rank by the column rank with --set score.conventions.ties=rank_column"
        return f"{told}, or take the names of files with --system-from file" if ours == "system" else told


def _field(kind: T.DataType, path: Sequence[str]) -> T.DataType | None:
    if not path:
        return kind
    if isinstance(kind, T.ArrayType):
        inner = _field(kind.elementType, path) if isinstance(kind.elementType, T.StructType) else None
        return T.ArrayType(inner) if inner is not None else None
    if not isinstance(kind, T.StructType) or path[0] not in kind.names:
        return None
    return _field(kind[path[0]].dataType, path[1:])


def paths_of(kind: T.DataType, above: str = "", *, in_array: bool = False) -> Iterator[tuple[str, T.DataType]]:
    """The dotted names of all columns and fields, with their types; inside an array's structs these are arrays."""
    if isinstance(kind, T.ArrayType):
        yield from paths_of(kind.elementType, above, in_array=True)
    elif isinstance(kind, T.StructType):
        for field in kind.fields:
            yield f"{above}{field.name}", T.ArrayType(field.dataType) if in_array else field.dataType
            yield from paths_of(field.dataType, f"{above}{field.name}.", in_array=in_array)
