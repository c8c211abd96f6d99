"""What the demo is about: saved searches around real cities, and messages of five kinds.

Everything is drawn from a seed, so that two runs show the same. The attributes are those that such
messages would have: a flat's price and rooms, a job's salary, the delay on a road.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nearcast.cli.demo_cities import CITIES

if TYPE_CHECKING:
    import random

Fields = dict[str, Any]
_WEIGHTS = [5, *[1] * (len(CITIES) - 1)]
"""The city that the map shows first has more of everything."""
SPREAD = 0.085
"""Degrees; most of what happens in a city happens within twice that."""

_WISHES: dict[str, tuple[tuple[str, str | None], ...]] = {
    "flat": (
        ("flat balcony", "price <= 1400 AND rooms >= 2"),
        ('flat (garden OR terrace) -"ground floor"', "price < 2200"),
        ("studio", "price <= 900"),
        ("(flat OR house) -shared", "rooms >= 3 AND price <= 2500"),
        ("furnish* flat", "type IN ('flat', 'studio')"),
        ('"old town"', "kind = 'flat' AND price <= 1800"),
    ),
    "job": (
        ("python developer", "salary >= 50000"),
        ("nurse OR midwife", None),
        ('"night shift" bakery', None),
        ("(cook OR waiter) -unpaid", "hours = 'part time'"),
        ("engineer", "remote = TRUE AND salary >= 55000"),
        ("driver -lorry", "hours = 'full time'"),
    ),
    "traffic": (
        ("accident OR jam", "delay >= 15"),
        ('"ring road"', None),
        ("train (delayed OR cancelled)", None),
        ("road closed", "severity IN ('high', 'middle')"),
    ),
    "weather": (
        ("storm warning", None),
        ("(flood OR rain) -over", "level >= 2"),
        ("heat OR ice", "level >= 3"),
    ),
    "event": (
        ("jazz concert", "price <= 20"),
        ("free (concert OR festival)", None),
        ('"flea market"', None),
        ("theatre OR opera", "price < 60"),
        ("coffee tasting -decaf", None),
    ),
}
_TEXTS: dict[str, tuple[str, ...]] = {
    "flat": (
        "Sunny flat with a balcony, {rooms} rooms",
        "Quiet flat with a garden, ground floor, {rooms} rooms",
        "Flat with a terrace in the old town, {rooms} rooms",
        "Furnished studio near the station",
        "House with a garden, {rooms} rooms",
        "Shared flat, one of {rooms} rooms is free",
        "Newly furnished flat, balcony to the yard, {rooms} rooms",
    ),
    "job": (
        "Python developer for maps wanted",
        "Nurse wanted, day and night shift",
        "Bakery looks for help, night shift",
        "Cook for a small restaurant",
        "Waiter wanted for the weekend",
        "Engineer for wind power, remote possible",
        "Driver wanted, deliveries by van",
    ),
    "traffic": (
        "Accident on the ring road, one lane closed",
        "Jam on the ring road after a breakdown",
        "Train delayed, signal failure",
        "Train cancelled, buses replace it",
        "Road closed, burst water main",
        "Accident at the bridge is cleared",
    ),
    "weather": (
        "Storm warning: gusts until the evening",
        "Flood warning along the river",
        "Heavy rain within the hour",
        "Heat until the weekend, drink enough",
        "Black ice in the morning",
        "The storm is over",
    ),
    "event": (
        "Free jazz concert in the park tonight",
        "Jazz trio in the cellar club",
        "Street festival, free entry",
        "Flea market on the square",
        "Theatre: last tickets for tonight",
        "Opera under the open sky",
        "Coffee tasting at the roastery",
    ),
}
_SHARES = {"flat": 30, "job": 20, "traffic": 25, "weather": 5, "event": 20}


def near(dice: random.Random) -> tuple[float, float]:
    """Return a place in or around one of the cities."""
    _, lon, lat = dice.choices(CITIES, _WEIGHTS)[0]
    return round(dice.gauss(lon, SPREAD), 5), round(dice.gauss(lat, SPREAD * 0.75), 5)


def saved_search(number: int, dice: random.Random) -> Fields:
    """Return one of the saved searches; a subscriber has about seven of them."""
    kind = dice.choices(list(_WISHES), (35, 20, 20, 5, 20))[0]
    keywords, where = dice.choice(_WISHES[kind])
    search: Fields = {
        "id": f"search-{number}",
        "owner": f"person-{dice.randrange(1 + number // 7)}",
        "keywords": keywords,
        "area": _area(kind, dice),
        "metadata": {"kind": kind},
    }
    if where is not None:
        search["where"] = where
    return search


def _area(kind: str, dice: random.Random) -> Any:  # noqa: ANN401 — as events say it
    lon, lat = near(dice)
    if kind == "weather":
        wide = dice.uniform(0.08, 0.25)
        sides = (lon - wide, lat - 0.6 * wide, lon + wide, lat + 0.6 * wide)
        return [round(side, 4) for side in sides]
    shape = dice.randrange(10)
    if shape < 6:
        radius_m = dice.choice((800, 1_500, 3_000, 6_000))
        return {"type": "Circle", "center": [lon, lat], "radius_m": radius_m}
    wide, high = dice.uniform(0.01, 0.06), dice.uniform(0.01, 0.04)
    if shape < 8:
        sides = (lon - wide, lat - high, lon + wide, lat + high)
        return [round(side, 5) for side in sides]
    corners = [(-1, -0.6), (0.1, -1), (1, -0.4), (0.7, 0.8), (-0.4, 1)]
    ring = [[round(lon + x * wide, 5), round(lat + y * high, 5)] for x, y in corners]
    return {"type": "Polygon", "coordinates": [[*ring, ring[0]]]}


def message(number: int, now: float, dice: random.Random) -> Fields:
    """Return one message; it lives for some minutes."""
    kind = dice.choices(list(_SHARES), list(_SHARES.values()))[0]
    attributes = {"kind": kind, **_attributes(kind, dice)}
    text = dice.choice(_TEXTS[kind]).format(rooms=attributes.get("rooms"))
    attributes |= _details(text, dice)
    lon, lat = near(dice)
    fields: Fields = {"id": f"demo-{number}", "text": text, "attributes": attributes}
    fields["expires"] = round(now + dice.choice((120, 300, 900)), 1)
    if kind == "weather":
        fields["bbox"] = [round(x, 4) for x in (lon - 0.08, lat - 0.05, lon + 0.08, lat + 0.05)]
    else:
        fields["at"] = [lon, lat]
    return fields


def _details(text: str, dice: random.Random) -> Fields:
    """Return the attributes that follow from the text."""
    if "studio" in text:
        return {"type": "studio", "rooms": 1, "price": 450 + 10 * dice.randrange(60)}
    if text.startswith("House"):
        return {"type": "house"}
    return {"price": 0} if text.startswith("Free") or "free entry" in text else {}


def _attributes(kind: str, dice: random.Random) -> Fields:
    if kind == "flat":
        rooms = dice.choice((1, 2, 2, 3, 3, 4, 5))
        price = 10 * round(dice.gauss(450 + 330 * rooms, 220) / 10)
        return {
            "price": max(250, price),
            "rooms": rooms,
            "type": "flat",
        }
    if kind == "job":
        hours = dice.choice(("full time", "full time", "part time"))
        return {
            "salary": 1000 * dice.randrange(24, 90),
            "hours": hours,
            "remote": dice.random() < 0.3,
        }
    if kind == "traffic":
        delay = dice.choice((0, 5, 10, 15, 20, 30, 45))
        severity = "high" if delay >= 30 else "middle" if delay >= 10 else "low"
        return {"delay": delay, "severity": severity}
    if kind == "weather":
        return {"level": dice.randrange(1, 5)}
    return {"price": dice.choice((0, 0, 5, 12, 18, 25, 48))}
