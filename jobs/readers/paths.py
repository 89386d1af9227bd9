"""Which paths there are, and in which format."""

from __future__ import annotations

import glob
from collections.abc import Sequence
from pathlib import Path
from typing import Literal
from urllib.parse import unquote, urlparse

from jobs.errors import UsageError

Format = Literal["trec", "parquet"]


def is_local(path: str) -> bool:
    """Whether the path is on this machine's file system and can be looked at before Spark does."""
    return urlparse(path).scheme in ("", "file")


def local(path: str) -> str:
    """The path without the scheme file:."""
    return unquote(urlparse(path).path) if path.startswith("file:") else path


def resolve(paths: Sequence[str], *, option: str, format: str) -> Format:
    """The one format of these paths.

    Raises UsageError for a path that is not there, a pattern that matches nothing, or two formats.
    """
    if not paths:
        raise UsageError(f"no {option} given; name files, folders or patterns with --{option}")
    missing = [
        path for path in paths if is_local(path) and not glob.glob(local(path)) and not Path(local(path)).exists()
    ]
    if missing:
        raise UsageError(f"--{option}: no such file or folder: {', '.join(missing)}")
    if format != "auto":
        return "trec" if format == "trec" else "parquet"
    found = {_guess(path) for path in paths}
    if len(found) > 1:
        raise UsageError(f"--{option}: some paths are Parquet and some are not; give one format at a time")
    return found.pop()


def _guess(path: str) -> Format:
    if path.rstrip("/").endswith(".parquet"):
        return "parquet"
    if is_local(path):
        for match in map(Path, glob.glob(local(path))):
            if match.suffix == ".parquet" or (match.is_dir() and any(match.glob("**/*.parquet"))):
                return "parquet"
    return "trec"


def readable(uri: str) -> str:
    """A file's address as a person would write it."""
    return local(uri) if is_local(uri) else unquote(uri)
