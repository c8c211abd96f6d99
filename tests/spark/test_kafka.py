"""Kafka as source and sink: addresses without a broker, everything else with a real one."""

from __future__ import annotations

import json

import pyarrow.dataset as ds
import pytest
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

import nearcast as nc
from nearcast.cli.__main__ import main
from nearcast.spark.kafka import Topic, is_topic, topic_of


def test_an_address_names_servers_and_a_topic() -> None:
    topic = topic_of("kafka://one:9092,two:9092/a.b-c_d")
    assert topic == Topic("one:9092,two:9092", "a.b-c_d")
    assert topic_of(str(topic)) == topic_of(topic) == topic
    assert is_topic(topic)
    assert is_topic("kafka://nonsense")
    assert not is_topic("folder/kafka")
    for wrong in ("kafka://host/topic", "kafka://host:1/", "kafka:/host:1/t", "kafka://h:1/a b"):
        with pytest.raises(nc.InvalidParameterError, match="kafka://host:port/topic"):
            topic_of(wrong)


def test_a_topic_as_output_needs_a_checkpoint(tmp_path, capsys) -> None:
    command = ["spark", "run", "--messages", str(tmp_path), "--subscriptions", str(tmp_path)]
    assert main([*command, "--out", "kafka://localhost:1/pairs"]) == 2
    assert "--checkpoint" in capsys.readouterr().err


@pytest.fixture(scope="module")
def jars(tmp_path_factory):
    reason = missing()
    if reason:
        pytest.skip(reason)
    if not can_fetch():
        pytest.skip("Kafka's jars are fetched by Maven, which is not installed")
    folder = tmp_path_factory.mktemp("jars")
    found = broker_jars(folder / "broker"), connector_jars(folder / "connector")
    if not all(found):
        pytest.skip("Maven Central cannot be reached, or has not the jars of Kafka")
    return found


@pytest.mark.slow
@pytest.mark.spark
def test_pairs_go_from_topic_to_topic(jars, tmp_path) -> None:
    broker_has, connector = jars
    table, messages = some_subscriptions(300), some_messages(60)
    build_here(tmp_path / "index", table)
    wanted = expected(single(table), messages)
    assert wanted
    with running_broker(broker_has, tmp_path) as broker:
        lines = publish_lines(messages)
        broker.send("messages", [*lines[:40], "nonsense"])
        source, sink = f"kafka://{broker.servers}/messages", f"kafka://{broker.servers}/pairs"
        places = ["--messages", source, "--subscriptions", str(tmp_path / "index")]
        to_topic = ["run", *places, "--out", sink, "--checkpoint", str(tmp_path / "there")]
        run_spark(connector, *to_topic, "--until-empty")
        broker.send("messages", lines[40:])
        run_spark(connector, *to_topic, "--until-empty")  # goes on where the first ended
        pairs = [json.loads(line) for line in broker.received("pairs")]
        run_spark(connector, "run", *places, "--out", str(tmp_path / "out"), "--until-empty")
    assert sorted((row["message"], row["subscription"]) for row in pairs) == wanted
    assert {row["batch"] for row in pairs} == {0, 1}
    rows = ds.dataset(tmp_path / "out", format="parquet").to_table().to_pylist()
    assert sorted((row["message"], row["subscription"]) for row in rows) == wanted
    for state in (tmp_path / "out", tmp_path / "there" / "nearcast"):
        refused = ds.dataset(state / "_refused" / "batch=0", format="parquet").to_table()
        assert refused.column("value").to_pylist() == ["nonsense"]
