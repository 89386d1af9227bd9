"""What every test shares: one Spark session, and the marker for tests that need one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A test that takes the session is a Spark test without saying so."""
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.spark)


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """One session for all tests: two threads, three shuffle partitions (with one, partition bugs cannot show)."""
    from jobs.session import session

    settings = {
        "spark.driver.memory": "2g",
        "spark.sql.shuffle.partitions": 3,
        # hundreds of small jobs: time goes into compiling them, and the quick compiler halves it
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    }
    running = session(master="local[2]", settings=settings, app_name="evaljob tests")
    yield running
    running.stop()
