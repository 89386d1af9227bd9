"""Evaluation directories: written beside their place, published whole, described by a manifest.

    DIR/manifest.json                  written last: without it there is no evaluation
    DIR/scores/part-*.parquet
    DIR/aggregates/NAME/manifest.json
    DIR/aggregates/NAME/unit_sums/  pairs/  estimates.parquet  contrasts.parquet

A crash leaves a hidden `.NAME.….unfinished` directory that no reader looks at.
"""

from __future__ import annotations

import glob
import hashlib
import json
import os
import shutil
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

import pyarrow as pa
import pyarrow.parquet as pq

from jobs.errors import DataRefused, UsageError

MANIFEST = "manifest.json"
FORMAT = 1
"""Version of the manifest's layout."""
KINDS = ("evaluation", "aggregate")
NEEDED = ("systems", "metrics", "query_columns", "conventions", "counts", "files")
"""What aggregation reads of an evaluation's manifest."""


def local(output: str) -> Path:
    """The directory that --output names.  Raises UsageError for a name that Spark would take for something else."""
    if urlparse(output).scheme:
        raise UsageError(f"--output {output}: an evaluation is a folder of this machine, or of a mounted file system")
    if set(output) & set("*?[]{}\\"):
        raise UsageError(f"--output {output}: Spark would read this as a pattern; choose a name without *?[]{{}}\\")
    return Path(output)


def check_free(target: Path, *, replace: bool) -> None:
    """Raises UsageError if `target` exists and may not be replaced, or is no directory of ours."""
    if not target.exists():
        return
    if not replace:
        raise UsageError(f"{target} exists; choose another --output, or replace it with --force")
    if not target.is_dir() or (any(target.iterdir()) and not _is_ours(target)):
        raise UsageError(
            f"{target} exists and is no evaluation, and --force replaces nothing else; choose another name"
        )


def free_for_aggregation(output: str | None, *, replace: bool) -> Path:
    """The directory of an aggregation that is in no evaluation.  Raises UsageError unless it can be written."""
    if output is None:
        raise UsageError("no output directory is given; name one with --output")
    target = local(output)
    check_free(target, replace=replace)
    if target.exists() and any(target.iterdir()) and read_manifest(target).get("kind") != "aggregate":
        raise UsageError(f"{target} is an evaluation, and an aggregation does not replace it; choose another --output")
    return target


