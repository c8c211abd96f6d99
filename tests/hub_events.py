"""Short ways to talk to a hub, for its tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    import nearcast as nc

BOX = [0, 0, 2, 2]
HERE = (1, 1)
EARTH_M = 6_371_008.8


def publish(id_: object, text: object = "tea", **fields: object) -> dict[str, Any]:
    return {"op": "publish", "id": id_, "text": text, "at": [1, 1], **fields}


def reached(changes: Iterable[nc.Change]) -> list[str]:
    return sorted(change.subscription for change in changes)


def live(hub: nc.Hub) -> int:
    return hub.stats()["live_messages"]
