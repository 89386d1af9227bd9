"""Columns of anything that speaks the Arrow C stream interface: pyarrow, polars, DuckDB and others.

The interface is a few C structures whose layout is fixed for good, so the standard library can read them and no
package of Arrow is needed: https://arrow.apache.org/docs/format/CStreamInterface.html. Buffers are copied once, and
what the producer lent is given back before the columns are returned.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from evalcore.arrays import AnyArray, BoolArray, IntArray
from evalcore.errors import DataError
from evalcore.segments import offsets_of
from evalcore.texts import Texts


class _Schema(ctypes.Structure):
    pass


class _Array(ctypes.Structure):
    pass


class _Stream(ctypes.Structure):
    pass


def _function(result: Any, *arguments: type[ctypes.Structure]) -> Any:  # noqa: ANN401 (ctypes has no better types)
    return ctypes.CFUNCTYPE(result, *map(ctypes.POINTER, arguments))


_Schema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_void_p),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(_Schema))),
    ("dictionary", ctypes.POINTER(_Schema)),
    ("release", _function(None, _Schema)),
    ("private_data", ctypes.c_void_p),
]
_Array._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(_Array))),
    ("dictionary", ctypes.POINTER(_Array)),
    ("release", _function(None, _Array)),
    ("private_data", ctypes.c_void_p),
]
_Stream._fields_ = [
    ("get_schema", _function(ctypes.c_int, _Stream, _Schema)),
    ("get_next", _function(ctypes.c_int, _Stream, _Array)),
    ("get_last_error", _function(ctypes.c_char_p, _Stream)),
    ("release", _function(None, _Stream)),
    ("private_data", ctypes.c_void_p),
]

NUMBERS = {
    **dict(zip("csilCSIL", ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"), strict=True)),
    **dict(zip("efg", ("f2", "f4", "f8"), strict=True)),
}
"""Formats of numbers -> their types in numpy."""
OFFSETS = {"u": "i4", "U": "i8"}
"""Formats of texts -> the type of their offsets."""
VIEW = np.dtype([("length", "<i4"), ("prefix", "V4"), ("buffer", "<i4"), ("offset", "<i4")])
"""A text of format vu: up to 12 bytes stand behind the length, longer ones in a buffer."""
SHORT = 12


@dataclass(frozen=True, slots=True)
class Column:
    """Cells of one kind.

    values   numbers (n_rows,); or texts, and then `codes` tells which of them each row holds
    nulls    (n_rows,), None where no row is null
    """

    values: AnyArray | Texts
    codes: IntArray | None = None
    nulls: BoolArray | None = None

    @classmethod
    def joined(cls, chunks: list[Column]) -> Column:
        """A copy, one after another; all of the same kind."""
        nulls = None
        if any(chunk.nulls is not None for chunk in chunks):
            each = (np.zeros(len(chunk), dtype=bool) if chunk.nulls is None else chunk.nulls for chunk in chunks)
            nulls = np.concatenate(list(each))
        texts = [chunk.values for chunk in chunks if isinstance(chunk.values, Texts)]
        if not texts:
            return cls(np.concatenate([chunk.values for chunk in chunks]), nulls=nulls)
        several = {id(each): each for each in texts}  # chunks may share theirs
        codes = None
        if any(chunk.codes is not None for chunk in chunks):
            starts = dict(zip(several, offsets_of([len(each) for each in several.values()]).tolist(), strict=False))
            own = (np.arange(len(chunk)) if chunk.codes is None else chunk.codes for chunk in chunks)
            shifted = (np.add(each, starts[id(of)], dtype=np.int64) for each, of in zip(own, texts, strict=True))
            codes = np.concatenate(list(shifted))
        return cls(Texts.joined(list(several.values())), codes, nulls)

    def __len__(self) -> int:
        return len(self.values) if self.codes is None else len(self.codes)


def columns_of(table: Any, wanted: Collection[str]) -> tuple[list[str], dict[str, Column]]:  # noqa: ANN401
    """The names of all columns of what has `__arrow_c_stream__`, and those that are wanted and there.

    Raises DataError for what is no table or cannot be read, and for a column of a type that is neither texts nor
    numbers.
    """
    capsule = table.__arrow_c_stream__()
    stream = _pointed_to(capsule)
    schema = _Schema()
    batches: list[_Array] = []
    _call(stream, stream.get_schema, schema)
    try:
        if _text(schema.format) != "+s":
            raise DataError(f"a column was given, of the Arrow type {_text(schema.format)}, where a table is needed")
        fields = [schema.children[index].contents for index in range(schema.n_children)]
        names = [_text(field.name) for field in fields]
        places = {name: names.index(name) for name in wanted if name in names}
        chunks: dict[str, list[Column]] = {name: [] for name in places}
        known: Dictionaries = {}
        while (batch := _next(stream)) is not None:
            batches.append(batch)
            for name, place in places.items():
                child = batch.children[place].contents
                cells = _column(fields[place], child, name, known, start=batch.offset, length=batch.length)
                chunks[name].append(cells)
        for name, place in places.items():
            if not chunks[name]:
                kind = _text(fields[place].format)
                none = Texts.of([]) if kind in (*OFFSETS, "vu") or fields[place].dictionary else np.empty(0)
                chunks[name].append(Column(none))
        return names, {name: Column.joined(parts) for name, parts in chunks.items()}
    finally:
        for batch in batches:
            batch.release(batch)
        schema.release(schema)
        stream.release(stream)


def _pointed_to(capsule: object) -> _Stream:
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return _Stream.from_address(get(capsule, b"arrow_array_stream"))


def _call(stream: _Stream, function: Callable[..., int], out: _Schema | _Array) -> None:
    if function(stream, out):
        told = stream.get_last_error(stream)
        raise DataError(f"a table cannot be read: {_text(told) if told else 'no reason is told'}")


def _next(stream: _Stream) -> _Array | None:
    """The next batch, which the caller releases."""
    batch = _Array()
    _call(stream, stream.get_next, batch)
    return batch if batch.release else None


Dictionaries: TypeAlias = dict[tuple[int | None, ...], Column]
"""What was read already, by the places of its buffers: the batches of a file share dictionaries."""


def _column(schema: _Schema, array: _Array, name: str, known: Dictionaries, *, start: int, length: int) -> Column:
    """Some cells, as they lie in the producer's memory where that can be."""
    start += array.offset
    kind = _text(schema.format)
    nulls = None
    if array.null_count and array.n_buffers and array.buffers[0]:
        nulls = ~_bits(array, 0, start, length)
    if schema.dictionary:
        codes = _buffer(array, 1, NUMBERS[kind], start, length)
        if nulls is not None:
            codes = np.where(nulls, 0, codes)  # what stands under a null may be anything
        inner = array.dictionary.contents
        buffers = (inner.offset, inner.length, *(inner.buffers[index] for index in range(inner.n_buffers)))
        if buffers not in known:
            known[buffers] = _column(schema.dictionary.contents, inner, name, known, start=0, length=inner.length)
        texts = known[buffers]
        if not isinstance(texts.values, Texts) or texts.codes is not None:
            raise DataError(f'column "{name}" is a dictionary of what is no text; cast it to texts or whole numbers')
        if texts.nulls is not None:
            nulls = texts.nulls[codes] if nulls is None else nulls | texts.nulls[codes]
        return Column(texts.values, codes, nulls)
    if kind in NUMBERS:
        return Column(_buffer(array, 1, NUMBERS[kind], start, length), nulls=nulls)
    if kind == "b":
        return Column(_bits(array, 1, start, length), nulls=nulls)
    if kind == "n":
        return Column(np.full(length, np.nan), nulls=np.ones(length, dtype=bool))
    if kind in OFFSETS:
        return Column(_plain(array, OFFSETS[kind], start, length), nulls=nulls)
    if kind == "vu":
        return Column(_views(array, start, length), nulls=nulls)
    if kind.startswith("d:"):
        return Column(_decimals(array, kind, start, length), nulls=nulls)
    raise DataError(f'column "{name}" has the Arrow type {kind}; cast it to texts or numbers')


