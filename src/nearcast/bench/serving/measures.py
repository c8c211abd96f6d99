"""The measurements: single publications, bulk, streams, webhooks, and the bare hub beside them."""

from __future__ import annotations

import asyncio
import json
import time
from itertools import islice
from statistics import median
from typing import TYPE_CHECKING, Any
from urllib.request import urlopen

from nearcast.bench.serving.load import (
    PostRun,
    ReadRun,
    Silence,
    Sink,
    percentile,
    request_bytes,
)
from nearcast.bench.serving.processes import free_port
from nearcast.hub import Hub

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nearcast.bench.serving.processes import Process
    from nearcast.bench.serving.workload import Workload

NDJSON = "application/x-ndjson"
Numbers = dict[str, float]
ROUNDS = 3


def lines(objects: list[dict[str, Any]]) -> bytes:
    """Return objects as NDJSON."""
    return "\n".join(map(json.dumps, objects)).encode()


def fill(process: Process, workload: Workload, per_request: int = 5_000) -> Numbers:
    """Subscribe everything by bulk; what is there from an earlier run is not sent again."""
    with urlopen(f"{process.url}/v1/stats") as answer:
        there = int(json.load(answer)["subscriptions"])
    fields = islice(workload.subscribe_fields(), there, None)

    def requests() -> Any:  # noqa: ANN401
        while some := list(islice(fields, per_request)):
            yield request_bytes("/v1/subscriptions", lines(some), NDJSON)

    run = PostRun(requests(), 1)
    seconds = asyncio.run(run.run(process.port))
    sent = workload.subscriptions - there
    return {"subscriptions": sent, "seconds": seconds, "per_second": sent / seconds}


def posts(process: Process, workload: Workload, count: int, connections: int, name: str) -> Numbers:
    """Publish one by one over many connections."""
    messages = islice(workload.messages(name), count)
    requests = [request_bytes("/v1/messages", json.dumps(one).encode()) for one in messages]
    run = PostRun(iter(requests), connections)
    before = process.cpu_s()
    seconds = asyncio.run(run.run(process.port))
    cpu = process.cpu_s() - before
    return {
        "connections": connections,
        "requests": count,
        "refused": run.refused,
        "per_second": count / seconds,
        "p50_ms": percentile(run.times, 0.5) * 1e3,
        "p99_ms": percentile(run.times, 0.99) * 1e3,
        "cpu_us": cpu / count * 1e6,
    }


def in_turns(
    noop: Process, process: Process, workload: Workload, count: int, connections: int
) -> Iterator[tuple[str, Numbers]]:
    """Publish to a server that does nothing and to the service, in turns; the medians of both."""
    for one in (noop, process):
        posts(one, workload, 2_000, connections, f"warm{connections}-")
    some = count // ROUNDS
    pairs = [
        (
            posts(noop, workload, some, connections, f"n{connections}-{turn}-"),
            posts(process, workload, some, connections, f"p{connections}-{turn}-"),
        )
        for turn in range(ROUNDS)
    ]
    yield "noop", medians([pair[0] for pair in pairs])
    ratio = median(own["cpu_us"] / idle["cpu_us"] for idle, own in pairs)
    yield "publish", {**medians([pair[1] for pair in pairs]), "cpu_of_noop": ratio}


def beside_a_hub(process: Process, workload: Workload, count: int) -> Iterator[tuple[str, Numbers]]:
    """Publish in bulk, and apply as many messages to a bare hub, in turns; the medians of both."""
    hub = filled_hub(workload)
    some = count // ROUNDS
    pairs = [
        (bare_hub(hub, workload, some, 500), bulk(process, workload, some, 1_000))
        for _ in range(ROUNDS)
    ]
    yield "hub", medians([pair[0] for pair in pairs])
    ratio = median(own["cpu_us"] / bare["cpu_us"] for bare, own in pairs)
    yield "bulk", {**medians([pair[1] for pair in pairs]), "cpu_of_hub": ratio}


def medians(runs: list[Numbers]) -> Numbers:
    """Return the median of each number."""
    return {name: median(run[name] for run in runs) for name in runs[0]}


