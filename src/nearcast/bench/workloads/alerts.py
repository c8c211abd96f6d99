"""Alerts, as people set them: messages with attributes, subscriptions with all that one may say.

A message gets a price, a number of rooms, a type, a truth value and a list of features. A
subscription keeps the words and the box of its row, or less, and says them in one of several ways:
as a list, an expression, a phrase, a prefix, or not at all; with comparisons; with a circle, two
boxes, or a box with a hole. What row i gets depends on i and the seed only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nearcast.bench.workloads.streams import CHUNK_ROWS, Stream, chunks
from nearcast.bench.workloads.tables import BOX_COLUMNS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

TYPES = ("flat", "house", "studio", "room")
FEATURES = ("balcony", "garden", "lift", "garage")
KEYWORDS = (1, 3)
"""How many words a subscription has, both ends included."""
_NUMBERS = 8  # random numbers that a row may use

Fields = dict[str, object]


def attributes(seed: int, first: int, count: int) -> Iterator[Fields]:
    """Yield the attributes of messages `first` to `first + count`."""
    for row in _rows(seed, Stream.ATTRIBUTES, first, count):
        rooms = 1 + int(row[0] ** 2 * 6)
        price = round(400 * rooms**0.8 * (0.5 + 1.5 * row[1]), 2)
        kind = TYPES[int(row[2] ** 2 * len(TYPES))]
        features = [name for name, dice in zip(FEATURES, row[4:], strict=True) if dice < 0.3]
        made: Fields = {"price": price, "rooms": rooms, "type": kind, "pets": bool(row[3] < 0.5)}
        yield {**made, "features": features} if features else made


def alerts(rows: Sequence[Mapping[str, Any]], seed: int, first: int) -> Iterator[Fields]:
    """Yield keywords, where, area and except of subscriptions `first` and following."""
    dice = _rows(seed, Stream.ALERTS, first, len(rows))
    for row, (for_words, for_where, for_area, *more) in zip(rows, dice, strict=True):
        fields = {
            **_choose(_AREAS, for_area)([row[name] for name in BOX_COLUMNS], more[0]),
            **_choose(_WHERES, for_where)(more[1], more[2]),
        }
        says = _choose(_WORDS, for_words)(row["keywords"], more[3])
        yield {**says, **fields} if says or fields else {"keywords": row["keywords"]}


def _rows(seed: int, stream: Stream, first: int, count: int) -> Iterator[list[float]]:
    for chunk in chunks(seed, stream, first, count):
        yield from chunk.rng.random((CHUNK_ROWS, _NUMBERS))[chunk.wanted].tolist()


def _choose(ways: Sequence[tuple[float, Any]], dice: float) -> Any:  # noqa: ANN401 — one of several functions
    """Return the way whose share of 0 to 1 has the number."""
    for share, way in ways:
        if dice < share:
            return way
        dice -= share
    return ways[-1][1]


# ---- words ----------------------------------------------------------------------------------


def _list(words: Sequence[str], _: float) -> Fields:
    return {"keywords": list(words)}


def _expression(words: Sequence[str], dice: float) -> Fields:
    if dice < 0.5:
        return {"keywords": " OR ".join(words)}
    head, *rest = words
    return {"keywords": f"{head} AND ({' OR '.join(rest)})" if rest else head}


def _excluding(words: Sequence[str], _: float) -> Fields:
    head, *rest = words
    return {"keywords": " ".join([head, *(f"-{word}" for word in rest)])}


def _phrase(words: Sequence[str], dice: float) -> Fields:
    phrase = f'"{" ".join(words[:2])}"'
    return {"keywords": phrase if dice < 0.5 else f"{phrase} OR {words[-1]}"}


def _prefix(words: Sequence[str], dice: float) -> Fields:
    cut = max(2, len(words[0]) - 1 - int(dice * 2))
    return {"keywords": f"{words[0][:cut]}*"}


def _nothing(_: Sequence[str], __: float) -> Fields:
    return {}


_WORDS: tuple[tuple[float, Callable[[Sequence[str], float], Fields]], ...] = (
    (0.3, _list),
    (0.2, _expression),
    (0.15, _excluding),
    (0.1, _phrase),
    (0.1, _prefix),
    (0.15, _nothing),
)


# ---- where ----------------------------------------------------------------------------------


def _no_where(_: float, __: float) -> Fields:
    return {}


def _range(dice: float, more: float) -> Fields:
    most = 100 * (3 + int(dice * 20))
    return {
        "where": f"price <= {most}" if more < 0.7 else f"price >= {most // 2} AND price <= {most}"
    }


def _rooms(dice: float, more: float) -> Fields:
    return {"where": f"rooms >= {1 + int(dice * 3)} AND price < {100 * (4 + int(more * 20))}"}


def _kind(dice: float, more: float) -> Fields:
    one, other = TYPES[int(dice * 4)], TYPES[int(more * 4)]
    return {"where": f"type = '{one}'" if more < 0.5 else f"type IN ('{one}', '{other}')"}


def _features(dice: float, more: float) -> Fields:
    wanted = f"features = '{FEATURES[int(dice * 4)]}'"
    return {"where": f"{wanted} OR (pets = TRUE AND NOT type = 'room')" if more < 0.5 else wanted}


def _there(dice: float, _: float) -> Fields:
    return {"where": f"features EXISTS AND type != '{TYPES[int(dice * 4)]}'"}


_WHERES: tuple[tuple[float, Callable[[float, float], Fields]], ...] = (
    (0.3, _no_where),
    (0.25, _range),
    (0.2, _rooms),
    (0.15, _kind),
    (0.05, _features),
    (0.05, _there),
)


# ---- areas ----------------------------------------------------------------------------------

Box = list[float]


def _box(box: Box, _: float) -> Fields:
    return {"area": box}


def _circle(box: Box, dice: float) -> Fields:
    center = [(box[0] + box[2]) / 2, (box[1] + box[3]) / 2]
    return {"area": {"type": "Circle", "center": center, "radius_m": round(1_000 + dice * 1e6)}}


def _two_boxes(box: Box, dice: float) -> Fields:
    """Return the box in two parts with a gap between them."""
    west, south, east, north = box
    cut = west + (east - west) * (0.3 + 0.2 * dice)
    return {"area": [[west, south, cut, north], [cut + (east - cut) / 4, south, east, north]]}


def _except(box: Box, dice: float) -> Fields:
    west, south, east, north = box
    share = 0.2 + 0.5 * dice
    hole = [west, south, west + (east - west) * share, south + (north - south) * share]
    return {"area": box, "except": hole}


def _anywhere(_: Box, __: float) -> Fields:
    return {}


_AREAS: tuple[tuple[float, Callable[[Box, float], Fields]], ...] = (
    (0.5, _box),
    (0.15, _circle),
    (0.15, _two_boxes),
    (0.1, _except),
    (0.1, _anywhere),
)
