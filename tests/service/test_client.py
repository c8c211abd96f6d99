"""The clients: writes that happen once, deliveries that resume."""

from __future__ import annotations

import asyncio
import threading
from itertools import islice

import pytest
from service.harness import Running, running

from nearcast.client import AsyncClient, Client, ClientError
from nearcast.service.settings import read_settings


def test_the_sync_client_does_what_the_service_does(sqlite) -> None:
    with running(sqlite, hub={"window_count": 100}) as service, Client(service.url) as client:
        client.subscribe("s1", keywords="coffee", area=[0, 0, 1, 1], live=True)
        client.replace("s1", keywords="tea", area=[0, 0, 1, 1], live=True)
        client.move("s1", area=[0, 0, 2, 2])
        assert client.subscription("s1")["area"] == [0, 0, 2, 2]
        assert client.publish("m1", "tea", at=[1, 1])["changes"] == 1
        assert [one["message"] for one in client.results("s1")] == ["m1"]
        assert client.match([{"text": "tea", "at": [1, 1]}])[0]["subscriptions"][0]["id"] == "s1"
        assert client.draft(keywords="tea")["matched"] == 1
        lines = [{"id": f"b{n}", "text": "tea", "at": [1, 1]} for n in range(1500)]
        answers = list(client.publish_many(lines))
        assert [one["line"] for one in answers] == list(range(1, 1501))
        assert client.retract("m1")["id"] == "m1"
        more = [{"id": f"x{n}", "keywords": "milk"} for n in range(3)]
        assert [one["status"] for one in client.subscribe_many(more)] == [201] * 3
        assert [one["id"] for one in client.subscriptions()] == ["s1", "x0", "x1", "x2"]
        assert next(client.subscriptions(bbox=[1, 1, 2, 2]))["id"] == "s1"
        client.unsubscribe("s1")
        assert client.stats()["subscriptions"] == 3


def test_a_refusal_is_an_error_with_its_parts(sqlite) -> None:
    with running(sqlite) as service, Client(service.url) as client:
        with pytest.raises(ClientError) as caught:
            client.publish("m1", "x", at=[0, 95])
        assert (caught.value.status, caught.value.field) == (422, "at")
        assert "wanted" in str(caught.value)


def test_a_service_that_is_not_there_is_said() -> None:
    with Client("http://127.0.0.1:9", attempts=2) as client, pytest.raises(ClientError) as caught:
        client.stats()
    assert caught.value.status == 0


def test_following_resumes_after_a_restart(sqlite) -> None:
    settings = read_settings(None, {}, database=sqlite)
    service = Running(settings)
    port = service.url.rpartition(":")[2]
    with Client(service.url) as client:
        client.subscribe("s1", keywords="coffee")
        found = client.deliveries()
        assert next(found)["type"] == "ready"
        client.publish("m1", "coffee", at=[0, 0])
        assert next(found)["message"] == "m1"
        service.stop()
        again: list[Running] = []

        def start() -> None:
            again.append(Running(settings, port=int(port)))
            again[0].publish("m2")

        thread = threading.Thread(target=start)
        thread.start()
        delivery = next(found)
        thread.join()
        assert (delivery["message"], delivery["number"]) == ("m2", 2)
        found.close()
    again[0].stop()


def test_the_async_client_follows_too(sqlite) -> None:
    async def follow(url):
        async with AsyncClient(url) as client:
            await client.subscribe("s1", keywords="coffee")
            found = client.deliveries(after=0)
            answers = [
                one
                async for one in client.publish_many(
                    {"id": f"m{n}", "text": "coffee", "at": [0, 0]} for n in range(5)
                )
            ]
            assert len(answers) == 5
            some = [(await anext(found))["message"] for _ in range(5)]
            await found.aclose()
            assert [one["id"] async for one in client.subscriptions()] == ["s1"]
            return some

    with running(sqlite) as service:
        assert asyncio.run(follow(service.url)) == [f"m{n}" for n in range(5)]


def test_deliveries_come_with_a_cursor(sqlite) -> None:
    with running(sqlite) as service, Client(service.url, owner="anna") as client:
        client.subscribe("s1", keywords="coffee")
        for number in range(4):
            client.publish(f"m{number}", "coffee", at=[0, 0])
        found = client.deliveries(after=2)
        assert [one["number"] for one in islice(found, 2)] == [3, 4]
        found.close()