def bulk(process: Process, workload: Workload, count: int, per_request: int) -> Numbers:
    """Publish by bulk over two connections."""
    messages = workload.messages("bulk")
    requests = [
        request_bytes("/v1/messages", lines(list(islice(messages, per_request))), NDJSON)
        for _ in range(max(1, count // per_request))
    ]
    run = PostRun(iter(requests), 2)
    before = process.cpu_s()
    seconds = asyncio.run(run.run(process.port))
    sent = len(requests) * per_request
    cpu = process.cpu_s() - before
    return {"messages": sent, "per_second": sent / seconds, "cpu_us": cpu / sent * 1e6}


def filled_hub(workload: Workload) -> Hub:
    """Return a hub of this process with all subscriptions."""
    hub = Hub()
    hub.apply(
        {"op": "subscribe", **{k: v for k, v in one.items() if k != "owner"},
         "id": f"{one['owner']}/{one['id']}"}
        for one in workload.subscribe_fields()
    )  # fmt: skip
    return hub


def bare_hub(hub: Hub, workload: Workload, count: int, batch: int) -> Numbers:
    """Apply the same lines to a hub of this process: what matching alone costs."""
    some = [{"op": "publish", **one} for one in islice(workload.messages("hub"), count)]
    batches = [lines(some[start : start + batch]) for start in range(0, count, batch)]
    changes = 0
    before, started = time.process_time(), time.perf_counter()
    for content in batches:
        changes += hub.apply(content).num_rows
    cpu, seconds = time.process_time() - before, time.perf_counter() - started
    return {
        "messages": count,
        "batch": batch,
        "per_second": count / seconds,
        "cpu_us": cpu / count * 1e6,
        "changes_a_message": changes / count,
    }


async def _streams(
    process: Process, workload: Workload, per_second: int, seconds: float
) -> tuple[ReadRun, float, float]:
    before = process.resident_bytes()
    readers = ReadRun()
    await readers.open(process.port, workload.owners)
    grown = (process.resident_bytes() - before) / workload.owners
    messages = workload.messages("t")
    reader, writer = await asyncio.open_connection("127.0.0.1", process.port)
    step = 0.01
    cpu, started = process.cpu_s(), time.perf_counter()
    for number in range(int(seconds / step)):
        some = list(islice(messages, max(1, int(per_second * step))))
        for one in some:
            one["id"] = f"t{time.perf_counter_ns()}"
        writer.write(request_bytes("/v1/messages", lines(some), NDJSON))
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(h for h in head.lower().split(b"\r\n") if h.startswith(b"content-length"))
        await reader.readexactly(int(length.split(b":")[1]))
        await asyncio.sleep(max(0.0, started + (number + 1) * step - time.perf_counter()))
    await asyncio.sleep(1.0)
    share = (process.cpu_s() - cpu) / (time.perf_counter() - started - 1.0)
    writer.close()
    readers.close()
    return readers, share, grown


def streams(process: Process, workload: Workload, per_second: int, seconds: float) -> Numbers:
    """Follow with one SSE client for each owner; from publication to delivery."""
    readers, share, grown = asyncio.run(_streams(process, workload, per_second, seconds))
    times = [stamp / 1e6 for stamp in readers.times]
    return {
        "clients": workload.owners,
        "messages_per_second": per_second,
        "deliveries_per_second": len(times) / seconds,
        "p50_ms": percentile(times, 0.5),
        "p99_ms": percentile(times, 0.99),
        "cores": share,
        "bytes_a_client": grown,
    }


async def _webhooks(
    process: Process, workload: Workload, endpoints: int, dead: int, count: int
) -> tuple[float, float, int]:
    loop = asyncio.get_running_loop()
    port, silent = free_port(), free_port()
    good = await loop.create_server(Sink, "127.0.0.1", port)
    mute = await loop.create_server(Silence, "127.0.0.1", silent)
    bodies = []
    for number in range(endpoints):
        address = port if number >= dead else (silent if number % 2 else 9)
        url = f"http://127.0.0.1:{address}/hook"
        body = {"id": f"e{dead}", "owner": f"o{number}", "url": url}
        bodies.append(request_bytes("/v1/endpoints", json.dumps(body).encode()))
    await PostRun(iter(bodies), 1).run(process.port)
    Sink.count = 0
    messages = workload.messages(f"hooks{dead}")
    posting = [
        request_bytes("/v1/messages", lines(list(islice(messages, 100))), NDJSON)
        for _ in range(count // 100)
    ]
    before, started = process.cpu_s(), time.perf_counter()
    await PostRun(iter(posting), 1).run(process.port)
    seen, seen_at = -1, started
    while Sink.count != seen or time.perf_counter() - seen_at < 1.0:
        if Sink.count != seen:
            seen, seen_at = Sink.count, time.perf_counter()
        await asyncio.sleep(0.02)
    cpu = process.cpu_s() - before
    gone = [
        f"DELETE /v1/endpoints/e{dead}?owner=o{number} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n".encode()
        for number in range(endpoints)
    ]
    await PostRun(iter(gone), 1).run(process.port)
    good.close()
    mute.close()
    return seen_at - started, cpu, seen


def webhooks(
    process: Process, workload: Workload, endpoints: int, dead: int, count: int
) -> Numbers:
    """Deliver to endpoints, some of which refuse or never answer."""
    seconds, cpu, delivered = asyncio.run(_webhooks(process, workload, endpoints, dead, count))
    return {
        "endpoints": endpoints,
        "dead": dead,
        "delivered": delivered,
        "per_second": delivered / seconds,
        "cpu_us": cpu / max(1, delivered) * 1e6,
    }
