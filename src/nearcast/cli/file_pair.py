"""A file of subscriptions and a file of messages, which `match` and `explain` read.

Times do not count: every message meets every subscription as the file leaves it at its end, after
replacing, moving and unsubscribing. So neither `time` nor `expires` is looked at.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, TypeAlias

import pyarrow.compute as pc

from nearcast.cli import event_input
from nearcast.cli.usage import UsageError
from nearcast.errors import InvalidEventError, NearcastError
from nearcast.event_table import read_events
from nearcast.events import Move, Publish, Subscribe, Unsubscribe

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Iterator

    import pyarrow as pa

    from nearcast.cli.event_input import EventInput
    from nearcast.events import Event

BATCH = 10_000

SubscriptionEvent: TypeAlias = Subscribe | Move | Unsubscribe
OnError: TypeAlias = "Callable[[int, NearcastError], None] | None"


def add_files(command: argparse.ArgumentParser) -> None:
    """Add the arguments that name both files."""
    add = command.add_argument
    add("subscriptions", metavar="SUBSCRIPTIONS", help=f"subscribe events: {event_input.HELP}")
    add("messages", metavar="MESSAGES", help="publish events, likewise")


@contextmanager
def open_files(args: argparse.Namespace, title: str) -> Iterator[tuple[EventInput, EventInput]]:
    """Open the files of subscriptions and of messages; `title` says what messages are read for."""
    if args.subscriptions == args.messages == event_input.STDIN:
        what = "subscriptions and messages are both stdin"
        raise UsageError(what, got="- -", wanted="a file for one of them")
    with (
        event_input.open_events(args.subscriptions, "subscribe") as subscriptions,
        event_input.open_events(args.messages, title) as messages,
    ):
        yield subscriptions, messages


def read_subscriptions(
    source: EventInput, on_error: OnError
) -> Iterator[tuple[int, SubscriptionEvent]]:
    """Yield what the lines say about subscriptions, without times."""
    for line, event in source.events(on_error):
        if isinstance(event, Subscribe):
            yield line, replace(event, time=None, expires=None)
        elif isinstance(event, (Move, Unsubscribe)):
            yield line, replace(event, time=None)
        else:
            _refuse(line, event, "subscriptions", "subscribe, move or unsubscribe", on_error)


def read_messages(source: EventInput, on_error: OnError) -> Iterator[tuple[int, Publish]]:
    """Yield the messages, without times; what was published under an id before does not matter."""
    for line, event in source.events(on_error):
        if isinstance(event, Publish):
            yield line, replace(event, time=None, expires=None, replace=False)
        else:
            _refuse(line, event, "messages", "publish", on_error)


def message_tables(source: EventInput, on_error: OnError) -> Iterator[pa.Table]:
    """Yield the same messages as tables of events, which keep the numbers of their lines."""
    for first, lines in source.blocks():
        refused: dict[int, NearcastError] = {}
        table = read_events(lines, first=first, on_error=refused.__setitem__)
        is_message = pc.equal(table["op"], "publish")
        others = table.filter(pc.invert(is_message))
        for line, op in zip(others["event"].to_pylist(), others["op"].to_pylist(), strict=True):
            refused[line] = _other_event(op, "messages", "publish")
        messages = table.filter(is_message).drop_columns(["time", "expires", "replace"])
        if refused and on_error is None:
            line = min(refused)
            yield messages.filter(pc.less(messages["event"], line))
            refused[line].event = line
            raise refused[line]
        for line in sorted(refused):
            on_error(line, refused[line])  # type: ignore[misc]
        yield messages


def in_batches(
    numbered: Iterable[tuple[int, Event]],
) -> Iterator[tuple[list[int], list[Event]]]:
    """Yield lines and events of many at a time."""
    rest = iter(numbered)
    while batch := list(islice(rest, BATCH)):
        yield [line for line, _ in batch], [event for _, event in batch]


def _refuse(line: int, event: Event, noun: str, wanted: str, on_error: OnError) -> None:
    error = _other_event(type(event).__name__.lower(), noun, wanted)
    if on_error is None:
        error.event = line
        raise error
    on_error(line, error)


def _other_event(op: str, noun: str, wanted: str) -> InvalidEventError:
    return InvalidEventError(f"a file of {noun} has another event", got=op, wanted=wanted)
