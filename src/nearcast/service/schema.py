"""Which tables are there, and what bounds each? Names and types only; `store` reads and writes.

===============  ==============================================================================
`meta`           a few facts: format, hub settings, positions of snapshot and flush
`log`            a row per commit: its events as NDJSON, its changes as Arrow, what else it
                 delivered. Bounded by `retention.events` and `retention.seconds`
`snapshot_parts` the newest snapshot of the hub, in pieces, and one that is being written
`segments`       changes that left memory, by bucket of subscribers; goes with the log
`subscriptions`  definitions as they were said, with owner and metadata: as many as there are
`messages`       bodies of messages that are kept: as many as are live
`streams`        the last number of each subscriber: as many as there were subscribers
`cursors`        how far named consumers are: as many as there are
`answers`        answers by idempotency key. Bounded by `retention.answers`, `.answer_seconds`
`api_keys`       keys, hashed
`endpoints`      webhooks: `limits.endpoints_per_owner`
`dead_letters`   what no attempt could deliver: `retention.dead_letters` of each endpoint
`noise`, `held`  where a subscription is in its interval, and what waits for a digest
===============  ==============================================================================
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
)

FORMAT = 1
"""Of these tables. A database of another format is refused."""

METADATA = MetaData()


def _table(name: str, *columns: Column[object] | Index) -> Table:
    return Table(name, METADATA, *columns)


def _key(name: str, kind: Any = Text) -> Column[object]:  # noqa: ANN401
    return Column(name, kind, primary_key=True, autoincrement=False)


def _must(name: str, kind: Any = Text) -> Column[object]:  # noqa: ANN401
    return Column(name, kind, nullable=False)


def _may(name: str, kind: Any = Text) -> Column[object]:  # noqa: ANN401
    return Column(name, kind, nullable=True)


META = _table("meta", _key("name"), _must("value"))

LOG = _table(
    "log",
    _key("last", BigInteger),
    _must("first", BigInteger),
    _must("at", Double),
    _must("events", LargeBinary),
    _may("changes", LargeBinary),
    _may("extra", LargeBinary),
)

SNAPSHOT_PARTS = _table(
    "snapshot_parts",
    _key("snapshot", BigInteger),
    _key("part", Integer),
    _must("content", LargeBinary),
)

SEGMENTS = _table(
    "segments",
    _key("bucket", Integer),
    _key("last", BigInteger),
    _must("at", Double),
    _must("owners", LargeBinary),
    _must("content", LargeBinary),
    Index("segments_by_last", "last"),
)

SUBSCRIPTIONS = _table(
    "subscriptions",
    _key("owner"),
    _key("id"),
    _must("definition", LargeBinary),
    _may("moved", LargeBinary),
    _may("metadata", LargeBinary),
    _may("noise", LargeBinary),
    _must("mode"),
    _must("is_live", Boolean),
    _may("expires", Double),
    _must("cell"),
    _may("west", Double),
    _may("south", Double),
    _may("east", Double),
    _may("north", Double),
    _must("created", Double),
    _must("changed", Double),
    _must("event", BigInteger),
    Index("subscriptions_by_cell", "cell"),
    Index("subscriptions_by_expiry", "expires"),
)
SUBSCRIPTIONS.info["keeps"] = ("created",)  # by one that replaces another

MESSAGES = _table(
    "messages",
    _key("id"),
    _must("event", BigInteger),
    _must("body", LargeBinary),
    _may("expires", Double),
    Index("messages_by_event", "event"),
    Index("messages_by_expiry", "expires"),
)

STREAMS = _table("streams", _key("owner"), _must("number", BigInteger))
CURSORS = _table("cursors", _key("name"), _must("number", BigInteger))

ANSWERS = _table(
    "answers",
    _key("scope"),
    _key("key"),
    _key("step", Integer),
    _must("fingerprint"),
    _must("status", Integer),
    _must("body", LargeBinary),
    _must("at", Double),
    Index("answers_by_time", "at"),
)

API_KEYS = _table(
    "api_keys",
    _key("id"),
    _must("name"),
    _must("digest"),
    _must("roles"),
    _may("owner"),
    _must("created", Double),
    _may("expires", Double),
)

ENDPOINTS = _table(
    "endpoints",
    _key("owner"),
    _key("id"),
    _must("url"),
    _must("secrets"),
    _must("is_paused", Boolean),
    _must("number", BigInteger),
    _must("created", Double),
)

DEAD_LETTERS = _table(
    "dead_letters",
    _key("owner"),
    _key("endpoint"),
    _key("number", BigInteger),
    _must("body", LargeBinary),
    _must("attempts", Integer),
    _must("error"),
    _must("at", Double),
)

NOISE = _table("noise", _key("owner"), _key("id"), _must("state", LargeBinary))
HELD = _table(
    "held",
    _key("owner"),
    _key("id"),
    _key("place", Integer),
    _must("body", LargeBinary),
)
