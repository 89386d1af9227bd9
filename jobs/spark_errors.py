"""What Spark raises, told as one line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from py4j.protocol import Py4JError, Py4JNetworkError
from pyspark.errors import PySparkException

from jobs.errors import DataRefused, JobError, UsageError, address

REFUSED_BY_EVALCORE = re.compile(r"evalcore\.errors\.\w+: (.+)")
UNREADABLE = re.compile(r"Encountered error while reading file (.+?)\.\s")
IN_PYTHON = re.compile(r"Traceback \(most recent call last\):\n(?:[ \t].*\n)+(\S.*)")
"""The exception of a Python worker: the first line below the traceback."""
OTHER_HEADER = re.compile(
    "CSV header does not conform to the schema|Number of column in CSV header is not equal to number of fields"
)
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
    except (Py4JNetworkError, ConnectionError) as error:
        raise JobError(
            "Spark's Java process has ended, perhaps for want of memory: see how much there is with `evaljob doctor`, "
            "or set spark.settings.spark.driver.memory"
        ) from error
    except (PySparkException, Py4JError) as error:
        raise _translated(str(error)) from error


def _translated(text: str) -> JobError:
    if found := REFUSED_BY_EVALCORE.search(text):
        return DataRefused(found[1])
    if (found := UNREADABLE.search(text)) and OTHER_HEADER.search(text):
        return UsageError(f"{address(found[1])} has another header than the first file; files of one table begin alike")
    if found := UNREADABLE.search(text):
        why = reason(text).replace(found[1], "it").removeprefix("Encountered error while reading file it")
        return DataRefused(
            f"{address(found[1])} cannot be read: {why or 'Spark does not say why'}; it is damaged, or not what "
            "its name says: write it again"
        )
    if found := NOT_THERE.search(text):
        return UsageError(f"no such file or folder: {address(found[1])}")
    if found := NO_FILE_SYSTEM.search(text):
        return UsageError(
            f"Spark here cannot read {found[1]}:// paths; add the file system's package with "
            "--set spark.settings.spark.jars.packages=..."
        )
    return JobError(f"Spark could not finish: {reason(text)}; set EVALJOB_TRACEBACK=1 and run again to see where")


def reason(text: str) -> str:
    r"""The first sentence of the innermost cause that says something.

    >>> reason("It failed\n: java.io.IOException: not read\nCaused by: java.io.EOFException: Too short. Sorry")
    'Too short'
    """
    if found := IN_PYTHON.search(text):
        return found[1]
    causes = re.findall(r"^\s*(?:Caused by)?: (?:[\w$]+\.)+[\w$]+: (.+)$", text, flags=re.MULTILINE)
    said = causes[-1] if causes else (text.strip().splitlines() or ["it does not say why"])[0]
    plain = re.sub(r"^\[[A-Z_.]+\]\s*|\s*SQLSTATE: \w+.*$", "", said)
    return re.split(r"\.\s|\.$", plain)[0].strip()
