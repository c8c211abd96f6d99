"""What does a request want done, and what did it come to?"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from nearcast.service.problems import problem_bytes, status_of

if TYPE_CHECKING:
    from asyncio import Future
    from collections.abc import Callable, Sequence

    import pyarrow as pa

    from nearcast.errors import NearcastError
    from nearcast.service.store import Records

Fields: TypeAlias = dict[str, Any]
"""An event, as `nearcast.events` reads it; `op` stands first."""
Said: TypeAlias = Fields | bytes
"""An event, or the body of a message that is plain (see `lines`)."""


class Reply(NamedTuple):
    """What a client gets, as soon as it is durable."""

    status: int
    body: bytes


class AnswerKey(NamedTuple):
    """Under which an answer is remembered: a client's idempotency key, and the step of a bulk."""

    scope: str
    key: str
    step: int
    fingerprint: str


@dataclass(slots=True)
class Outcome:
    """What became of the events of one job: `first` is the number of the first of them."""

    first: int
    errors: dict[int, NearcastError]
    counts: list[int]
    at: float

    def error(self, place: int = 0) -> NearcastError | None:
        """Return why an event was rejected; None: it was not."""
        return self.errors.get(self.first + place)

    def changes(self, place: int = 0) -> int:
        """Return how many changes an event caused."""
        return self.counts[place] if place < len(self.counts) else 0


def no_records(_outcome: Outcome, _records: Records) -> None:
    """Write nothing beside the log."""


@dataclass(slots=True)
class Job:
    """Events that happen together, what else to write with them, and how to answer."""

    events: Sequence[Said]
    reply: Callable[[Outcome], Reply]
    records: Callable[[Outcome, Records], None] = no_records
    answer: AnswerKey | None = None
    found: pa.Table | None = None
    """Changes that another pipeline has found, in place of events."""
    origin: Fields = field(default_factory=dict)
    """Where they come from: what the log says about them."""
    remembered: Callable[[Reply], Reply] | None = None
    """What is remembered of an answer, if it must not be kept as it is: it has a secret in it."""
    future: Future[Reply] | None = field(default=None, repr=False)


def refusal(error: NearcastError) -> Reply:
    """Return an error as an answer."""
    return Reply(status_of(error), problem_bytes(error))
