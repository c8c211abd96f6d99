"""Lines as msgspec reads them: the good path, which nearly all lines take.

These types accept less than the event format does, and nothing that it does not: places in two or
four numbers, times in numbers or text, no nulls, no unknown fields. A line that they refuse may
still be an event; `nearcast.events.read_event` decides, and alone says what is wrong with a line.
What cannot be said by a type (ranges, names of attributes, empty ids) is checked where the values
are taken into columns.

Subscriptions of plain words and boxes are taken as well; others are read by `nearcast.events`.
"""

from __future__ import annotations

from typing import Any

from msgspec import Raw, Struct
from msgspec.json import Decoder, Encoder

# The types say what a line may hold. None is what a line that lacks the field leaves behind; a line
# with a null is refused. Values refer to nothing that could refer to them: gc=False.


class SubscribeLine(
    Struct,
    tag_field="op",
    tag="subscribe",
    forbid_unknown_fields=True,
    gc=False,
    rename={"except_": "except"},
):
    """A subscription; `where` and `except` are only seen to be there."""

    id: str
    mode: str = None  # type: ignore[assignment]
    keywords: str | list[str] = None  # type: ignore[assignment]
    area: list[Any] | dict[str, Any] = None  # type: ignore[assignment]
    except_: Raw = None  # type: ignore[assignment]
    where: Raw = None  # type: ignore[assignment]
    at: list[Any] | dict[str, Any] = None  # type: ignore[assignment]
    k: int = None  # type: ignore[assignment]
    alpha: float = None  # type: ignore[assignment]
    threshold: float = None  # type: ignore[assignment]
    live: bool = False
    expires: float | str = None  # type: ignore[assignment]
    time: float | str = None  # type: ignore[assignment]
    replace: bool = False


class PublishLine(Struct, tag_field="op", tag="publish", forbid_unknown_fields=True, gc=False):
    """A message."""

    id: str
    text: str
    at: tuple[float, float] = None  # type: ignore[assignment]
    bbox: tuple[float, float, float, float] = None  # type: ignore[assignment]
    attributes: dict[str, float | bool | str | list[str]] = None  # type: ignore[assignment]
    time: float | str = None  # type: ignore[assignment]
    expires: float | str = None  # type: ignore[assignment]
    replace: bool = False


class MoveLine(Struct, tag_field="op", tag="move", forbid_unknown_fields=True, gc=False):
    """A move; areas of any form."""

    id: str
    area: list[Any] | dict[str, Any] = None  # type: ignore[assignment]
    at: list[Any] | dict[str, Any] = None  # type: ignore[assignment]
    time: float | str = None  # type: ignore[assignment]


class RetractLine(Struct, tag_field="op", tag="retract", forbid_unknown_fields=True, gc=False):
    """A retraction."""

    id: str
    time: float | str = None  # type: ignore[assignment]


class UnsubscribeLine(
    Struct, tag_field="op", tag="unsubscribe", forbid_unknown_fields=True, gc=False
):
    """The end of a subscription."""

    id: str
    time: float | str = None  # type: ignore[assignment]


class AdvanceLine(Struct, tag_field="op", tag="advance", forbid_unknown_fields=True, gc=False):
    """An advance of time."""

    time: float | str


KINDS = (SubscribeLine, PublishLine, MoveLine, RetractLine, UnsubscribeLine, AdvanceLine)
"""In the order of the core's codes of ops."""

_decoder = Decoder(
    SubscribeLine | PublishLine | MoveLine | RetractLine | UnsubscribeLine | AdvanceLine
)
decode = _decoder.decode
"""Read one line."""
decode_lines = _decoder.decode_lines
"""Read lines; one value may reach over several of them, so their number has to be compared."""
decode_attributes = Decoder(dict[str, float | bool | str | list[str]]).decode
"""Read the attributes of a message."""
encode_attributes = Encoder().encode
"""Write the attributes of a message."""
REFUSED = (ValueError, RecursionError)
"""What decoders raise: `msgspec.MsgspecError` is a ValueError, and so is what Unicode raises."""
