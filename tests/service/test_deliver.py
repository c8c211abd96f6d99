"""Changes from Kafka are delivered once, and deliveries go to Kafka; also with a real broker."""

from __future__ import annotations

import asyncio
import json
from types import SimpleNamespace

import pyarrow as pa
import pytest
from service.harness import running, wait_for
from spark.brokers import broker_jars, can_fetch, connector_jars, run_spark, running_broker
from spark.conftest import missing
from spark.tables import (
    build_here,
    expected,
    publish_lines,
    single,
    some_messages,
    some_subscriptions,
)

from nearcast import InvalidParameterError
from nearcast.service.delivering import Deliverer, Source


def records(first, *values):
    return [
        SimpleNamespace(offset=first + place, value=json.dumps(value).encode())
        for place, value in enumerate(values)
    ]


def pair(subscription, message, batch=0, **more):
    return {"batch": batch, "message": message, "subscription": subscription, **more}


def take(service, deliverer, some, partition=0) -> None:
    async def act():
        from nearcast.service.delivering import Partition

        deliverer._partitions.setdefault(partition, Partition())
        await deliverer._take(partition, some)

    service.run(act())


def test_a_source_names_a_topic_and_a_share() -> None:
    source = Source.read("kafka://one:9092/changes", "2/3")
    assert (source.servers, source.topic, source.part, source.parts) == (
        "one:9092",
        "changes",
        1,
        3,
    )
    names = [f"o{n}/s" for n in range(100)]
    parts = [Source.read("kafka://one:9092/changes", f"{n}/3") for n in (1, 2, 3)]
    assert all(sum(part.is_ours(name) for part in parts) == 1 for name in names)
    for wrong in ("0/3", "4/3", "x", "1/0"):
        with pytest.raises(InvalidParameterError):
            Source.read("kafka://one:9092/changes", wrong)
    with pytest.raises(InvalidParameterError):
        Source.read("http://one/changes", None)


def test_changes_of_a_pipeline_become_deliveries_once(database) -> None:
    source = Source.read("kafka://one:9092/changes", None)
    with running(database) as service:
        deliverer = Deliverer(service.service, source)
        first = [pair("anna/s1", "m1"), pair("anna/s1", "m2", score=0.5), pair(7, 8)]
        take(service, deliverer, records(0, *first))
        # The pipeline died and sends the batch again, whole; then the next one.
        take(
            service, deliverer, records(3, *first, pair("anna/s2", "m2"), pair("anna/s1", "m3", 1))
        )
        found = service.deliveries(owner="anna")
        assert [(one["number"], one["subscription"], one["message"]) for one in found] == [
            (1, "s1", "m1"),
            (2, "s1", "m2"),
            (3, "s2", "m2"),
            (4, "s1", "m3"),
        ]
        assert found[1]["score"] == 0.5
        assert [one["subscription"] for one in service.deliveries()] == ["7"]
    with running(database) as service:
        deliverer = Deliverer(service.service, source)
        asyncio.run(asyncio.to_thread(deliverer._load))
        assert deliverer._partitions[0].offset == 8
        take(service, deliverer, records(8, pair("anna/s1", "m3", 1), pair("anna/s1", "m1", 0)))
        assert len(service.deliveries(owner="anna")) == 4


def test_nonsense_in_the_topic_is_counted_and_skipped(sqlite) -> None:
    with running(sqlite) as service:
        deliverer = Deliverer(service.service, Source.read("kafka://one:9092/changes", None))
        some = records(0, 1, {"message": "m"}, pair("anna/s1", "m1"))
        some.append(SimpleNamespace(offset=3, value=b"\xff"))
        take(service, deliverer, some)
        assert len(service.deliveries(owner="anna")) == 1
        assert deliverer.refused == 3


@pytest.fixture(scope="module")
def broker(tmp_path_factory):
    reason = missing()
    if reason:
        pytest.skip(reason)
    if not can_fetch():
        pytest.skip("Kafka's jars are fetched by Maven, which is not installed")
    jars = broker_jars(tmp_path_factory.mktemp("jars") / "broker")
    if not jars:
        pytest.skip("Maven Central cannot be reached, or has not the jars of Kafka")
    with running_broker(jars, tmp_path_factory.mktemp("broker")) as running_one:
        yield running_one


@pytest.mark.slow
@pytest.mark.spark
def test_from_topic_to_topic_with_a_real_broker(broker, sqlite) -> None:
    lines = [json.dumps(pair("anna/s1", f"m{n}", batch=n // 10)) for n in range(30)]
    broker.send("changes", [*lines, "nonsense", *lines[20:]])
    source = Source.read(f"kafka://{broker.servers}/changes", None)
    sink = {"topic": f"kafka://{broker.servers}/deliveries"}
    with running(sqlite, kafka=sink) as service:
        deliverer = Deliverer(service.service, source)
        task = asyncio.run_coroutine_threadsafe(deliverer.run(), service._loop)
        wait_for(lambda: len(service.deliveries(owner="anna")) == 30, 120)
        wait_for(lambda: service.service.kafka.position == service.service.engine.last, 120)
        wait_for(lambda: not service.service.cursors, 60)
        task.cancel()
    received = [json.loads(line) for line in broker.received("deliveries")]
    assert [one["number"] for one in received] == list(range(1, 31))
    assert [one["message"] for one in received] == [f"m{n}" for n in range(30)]
    with running(sqlite, kafka=sink) as service:
        deliverer = Deliverer(service.service, source)
        task = asyncio.run_coroutine_threadsafe(deliverer.run(), service._loop)
        broker.send("changes", [json.dumps(pair("anna/s1", "last", batch=3))])
        wait_for(lambda: len(service.deliveries(owner="anna")) == 31, 120)
        task.cancel()


@pytest.mark.slow
@pytest.mark.spark
def test_messages_in_a_topic_are_matched_on_spark_and_delivered_by_two_processes(
    broker, tmp_path
) -> None:
    """The whole path of the guide: topic, Spark, topic, `nearcast deliver` with two shares."""
    connector = connector_jars(tmp_path / "connector")
    if not connector:
        pytest.skip("Maven Central has not the connector of Spark and Kafka")
    table, messages = some_subscriptions(300), some_messages(60)
    names = [f"o{number % 7}/s{number}" for number in range(300)]
    table = table.set_column(0, "id", pa.array(names))
    build_here(tmp_path / "index", table)
    wanted = expected(single(table), messages)
    assert wanted
    broker.send("messages", publish_lines(messages))
    changes = f"kafka://{broker.servers}/matched"
    run_spark(
        connector,
        *("run", "--messages", f"kafka://{broker.servers}/messages"),
        *("--subscriptions", str(tmp_path / "index"), "--out", changes),
        *("--checkpoint", str(tmp_path / "checkpoint"), "--until-empty"),
    )
    found = []
    for share in ("1/2", "2/2"):
        source = Source.read(changes, share)
        ours = [pair for pair in wanted if source.is_ours(pair[1])]
        with running(f"sqlite:///{tmp_path}/{share[0]}.db") as service:
            deliverer = Deliverer(service.service, source)
            task = asyncio.run_coroutine_threadsafe(deliverer.run(), service._loop)
            wait_for(lambda: len(delivered(service)) == len(ours), 120)  # noqa: B023
            task.cancel()
            found += delivered(service)
    assert sorted(found) == wanted


def delivered(service):
    """Return all deliveries of all owners, as pairs."""
    return [
        (one["message"], f"{owner}/{one['subscription']}")
        for owner in [f"o{number}" for number in range(7)]
        for one in service.deliveries(owner=owner)
    ]
