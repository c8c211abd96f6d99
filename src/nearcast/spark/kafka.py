"""Topics of Kafka as a source of lines and as a sink of pairs, by Spark's own connector.

The connector is a package of its own, in the version of Spark: `with_connector` asks for it when a
session is made. A session that exists already must have it.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nearcast.errors import InvalidParameterError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

CONNECTOR = "org.apache.spark:spark-sql-kafka-0-10_2.13"
_ADDRESS = re.compile(r"kafka://([^/\s]+:\d+)/([A-Za-z0-9._-]{1,249})")


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic and the servers that know it, `host:port` with commas between them."""

    servers: str
    name: str

    def __str__(self) -> str:
        """Return its address."""
        return f"kafka://{self.servers}/{self.name}"


def is_topic(address: object) -> bool:
    """Whether an address names a topic, well or badly, and not a folder."""
    return isinstance(address, Topic) or str(address).startswith("kafka:")


def topic_of(address: str | Topic) -> Topic:
    """Read `kafka://host:port,host:port/topic`.

    Examples
    --------
    >>> topic_of("kafka://one:9092,two:9092/alerts").name
    'alerts'
    """
    if isinstance(address, Topic):
        return address
    found = _ADDRESS.fullmatch(address)
    if found is None:
        what = "address is not that of a topic"
        raise InvalidParameterError(what, got=address, wanted="kafka://host:port/topic")
    return Topic(found[1], found[2])


def with_connector(builder: Any) -> Any:  # noqa: ANN401 — pyspark's builder
    """Ask for the connector in the version of the installed Spark, unless jars are named already.

    `PYSPARK_SUBMIT_ARGS` with `--jars` or `--packages` names others: those of a mirror, say.
    """
    import pyspark

    named = os.environ.get("PYSPARK_SUBMIT_ARGS", "")
    if "--jars" in named or "--packages" in named:
        return builder
    return builder.config("spark.jars.packages", f"{CONNECTOR}:{pyspark.__version__}")


def read_topic(
    spark: SparkSession, topic: Topic, *, per_batch: int | None = None, starts: str = "earliest"
) -> DataFrame:
    """Return a stream of the lines of a topic: `value`, and `partition`, `offset`.

    Parameters
    ----------
    spark
        With the connector.
    topic
        Where lines of the event format arrive.
    per_batch
        How many lines a batch has at most.
    starts
        "earliest" or "latest": where a query begins that has no checkpoint yet.
    """
    reader = spark.readStream.format("kafka").option("kafka.bootstrap.servers", topic.servers)
    reader = reader.option("subscribe", topic.name).option("startingOffsets", starts)
    if per_batch:
        reader = reader.option("maxOffsetsPerTrigger", per_batch)
    return reader.load().selectExpr("cast(value as string) as value", "partition", "offset")


def write_topic(pairs: DataFrame, topic: Topic, number: int) -> None:
    """Append pairs to a topic as JSON; the key is the message, and `batch` is among the values."""
    from pyspark.sql import functions as f

    fields = f.struct(f.lit(number).alias("batch"), *(f.col(name) for name in pairs.columns))
    lines = pairs.select(
        f.col("message").cast("string").alias("key"), f.to_json(fields).alias("value")
    )
    writer = lines.write.format("kafka").option("kafka.bootstrap.servers", topic.servers)
    writer.option("topic", topic.name).save()
