"""A service in a thread of its own, on a port that is free, for tests to talk to."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from contextlib import contextmanager
from typing import Any

import httpx

from nearcast.service.process import Server, configuration
from nearcast.service.running import Service
from nearcast.service.settings import read_settings

GUARD_S = 60.0


def wait_for(condition, guard_s=GUARD_S):
    """Return what a condition says as soon as it says something; fail if it never does."""
    end = time.monotonic() + guard_s
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > end:
            msg = f"it never happened: {condition}"
            raise AssertionError(msg)
        time.sleep(0.01)


class Running:
    """A service that runs, and a client that talks to it."""

    def __init__(self, settings, port=0) -> None:
        self.settings = settings
        self._port = port
        self.service: Service
        self._started = threading.Event()
        self._failure: BaseException | None = None
        self._loop: asyncio.AbstractEventLoop
        self._server: Server
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        assert self._started.wait(GUARD_S)
        if self._failure:
            raise self._failure
        self.client = httpx.Client(base_url=self.url, timeout=GUARD_S)

    def _run(self) -> None:
        try:
            asyncio.run(self._main())
        except BaseException as error:
            self._failure = error
        finally:
            self._started.set()

    async def _main(self) -> None:
        self._loop = asyncio.get_running_loop()
        self.service = Service(self.settings)
        await self.service.start()
        listening = socket.socket()
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(("127.0.0.1", self._port))
        self.url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        self._server = Server(configuration(self.settings, self.service), self.service)
        self._server.handles_signals = False
        serving = asyncio.create_task(self._server.serve([listening]))
        while not self._server.started:
            await asyncio.sleep(0.005)
        self._started.set()
        await serving
        await self.service.stop()

    def stop(self) -> None:
        self.client.close()
        self._server.should_exit = True
        self._thread.join(GUARD_S)
        assert not self._thread.is_alive()
        if self._failure:
            raise self._failure

    def run(self, coroutine):
        """Run something in the service's own loop."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(GUARD_S)

    # ---- what tests say again and again -------------------------------------------------------

    def subscribe(self, id, status=201, **fields):
        return self.post("/v1/subscriptions", {"id": id, **fields}, status)

    def publish(self, id, text="coffee", at=(0.5, 0.5), status=201, **fields):
        body = {"id": id, "text": text, "at": list(at), **fields}
        return self.post("/v1/messages", body, status)

    def post(self, path, body, status=200, **options):
        answer = self.client.post(path, json=body, **options)
        assert answer.status_code == status, answer.text
        return answer.json()

    def get(self, path, status=200, **options):
        answer = self.client.get(path, **options)
        assert answer.status_code == status, answer.text
        return answer.json()

    def lines(self, path, objects):
        content = "\n".join(json.dumps(one) for one in objects)
        headers = {"content-type": "application/x-ndjson"}
        answer = self.client.post(path, content=content, headers=headers)
        assert answer.status_code == 200, answer.text
        return [json.loads(line) for line in answer.text.splitlines()]

    def deliveries(self, after=0, **options):
        """Pull page by page until there is nothing more."""
        found: list[dict[str, Any]] = []
        while True:
            query = {"after": after, "limit": 1000, **options}
            page = self.get("/v1/deliveries", params=query)
            if not page["deliveries"]:
                return found
            found += page["deliveries"]
            after = page["next"]


@contextmanager
def running(database, **options):
    """Run a service on a database; stop it in the end, in good order."""
    settings = read_settings(None, {}, database=database, **options)
    service = Running(settings)
    try:
        yield service
    finally:
        service.stop()


def sse_events(client, path, **options):
    """Yield the events of a stream: (event, id, data)."""
    with client.stream("GET", path, **options) as answer:
        assert answer.status_code == 200, answer.read()
        yield from parse_events(answer.iter_lines())


def parse_events(lines):
    kind, id, data = "message", None, None
    for line in lines:
        if line.startswith("event: "):
            kind = line[7:]
        elif line.startswith("id: "):
            id = line[4:]
        elif line.startswith("data: "):
            data = json.loads(line[6:])
        elif not line and data is not None:
            yield kind, id, data
            kind, id, data = "message", None, None
