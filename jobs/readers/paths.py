"""Which paths there are, and in which format."""

from __future__ import annotations

import glob
import gzip
import os
import re
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, cast
from urllib.parse import unquote, urlparse

from jobs.errors import UsageError

Format = Literal["trec", "parquet", "orc", "csv", "tsv", "jsonl", "svmlight", "table"]
CATALOG = "table:"
"""How a table of the catalog is named."""
ENDINGS: dict[str, Format] = {
    **{"parquet": "parquet", "orc": "orc", "csv": "csv", "tsv": "tsv", "jsonl": "jsonl", "ndjson": "jsonl"},
    **{"json": "jsonl", "svm": "svmlight", "svmlight": "svmlight", "libsvm": "svmlight"},
}  # fmt: skip
MARKS: dict[bytes, Format] = {b"PAR1": "parquet", b"ORC": "orc"}
GZIP = b"\x1f\x8b"
"""How files begin that are of a format, or compressed."""
FEATURES = re.compile(r"[+-]?[0-9.]+ (qid|[0-9]+):[^:]+")
"""The first two words of an SVMlight file."""


def is_local(path: str) -> bool:
    """Whether the path is on this machine's file system and can be looked at before Spark does."""
    return urlparse(path).scheme in ("", "file")


def located(paths: Sequence[str]) -> list[str]:
    """The paths as Spark must be told them: it has a working folder and a default file system of its own."""
    return [f"file:{Path(path).absolute()}" if not urlparse(path).scheme else path for path in paths]


def resolve(paths: Sequence[str], *, option: str, format: str) -> Format:
    """The one format of these paths.

    Raises UsageError for a path that is not there, a pattern that matches nothing, a name that hides
    what the file is, or two formats.
    """
    if not paths:
        raise UsageError(f"no {option} given; name files, folders or patterns with --{option}")
    problems = [f"--{option}: {problem}" for path in paths if (problem := _problem(path))]
    if problems:
        raise UsageError("\n".join(problems))
    if all(path.startswith(CATALOG) for path in paths):
        return "table"
    if format != "auto" and not any(path.startswith(CATALOG) for path in paths):
        return cast("Format", format)
    found = sorted({_guess(path) for path in paths})
    if len(found) > 1:
        raise UsageError(
            f"--{option}: some paths are {' and some '.join(found)}; give one format at a time, or say which all are "
            "with --set inputs.format=..."
        )
    return found[0]


def is_parquet(paths: Sequence[str], *, option: str) -> bool:
    """Whether these paths are Parquet, where anything else is text.  Raises what `resolve` does."""
    resolve(paths, option=option, format="trec")
    found = {_guess(path) == "parquet" for path in paths}
    if len(found) > 1:
        raise UsageError(f"--{option}: some paths are Parquet and some are not; give one format at a time")
    return found.pop()


def _problem(path: str) -> str | None:
    """What can be seen to be wrong with a path before Spark looks, if anything."""
    if path.startswith(CATALOG):
        return None
    if urlparse(path).scheme in ("http", "https"):
        return f"Spark does not read from the web; download {path} first"
    if not is_local(path):
        return None
    path = _local(path)
    matches = glob.glob(path)
    if not matches and os.path.exists(path):  # Path's own fails for a name that is too long
        return f"Spark would read the brackets in {path} as a pattern; rename it"
    if not matches:
        is_pattern = glob.has_magic(path)
        return f"nothing matches {path}" if is_pattern else f"no such file or folder: {path}"
    for file in map(Path, matches):
        if file.name.startswith(("_", ".")):
            return f"{file}: Spark passes over names that begin with _ or .; rename it"
        if nested := [inner for inner in file.glob("[!_.]*") if inner.is_dir() and "=" not in inner.name]:
            return f"Spark would pass over {nested[0]}, a folder in a folder; name each folder that holds files"
        try:
            if file.suffix != ".gz" and _begins(file, GZIP):
                return f"{file} is compressed; Spark knows that by the name, so call it {file.name}.gz"
        except OSError as error:
            return f"{file} cannot be read: {error.strerror}"
    return None


def _local(path: str) -> str:
    """The path without the scheme file:."""
    return unquote(urlparse(path).path) if path.startswith("file:") else path


def _guess(path: str) -> Format:
    """By the name, or by the names of what is in it, or by how it begins; what says nothing is TREC."""
    if path.startswith(CATALOG):
        return "table"
    found = _ending(path)
    if is_local(path):
        for match in map(Path, sorted(glob.glob(_local(path)))):
            inner = match.rglob("[!_.]*.*") if match.is_dir() else [match]
            found = found or next((ending for file in inner if (ending := _ending(file.name))), None)
            found = found or next((format for mark, format in MARKS.items() if _begins(match, mark)), None)
            words = _first_words(match) if found in (None, "tsv") else []
            if found == "tsv" and len(words) >= 4 and words[3].lstrip("+-").isdigit():
                return "trec"  # the first line does not name columns
            if found is None and FEATURES.fullmatch(" ".join(words[:2])):
                found = "svmlight"
    return found or "trec"


def _ending(name: str) -> Format | None:
    return ENDINGS.get(name.rstrip("/").removesuffix(".gz").rpartition(".")[2].casefold())


def _first_words(file: Path) -> list[str]:
    """The words of the first line, none where it cannot be read."""
    try:
        with gzip.open(file, "rt") if file.suffix == ".gz" else file.open() as lines:
            return next(lines, "").split()
    except (OSError, EOFError, UnicodeDecodeError, zlib.error):
        return []


def _begins(file: Path, mark: bytes) -> bool:
    if not file.is_file():
        return False
    with file.open("rb") as content:
        return content.read(len(mark)) == mark
