"""What ends a command early, and with which exit code.

    JobError            exit 1, and the base of the others
      UsageError        exit 2: a name, option, path or setting that cannot work
      DataRefused       exit 4: content that is malformed, or that a gate of the audit refuses

A message says where (file and line, table, example ids), what was found, what was wanted and the
next step. Only `cli` turns these into exit codes.
"""

from __future__ import annotations

from typing import ClassVar
from urllib.parse import unquote


class JobError(Exception):
    """A command cannot go on; the message is for the person who called it."""

    exit_code: ClassVar[int] = 1


class UsageError(JobError):
    """A name, option, path or setting that cannot work."""

    exit_code: ClassVar[int] = 2


class DataRefused(JobError):
    """Content that is malformed, or that a gate of the audit refuses."""

    exit_code: ClassVar[int] = 4


def number_of(number: int, noun: str) -> str:
    """A number and its noun.

    >>> number_of(1, "row"), number_of(2000, "query")
    ('1 row', '2,000 queries')
    """
    several = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number:,} {noun if number == 1 else several}"


def address(uri: str) -> str:
    """A file's address as a person would write it.

    >>> address("file:///data/run%201.txt"), address("hdfs://head/run.txt")
    ('/data/run 1.txt', 'hdfs://head/run.txt')
    """
    return unquote(uri.removeprefix("file://") if uri.startswith("file:///") else uri.removeprefix("file:"))