def _plain(array: _Array, offset: str, start: int, length: int) -> Texts:
    if not length:
        return Texts.of([])
    offsets = _buffer(array, 1, offset, start, length + 1).astype(np.int64)
    first, last = int(offsets[0]), int(offsets[-1])
    return Texts(_buffer(array, 2, "u1", first, last - first), offsets[:-1] - first, np.diff(offsets))


def _views(array: _Array, start: int, length: int) -> Texts:
    """Texts of which short ones stand in the views themselves."""
    views = _buffer(array, 1, VIEW, start, length)
    lengths = views["length"].astype(np.int64)
    sizes = _buffer(array, array.n_buffers - 1, "i8", 0, array.n_buffers - 3)
    parts = [views.view(np.uint8), *(_buffer(array, 2 + index, "u1", 0, int(size)) for index, size in enumerate(sizes))]
    before = offsets_of([len(part) for part in parts])
    starts = np.arange(length) * VIEW.itemsize + 4
    long = np.flatnonzero(lengths > SHORT)
    starts[long] = before[1 + views["buffer"][long]] + views["offset"][long]
    return Texts(np.concatenate(parts), starts, lengths)


def _decimals(array: _Array, kind: str, start: int, length: int) -> AnyArray:
    """The nearest doubles; `kind` is d:precision,scale or d:precision,scale,bits."""
    _, scale, bits = [*map(int, kind[2:].split(",")), 128][:3]
    size = bits // 8
    cells = _buffer(array, 1, "u1", start * size, length * size).tobytes()
    whole = (int.from_bytes(cells[at : at + size], "little", signed=True) for at in range(0, len(cells), size))
    below, above = 10 ** max(scale, 0), 10 ** max(-scale, 0)
    return np.fromiter((number * above / below for number in whole), dtype=np.float64, count=length)


def _bits(array: _Array, index: int, start: int, length: int) -> BoolArray:
    packed = _buffer(array, index, "u1", start // 8, (start % 8 + length + 7) // 8)
    return np.unpackbits(packed, bitorder="little")[start % 8 :][:length].astype(bool)


DType: TypeAlias = str | np.dtype[Any]


def _buffer(array: _Array, index: int, dtype: DType, start: int, length: int) -> AnyArray:
    """Some cells of a buffer, as they lie in the producer's memory."""
    found = np.dtype(dtype)
    if not length or not array.buffers[index]:
        return np.zeros(length, dtype=found)
    address = array.buffers[index] + start * found.itemsize
    shared = (ctypes.c_char * (length * found.itemsize)).from_address(address)
    return np.frombuffer(memoryview(shared), dtype=found)


def _text(encoded: bytes) -> str:
    return encoded.decode(errors="replace")
