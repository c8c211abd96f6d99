"""One event to checked values, and the decision for one pair (DESIGN 1.3, 2.1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from oracle import attributes as on_attributes
from oracle import keywords as on_keywords
from oracle.attributes import Attributes, read_attributes, read_where
from oracle.fields import (
    OracleRejects,
    Position,
    identifier,
    moment,
    number,
    only_fields,
    position,
    require,
    truth,
)
from oracle.keywords import holds_without_words, plain_tokens, read_keywords
from oracle.scores import Weights, rank_score, units
from oracle.space import Area, Boxes, Place, read_area, read_bbox, read_point, touches
from oracle.text import Places, places

Event = Mapping[str, Any]
Mode = Literal["match", "rank", "top"]

_NO_STOP_WORDS: frozenset[str] = frozenset()
_FOR_ALL = ("op", "id", "time", "mode", "keywords", "where", "live", "expires", "replace")
_FIELDS: dict[Mode, tuple[str, ...]] = {
    "match": (*_FOR_ALL, "area", "except"),
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
    text: Places
    tokens: Counter[str]
    place: Place
    attributes: Attributes
    time: float | None
    expires: float | None
    replace: bool
    number: int = 0


@dataclass(frozen=True)
class Subscription:
    """A subscription of any mode; what the mode does not use is None or zero."""

    id: str
    mode: Mode
    keywords: on_keywords.Tree | None
    tokens: frozenset[str]
    where: on_attributes.Tree | None
    area: Area | None
    excluded: Area | None
    at: Position
    alpha: float
    threshold: float
    k: int
    live: bool
    expires: float | None
    replace: bool
    number: int = 0


def read_time(event: Event) -> float | None:
    """Return the time of an event, None if it has none."""
    return moment(event["time"]) if "time" in event else None


def _read_expires(event: Event) -> float | None:
    return moment(event["expires"]) if "expires" in event else None


def read_message(event: Event, stop_words: frozenset[str] = _NO_STOP_WORDS) -> Message:
    """Read a publish event."""
    place = ("at", "bbox")
    allowed = ("op", "id", "text", *place, "attributes", "time", "expires", "replace")
    only_fields(event, allowed, "publish")
    require(isinstance(event.get("text"), str), "publish needs a text")
    require(("at" in event) != ("bbox" in event), "publish needs one of at, bbox")
    text = places(event["text"], stop_words)
    return Message(
        id=identifier(event.get("id")),
        text=text,
        tokens=Counter(token for token in text if token is not None),
        place=_read_place(event),
        attributes=read_attributes(event.get("attributes", {})),
        time=read_time(event),
        expires=_read_expires(event),
        replace=truth(event.get("replace", False)),
    )


def _read_place(event: Event) -> Place:
    if "at" in event:
        return read_point(event["at"])
    boxes, center = read_bbox(event["bbox"])
    west, south, east, north = event["bbox"]
    return Place(boxes, center, is_point=west == east and south == north)


def read_subscription(event: Event, stop_words: frozenset[str] = _NO_STOP_WORDS) -> Subscription:
    """Read a subscribe event."""
    mode = _read_mode(event)
    only_fields(event, _FIELDS[mode], f"{mode} subscription")
    missing = [name for name in _NEEDED[mode] if name not in event]
    require(not missing, f"{mode} subscription lacks {missing}")
    given = [name for name in ("keywords", "area", "where") if name in event]
    require(bool(given), "neither keywords nor area nor where")
    live = truth(event.get("live", False))
    require(not (live and mode == "top"), "a top subscription is always live")
    read_time(event)
    keywords = read_keywords(event["keywords"], stop_words) if "keywords" in event else None
    if keywords is not None and given == ["keywords"]:
        require(not holds_without_words(keywords), "only unwanted keywords, anywhere")
    return Subscription(
        id=identifier(event.get("id")),
        mode=mode,
        keywords=keywords,
        tokens=frozenset() if mode == "match" or keywords is None else plain_tokens(keywords),
        where=read_where(event["where"]) if "where" in event else None,
        area=read_area_for(mode, event["area"]) if "area" in event else None,
        excluded=read_area(event["except"]) if "except" in event else None,
        at=position(event["at"]) if mode == "top" else (0.0, 0.0),
        alpha=number(event.get("alpha", 0), 0, 1),
        threshold=_read_threshold(event["threshold"]) if mode == "rank" else 0.0,
        k=_read_k(event["k"]) if mode == "top" else 0,
        live=live,
        expires=_read_expires(event),
        replace=truth(event.get("replace", False)),
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
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value < 2**31:
        raise OracleRejects(f"k must be a whole number from 1 to 2**31 - 1: {value!r}")
    return value


def decide(
    subscription: Subscription, message: Message, weights: Weights | None
) -> tuple[bool, float | None]:
    """Return whether a match or rank subscription wants the message, and its score if ranked."""
    if not is_asked_for(subscription, message):
        return False, None
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
    boxes, keywords = message.place.boxes, subscription.keywords
    nearby = subscription.area is None or touches(subscription.area, boxes)
    excluded = subscription.excluded is not None and touches(subscription.excluded, boxes)
    satisfied = keywords is None or on_keywords.holds(keywords, message.text)
    return nearby and not excluded and satisfied, None


def is_asked_for(subscription: Subscription, message: Message) -> bool:
    """Decide whether the `where` of a subscription of any mode holds for the message."""
    where = subscription.where
    return where is None or on_attributes.holds(where, message.attributes)


def shares_keyword(subscription: Subscription, message: Message) -> bool:
    """Decide whether a message may be in the list of a top subscription."""
    is_shared = bool(subscription.tokens & message.tokens.keys())
    return is_shared and is_asked_for(subscription, message)


def matches(
    subscription: Event,
    publish: Event,
    weights: Weights | None = None,
    stop_words: frozenset[str] = _NO_STOP_WORDS,
) -> bool:
    """Decide one pair of events; for a top subscription: whether they share a keyword."""
    wanted = read_subscription(subscription, stop_words)
    message = read_message(publish, stop_words)
    if wanted.mode == "top":
        return shares_keyword(wanted, message)
    return decide(wanted, message, weights)[0]


def area_touches(area: object, message: Event) -> bool:
    """Decide whether an area (None: anywhere) and the place of a message share a point."""
    return area is None or touches(read_area(area), _read_place(message).boxes)
