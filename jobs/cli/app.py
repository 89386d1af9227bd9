"""What every command shares: the application, its common options, and how a result is printed."""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App, Parameter

from jobs import console
from jobs.cli.words import margins, split
from jobs.config import Config
from jobs.config_file import load
from jobs.errors import UsageError
from jobs.figures import as_json
from jobs.progress import Progress

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = [
    "COMMON", "Common", "Flag", "Many", "app", "margins", "print_json", "show_aggregate", "spark_parts", "split",
    "started",
]  # fmt: skip

app = App(
    name="evaljob",
    help="Score every query of every system, then estimate and contrast with bootstrap intervals.",
    version=lambda: version("evaljob"),
    version_flags=["--version"],
    suppress_keyboard_interrupt=False,
)

Many = Annotated[list[str] | None, Parameter(consume_multiple=True, negative=())]
Flag = Annotated[bool, Parameter(negative=(), show_default=False)]


@Parameter(name="*")
@dataclass(frozen=True)
class Common:
    """What every job takes.

    Parameters
    ----------
    config
        YAML file with settings; conf/base.yaml shows all of them.
    set_
        One setting, as section.key=value; may be given again.
    quiet
        Tell nothing but the result.
    json
        Print the result as JSON.
    """

    config: str | None = None
    set_: Annotated[list[str] | None, Parameter(name="--set", negative=())] = None
    quiet: Flag = False
    json: Flag = False

    def load(self, flags: dict[str, object], *, defaults: dict[str, object] | None = None) -> Config:
        """The configuration, this command's flags winning, and everything winning over `defaults`."""
        overrides, defaults = self.set_ or [], defaults or {}
        return load(self.config, overrides=overrides, environment=os.environ, flags=flags, defaults=defaults)


COMMON = Common()


def show_aggregate(found: tuple[dict[str, Any], Any, Any], common: Common) -> None:
    """Estimates and contrasts for a person or, with --json, for a program."""
    described, estimates, contrasts = found
    if common.json:
        print_json({**described, "estimates": estimates.to_pylist(), "contrasts": contrasts.to_pylist()})
    else:
        console.show_aggregate(described, estimates, contrasts)


def spark_parts() -> tuple[Any, Any]:
    """jobs.checks and jobs.pipeline, which need the extra `spark`."""
    try:
        from jobs import checks, pipeline
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] in ("jobs", "evalcore"):
            raise
        raise UsageError(f"this command needs {missing.name}; install it with: pip install 'evaljob[spark]'") from None
    return checks, pipeline


def started(config: Config, progress: Progress) -> SparkSession:
    """A Spark session, which takes seconds to start."""
    from jobs.session import session

    with progress.stage("starting Spark"):
        return session(master=config.spark.master, settings=config.spark.settings)


def print_json(content: object) -> None:
    """A result on standard output, for programs."""
    print(as_json(content))
