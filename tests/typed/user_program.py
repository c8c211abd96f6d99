"""A program as users write it: `mypy --strict` must accept it as it stands."""

from __future__ import annotations

from datetime import datetime, timezone

import nearcast as nc

hub = nc.Hub(
    index="ap-tree",
    index_parameters={"max_leaf_size": 40},
    window=nc.Window(count=1_000),
    topk_parameters={"most_short": 3},
    clock="wall",
)
later = nc.Hub(clock=lambda: 12.5)

changes: list[nc.Change] = hub.subscribe(
    "s1",
    keywords="coffee AND (free OR sale)",
    area=nc.Circle((-73.98, 40.75), 800),
    live=True,
    expires=datetime(2100, 1, 1, tzinfo=timezone.utc),
)
hub.subscribe("s2", mode="top", keywords=["jazz"], at=(-73.99, 40.73), k=5, alpha=0.4)
hub.subscribe("s3", area=[-74, 40, -73, 41], replace=True)
hub.subscribe("s4", keywords=["a"], area={"type": "Circle", "center": [0, 0], "radius_m": 5})
for change in hub.publish(
    "m1", "Free coffee!", at=(-73.9836, 40.7536), expires="2100-01-01T00:00:00Z"
):
    print(change.subscription, change.message, change.change == "updated", change.score)
hub.publish("m2", "Sale", bbox=(0, 0, 1, 1), attributes={"price": 5, "tags": ["new"]}, replace=True)
hub.move("s2", at=[0, 0])
hub.retract("m1", time=4_000_000_000)
hub.unsubscribe("s3")
hub.advance()
definitions: list[str] = [f"{each.id} {each.mode} {each.k}" for each in hub.subscriptions()]
why: nc.Explanation = hub.explain("s1", "coffee", at=(0, 0))
score: float | None = why.score.score if why.score else None
sizes: int = hub.stats()["subscriptions"]

matcher = nc.Matcher(index_parameters={"small_list": 16})
matcher.subscribe(1, keywords="coffee", area=nc.Bbox(0, 0, 1, 1))
ids: list[int | str] = matcher.match("coffee", at=(0.5, 0.5))
