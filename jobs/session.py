"""The Spark session: what the jobs rely on, set in one place."""

from __future__ import annotations

import atexit
import os
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from jobs.errors import JobError, UsageError
from jobs.java import ensure_java_home
from jobs.spark_errors import reason

REQUIRED: dict[str, Any] = {
    # hash partitions by query_id alone serve joins and groups by (query_id, anything): one shuffle in all
    "spark.sql.requireAllClusterKeysForCoPartition": "false",
    # there are far more rankings than the 128 groups from which a hash of arrays falls back to sorting: sort at once
    "spark.sql.execution.useObjectHashAggregateExec": "false",
    "spark.sql.session.timeZone": "UTC",
    # ids in the names of folders (query_id=007) keep their zeros
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
    # a row of a CSV file that lacks cells is noticed whichever columns are read
    "spark.sql.csv.parser.columnPruning.enabled": "false",
    # a wrong type from Python is a clear error and not a crash in a column accessor
    "spark.sql.execution.arrow.pyspark.validateSchema.enabled": "true",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "10000",
}
LOCAL: dict[str, Any] = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",  # what goes wrong reaches the caller as an exception, and is told once
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    # an eighth less time than with the defaults, measured over both jobs on 4 million rows
    "spark.driver.extraJavaOptions": "-XX:+IgnoreUnrecognizedVMOptions -XX:+UseParallelGC -XX:+UseTransparentHugePages",
    "spark.sql.shuffle.partitions": "32",  # adaptive execution merges small ones
}
SAYS_NOTHING = re.compile(r"\s|.*WARN|Using |Error: |Error occurred during initialization")


def session(
    *, master: str | None = None, settings: Mapping[str, object] | None = None, app_name: str = "evaljob"
) -> SparkSession:
    """The running session, or a new one with what the jobs rely on.

    master     where Spark runs; None takes what spark-submit set, else all cores of this machine.
    settings   passed to Spark as they are; they win over the defaults here but not over `REQUIRED`.

    In local mode the session takes half of the machine's memory (one query may have millions of
    documents), Python workers run the interpreter that called, and what the JVM prints goes to a file.

    Raises UsageError if there is no Java that Spark accepts or a setting is wrong, JobError if Spark does not start.
    """
    given = {
        key: str(value).lower() if isinstance(value, bool) else str(value) for key, value in (settings or {}).items()
    }
    builder = SparkSession.builder.appName(app_name)
    if "SPARK_ENV_LOADED" in os.environ or SparkSession.getActiveSession() is not None:
        if master is not None:  # spark-submit has started the JVM; a master in the configuration still wins
            builder = builder.master(master)
        try:
            return builder.config(map=given | REQUIRED).getOrCreate()
        except PySparkException as error:
            raise UsageError(f"spark.settings: {reason(str(error))}") from error
    ensure_java_home()
    defaults: dict[str, Any] = {}
    if master is None or master.startswith("local"):
        os.environ["PYSPARK_PYTHON"] = sys.executable
        defaults = LOCAL | {"spark.driver.memory": f"{half_of_memory_mib()}m"}
    builder = builder.master(master or "local[*]").config(map=defaults | given | REQUIRED)
    with _output_of_the_jvm() as log:
        try:
            return builder.getOrCreate()
        except (PySparkException, Py4JError, RuntimeError, OSError) as error:
            jvm_ran = isinstance(error, Py4JError)
            why = (None if jvm_ran else _complaint(log.read_text(errors="replace"))) or reason(str(error))
            raise JobError(f"Spark does not start: {why}; `evaljob doctor` looks why") from error


def _complaint(log: str) -> str | None:
    """The first line of what a JVM printed before it gave up that says why, if any."""
    lines = [line for line in log.splitlines() if line.strip() and not SAYS_NOTHING.match(line)]
    return re.sub(r'^Exception in thread ".*?" [\w.$]+: ', "", lines[0]) if lines else None


@contextmanager
def _output_of_the_jvm() -> Iterator[Path]:
    """Standard output and error of processes started in the block go to a file, which lives as long as this one."""
    handle, name = tempfile.mkstemp(prefix="evaljob-jvm-", suffix=".log")
    atexit.register(Path(name).unlink, missing_ok=True)
    sys.stdout.flush()
    sys.stderr.flush()
    saved = os.dup(1), os.dup(2)
    try:
        os.dup2(handle, 1)
        os.dup2(handle, 2)
        yield Path(name)
    finally:
        os.dup2(saved[0], 1)
        os.dup2(saved[1], 2)
        for descriptor in (*saved, handle):
            os.close(descriptor)


def half_of_memory_mib() -> int:
    """Half of the memory of this machine, at least 1 GiB."""
    pages, page_size = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
    return max(1024, pages * page_size // 2**21)
