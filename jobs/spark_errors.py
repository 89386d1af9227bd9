"""What Spark raises, told as one line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from jobs.errors import DataRefused, JobError, UsageError

PATH = {"PATH_NOT_FOUND"}
CONTENT = {"FAILED_READ_FILE", "CANNOT_READ_FILE_FOOTER", "MALFORMED_CSV_RECORD", "UNABLE_TO_INFER_SCHEMA"}


@contextmanager
def told() -> Iterator[None]:
    """Errors of Spark inside the block become the project's own, without a traceback of Python or the JVM.

    Raises UsageError for a path that is not there, DataRefused for content that cannot be read or that
    evalcore refuses, JobError for anything else.
    """
    try:
        yield
    except (PySparkException, Py4JError) as error:
        text = str(error)
        condition = (error.getCondition() or "") if isinstance(error, PySparkException) else ""
        refused = re.search(r"evalcore\.errors\.\w+: (.+)", text)
        if refused:
            raise DataRefused(refused[1]) from None
        if condition.split(".")[0] in PATH:
            raise UsageError(_first_line(text)) from None
        if condition.split(".")[0] in CONTENT or re.search(r"ZipException|EOFException|not a Parquet file", text):
            raise DataRefused(f"a file cannot be read: {_first_line(text)}") from None
        raise JobError(f"Spark could not finish: {_first_line(text)}") from None


def _first_line(text: str) -> str:
    """The first line that says something, without the error class and state of Spark."""
    line = next((line for line in text.splitlines() if line.strip()), "no message")
    return re.sub(r"\s*SQLSTATE: \w+.*$", "", re.sub(r"^.*?\[[A-Z_.]+\]\s*", "", line)).strip()
