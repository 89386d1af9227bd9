"""What docs/audit.md and docs/judgments.md show is what their commands give."""

from __future__ import annotations

import re
import shlex

import pytest

from jobs import cli
from jobs.config_input import Audit, Levels
from tests.support.evaluations import scores_of
from tests.test_docs import PAGES, blocks

AUDIT, JUDGMENTS = PAGES["audit.md"], PAGES["judgments.md"]


@pytest.fixture
def evaljob(spark, tmp_path, monkeypatch, capsys):
    """The exit code and output of the command of a page, in a folder with its files."""
    monkeypatch.setattr("jobs.session.session", lambda **_: spark)
    monkeypatch.chdir(tmp_path)

    def run(page: str, files: dict[str, str]) -> tuple[int, str]:
        for name, content in files.items():
            (tmp_path / name).write_text(content)
        (command,) = blocks(page, "sh")
        words = shlex.split(command)
        assert words.pop(0) == "evaljob"
        code = cli.main([*words, "--quiet"])
        return code, capsys.readouterr().out

    return run


def test_the_audit_of_its_page_finds_what_is_shown(evaljob):
    files = {"run.txt": blocks(AUDIT, "trec")[0], "qrels.txt": blocks(AUDIT, "qrels")[0]}
    code, out = evaljob(AUDIT, files)
    assert code == 4
    assert out == blocks(AUDIT, "text")[0]


def test_the_log_of_its_page_gives_the_scores_that_are_shown(evaljob, tmp_path):
    run, events = blocks(JUDGMENTS, "csv")
    files = {"run.csv": run, "events.csv": events, "nightly.yaml": blocks(JUDGMENTS, "yaml")[0]}
    code, out = evaljob(JUDGMENTS, files)
    assert code == 0
    assert "1 left out: judgments of another time" in out
    header, *lines = (line.split() for line in blocks(JUDGMENTS, "text")[0].splitlines())
    rows = scores_of(tmp_path / "scores")
    assert len(rows) == len(lines)
    for row, line in zip(rows, lines, strict=True):
        assert [_shown(row[key], cell) for key, cell in zip(header, line, strict=True)] == line
    assert "red shoes" not in "".join(str(row) for row in rows)


def _shown(value: object, like: str) -> str:
    decimals = len(like.partition(".")[2])
    return f"{value:.{decimals}f}" if isinstance(value, float) else str(value)


def test_the_page_of_the_audit_tells_every_gate():
    levels = {name for name, field in Audit.model_fields.items() if _is_gate(field.annotation)}
    table = re.findall(r"^\| (`.*?`) \|", AUDIT, flags=re.MULTILINE)
    assert set(re.findall(r"`(\w+)`", " ".join(table))) == levels


def _is_gate(annotation: object) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, Levels)
