"""Figures of streams as they go, for programs: versions, pairs and the load of partitions.

The same as `nearcast spark run` prints. A listener of Spark hears of every batch of every query of
its session; this one hands on those of `stream_matches`, with what their batches wrote.
"""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

from nearcast.spark.folders import folder_at
from nearcast.spark.monitor import figures
from nearcast.spark.sessions import refuse_connect

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

    from nearcast.spark.folders import Address


def listen(
    spark: SparkSession, out: Address, hear: Callable[[dict[str, Any]], object]
) -> Callable[[], None]:
    """Let a function hear of every batch of a stream; return what ends that.

    Parameters
    ----------
    spark
        The session that the stream runs in.
    out
        Folder of the stream's output.
    hear
        Gets the figures of a batch: `batch`, `messages`, `messages_per_s`, `batch_ms`, `lag_s`,
        `version`, `partitions`, `pairs`, `refused`, `load`, `communication`, `balance`. It is
        called in a thread of its own; an error in it is logged by Spark.
    """
    refuse_connect(spark, "listen", "use --metrics, or read _metrics of the output")
    from pyspark.sql.streaming import StreamingQueryListener

    state = folder_at(out)

    class _Listener(StreamingQueryListener):  # type: ignore[misc]
        def onQueryStarted(self, event: object) -> None:
            pass

        def onQueryProgress(self, event: Any) -> None:  # noqa: ANN401
            if (event.progress.name or "").endswith(f" to {state}"):
                hear(figures(json.loads(event.progress.json), state, time.time()))

        def onQueryIdle(self, event: object) -> None:
            pass

        def onQueryTerminated(self, event: object) -> None:
            pass

    listener = _Listener()
    spark.streams.addListener(listener)
    return lambda: spark.streams.removeListener(listener)
