"""One event to checked values, and the decision for one pair (DESIGN 1.3, 2.1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from oracle.fields import (
    OracleRejects,
    Position,
    identifier,
    moment,
    number,
    only_fields,
    position,
    require,
)
from oracle.keywords import Clause, dnf, plain_tokens
from oracle.scores import Weights, rank_score, units
from oracle.space import Area, Boxes, Place, read_area, read_bbox, read_point, touches
from oracle.text import analyze

Event = Mapping[str, Any]
Mode = Literal["match", "rank", "top"]

_FOR_ALL = ("op", "id", "time", "mode", "keywords", "live", "expires")
_FIELDS: dict[Mode, tuple[str, ...]] = {
    "match": (*_FOR_ALL, "area"),
    "rank": (*_FOR_ALL, "area", "alpha", "threshold"),
    "top": (*_FOR_ALL, "at", "alpha", "k"),
}
_NEEDED: dict[Mode, tuple[str, ...]] = {
    "match": (),
    "rank": ("keywords", "area", "alpha", "threshold"),
    "top": ("keywords", "at", "alpha", "k"),
}


@dataclass(frozen=True)
class Message:
    """A published message; `number` is its place in the order of publication."""

    id: str
    tokens: Counter[str]
    place: Place
    time: float | None
    expires: float | None
    number: int = 0


@dataclass(frozen=True)
class Subscription:
    """A subscription of any mode; what the mode does not use is None or zero."""

    id: str
    mode: Mode
    clauses: frozenset[Clause] | None
    tokens: frozenset[str]
    area: Area | None
    at: Position
    alpha: float
    threshold: float
    k: int
    live: bool
    expires: float | None
    number: int = 0


def read_time(event: Event) -> float | None:
    """Return the time of an event, None if it has none."""
    return moment(event["time"]) if "time" in event else None


def _read_expires(event: Event) -> float | None:
    return moment(event["expires"]) if "expires" in event else None


def read_message(event: Event) -> Message:
    """Read a publish event."""
    only_fields(event, ("op", "id", "text", "at", "bbox", "time", "expires"), "publish")
    require(isinstance(event.get("text"), str), "publish needs a text")
    require(("at" in event) != ("bbox" in event), "publish needs one of at, bbox")
    return Message(
        id=identifier(event.get("id")),
        tokens=Counter(analyze(event["text"])),
        place=_read_place(event),
        time=read_time(event),
        expires=_read_expires(event),
    )


def _read_place(event: Event) -> Place:
    if "at" in event:
        return read_point(event["at"])
    boxes, center = read_bbox(event["bbox"])
    return Place(boxes, center, is_point=False)


def read_subscription(event: Event) -> Subscription:
    """Read a subscribe event."""
    mode = _read_mode(event)
    only_fields(event, _FIELDS[mode], f"{mode} subscription")
    missing = [name for name in _NEEDED[mode] if name not in event]
    require(not missing, f"{mode} subscription lacks {missing}")
    require("keywords" in event or "area" in event, "neither keywords nor area")
    live = event.get("live", False)
    require(isinstance(live, bool) and not (live and mode == "top"), f"live: {live!r}")
    read_time(event)
    matching = mode == "match" and "keywords" in event
    return Subscription(
        id=identifier(event.get("id")),
        mode=mode,
        clauses=frozenset(dnf(event["keywords"])) if matching else None,
        tokens=frozenset() if mode == "match" else plain_tokens(event["keywords"]),
        area=read_area_for(mode, event["area"]) if "area" in event else None,
        at=position(event["at"]) if mode == "top" else (0.0, 0.0),
        alpha=number(event.get("alpha", 0), 0, 1),
        threshold=_read_threshold(event["threshold"]) if mode == "rank" else 0.0,
        k=_read_k(event["k"]) if mode == "top" else 0,
        live=live,
        expires=_read_expires(event),
    )


def _read_mode(event: Event) -> Mode:
    modes: dict[object, Mode] = {"match": "match", "rank": "rank", "top": "top"}
    mode = event.get("mode", "match")
    if not isinstance(mode, str) or mode not in modes:
        raise OracleRejects(f"unknown mode: {mode!r}")
    return modes[mode]


def read_area_for(mode: Mode, value: object) -> Area:
    """Read an area; a rank subscription takes only a bbox."""
    area = read_area(value)
    require(mode == "match" or isinstance(area, Boxes), "a rank subscription needs a bbox")
    return area


def _read_threshold(value: object) -> float:
    threshold = number(value, 0, 1)
    require(threshold > 0, "threshold must be above 0")
    return threshold


def _read_k(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise OracleRejects(f"k must be a whole number of at least 1: {value!r}")
    return value


def decide(
    subscription: Subscription, message: Message, weights: Weights | None
) -> tuple[bool, float | None]:
    """Return whether a match or rank subscription wants the message, and its score if ranked."""
    if isinstance(subscription.area, Boxes) and subscription.mode == "rank":
        score = rank_score(
            subscription.tokens,
            subscription.area,
            subscription.alpha,
            message.tokens,
            message.place,
            weights,
        )
        return units(score) >= units(subscription.threshold), score
    nearby = subscription.area is None or touches(subscription.area, message.place.boxes)
    return nearby and _satisfies(message, subscription.clauses), None


def _satisfies(message: Message, clauses: frozenset[Clause] | None) -> bool:
    if clauses is None:
        return True
    tokens = message.tokens.keys()
    return any(positive <= tokens and not negative & tokens for positive, negative in clauses)


def matches(subscription: Event, publish: Event, weights: Weights | None = None) -> bool:
    """Decide one pair of events; for a top subscription: whether they share a keyword."""
    wanted, message = read_subscription(subscription), read_message(publish)
    if wanted.mode == "top":
        return bool(wanted.tokens & message.tokens.keys())
    return decide(wanted, message, weights)[0]


def area_touches(area: object, message: Event) -> bool:
    """Decide whether an area (None: anywhere) and the place of a message share a point."""
    return area is None or touches(read_area(area), _read_place(message).boxes)
