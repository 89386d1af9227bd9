"""The command `evaljob`: reads the command line, calls the pipeline, shows the result, sets the exit code.

`evaljob eval` reads its words itself and imports little, for it answers within a second; all other commands
are cyclopts' (`jobs.cli.commands`).
"""

from __future__ import annotations

import atexit
import gc
import io
import logging
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from jobs.errors import JobError, UsageError

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code of style: 0 fine, 1 unexpected, 2 usage, 4 data refused."""
    atexit.register(gc.freeze)  # or the interpreter would look through all modules for cycles before it ends
    with _uncollected():
        from evalcore.errors import EvalcoreError  # with all of evalcore
    if isinstance(sys.stdout, io.TextIOWrapper):  # ids are UTF-8 in files, and stay so whatever the locale
        sys.stdout.reconfigure(encoding="utf-8")
    silent = logging.CRITICAL + 1  # py4j tells a broken call to the root logger, with a traceback
    logging.basicConfig(level=silent, format="%(asctime)s %(message)s", datefmt="%H:%M:%S", stream=sys.stderr)
    logging.getLogger("evaljob").setLevel(logging.INFO)
    for name in ("DataFrameQueryContextLogger", "SQLQueryContextLogger"):  # PySpark's, which tell errors as JSON
        logging.getLogger(name).setLevel(silent)
    try:
        return _run(sys.argv[1:] if arguments is None else list(arguments))
    except EvalcoreError as error:
        return _tell(str(error), UsageError.exit_code)
    except JobError as error:
        if error.exit_code == 1 and os.environ.get("EVALJOB_TRACEBACK"):
            raise
        return _tell(str(error), error.exit_code)
    except KeyboardInterrupt:
        return _tell("stopped", 130)
    except BrokenPipeError:  # the reader of our output went away, as `| head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 0
    except Exception as error:
        if os.environ.get("EVALJOB_TRACEBACK"):
            raise
        where = f"{type(error).__name__}: {error}".splitlines()[0]
        return _tell(f"unexpected error: {where}; set EVALJOB_TRACEBACK=1 and run again to see where", 1)


def _run(words: list[str]) -> int:
    try:
        with _uncollected():
            if words[:1] == ["eval"]:
                # pydantic would look through every installed distribution for plugins
                os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
                from jobs.cli import eval_command

                return eval_command.run(words[1:])
            from jobs.cli import commands
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] in ("jobs", "evalcore"):
            raise
        raise UsageError(
            f"the command line needs {missing.name}; install it with: pip install 'evaljob[cli]'"
        ) from None
    return commands.run(words)


@contextmanager
def _uncollected() -> Iterator[None]:
    """Without the search for cycles: modules leave none, nor does a short command, and it takes a third of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _tell(message: str, code: int) -> int:
    print(f"evaljob: {message}", file=sys.stderr)
    return code
