"""The command `evaljob`: reads the command line, calls the pipeline, shows the result, sets the exit code."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Sequence

try:
    from cyclopts import CycloptsError, UnusedCliTokensError
    from rich.console import Console

    from jobs.cli import aggregation_commands, other_commands, spark_commands
    from jobs.cli.app import app
except ModuleNotFoundError as missing:
    if (missing.name or "").partition(".")[0] in ("jobs", "evalcore"):
        raise
    print(
        f"evaljob: the command line needs {missing.name}; install it with: pip install 'evaljob[cli]'", file=sys.stderr
    )
    sys.exit(2)

from evalcore import EvalcoreError
from jobs.errors import JobError, UsageError

__all__ = ["aggregation_commands", "app", "main", "other_commands", "spark_commands"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code of style: 0 fine, 1 unexpected, 2 usage, 4 data refused."""
    silent = logging.CRITICAL + 1  # py4j tells a broken call to the root logger, with a traceback
    logging.basicConfig(level=silent, format="%(asctime)s %(message)s", datefmt="%H:%M:%S", stream=sys.stderr)
    logging.getLogger("evaljob").setLevel(logging.INFO)
    for name in ("DataFrameQueryContextLogger", "SQLQueryContextLogger"):  # PySpark's, which tell errors as JSON
        logging.getLogger(name).setLevel(silent)
    try:
        return int(app(arguments, exit_on_error=False, print_error=False, result_action="return_value") or 0)
    except CycloptsError as error:
        return _tell(_usage(error), UsageError.exit_code)
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


def _usage(error: CycloptsError) -> str:
    """What is wrong with a command line, and where its options are told."""
    what = str(error)
    if isinstance(error, UnusedCliTokensError):
        what = f"{' '.join(error.unused_tokens or [])} belongs to no option."
    return f"{what} See: {' '.join(('evaljob', *(error.command_chain or ()), '--help'))}"


def _tell(message: str, code: int) -> int:
    Console(stderr=True, soft_wrap=True, highlight=False, markup=False).print(f"evaljob: {message}")
    return code
