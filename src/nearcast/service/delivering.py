"""`nearcast deliver`: changes that a pipeline writes to Kafka, delivered as the service's own are.

A record is JSON with `subscription`, `message` and maybe `change`, `reason`, `score` and `batch`:
what `nearcast spark` writes. It becomes changes of a commit; the offset up to which a partition was
read is written in the same transaction, so every record is taken once. A pipeline that dies may
send a batch again: records of the newest batch that were seen are left out.

Several processes share the subscribers by `--share I/N`: each reads everything and keeps its part,
in a database of its own, so that the order of one subscriber's changes is the order of the topic.
"""

from __future__ import annotations

import asyncio
import logging
import re
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any
from zlib import crc32

import msgspec
import pyarrow as pa
from sqlalchemy import select

from nearcast.changes import CHANGES
from nearcast.errors import InvalidParameterError
from nearcast.service.batches import SEPARATOR, hub_id, split_id, unpack
from nearcast.service.delivery.kafka import topic_of
from nearcast.service.jobs import Job, Outcome, Reply
from nearcast.service.keys import DEFAULT_OWNER
from nearcast.service.schema import CURSORS

if TYPE_CHECKING:
    from nearcast.service.running import Service
    from nearcast.service.store import Records

log = logging.getLogger("nearcast.deliver")

MOST_RECORDS = 2_000
RETRY_S = 1.0


class Record(msgspec.Struct):
    """One change, as a pipeline writes it."""

    subscription: str | int
    message: str | int
    change: str = "added"
    reason: str = "published"
    score: float | None = None
    batch: int | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """Where changes come from, and which part of the subscribers is ours."""

    servers: str
    topic: str
    part: int = 0
    parts: int = 1

    @classmethod
    def read(cls, address: str, share: str | None) -> Source:
        """Read `kafka://host:port/topic` and `I/N`.

        Examples
        --------
        >>> Source.read("kafka://one:9092/changes", "2/3").part
        1
        """
        servers, topic = topic_of(address)
        found = re.fullmatch(r"([1-9]\d{0,3})/([1-9]\d{0,3})", share or "1/1")
        if found is None or int(found[1]) > int(found[2]):
            what = "share is wrong"
            raise InvalidParameterError(what, got=share, wanted="I/N, such as 1/4")
        return cls(servers, topic, int(found[1]) - 1, int(found[2]))

    def is_ours(self, name: str) -> bool:
        """Whether a subscription's owner belongs to our part."""
        return crc32(split_id(name)[0].encode()) % self.parts == self.part


class Partition:
    """How far a partition was read, and what of its newest batch was seen."""

    def __init__(self, offset: int = 0) -> None:
        self.offset = offset
        self.batch: int | None = None
        self.seen: set[tuple[str, str, str]] = set()

    def is_new(self, record: Record, name: str) -> bool:
        """Note a record; False: it was seen, or is of a batch that is over."""
        if record.batch is None:
            return True
        if self.batch is not None and record.batch < self.batch:
            return False
        if record.batch != self.batch:
            self.batch, self.seen = record.batch, set()
        key = (name, str(record.message), record.change)
        if key in self.seen:
            return False
        self.seen.add(key)
        return True


