"""`nearcast serve --demo`: a service that is busy by itself, and leaves nothing behind."""

from __future__ import annotations

import random
import re
import signal
import socket
import subprocess
import sys

import httpx
from service.harness import wait_for

from nearcast.cli.demo_content import message, saved_search
from nearcast.cli.demo_service import SEARCHES
from nearcast.events import event_from


def test_what_it_subscribes_and_publishes_are_events_of_every_kind():
    dice = random.Random(7)
    own = ("owner", "metadata")
    kinds = set()
    for number in range(500):
        search = saved_search(number, dice)
        event_from({"op": "subscribe", **{k: v for k, v in search.items() if k not in own}})
        sent = message(number, 1_000.0, dice)
        event_from({"op": "publish", **sent})
        kinds |= {search["metadata"]["kind"], sent["attributes"]["kind"]}
    assert kinds == {"flat", "job", "traffic", "weather", "event"}


def test_the_same_seed_says_the_same():
    first, second = random.Random(3), random.Random(3)
    assert saved_search(1, first) == saved_search(1, second)
    assert message(1, 0.0, first) == message(1, 0.0, second)


def free_port():
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return listening.getsockname()[1]


def test_it_fills_the_service_delivers_says_where_it_is_and_ends(tmp_path):
    address = f"127.0.0.1:{free_port()}"
    serve = ("serve", "--demo", "--listen", address)
    command = [sys.executable, "-m", "nearcast.cli.__main__", *serve]
    process = subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, cwd=tmp_path, env={"TMPDIR": str(tmp_path)}
    )
    try:
        with httpx.Client(base_url=f"http://{address}") as client:

            def is_busy():
                try:
                    text = client.get("/metrics").text
                except httpx.TransportError:
                    return False
                values = dict(re.findall(r"^nearcast_(\w+) (\S+)$", text, re.M))
                has_all = float(values.get("subscriptions", 0)) == SEARCHES
                return has_all and float(values["events_total"]) > SEARCHES + 50

            wait_for(is_busy)
            assert client.get("/").status_code == 200
            wait_for(lambda: "nearcast_changes_total 0.0" not in client.get("/metrics").text)
    finally:
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 0
    assert errors == f"nearcast is at http://{address}/ (Ctrl-C ends it)\n"
    assert list(tmp_path.iterdir()) == []
