"""Random logs of events of every mode, and what one hub makes of them."""

from __future__ import annotations

import json

import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq
from spark.top_logs import random_event, words

from nearcast.event_table import read_events
from nearcast.events import read_event
from nearcast.partition import make_plan, wants_of_events
from nearcast.spark.stateful.reading import message_table

SIZE = 20


def random_line(rng, number):
    """Return an event of any mode; some are refused, by their id, time, place or words."""
    fields = random_event(rng, number, 12)
    if fields["op"] == "publish" and number % 7 == 0:
        west, south = fields.pop("at")
        fields["bbox"] = [west, south, west + 1.5, south + 1]
    mode = str(rng.choice(["match", "rank", "top"]))
    low = [float(v) for v in rng.integers(-3, 1, 2)]
    area = [*low, low[0] + 3, low[1] + 3]
    if fields["op"] == "move" and mode != "top":
        del fields["at"]
        fields["area"] = area if mode == "match" else {"center": low, "radius_m": 200_000.0}
    if fields["op"] == "subscribe" and mode != "top":
        for name in ("at", "k", "alpha"):
            del fields[name]
        fields.update(mode=mode, area=area, live=bool(rng.random() < 0.6))
        if mode == "rank":
            fields.update(alpha=float(rng.choice([0.3, 1.0])), threshold=0.4)
        elif rng.random() < 0.5:
            fields["keywords"] = f"{words(rng, 1)[0]} OR ({words(rng, 1)[0]} -a)"
            fields.update(random_wish(np.random.default_rng([number, 3]), area))
    return json.dumps(fields)


def random_wish(dice, area):
    """Return what only match subscriptions may say."""
    one, other = words(dice, 1)[0], words(dice, 1)[0]
    wish: dict[str, object] = {}
    if dice.random() < 0.5:
        keywords = [
            f'"{one} {other}"',
            "aa* OR b",
            f"-{one}",
            f"-({one} {other})",
            f"{one} {other}",
        ]
        wish["keywords"] = str(dice.choice(keywords))
    if dice.random() < 0.3:
        wish["except"] = [*area[:2], area[0] + 1, area[1] + 1]
    if dice.random() < 0.3:
        wish["area"] = [area, {"type": "Circle", "center": area[2:], "radius_m": 150_000}]
    return wish


def random_lines(seed, count):
    rng = np.random.default_rng(seed)
    lines = [random_line(rng, number) for number in range(count)]
    return [*lines[:5], "not an event", *lines[5:]]


def mixed_plan(mechanism, partitions, lines, weights=None, mode="match"):
    """Return a plan that knows the subscriptions of a mode and messages of half of a log."""
    table = read_events(lines[: len(lines) // 2], on_error=lambda _number, _error: None)
    said = table.filter(pc.equal(table.column("mode"), mode)).column("line").to_pylist()
    wants = wants_of_events([read_event(line) for line in said], mode)  # type: ignore[misc]
    messages = message_table(table.filter(pc.equal(table.column("op"), "publish")))
    return make_plan(mechanism, partitions, wants, messages, weights=weights)


def batches(lines):
    return [lines[start : start + SIZE] for start in range(0, len(lines), SIZE)]


def by_hub(hub, lines):
    """Return the changes of one hub, and the numbers of the lines that it rejects."""
    rejected = []
    table = hub.apply(lines, on_error=lambda number, _error: rejected.append(number))
    return sorted(map(key, table.to_pylist())), rejected


def key(row):
    score = None if row["score"] is None else round(row["score"], 12)
    return (*(row[n] for n in ("event", "subscription", "message", "change", "reason")), str(score))


def written(folder):
    """Return the changes of a batch, as `by_hub` returns them."""
    return sorted(map(key, pq.read_table(folder, partitioning=None).to_pylist()))


def refused(folder, number):
    """Return the numbers of the lines of a batch that were rejected."""
    path = folder / "rejected" / f"{number}.json"
    return [row for row, _ in json.loads(path.read_text())] if path.is_file() else []