def _is_ours(directory: Path) -> bool:
    """Whether a job of ours wrote this directory: other programs have files called manifest.json too."""
    try:
        manifest = json.loads((directory / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(manifest, dict) and manifest.get("kind") in KINDS and "format" in manifest


def uri(path: Path) -> str:
    """The path as Spark must be told it, whose default file system may be another one."""
    return f"file:{path.resolve()}"


@contextmanager
def publish(target: Path, *, replace: bool) -> Iterator[Path]:
    """A directory to write into, which becomes `target` when the block ends well and vanishes if not.

    Where `target` exists and may be replaced it is moved aside first, so that it is whole under one
    name or the other at any time, and removed last. Folders made on the way there vanish too if empty.

    Raises UsageError as `check_free` does, and where nothing can be written.
    """
    check_free(target, replace=replace)
    attempt = uuid.uuid4().hex[:8]
    staging = target.with_name(f".{target.name}.{attempt}.unfinished")
    aside = target.with_name(f".{target.name}.{attempt}.replaced")
    made = [folder for folder in target.parents if not folder.exists()]
    try:
        staging.mkdir(parents=True)
    except OSError as error:
        raise UsageError(f"{target} cannot be written: {error.strerror}; choose another place") from None
    try:
        yield staging
        check_free(target, replace=replace)  # it may have appeared since
        if target.exists():
            target.rename(aside)
        staging.rename(target)
    finally:
        if aside.exists() and not target.exists():
            aside.rename(target)
        shutil.rmtree(staging, ignore_errors=True)
        shutil.rmtree(aside, ignore_errors=True)
        for folder in made:
            with suppress(OSError):  # it is not empty: all went well
                folder.rmdir()


def write_manifest(directory: Path, content: Mapping[str, Any]) -> None:
    """Write the manifest, with the versions of everything that computed: the last file of a directory."""
    libraries = {}
    for name in ("evaljob", "numpy", "pyarrow", "pyspark"):
        with suppress(PackageNotFoundError):  # not all of a machine's work needs Spark
            libraries[name] = version(name)
    described = {"format": FORMAT, "created": datetime.now(UTC).isoformat(timespec="seconds"), "versions": libraries}
    text = json.dumps({**described, **content}, indent=2, ensure_ascii=False) + "\n"
    unfinished = directory / f".{MANIFEST}"
    unfinished.write_text(text, encoding="utf-8")
    os.replace(unfinished, directory / MANIFEST)


def read_manifest(directory: Path) -> dict[str, Any]:
    """A directory's manifest.  Raises UsageError where there is none, DataRefused where it is damaged."""
    path = directory / MANIFEST
    if not directory.exists():
        raise UsageError(f"{directory} does not exist; name the folder that `evaljob score --output` made")
    if not path.is_file():
        raise UsageError(
            f"{directory} is not an evaluation: there is no {MANIFEST}; `evaljob score --output` makes one"
        )
    try:
        manifest = dict(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, TypeError, ValueError) as error:
        raise DataRefused(f"{path} is damaged ({error}); score again") from None
    if manifest.get("format") != FORMAT:
        raise DataRefused(
            f"{path} has format {manifest.get('format')}, and this version reads format {FORMAT}; score again"
        )
    return manifest


def read_evaluation(directory: Path) -> dict[str, Any]:
    """The manifest of an evaluation.  Raises as `read_manifest`, and UsageError for the directory of an aggregate."""
    manifest = read_manifest(directory)
    if manifest.get("kind") == "aggregate":
        raise UsageError(f"{directory} is no evaluation, but part of one; name the folder that `evaljob score` wrote")
    if lacking := [key for key in NEEDED if key not in manifest]:
        raise DataRefused(f"{directory / MANIFEST} is damaged (it lacks {', '.join(lacking)}); score again")
    return manifest


def part_files(directory: Path, *, under: Path) -> list[dict[str, Any]]:
    """Every Parquet file of a table that Spark wrote, with its rows; Spark's marker files are removed."""
    for marker in [*directory.glob(".*.crc"), directory / "_SUCCESS"]:
        marker.unlink(missing_ok=True)
    files = sorted(directory.glob("*.parquet"))
    return [{"path": str(file.relative_to(under)), "rows": pq.read_metadata(file).num_rows} for file in files]


def score_files(directory: Path, manifest: Mapping[str, Any]) -> list[str]:
    """The files that hold SCORES.  Raises DataRefused if one of them is gone, damaged, or not as it was written."""
    columns = {metric["column"] for metric in manifest["metrics"]}
    for file in manifest["files"]:
        path = directory / file["path"]
        if not path.is_file():
            raise DataRefused(f"{path} is named in the manifest and is not there; score again")
        try:
            found = pq.read_metadata(path)
        except (pa.ArrowException, OSError) as error:
            raise DataRefused(f"{path} is damaged ({error}); score again") from None
        if found.num_rows != file["rows"] or not columns <= set(found.schema.to_arrow_schema().names):
            raise DataRefused(f"{path} does not have the rows and columns that the manifest names; score again")
    return [uri(directory / file["path"]) for file in manifest["files"]]


def fingerprint(paths: Sequence[str]) -> list[dict[str, Any]]:
    """What tells inputs apart: paths; for local ones also files, bytes, and a hash of names, sizes and times."""
    found = []
    for path in paths:
        matches = [Path(match) for match in sorted(glob.glob(unquote(path.removeprefix("file:"))))]
        inside = [file for match in matches for file in (sorted(match.rglob("*")) if match.is_dir() else [match])]
        files = [file for file in inside if file.is_file()]
        facts = [(file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in files]
        digest = hashlib.sha256(json.dumps(facts).encode()).hexdigest()
        described = {"files": len(facts), "bytes": sum(size for _, size, _ in facts), "sha256_of_listing": digest}
        found.append({"path": path, **(described if facts else {})})
    return found
