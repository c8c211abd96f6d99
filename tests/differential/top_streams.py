"""Top lists in bulk against the reference: what every subscription holds after each step.

`TopStream` is what benchmarks measure; a hub's ids, texts and changes are not in it. Its
subscriptions can also be taken over by another stream of the same messages (`adopt`).
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np
from differential.cases import difference
from differential.reference import FastHub
from differential.worlds import Json, World, near

from nearcast.bench.top_stream import TokenRows, TopStream

if TYPE_CHECKING:
    from differential.cases import Case, Step

PROFILES = ("small window", "crowd", "long lists")
_SAME_SCORE = 6e-10  # scores are compared in units of 1e-9, and may be given in these
_SPACES = ((-180.0, -90.0, 180.0, 90.0), (5.0, 45.0, 15.0, 55.0))
_ALPHAS = (0.0, 0.1, 0.5, 0.9, 1.0)


def top_stream_case(profile: str, seed: int) -> Case:
    """Return subscriptions that come among the messages, which push each other out."""
    rng = Random(f"top stream {profile} {seed}")
    world = World(rng, {"small window": 12, "crowd": 3, "long lists": 40}[profile], odd=False)
    world.centre, world.spread = (10.0, 50.0), rng.choice((0.25, 1.0, 4.0))
    window = {"small window": near(rng, 2, 8), "crowd": near(rng, 16), "long lists": near(rng, 200)}
    count = {"small window": near(rng, 16), "crowd": near(rng, 512, 530), "long lists": 30}
    part = {"small window": 7, "crowd": 12, "long lists": 70}[profile]
    steps: list[Step] = []
    for turn in range(6):
        new = count[profile] // (1 if turn == 1 else 8)
        wanted = [_row(world, rng.choice((1, 1, 2, 3))) for _ in range(new)]
        for row in wanted:
            row["alpha"] = rng.choice(_ALPHAS)
        steps.append({"do": "subscribe", "rows": wanted})
        rows = [_row(world, rng.choice((1, 2, 4, 15, 24))) for _ in range(part)]
        steps.append({"do": "publish", "rows": rows})
        if rng.random() < 0.3:
            steps.append({"do": "adopt"})
    documents = rng.choice((0, 10, 1000))
    settings = {
        "profile": profile,
        "seed": seed,
        "words": world.words,
        "window": window[profile],
        "space": list(rng.choice(_SPACES)),
        "k": rng.choice((1, 2, 5, 16)),
        "documents": documents,
        "df": [rng.randint(0, documents) for _ in world.words],
    }
    return {"driver": "top stream", "settings": settings, "steps": steps}


def _row(world: World, tokens: int) -> Json:
    words = [world.word() for _ in range(tokens)]
    return {"words": words, "at": [c + world.rng.randint(-8, 8) / 4 for c in world.centre]}


def expect(case: Case) -> list[Any]:
    """Return for each step what each subscription holds, best first: messages and scores."""
    own = case["settings"]
    weights = None
    if own["documents"]:
        df = dict(zip(own["words"], own["df"], strict=True))
        weights = {"documents": own["documents"], "df": df}
    hub = FastHub(window_count=own["window"], weights=weights, space=tuple(own["space"]))
    truths = []
    subscriptions = messages = 0
    for step in case["steps"]:
        for row in step.get("rows", ()):
            if step["do"] == "subscribe":
                event = {"op": "subscribe", "id": f"s{subscriptions}", "mode": "top", "k": own["k"]}
                wanted = {"keywords": sorted(set(row["words"])), "alpha": row["alpha"]}
                hub.apply(1, {**event, **wanted, "at": row["at"]})
                subscriptions += 1
            else:
                event = {"op": "publish", "id": f"m{messages}", "text": " ".join(row["words"])}
                hub.apply(1, {**event, "at": row["at"]})
                messages += 1
        truths.append([_held(hub, f"s{number}") for number in range(subscriptions)])
    return truths


def _held(hub: FastHub, id_: str) -> list[tuple[int, float]]:
    best = hub.subscriptions[id_].best().values()
    return [
        (int(message[1:]), score) for message, score in zip(hub.results(id_), best, strict=True)
    ]


def size(expected: list[Any]) -> int:
    """Return how many places of lists are held in all."""
    return sum(len(held) for truth in expected for held in truth)


class _Streams:
    """A stream, and what has to be told to another that takes over its subscriptions."""

    def __init__(self, case: Case, kinds: dict[str, Any]) -> None:
        self.case, self.kinds = case, kinds
        self.published: list[TokenRows] = []
        self.stream = self._new()

    def _new(self) -> TopStream:
        own = self.case["settings"]
        stream = TopStream(window=own["window"], space=tuple(own["space"]), **self.kinds)
        if own["documents"]:
            stream.weigh(own["documents"], np.array(own["df"], np.int64))
        return stream

    def _columns(self, rows: list[Json]) -> TokenRows:
        number = {word: i for i, word in enumerate(self.case["settings"]["words"])}
        tokens = [number[word] for row in rows for word in row["words"]]
        ends = np.cumsum([0, *(len(row["words"]) for row in rows)])
        lon, lat = (np.array([row["at"][i] for row in rows], np.float64) for i in (0, 1))
        return TokenRows(ends.astype(np.int64), np.array(tokens, np.uint32), lon, lat)

    def take(self, step: Step) -> None:
        if step["do"] == "adopt":
            other = self._new()
            for rows in self.published:
                other.publish(rows)
            other.adopt(self.stream)
            self.stream = other
            return
        rows = self._columns(step["rows"])
        if step["do"] == "publish":
            self.stream.publish(rows)
            self.published.append(rows)
        elif len(rows):
            alpha = np.array([row["alpha"] for row in step["rows"]])
            self.stream.subscribe(rows, alpha, self.case["settings"]["k"])

    def held(self, count: int) -> list[list[tuple[int, float]]]:
        ends, messages, scores = self.stream.results(np.arange(count))
        places = list(zip(messages.tolist(), scores.tolist(), strict=True))
        starts = [0, *ends.tolist()]
        return [places[starts[i] : starts[i + 1]] for i in range(count)]


def run(case: Case, expected: list[Any], kinds: dict[str, Any]) -> None:
    """Take all steps with these kinds; raise `Difference`."""
    streams = _Streams(case, kinds)
    for number, (step, truth) in enumerate(zip(case["steps"], expected, strict=True)):
        streams.take(step)
        for subscription, (found, wanted) in enumerate(
            zip(streams.held(len(truth)), truth, strict=True)
        ):
            where = f"{kinds} step {number} subscription {subscription}"
            if [message for message, _ in found] != [message for message, _ in wanted]:
                raise difference(where, [m for m, _ in found], [m for m, _ in wanted])
            if any(abs(a - b) > _SAME_SCORE for (_, a), (_, b) in zip(found, wanted, strict=True)):
                raise difference(where, found, wanted)
        streams.stream.check_invariants()