class Deliverer:
    """The task that reads the topic and hands changes to the writer."""

    def __init__(self, service: Service, source: Source) -> None:
        self._service = service
        self._source = source
        self._partitions: dict[int, Partition] = {}
        self.refused = 0

    async def run(self) -> None:
        """Read until it is cancelled; a broker that is away is waited for."""
        await asyncio.to_thread(self._load)
        while True:
            try:
                await self._read()
            except asyncio.CancelledError:
                raise
            except Exception as error:
                log.warning("broker failed: %s", error)
                await asyncio.to_thread(self._load)  # what was read and not written comes again
                await asyncio.sleep(RETRY_S)

    def _cursor(self, partition: int) -> str:
        return f"from/{self._source.topic}/{partition}"

    def _load(self) -> None:
        """Find out how far we were, and what of each newest batch is in our log."""
        prefix = self._cursor(0)[:-1]
        self._partitions = {}
        for name, number in self._service.store.rows(select(CURSORS)):
            if name.startswith(prefix):
                self._partitions[int(name[len(prefix) :])] = Partition(number)
        last = 0
        while rows := self._service.store.log_after(last):
            for row in rows:
                self._note_again(row.events, row.changes)
            last = rows[-1].last

    def _note_again(self, events: bytes, changes: bytes | None) -> None:
        """Note what a commit of ours took from which batch of which partition."""
        table = None
        for line in events.split(b"\n"):
            if not line.startswith(b'{"op":"deliver"'):
                continue
            said = msgspec.json.decode(line)
            if said["batch"] is None:
                continue
            table = unpack(changes).to_pylist() if table is None else table
            partition = self._partitions.setdefault(said["partition"], Partition())
            for row in table[said["start"] : said["end"]]:
                record = Record(row["subscription"], row["message"], row["change"])
                record.batch = said["batch"]
                partition.is_new(record, row["subscription"])

    async def _read(self) -> None:
        from aiokafka import AIOKafkaConsumer, TopicPartition

        consumer = AIOKafkaConsumer(
            bootstrap_servers=self._source.servers,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
        )
        await consumer.start()
        try:
            topic = self._source.topic
            while not (found := consumer.partitions_for_topic(topic)):
                await asyncio.sleep(RETRY_S)
                await consumer._client.force_metadata_update()
            places = [TopicPartition(topic, number) for number in sorted(found)]
            consumer.assign(places)
            for place in places:
                known = self._partitions.setdefault(place.partition, Partition())
                if known.offset:
                    consumer.seek(place, known.offset)
                else:
                    await consumer.seek_to_beginning(place)
            while True:
                got = await consumer.getmany(timeout_ms=500, max_records=MOST_RECORDS)
                for place, records in got.items():
                    await self._take(place.partition, records)
        finally:
            await consumer.stop()

    async def _take(self, number: int, records: list[Any]) -> None:
        """Commit what a partition has brought, with the offset after it."""
        partition = self._partitions[number]
        rows: list[dict[str, Any]] = []
        for record in records:
            read = self._record(record.value)
            if read is None:
                continue
            name = str(read.subscription)
            if SEPARATOR not in name:
                name = hub_id(DEFAULT_OWNER, name)
            if self._source.is_ours(name) and partition.is_new(read, name):
                rows.append({**msgspec.to_builtins(read), "subscription": name})
        partition.offset = records[-1].offset + 1
        parts = [list(part) for _, part in groupby(rows, key=itemgetter("batch"))]
        for part in parts[:-1]:
            self._service.writer.submit(self._job(number, part, None))
        last = parts[-1] if parts else []
        await self._service.writer.submit(self._job(number, last, partition.offset))

    def _record(self, value: bytes) -> Record | None:
        try:
            return msgspec.json.decode(value, type=Record)
        except (msgspec.DecodeError, TypeError):
            self.refused += 1
            log.warning("record is not a change", extra={"fields": {"refused": self.refused}})
            return None

    def _job(self, number: int, rows: list[dict[str, Any]], offset: int | None) -> Job:
        """Return the job for rows of one batch; the last one of a fetch brings the offset."""

        def note(_: Outcome, records: Records) -> None:
            if offset is not None:
                records.put(CURSORS, {"name": self._cursor(number), "number": offset})

        job = Job([], lambda _: Reply(200, b""), note)
        if rows:
            job.found = table_of(rows)
            job.origin = {"partition": number, "batch": rows[0]["batch"]}
        return job


def table_of(rows: list[dict[str, Any]]) -> pa.Table:
    """Return changes of a pipeline as those of a hub; the numbers of events come later."""
    columns: dict[str, list[Any]] = {
        "event": [0] * len(rows),
        "subscription": [row["subscription"] for row in rows],
        "message": [str(row["message"]) for row in rows],
        "change": [row["change"] for row in rows],
        "reason": [row["reason"] for row in rows],
        "score": [row["score"] for row in rows],
    }
    return pa.table([pa.array(v, CHANGES.field(k).type) for k, v in columns.items()], CHANGES)
