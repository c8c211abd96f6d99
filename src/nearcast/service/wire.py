"""Which event does a body ask for? The fields of events are passed through, never read here.

A subscription in HTTP is an event without `op`, with three fields of the service's own: `owner`,
`metadata` and `noise`. What is checked here is what only the service limits; whether it is a
subscription or a message, `nearcast.events` says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import uuid4

import msgspec

from nearcast.errors import shown
from nearcast.events import read_time
from nearcast.service.batches import hub_id, split_id
from nearcast.service.noise import noise_from
from nearcast.service.places import box_of, cell_of
from nearcast.service.problems import MalformedError, TooLargeError

if TYPE_CHECKING:
    from nearcast.errors import NearcastError
    from nearcast.service.jobs import Fields
    from nearcast.service.noise import Noise
    from nearcast.service.settings import Limits

OWN_FIELDS = ("owner", "metadata", "noise")
MAX_ID = 512
_decode = msgspec.json.Decoder().decode
_SUBSCRIPTION_OPS = ("subscribe", "move", "unsubscribe")
_MESSAGE_OPS = ("publish", "retract")


def decode_object(body: bytes, what: str = "body") -> dict[str, Any]:
    """Read a JSON object."""
    try:
        value = _decode(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        reason = str(error) if isinstance(error, msgspec.DecodeError) else "it cannot be read"
        msg = f"{what} is not JSON: {reason}"
        raise MalformedError(msg, wanted="one JSON object") from None
    if type(value) is not dict:
        msg = f"{what} is not an object"
        raise MalformedError(msg, got=value, wanted="one JSON object")
    return value


def publish_fields(fields: dict[str, Any], *, id: str | None = None) -> Fields:
    """Return the event that publishes what a body says; an id is made where none is given."""
    event: Fields = {"op": "publish", "id": id}
    event.update(fields)
    if fields.get("op", "publish") != "publish":
        msg = "op is another"
        raise MalformedError(msg, got=fields["op"], wanted="'publish', or no op")
    if id is not None:
        _same_id(fields, id)
        event["id"] = id
    elif event["id"] is None:
        event["id"] = uuid4().hex
    check_id(event["id"])
    return event


def check_id(id: object) -> None:
    """Refuse an id that no row and no path could hold; what else it must be, the events say."""
    if isinstance(id, str) and (len(id) > MAX_ID or "\x00" in id):
        wanted = f"at most {MAX_ID} characters, none of them null"
        msg = "id is too long, or has a null in it"
        raise MalformedError(msg, got=id, wanted=wanted)


def _same_id(fields: dict[str, Any], id: str) -> None:
    if fields.get("id", id) != id:
        what = "id in the body is not that in the path"
        raise MalformedError(what, got=fields["id"], wanted=repr(id), field="id")


class Subscription:
    """What a body says about a subscription: the event, and what the service keeps beside it."""

    __slots__ = ("definition", "fields", "id", "metadata", "noise", "owner")

    def __init__(
        self, body: dict[str, Any], owner: str, limits: Limits, *, id: str | None = None
    ) -> None:
        if body.get("op", "subscribe") != "subscribe":
            msg = "op is another"
            raise MalformedError(msg, got=body["op"], wanted="'subscribe', or no op")
        definition = {k: v for k, v in body.items() if k not in OWN_FIELDS and k != "op"}
        if id is None:
            id = definition.get("id")
            if id is None:
                id = definition["id"] = uuid4().hex
        else:
            _same_id(definition, id)
            definition["id"] = id
        check_id(id)
        self.owner, self.id = owner, id
        self.definition = definition
        self.metadata = _metadata(body.get("metadata"), limits)
        self.noise: Noise | None = noise_from(body.get("noise"))
        check_sizes(definition, limits)
        self.fields: Fields = {"op": "subscribe", **definition}
        if isinstance(id, str):
            self.fields["id"] = hub_id(owner, id) if id else ""

    def row(self, event: int, at: float) -> dict[str, Any]:
        """Return what is kept."""
        said = self.definition
        box = box_of(said.get("area") or said.get("at"))
        west, south, east, north = box or (None, None, None, None)
        kept = {k: v for k, v in said.items() if k not in ("id", "time", "replace")}
        return {
            "owner": self.owner,
            "id": self.id,
            "definition": msgspec.json.encode(kept),
            "moved": None,
            "metadata": self.metadata,
            "noise": None if self.noise is None else msgspec.json.encode(self.noise),
            "mode": said.get("mode", "match"),
            "is_live": said.get("live") is True,
            "expires": None
            if said.get("expires") is None
            else read_time(said["expires"], "expires"),
            "cell": cell_of(box),
            "west": west,
            "south": south,
            "east": east,
            "north": north,
            "created": at,
            "changed": at,
            "event": event,
        }


def _metadata(value: object, limits: Limits) -> bytes | None:
    if value is None:
        return None
    if not isinstance(value, dict):
        msg = "metadata is not an object"
        raise MalformedError(msg, got=value, wanted="an object")
    content = msgspec.json.encode(value)
    if len(content) > limits.metadata_bytes:
        wanted = f"at most {limits.metadata_bytes} bytes"
        msg = "metadata is too large"
        raise TooLargeError(msg, got=len(content), wanted=wanted)
    return content


def check_sizes(definition: dict[str, Any], limits: Limits) -> None:
    """Refuse expressions and areas that take more than their share of work."""
    for name in ("keywords", "where"):
        value = definition.get(name)
        size = len(value) if isinstance(value, str) else 0
        if isinstance(value, list):
            size = sum(len(word) for word in value if isinstance(word, str)) + len(value)
        if size > limits.expression_characters:
            wanted = f"at most {limits.expression_characters} characters"
            msg = f"{name} is too long"
            raise TooLargeError(msg, got=size, wanted=wanted, field=name)
    for name in ("area", "except"):
        corners = _corners(definition.get(name))
        if corners > limits.corners:
            wanted = f"at most {limits.corners} corners"
            msg = f"{name} is too detailed"
            raise TooLargeError(msg, got=corners, wanted=wanted, field=name)


def _corners(value: object) -> int:
    found, waiting = 0, [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            waiting += one.values()
        elif isinstance(one, list):
            if one and isinstance(one[0], (int, float)):
                found += 1
            else:
                waiting += one
    return found


def message_line(fields: dict[str, Any]) -> Fields:
    """Return the event of one line of a bulk: it publishes, unless it says that it retracts."""
    op = fields.get("op", "publish")
    if op == "publish":
        return publish_fields(fields)
    if op not in _MESSAGE_OPS:
        msg = "op is another"
        raise MalformedError(msg, got=op, wanted=" or ".join(_MESSAGE_OPS), field="op")
    return {"op": op, **fields}


def subscription_op(fields: dict[str, Any]) -> str:
    """Return what a line of a bulk of subscriptions wants."""
    op = fields.get("op", "subscribe")
    if op not in _SUBSCRIPTION_OPS:
        wanted = ", ".join(_SUBSCRIPTION_OPS)
        msg = "op is another"
        raise MalformedError(msg, got=op, wanted=f"one of {wanted}", field="op")
    return str(op)


def with_own_ids(error: NearcastError, name: object) -> NearcastError:
    """Let an error speak of a subscription as its owner does: without the owner in front."""
    if isinstance(name, str) and "/" in name:
        _, id = split_id(name)
        error.what = error.what.replace(shown(name), shown(id))
        error.args = (error.what,)
    return error
