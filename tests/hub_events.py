"""Short ways to talk to a hub, for its tests."""

from __future__ import annotations

BOX = [0, 0, 2, 2]
HERE = (1, 1)
EARTH_M = 6_371_008.8


def publish(id_, text="tea", **fields):
    return {"op": "publish", "id": id_, "text": text, "at": [1, 1], **fields}


def reached(changes):
    return sorted(change.subscription for change in changes)


def live(hub):
    return hub.stats()["live_messages"]
