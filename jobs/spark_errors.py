"""What Spark raises, told as one line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from jobs.errors import DataRefused, JobError, UsageError, address

REFUSED_BY_EVALCORE = re.compile(r"evalcore\.errors\.\w+: (.+)")
UNREADABLE = re.compile(r"Encountered error while reading file (.+?)\.\s")
IN_PYTHON = re.compile(r"Traceback \(most recent call last\):\n(?:[ \t].*\n)+(\S.*)")
"""The exception of a Python worker: the first line below the traceback."""
NO_SCHEMA = re.compile(r"Unable to infer schema for (\w+)")
NOT_THERE = re.compile(r"Path does not exist: (.+?)\.?(?:\s|$)")
NO_FILE_SYSTEM = re.compile(r"No FileSystem for scheme \"?(\w+)")


@contextmanager
def told() -> Iterator[None]:
    """Errors of Spark inside the block become the project's own, without a traceback of Python or the JVM.

    Raises UsageError for a path that is not there, DataRefused for content that cannot be read or that
    evalcore refuses, JobError for anything else.
    """
    try:
        yield
    except (PySparkException, Py4JError) as error:
        raise _translated(str(error)) from error


def _translated(text: str) -> JobError:
    if found := REFUSED_BY_EVALCORE.search(text):
        return DataRefused(found[1])
    if found := UNREADABLE.search(text):
        return DataRefused(
            f"{address(found[1])} cannot be read: {reason(text)}; it is damaged or not what its name says: "
            "copy or write it again"
        )
    if found := NO_SCHEMA.search(text):
        return DataRefused(f"there are no columns, and so no {found[1]} file, where there should be one")
    if found := NOT_THERE.search(text):
        return UsageError(f"no such file or folder: {address(found[1])}")
    if found := NO_FILE_SYSTEM.search(text):
        return UsageError(
            f"Spark here cannot read {found[1]}:// paths; add the file system's package with "
            "--set spark.settings.spark.jars.packages=..."
        )
    return JobError(f"Spark could not finish: {reason(text)}; set EVALJOB_TRACEBACK=1 and run again to see where")


def reason(text: str) -> str:
    """The first sentence of the innermost cause that says something.

    >>> reason("An error occurred\\n: java.io.IOException: not read\\nCaused by: java.io.EOFException: Too short. Sorry")
    'Too short'
    """
    if found := IN_PYTHON.search(text):
        return found[1]
    causes = re.findall(r"^\s*(?:Caused by)?: (?:[\w$]+\.)+[\w$]+: (.+)$", text, flags=re.MULTILINE)
    said = causes[-1] if causes else (text.strip().splitlines() or ["it does not say why"])[0]
    plain = re.sub(r"^\[[A-Z_.]+\]\s*|\s*SQLSTATE: \w+.*$", "", said)
    return re.split(r"\.\s|\.$", plain)[0].strip()
