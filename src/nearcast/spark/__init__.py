"""The pipeline on Spark: preparation, an index in versions, matching in batches and streams.

The only room that knows Spark, and most of it does not: `store`, `deltas`, `shard` and most of
`stateful` are ordinary functions and classes over files and Arrow, tested without Spark. `build`,
`matching`, `streaming` and `prepare` call DataFrame methods and take the session from their caller.
"""

from nearcast.spark.build import build_index, compact_index, rebalance_index
from nearcast.spark.listening import listen
from nearcast.spark.load import counter_on
from nearcast.spark.matching import match, rank
from nearcast.spark.prepare import prepare_messages, prepare_subscriptions
from nearcast.spark.store import Index
from nearcast.spark.streaming import stream_matches
from nearcast.spark.temporary import remove_temporary

__all__ = [
    "Index",
    "build_index",
    "compact_index",
    "counter_on",
    "listen",
    "match",
    "prepare_messages",
    "prepare_subscriptions",
    "rank",
    "rebalance_index",
    "remove_temporary",
    "stream_matches",
]
