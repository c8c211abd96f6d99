"""What both clients share: which requests there are, what answers mean, when to try again.

Nothing here waits or connects.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import quote
from uuid import uuid4

from nearcast.errors import NearcastError, Verbatim

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

Json: TypeAlias = dict[str, Any]
NDJSON = "application/x-ndjson"
_AGAIN = frozenset({429, 502, 503, 504})


class ClientError(NearcastError):
    """What the service refused, in its own words, or that it cannot be reached.

    `status` is that of HTTP, or 0 if there was no answer; `problem` is the whole answer.
    """

    code = "client"
    status: int = 0
    problem: Mapping[str, Any] = {}


@dataclass(frozen=True, slots=True)
class Call:
    """One request; a write has a key, so that it can be repeated."""

    method: str
    path: str
    query: dict[str, Any] = field(default_factory=dict)
    body: Any = None
    content: bytes | None = None
    key: str | None = None

    def headers(self) -> dict[str, str]:
        """Return the headers that belong to it."""
        found = {}
        if self.key is not None:
            found["idempotency-key"] = self.key
        if self.content is not None:
            found["content-type"] = NDJSON
        return found


def _write(method: str, path: str, body: Any = None, **query: Any) -> Call:  # noqa: ANN401
    asked = {name: value for name, value in query.items() if value is not None}
    return Call(method, path, asked, body, key=uuid4().hex)


def _named(kind: str, id: str, rest: str = "") -> str:
    return f"/v1/{kind}/{quote(id, safe='')}{rest}"


class Calls:
    """The requests of one client, for the subscriber `owner`."""

    def __init__(self, owner: str | None) -> None:
        self._owner = owner

    def _own(self, fields: Json) -> Json:
        return fields if self._owner is None else {"owner": self._owner, **fields}

    def subscribe(self, id: str, fields: Json) -> Call:
        """Make a subscription."""
        return _write("POST", "/v1/subscriptions", self._own({"id": id, **fields}))

    def replace(self, id: str, fields: Json) -> Call:
        """Put another definition in the place of one."""
        return _write("PUT", _named("subscriptions", id), self._own(fields))

    def move(self, id: str, fields: Json) -> Call:
        """Give a subscription another place."""
        return _write("POST", _named("subscriptions", id, "/move"), fields, owner=self._owner)

    def unsubscribe(self, id: str) -> Call:
        """End a subscription."""
        return _write("DELETE", _named("subscriptions", id), owner=self._owner)

    def subscription(self, id: str, rest: str = "") -> Call:
        """Read a subscription, or what it holds."""
        return self._question(_named("subscriptions", id, rest))

    def subscriptions(self, after: str | None, bbox: Iterable[float] | None) -> Call:
        """Read a page of subscriptions."""
        box = None if bbox is None else ",".join(map(str, bbox))
        return self._question("/v1/subscriptions", after=after, bbox=box, limit=1000)

    def _question(self, path: str, **query: Any) -> Call:  # noqa: ANN401
        asked = {"owner": self._owner, **query}
        return Call("GET", path, {k: v for k, v in asked.items() if v is not None})

    def publish(self, id: str | None, text: str, fields: Json) -> Call:
        """Publish a message."""
        body = {"text": text, **fields}
        return _write("POST", "/v1/messages", body if id is None else {"id": id, **body})

    def lines(self, path: str, some: Iterable[Json]) -> Call:
        """Send many lines."""
        content = "\n".join(json.dumps(one) for one in some).encode()
        return Call("POST", path, content=content, key=uuid4().hex)

    def retract(self, id: str) -> Call:
        """Take a message back."""
        return _write("DELETE", _named("messages", id))

    def match(self, messages: list[Json], explain: list[str] | None) -> Call:
        """Ask what would match."""
        body: Json = self._own({"messages": messages})
        return Call(
            "POST", "/v1/match", body=body if explain is None else {**body, "explain": explain}
        )

    def draft(self, fields: Json) -> Call:
        """Ask how many recent messages a draft would have had."""
        return Call("POST", "/v1/subscriptions/draft", body=fields)

    def stats(self) -> Call:
        """Ask for sizes."""
        return Call("GET", "/v1/stats")

    def stream(self, after: int | None) -> Call:
        """Follow deliveries."""
        return self._question("/v1/stream", after=after)


def is_temporary(status: int) -> bool:
    """Whether it makes sense to ask again."""
    return status in _AGAIN


def wait_s(attempt: int, most: float = 20.0) -> float:
    """Return how long to wait before the next attempt, the first being 0."""
    share: float = random.uniform(0.5, 1.0)
    longest: float = 0.1 * 2 ** min(attempt, 20)
    return min(most, longest) * share


def read_answer(status: int, content: bytes, kind: str) -> Any:  # noqa: ANN401
    """Return what an answer says, or raise the problem that it is."""
    if status >= 400:
        raise _error(status, content)
    if kind.startswith(NDJSON):
        return [json.loads(line) for line in content.splitlines()]
    return json.loads(content) if content else None


def _error(status: int, content: bytes) -> ClientError:
    try:
        said = json.loads(content)
    except ValueError:
        said = {}
    if not isinstance(said, dict):
        said = {}
    error = ClientError(
        said.get("what") or f"service answers {status}",
        got=None if said.get("got") is None else Verbatim(said["got"]),
        wanted=said.get("wanted"),
        hint=said.get("hint"),
        field=said.get("field"),
    )
    error.status, error.problem = status, said
    return error


def unreachable(url: str, cause: Exception) -> ClientError:
    """Return the error that there was no answer."""
    what = f"service at {url} cannot be reached"
    return ClientError(what, got=Verbatim(f"{type(cause).__name__}: {cause}"))


class Follower:
    """Reads the lines of a stream, and knows where to go on when it breaks.

    Examples
    --------
    >>> follower = Follower(None)
    >>> lines = ["id: 7", 'data: {"type": "change", "number": 7}', ""]
    >>> [one["number"] for line in lines for one in follower.feed(line)], follower.position
    ([7], 7)
    """

    def __init__(self, after: int | None) -> None:
        self.position = after
        self._kind = "message"
        self._data: str | None = None

    def begin(self) -> None:
        """Forget what was half read: a new connection begins."""
        self._kind, self._data = "message", None

    def feed(self, line: str) -> Iterator[Json]:
        """Take one line; yield the delivery that it completes, if it is a new one."""
        if line.startswith("data: "):
            self._data = line[6:]
        elif line.startswith("event: "):
            self._kind = line[7:]
        elif not line and self._data is not None:
            kind, data = self._kind, json.loads(self._data)
            self.begin()
            yield from self._event(kind, data)

    def _event(self, kind: str, data: Json) -> Iterator[Json]:
        if kind == "reset":
            yield {"type": "reset"}
        elif kind == "ready":
            self.position = data["number"]
            yield data
        elif kind == "current":
            yield data
        elif kind == "message" and (self.position is None or data["number"] > self.position):
            self.position = data["number"]
            yield data
