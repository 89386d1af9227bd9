"""`evaljob` run in a folder of its own, and golden files of commands that must fail with a message."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from jobs import cli

GOLDEN = Path(__file__).parents[1] / "golden" / "bad_input"
TRACES = re.compile(
    r"Traceback|^\s+at \w|[Pp]y4[Jj]|An error occurred|\{\"ts\"|SQLSTATE|org\.apache|WARN", re.MULTILINE
)


@dataclass
class Command:
    """`evaljob` in a folder of its own, whose files can be named by their names alone.

    The session may have been started in another folder, and Spark resolves paths by that one.
    """

    folder: Path
    capfd: pytest.CaptureFixture[str]
    names: set[str] = field(default_factory=lambda: {"out", "ev"})

    def write(self, name: str, content: str | bytes | dict) -> Path:
        """A file of text, of bytes, or of a table's columns."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, dict):
            pq.write_table(pa.table(content), path)
        else:
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        self.names.add(name)
        return path

    def run(self, *arguments: str) -> tuple[int, str, str]:
        """Exit code, standard output, standard error."""
        self.capfd.readouterr()
        words = [str(self.folder / word) if word in self.names else word for word in arguments]
        code = cli.main([*words, "--quiet"])
        return code, *self.capfd.readouterr()

    def refused(self, code: int, *arguments: str) -> str:
        """The message, paths cut short, of a command that must fail with this code and leave every file as it was."""
        before = self.files()
        found, out, err = self.run(*arguments)
        assert (found, out) == (code, ""), err
        assert err.startswith("evaljob: ")
        assert err.count("evaljob: ") == 1
        assert not TRACES.search(err), err
        assert self.files() == before
        return err.removeprefix("evaljob: ").replace(f"{self.folder}/", "").strip()

    def score_refused(self, code: int, *options: str, runs: str = "run.txt", qrels: str = "qrels.txt") -> str:
        return self.refused(code, "score", "--runs", *runs.split(), "--qrels", qrels, "--output", "out", *options)

    def files(self) -> dict[str, bytes | None]:
        paths = sorted(self.folder.rglob("*"))
        return {str(path): path.read_bytes() if path.is_file() else None for path in paths}


class Case(NamedTuple):
    """A command, whether it comes to start Spark, and what it says."""

    words: str
    spark: bool
    code: int
    message: str


def cases(name: str) -> list[Case]:
    """Those of a golden file."""
    found = []
    for block in (GOLDEN / f"{name}.txt").read_text().split("\n$")[1:]:
        first, *rest = block.strip("\n").splitlines()
        code, _, message = "\n".join(rest).partition(" ")
        found.append(Case(first.removeprefix("* ").strip(), first.startswith("*"), int(code), message))
    return found
