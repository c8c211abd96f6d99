"""One Spark session for all tests of this folder, small and local; none if Java is missing."""

from __future__ import annotations

import os
import shutil
import sys

import pytest

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.driver.memory": "1g",
    "spark.sql.shuffle.partitions": "2",
    "spark.default.parallelism": "2",
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing."
        "FileSystemBasedCheckpointFileManager"
    ),
    "spark.sql.execution.pyspark.udf.faulthandler.enabled": "true",
}


def missing() -> str | None:
    """Say what is missing to run Spark here."""
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        return "Spark needs Java 17: neither java nor JAVA_HOME is there"
    try:
        import pyspark  # noqa: F401
    except ImportError:
        return "pyspark is not installed: pip install nearcast[spark]"
    return None


def pytest_collection_modifyitems(items) -> None:
    """Run all that starts Spark in one process: a session costs more than the tests."""
    for item in items:
        if item.get_closest_marker("spark"):
            item.add_marker(pytest.mark.xdist_group("spark"))


@pytest.fixture(scope="session")
def session():
    """A session with two cores; a task may fail three times."""
    reason = missing()
    if reason:
        pytest.skip(reason)
    from pyspark.sql import SparkSession
    from spark.stores import KEYS

    # Workers have the environment of the moment in which Java starts.
    os.environ.update(KEYS, PYSPARK_PYTHON=sys.executable)
    builder = SparkSession.builder.master("local[2,4]").appName("nearcast-tests")
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    yield spark
    spark.stop()


@pytest.fixture
def spark(session):
    return session.newSession()


@pytest.fixture(scope="session")
def store_options():
    """An S3-compatible server for all tests; yields the options of addresses there."""
    from spark import stores

    reason = stores.missing()
    if reason:
        pytest.skip(reason)
    with stores.running_store() as options:
        yield options


@pytest.fixture
def store(store_options, monkeypatch):
    """A folder of that server, and in the environment what it takes to use it."""
    from spark import stores

    from nearcast.spark.folders import folder_at

    for name, value in stores.KEYS.items():
        monkeypatch.setenv(name, value)
    return folder_at(f"s3://{stores.BUCKET}?{store_options}")
