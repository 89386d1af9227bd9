"""What this machine has and lacks for evaljob: a finding for each thing and, for each lack, what to do.

Nothing optional is imported before it is known to be there: this has to run where little else does.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from typing import TYPE_CHECKING

from jobs.errors import UsageError
from jobs.java import ensure_java_home

if TYPE_CHECKING:
    import pyarrow as pa

GIB = 1 << 30
# package: the extra that brings it, the oldest version that works, the first that does not
PACKAGES: dict[str, tuple[str | None, str, str | None]] = {
    "numpy": (None, "1.26", None),
    "cyclopts": ("cli", "4.0", "6"),
    "pyarrow": ("cli", "18", None),
    "pydantic": ("cli", "2.10", "3"),
    "rich": ("cli", "13.9", None),
    "ruamel.yaml": ("cli", "0.18.10", None),
    "pandas": ("spark", "2.2", "3"),
    "pyspark": ("spark", "3.5", "4.4"),
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at, and what to do about it: nothing if all is well."""

    name: str
    detail: str
    advice: str = ""

    @property
    def ok(self) -> bool:
        """Whether there is nothing to do."""
        return not self.advice


def check() -> list[Finding]:
    """All findings, in the order to put things right; ten seconds or so, most of it for Spark to start."""
    needed = [_python(), *_packages(), _java(), _worker_python()]
    wrong = [finding.name for finding in needed if not finding.ok]
    job = Finding("spark job", "not run", f"first put right: {', '.join(wrong)}") if wrong else _spark_job()
    return [*needed, _memory(), _disk(), job]


def _python() -> Finding:
    version = f"{'.'.join(map(str, sys.version_info[:3]))} at {sys.executable}"
    fits = (3, 11) <= sys.version_info[:2] < (3, 14)
    return Finding("python", version, "" if fits else "use Python 3.11, 3.12 or 3.13")


def _packages() -> Iterator[Finding]:
    for package, (extra, oldest, too_new) in PACKAGES.items():
        install = f"pip install 'evaljob[{extra}]'" if extra else "pip install evaljob"
        try:
            version = metadata.version(package)
        except metadata.PackageNotFoundError:
            yield Finding(package, "not installed", install)
            continue
        fits = _numbers(oldest) <= _numbers(version) and not (too_new and _numbers(version) >= _numbers(too_new))
        wanted = f"{package}>={oldest},<{too_new}" if too_new else f"{package}>={oldest}"
        yield Finding(package, version, "" if fits else f"{install} '{wanted}'")


def _numbers(version: str) -> tuple[int, ...]:
    """The numbers that versions are compared by: (4, 3, 0) of 4.3.0.dev2."""
    numbers = re.match(r"\d+(\.\d+)*", version)
    return tuple(int(number) for number in numbers[0].split(".")) if numbers else ()


def _java() -> Finding:
    try:
        java = ensure_java_home()
    except UsageError as error:
        detail, _, advice = str(error).partition(" Next: ")
        return Finding("java", detail, advice)
    passed_over = "".join(f"; not used: {reason}" for reason in java.passed_over)
    return Finding("java", f"{java.version} from {java.source} at {java.home}{passed_over}")


def _worker_python() -> Finding:
    """Whether PYSPARK_PYTHON, if set, is a Python of this version that can run the metrics."""
    chosen = os.environ.get("PYSPARK_PYTHON")
    if chosen is None:
        return Finding("PYSPARK_PYTHON", "not set: local mode uses this Python")
    advice = f"unset PYSPARK_PYTHON, or set it to {sys.executable}"
    here = "{}.{}".format(*sys.version_info[:2])
    probe = "import sys; print('{}.{}'.format(*sys.version_info[:2])); import numpy, pyarrow"
    try:
        done = subprocess.run([chosen, "-c", probe], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.SubprocessError) as error:
        return Finding("PYSPARK_PYTHON", f"{chosen} does not run: {error}", advice)
    complaint = done.stderr.strip().splitlines()[-1:] if done.returncode else []
    detail = ": ".join([f"{chosen} is Python {done.stdout.strip()}", *complaint])
    return Finding("PYSPARK_PYTHON", detail, advice if complaint or done.stdout.strip() != here else "")


def _memory() -> Finding:
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / GIB
    detail = f"{total:.1f} GiB, of which local mode gives {total / 2:.1f} to Spark"
    return Finding("memory", detail, "" if total >= 4 else "have 4 GiB or more, or run on a cluster")


def _disk() -> Finding:
    folder = os.environ.get("SPARK_LOCAL_DIRS", tempfile.gettempdir()).split(",")[0]
    advice = "set SPARK_LOCAL_DIRS to a folder with 5 GiB free, or twice the size of the runs if that is more"
    try:
        free = shutil.disk_usage(folder).free / GIB
    except OSError as error:
        return Finding("disk", f"{folder}: {error.strerror}", advice)
    return Finding("disk", f"{free:.1f} GiB free in {folder}, where Spark shuffles", "" if free >= 5 else advice)


def _spark_job() -> Finding:
    """Whether rows reach a Python worker and come back: the numbers 0 to 9, doubled."""
    from pyspark.sql import SparkSession

    from jobs.session import session

    def doubled(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa
        import pyarrow.compute as pc

        for batch in batches:
            yield pa.record_batch([pc.multiply(batch.column("id"), 2)], names=["id"])

    advice = (
        "if the host name does not resolve, set SPARK_LOCAL_IP=127.0.0.1; "
        "in a container, set spark.driver.memory below the container's limit"
    )
    was_running = SparkSession.getActiveSession() is not None
    try:
        spark = session(master=None, settings={}, app_name="evaljob doctor")
        total = sum(row.id for row in spark.range(10).mapInArrow(doubled, "id long").collect())
        detail = f"Spark {spark.version} sent 0 to 9 to Python and got doubles that sum to {total}"
        if not was_running:
            spark.stop()
    except Exception as error:  # whatever it is, it is the finding
        return Finding("spark job", (str(error).strip().splitlines() or [type(error).__name__])[0], advice)
    return Finding("spark job", detail, "" if total == 90 else advice)
