"""What a gate of a hand-written aggregation answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from jobs import cli

N = 200
SPREAD = np.tile([0.125, -0.125, 0.0625, -0.0625], N // 4)
"""Gains without skewness, of mean 0 and standard error 0.007."""


def values_of(**gains: Any) -> dict[str, Any]:
    """A baseline of 0.5 on every query and candidates that gain so much on each."""
    return {"base": np.full(N, 0.5), **{system: 0.5 + gain for system, gain in gains.items()}}


def verdict_of(capsys: pytest.CaptureFixture[str], directory: Path, *arguments: str) -> tuple[dict[str, Any], int]:
    """The verdict as JSON, and the exit code."""
    quick = ("--set", "aggregate.replicates=999")
    code = cli.main(["gate", str(directory), "--baseline", "base", *quick, "--json", *arguments])
    told = capsys.readouterr()
    assert not told.err, told.err
    return json.loads(told.out), code


def invalid(capsys: pytest.CaptureFixture[str], directory: Path, *arguments: str) -> dict[str, Any]:
    """The verdict of a night that is invalid."""
    verdict, code = verdict_of(capsys, directory, *arguments)
    assert (verdict["answer"], code) == ("invalid", 4)
    return verdict


def refusal_of(
    capsys: pytest.CaptureFixture[str], directory: Path, *arguments: str, command: str = "gate"
) -> tuple[str, int]:
    """What is told where there is no answer, and the exit code."""
    code = cli.main([command, str(directory), *arguments])
    told = capsys.readouterr()
    assert not told.out
    return told.err.strip().removeprefix("evaljob: "), code
