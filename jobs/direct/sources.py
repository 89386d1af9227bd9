"""Paths and standard input -> bytes, and the format that they are in."""

from __future__ import annotations

import gzip
import os
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path

from jobs.errors import DataRefused, UsageError

GZIP, PARQUET, ORC = b"\x1f\x8b", b"PAR1", b"ORC"
"""How a file begins that is compressed, Parquet, or ORC."""
ENDINGS = {
    **{f".{format_}": format_ for format_ in ("parquet", "orc", "csv", "tsv")},
    **dict.fromkeys((".jsonl", ".ndjson", ".json"), "jsonl"),
}
STANDARD_INPUT = "-"


def read(path: str, *, option: str) -> Iterator[tuple[str, bytes]]:
    """(name, content) of a file, of every file in a folder, or of standard input, unpacked.

    Raises UsageError for what is not there, DataRefused for what cannot be unpacked.
    """
    if path == STANDARD_INPUT:
        yield "standard input", _unpacked(sys.stdin.buffer.read(), "standard input")
        return
    local = Path(path.removeprefix("file:"))
    if not os.path.exists(local):  # Path's own fails for a name that is too long
        raise UsageError(f"{option}: no such file or folder: {path}")
    files = sorted(file for file in local.rglob("*") if _counts(file, local)) if local.is_dir() else [local]
    if not files:
        raise UsageError(f"{option}: there is no file in {path}")
    for file in files:
        try:
            content = file.read_bytes()
        except OSError as error:
            raise UsageError(f"{option}: {file} cannot be read: {error.strerror}") from None
        yield str(file), _unpacked(content, str(file))


def _counts(file: Path, folder: Path) -> bool:
    """Whether a file of a folder holds rows: names that begin with _ or . are a writer's own."""
    return file.is_file() and not any(part.startswith(("_", ".")) for part in file.relative_to(folder).parts)


def _unpacked(content: bytes, name: str) -> bytes:
    if not content.startswith(GZIP):
        return content
    try:
        return gzip.decompress(content)
    except (OSError, EOFError, zlib.error) as error:
        raise DataRefused(f"{name} is a gzip file that is damaged or ends early ({error}); copy it again") from None


def format_of(name: str, content: bytes, *, given: str) -> str:
    """The format that is set, or else what the content begins with and the name ends in; else TREC."""
    if given != "auto":
        return given
    if content.startswith(PARQUET):
        return "parquet"
    if content.startswith(ORC):
        return "orc"
    ending = ENDINGS.get(Path(name.removesuffix(".gz")).suffix.casefold())
    if ending and not (ending == "tsv" and _is_trec(content)):
        return ending
    return "jsonl" if content.lstrip()[:1] == b"{" else "trec"


def _is_trec(content: bytes) -> bool:
    """Whether a file called .tsv begins with a row of a run or of judgments, and not with names of columns."""
    words = content.partition(b"\n")[0].split()
    return len(words) >= 4 and words[3].lstrip(b"+-").isdigit()
