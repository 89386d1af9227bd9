"""What tests of the command line share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.commands import Command


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Command:
    """The command, in a folder of its own; it must not come to start Spark."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("jobs.session.session", lambda **_: pytest.fail("Spark was started"))
    return Command(tmp_path, capfd)
