"""Safe regions against the reference: who stays silent inside its region misses nothing.

A step moves many travellers by a little; each reports only if its region says so. What each has
been told must then be what matches where it really is.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

from differential.cases import difference
from differential.match_sets import Text, Wish
from differential.worlds import Json, World, near
from oracle.events import read_message, read_subscription

import nearcast as nc
from nearcast.safe_region import SafeRegion

if TYPE_CHECKING:
    from differential.cases import Case, Step

PROFILES = ("few", "crowd", "full window")
_STEPS = (-0.5, -0.25, -0.01, 0.0, 0.0, 0.01, 0.1, 0.25, 1.0)


def silence_case(profile: str, seed: int) -> Case:
    """Return travellers with shapes, and what happens around them."""
    rng = Random(f"silence {profile} {seed}")
    world = World(rng, rng.choice((1, 4, 30)), odd=False)
    world.centre, world.spread = rng.choice(((10.0, 50.0), (0.0, 0.0), (100.0, -40.0))), 2.0
    travellers = {"few": near(rng, 8), "crowd": near(rng, 64, 100), "full window": near(rng, 16)}
    window = {"few": near(rng, 8), "crowd": near(rng, 32), "full window": near(rng, 256, 512)}
    count = travellers[profile]
    rows = [_traveller(world, f"s{number}") for number in range(count)]
    steps: list[Step] = [{"do": "subscribe", "rows": rows}]
    published = 0
    for _ in range(8):
        new = near(rng, 1, 16, window[profile] // 4)
        steps.append(
            {"do": "publish", "rows": [_message(world, published + i) for i in range(new)]}
        )
        published += new
        gone = rng.sample(range(published), min(published, rng.choice((0, 1, 3))))
        steps.append({"do": "retract", "rows": [f"m{number}" for number in gone]})
        for _ in range(rng.choice((1, 2, 4))):
            moves = [[row["id"], rng.choice(_STEPS), rng.choice(_STEPS)] for row in rows]
            steps.append({"do": "go", "rows": moves})
    settings = {"profile": profile, "seed": seed, "window": window[profile]}
    return {"driver": "silence", "settings": settings, "steps": steps}


def _traveller(world: World, id_: str) -> Json:
    x, y = (world.centre[i] + world.rng.choice((-2, -1, -0.5, 0, 0.25, 1)) for i in (0, 1))
    size = [world.rng.choice((0.0, 0.25, 0.5, 2.0)) for _ in "xy"]
    kind = world.rng.choice(("box", "box", "circle", "polygon"))
    row: Json = {"id": id_, "shape": kind, "x": x, "y": y, "size": size}
    if world.rng.random() < 0.8:
        few = world.some_words(world.rng.choice((1, 1, 2)))
        row["keywords"] = few if world.rng.random() < 0.7 else " OR ".join(few)
    return row


def _message(world: World, number: int) -> Json:
    place: Json = {"at": [world.centre[i] + world.rng.randint(-12, 12) / 4 for i in (0, 1)]}
    if world.rng.random() < 0.2:
        west, south = place["at"]
        place = {"bbox": [west, south, west + 0.5, south + world.rng.choice((0, 1))]}
    return {"id": f"m{number}", "text": world.text(world.rng.choice((0, 1, 2, 5))), **place}


def _area(row: Json) -> Any:
    x, y, (wide, tall) = row["x"], row["y"], row["size"]
    if row["shape"] == "box":
        return [x, y, x + wide, y + tall]
    if row["shape"] == "circle":
        return {"type": "Circle", "center": [x, y], "radius_m": wide * 80_123.4}
    corners = [[x, y], [x + wide + 0.25, y], [x, y + tall + 0.25], [x, y]]
    return {"type": "Polygon", "coordinates": [corners]}


def expect(case: Case) -> list[Any]:
    """Return what each traveller should hold after each step, by pairs."""
    places: dict[str, Json] = {}
    messages: dict[str, Any] = {}
    truths = []
    for step in case["steps"]:
        for row in step["rows"]:
            if step["do"] == "subscribe":
                places[row["id"]] = dict(row)
            elif step["do"] == "publish":
                messages[row["id"]] = read_message({"op": "publish", **row})
                if len(messages) > case["settings"]["window"]:
                    del messages[next(iter(messages))]
            elif step["do"] == "retract":
                messages.pop(row, None)
            elif row[0] in places:
                places[row[0]]["x"] += row[1]
                places[row[0]]["y"] += row[2]
        truths.append(sorted(_pairs(places, messages)))
    return truths


def _pairs(places: dict[str, Json], messages: dict[str, Any]) -> list[tuple[str, str]]:
    found = []
    for id_, row in places.items():
        event = {"op": "subscribe", "id": id_, "area": _area(row)}
        words = {"keywords": row["keywords"]} if "keywords" in row else {}
        wanted = read_subscription({**event, **words})
        wish = Wish(wanted)
        found += [(id_, m.id) for m in messages.values() if wish.accepts(m, Text(m.text))]
    return found


class _Clients:
    """What travellers know: their place, and what they were told."""

    def __init__(self, hub: nc.Hub) -> None:
        self.hub = hub
        self.rows: dict[str, Json] = {}
        self.regions: dict[str, SafeRegion] = {}
        self.held: set[tuple[str, str]] = set()

    def hear(self, changes: list[nc.Change]) -> None:
        for change in changes:
            self.held ^= {(change.subscription, change.message)}
        for promise in self.hub.take_promises():
            region = self.regions.get(promise.subscription)
            if region is not None and region.told(promise.safe_distance):
                self.report(promise.subscription)

    def report(self, id_: str) -> None:
        changes = self.hub.move(id_, area=_area(self.rows[id_]))
        self.regions[id_].reported(self.hub.safe_distance(id_))
        self.hear(changes)

    def take(self, do: str, row: Any) -> None:
        if do == "subscribe":
            self.rows[row["id"]] = dict(row)
            words = {"keywords": row["keywords"]} if "keywords" in row else {}
            changes = self.hub.subscribe(row["id"], area=_area(row), live=True, **words)
            region = SafeRegion(_area(row), self.hub.safe_distance(row["id"]))
            self.regions[row["id"]] = region
            self.hear(changes)
        elif do == "publish":
            self.hear(self.hub.publish(**row))
        elif do == "retract":
            self.hear(self.hub.retract(row))
        elif row[0] in self.rows:
            id_, dx, dy = row
            self.rows[id_]["x"] += dx
            self.rows[id_]["y"] += dy
            if self.regions[id_].step(_area(self.rows[id_])):
                self.report(id_)


def run(case: Case, expected: list[Any], settings: dict[str, Any]) -> None:
    """Take all steps with one kind of index; raise `Difference`."""
    window = nc.Window(count=case["settings"]["window"])
    clients = _Clients(nc.Hub(window=window, safe_region=True, **settings))
    for number, (step, truth) in enumerate(zip(case["steps"], expected, strict=True)):
        for row in step["rows"]:
            clients.take(step["do"], row)
        found = sorted(clients.held)
        if found != truth:
            raise difference(f"{settings} step {number}", found, truth)
    clients.hub.check_invariants()
