"""What a command tells while it works: a live line for a person, plain log lines for a log."""

from __future__ import annotations

import logging
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.markup import escape

log = logging.getLogger("evaljob")


class Progress:
    """Names each stage while it runs, and how long it took.

    On a terminal the running stage is a live line; elsewhere each stage logs when it ends; ``quiet``
    tells nothing. Writes to a copy of standard error, so that it goes on while the session points the
    JVM's output elsewhere.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet
        self._console: Console | None = None
        if sys.stderr.isatty():
            self._console = Console(file=os.fdopen(os.dup(2), "w", encoding="utf-8"), highlight=False)

    @contextmanager
    def stage(self, what: str) -> Iterator[None]:
        """Tell of a stage for as long as the block runs."""
        started = time.monotonic()
        if self._quiet:
            yield
        elif self._console is not None:
            with self._console.status(f"{escape(what)} …"):
                yield
            self._console.print(f"[green]✓[/] {escape(what)} [dim]{time.monotonic() - started:.1f} s[/]")
        else:
            yield
            log.info("%s: %.1f s", what, time.monotonic() - started)

    def note(self, text: str) -> None:
        """Tell something that the person should know."""
        if self._quiet:
            return
        if self._console is not None:
            self._console.print(f"[yellow]![/] {escape(text)}")
        else:
            log.warning("%s", text)
