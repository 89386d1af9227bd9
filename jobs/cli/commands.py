"""Every command, and how a wrong command line is told."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from cyclopts import CycloptsError, Parameter, UnusedCliTokensError

from jobs.cli import (
    aggregation_commands,
    audit_command,
    eval_command,
    other_commands,
    source_commands,
    spark_commands,
)
from jobs.cli.app import app
from jobs.errors import UsageError

__all__ = ["aggregation_commands", "app", "audit_command", "other_commands", "run", "source_commands", "spark_commands"]


@app.command(name="eval", help_flags=[], version_flags=[])
def eval_(*words: Annotated[str, Parameter(allow_leading_hyphen=True, show=False)]) -> int:
    """Score a few runs at once, without Spark: estimates with intervals, contrasts, trec_eval's output."""
    return eval_command.run(words)


def run(words: Sequence[str]) -> int:
    """The exit code of a command.  Raises UsageError for a command line that cannot be."""
    try:
        return int(app(words, exit_on_error=False, print_error=False, result_action="return_value") or 0)
    except CycloptsError as error:
        raise UsageError(_usage(error)) from None


def _usage(error: CycloptsError) -> str:
    """What is wrong with a command line, and where its options are told."""
    what = str(error)
    if isinstance(error, UnusedCliTokensError):
        what = f"{' '.join(error.unused_tokens or [])} belongs to no option."
    return f"{what} See: {' '.join(('evaljob', *(error.command_chain or ()), '--help'))}"
