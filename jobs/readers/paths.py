"""Which paths there are, and in which format."""

from __future__ import annotations

import glob
from collections.abc import Sequence
from pathlib import Path
from typing import Literal
from urllib.parse import unquote, urlparse

from jobs.errors import UsageError

Format = Literal["trec", "parquet"]
PARQUET, GZIP = b"PAR1", b"\x1f\x8b"
"""How a file begins that is Parquet, or that is compressed."""


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
    if format != "auto":
        return "trec" if format == "trec" else "parquet"
    found = {_guess(path) for path in paths}
    if len(found) > 1:
        raise UsageError(f"--{option}: some paths are Parquet and some are not; give one format at a time")
    return found.pop()


def _problem(path: str) -> str | None:
    """What can be seen to be wrong with a path before Spark looks, if anything."""
    if urlparse(path).scheme in ("http", "https"):
        return f"Spark does not read from the web; download {path} first"
    if not is_local(path):
        return None
    path = _local(path)
    matches = glob.glob(path)
    if not matches and Path(path).exists():
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
    if path.rstrip("/").endswith(".parquet"):
        return "parquet"
    if is_local(path):
        for match in map(Path, glob.glob(_local(path))):
            if match.suffix == ".parquet" or any(match.glob("**/*.parquet")) or _begins(match, PARQUET):
                return "parquet"
    return "trec"


def _begins(file: Path, mark: bytes) -> bool:
    if not file.is_file():
        return False
    with file.open("rb") as content:
        return content.read(len(mark)) == mark
