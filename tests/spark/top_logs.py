"""Random logs of top subscriptions and messages, with few words and places: ties are common."""

from __future__ import annotations

import json

import numpy as np

import nearcast as nc

WORDS = ("a", "b", "c", "d", "e", "f", "g", "h")
WEIGHTS = nc.Weights(40, {"a": 30, "b": 20, "c": 10, "d": 5})
OPS = ("publish", "subscribe", "move", "retract", "unsubscribe")
SHARES = (0.6, 0.2, 0.07, 0.08, 0.05)
WINDOWS = {
    "count": nc.Window(count=7),
    "seconds": nc.Window(seconds=9),
    "none": None,
}


def words(rng, most):
    return list(rng.choice(WORDS, rng.integers(1, most + 1), p=np.arange(8, 0, -1) / 36))


WHERES = ("price <= 3", "type = 'flat'", "price > 2 OR NOT type EXISTS", "type IN ('flat', 'x')")


def random_attributes(rng):
    said = {"price": int(rng.integers(1, 6)), "type": str(rng.choice(["flat", "house"]))}
    return {name: value for name, value in said.items() if rng.random() < 0.8}


def random_event(rng, number, ids, replaces=0.3):
    """Return one event; some are refused, by a wrong id or a wrong time."""
    event = _random_event(rng, number, ids, replaces)
    dice = np.random.default_rng([number, *map(ord, event.get("id", ""))])
    if event["op"] == "publish" and dice.random() < 0.7:
        event["attributes"] = random_attributes(dice)
    if event["op"] == "subscribe" and dice.random() < 0.3:
        event["where"] = str(dice.choice(WHERES))
    return event


def _random_event(rng, number, ids, replaces):
    at = [float(v) for v in rng.integers(-2, 3, 2)]
    time = {"time": float(number + rng.integers(-3, 2))} if rng.random() < 0.8 else {}
    op = rng.choice(
        ["publish", "subscribe", "move", "retract", "unsubscribe"], p=[0.6, 0.2, 0.07, 0.08, 0.05]
    )
    id_ = f"s{rng.integers(ids)}"
    life = {"expires": float(number + rng.integers(0, 15))} if rng.random() < 0.3 else {}
    if rng.random() < replaces:
        life["replace"] = True
    if op == "publish":
        text = " ".join(words(rng, 4))
        return {"op": op, "id": f"m{rng.integers(12)}", "text": text, "at": at, **time, **life}
    if op == "subscribe":
        terms = {"k": int(rng.integers(1, 4)), "alpha": float(rng.choice([0, 0.3, 0.6, 1]))}
        top = {"mode": "top", "keywords": words(rng, 3), "at": at, **terms}
        return {"op": op, "id": id_, **top, **time, **life}
    if op == "retract" and rng.random() < 0.3:
        return {"op": "advance", "time": float(number)}
    if op == "retract":
        return {"op": op, "id": f"m{rng.integers(12)}", **time}
    return {"op": op, "id": id_, **({"at": at} if op == "move" else {}), **time}


def random_log(seed, count, ids=10, replaces=0.3):
    rng = np.random.default_rng(seed)
    return [json.dumps(random_event(rng, number, ids, replaces)) for number in range(count)]
