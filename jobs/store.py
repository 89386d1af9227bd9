"""Evaluation directories: written beside their place, published whole, described by a manifest.

    DIR/manifest.json                  written last: without it there is no evaluation
    DIR/scores/part-*.parquet
    DIR/aggregates/NAME/manifest.json
    DIR/aggregates/NAME/unit_sums/  pairs/  estimates.parquet  contrasts.parquet

A crash leaves a hidden `.NAME.….unfinished` directory that no reader looks at.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from jobs.errors import DataRefused, UsageError

MANIFEST = "manifest.json"
FORMAT = 1
"""Version of the manifest's layout."""


def check_free(target: Path, *, replace: bool) -> None:
    """Raises UsageError if `target` exists and may not be replaced, or is no directory of ours."""
    if not target.exists():
        return
    if not replace:
        raise UsageError(f"{target} exists; choose another --output, or replace it with --force")
    if not target.is_dir() or (any(target.iterdir()) and not (target / MANIFEST).is_file()):
        raise UsageError(f"{target} exists and is no evaluation; --force replaces evaluations only")


@contextmanager
def publish(target: Path, *, replace: bool) -> Iterator[Path]:
    """A directory to write into, which becomes `target` when the block ends well and vanishes if not.

    Where `target` exists and may be replaced it is moved aside first, so that it is whole under one
    name or the other at any time, and removed last.

    Raises UsageError as `check_free` does.
    """
    check_free(target, replace=replace)
    target.parent.mkdir(parents=True, exist_ok=True)
    attempt = uuid.uuid4().hex[:8]
    staging = target.with_name(f".{target.name}.{attempt}.unfinished")
    aside = target.with_name(f".{target.name}.{attempt}.replaced")
    staging.mkdir()
    try:
        yield staging
        if target.exists():
            target.rename(aside)
        staging.rename(target)
    finally:
        if aside.exists() and not target.exists():
            aside.rename(target)
        shutil.rmtree(staging, ignore_errors=True)
        shutil.rmtree(aside, ignore_errors=True)


def write_manifest(directory: Path, content: Mapping[str, Any]) -> None:
    """Write the manifest, with the versions of everything that computed: the last file of a directory."""
    libraries = {name: version(name) for name in ("evaljob", "numpy", "pyarrow", "pyspark")}
    described = {"format": FORMAT, "created": datetime.now(UTC).isoformat(timespec="seconds"), "versions": libraries}
    text = json.dumps({**described, **content}, indent=2, ensure_ascii=False) + "\n"
    unfinished = directory / f".{MANIFEST}"
    unfinished.write_text(text, encoding="utf-8")
    os.replace(unfinished, directory / MANIFEST)


def read_manifest(directory: Path) -> dict[str, Any]:
    """The manifest of an evaluation.  Raises UsageError where there is none, DataRefused where it is broken."""
    path = directory / MANIFEST
    if not path.is_file():
        raise UsageError(
            f"{directory} is not an evaluation: there is no {MANIFEST}; `evaljob score --output` makes one"
        )
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        if manifest["format"] != FORMAT:
            raise DataRefused(f"{path} has format {manifest['format']}; this version reads format {FORMAT}")
    except (json.JSONDecodeError, KeyError, TypeError, UnicodeDecodeError) as error:
        raise DataRefused(f"{path} is damaged ({error}); score again") from None
    return dict(manifest)


def part_files(directory: Path, *, under: Path) -> list[dict[str, Any]]:
    """Every Parquet file of a table that Spark wrote, with its rows; Spark's marker files are removed."""
    for marker in [*directory.glob(".*.crc"), directory / "_SUCCESS"]:
        marker.unlink(missing_ok=True)
    files = sorted(directory.glob("*.parquet"))
    return [{"path": str(file.relative_to(under)), "rows": pq.read_metadata(file).num_rows} for file in files]


def score_files(directory: Path, manifest: Mapping[str, Any]) -> list[str]:
    """The files that hold SCORES.  Raises DataRefused if one of them is gone or has other rows than it should."""
    for file in manifest["files"]:
        path = directory / file["path"]
        if not path.is_file():
            raise DataRefused(f"{directory}: {file['path']} is named in the manifest and is not there; score again")
        if pq.read_metadata(path).num_rows != file["rows"]:
            raise DataRefused(f"{path} does not have the {file['rows']} rows that the manifest names; score again")
    return [str(directory / file["path"]) for file in manifest["files"]]


def fingerprint(paths: Sequence[str]) -> list[dict[str, Any]]:
    """What tells inputs apart: paths; for local ones also files, bytes, and a hash of names, sizes and times."""
    found = []
    for path in paths:
        files = (
            sorted(file for file in Path(path).rglob("*") if file.is_file()) if Path(path).is_dir() else [Path(path)]
        )
        files = [file for file in files if file.is_file()]
        facts = [(file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in files]
        digest = hashlib.sha256(json.dumps(facts).encode()).hexdigest()
        described = {"files": len(facts), "bytes": sum(size for _, size, _ in facts), "sha256_of_listing": digest}
        found.append({"path": path, **(described if facts else {})})
    return found
