"""What kind of session is this? Spark Connect has no Java and no context on the user's side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nearcast.errors import UnsupportedError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_MANY = 200
"""Tasks at once where it cannot be known how many cores there are: Spark's own default."""


def is_connect(spark: SparkSession) -> bool:
    """Whether a session only sends plans to a server."""
    return type(spark).__module__.startswith("pyspark.sql.connect")


def cores_of(spark: SparkSession) -> int:
    """Return how many tasks run at once, or a guess."""
    return _MANY if is_connect(spark) else int(spark.sparkContext.defaultParallelism)


def refuse_connect(spark: SparkSession, what: str, hint: str) -> None:
    """Refuse what needs Java or a context on the user's side."""
    if is_connect(spark):
        message = f"{what} does not work with Spark Connect"
        raise UnsupportedError(message, wanted="a session of spark-submit or pyspark", hint=hint)
