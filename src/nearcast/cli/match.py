"""`nearcast match`: which messages of a file match which subscriptions of another?"""

from __future__ import annotations

import json
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from nearcast.cli.event_input import Complaints, EventInput, report
from nearcast.cli.file_pair import (
    add_files,
    in_batches,
    message_tables,
    open_files,
    read_subscriptions,
)
from nearcast.cli.kinds import add_kind_option
from nearcast.cli.replay import add_error_option
from nearcast.cli.usage import options_as_parameters
from nearcast.errors import NearcastError
from nearcast.hub import Hub
from nearcast.weights import read_weights

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    import pyarrow as pa

    from nearcast.events import Event


def add_parser(commands: Any) -> None:  # noqa: ANN401 — argparse hides the type
    """Add the command."""
    command = commands.add_parser(
        "match",
        help="print which messages match which subscriptions",
        description="Print one line of JSON for each pair, in the order of the messages. Times do "
        "not count: every message meets every subscription as the file leaves it.",
    )
    add_files(command)
    command.add_argument("--out", metavar="FILE", help="where to write the pairs (stdout)")
    add_kind_option(command)
    command.add_argument("--weights", metavar="FILE", help="weights epoch, JSON")
    add_error_option(command)
    command.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Match; return 1 if a bad line stopped it."""
    weights = None if args.weights is None else read_weights(args.weights)
    index, index_parameters = args.index
    with options_as_parameters():
        hub = Hub(index=index, index_parameters=index_parameters, weights=weights)
    skips = args.on_error == "skip"
    with ExitStack() as stack:
        subscriptions, messages = stack.enter_context(open_files(args, "match"))
        out = stack.enter_context(Path(args.out).open("wb")) if args.out else sys.stdout.buffer
        return _subscribe(hub, subscriptions, skips=skips) or _match(
            hub, messages, out, skips=skips
        )


def _subscribe(hub: Hub, source: EventInput, *, skips: bool) -> int:
    skip = Complaints(source.name)
    tops: set[str] = set()
    try:
        events = read_subscriptions(source, skip if skips else None)
        for lines, batch in in_batches(events):
            _apply(hub, lines, batch, skip, skips=skips)
            tops.update(event.id for event in batch if getattr(event, "mode", None) == "top")
    except NearcastError as error:
        return _stop(source, error)
    skip.say_skipped()
    left_out = sum(hub.mode(id_) == "top" for id_ in tops)
    if left_out:
        why = "what a top list holds depends on what else is live: see nearcast replay"
        print(f"{left_out} top subscriptions left out: {why}", file=sys.stderr)
    return 0


def _match(hub: Hub, source: EventInput, out: IO[bytes], *, skips: bool) -> int:
    skip = Complaints(source.name)
    try:
        for messages in message_tables(source, skip if skips else None):
            table = hub.apply(messages, on_error=skip if skips else None)
            out.writelines(_pairs(table))
            out.flush()
    except NearcastError as error:
        return _stop(source, error)
    skip.say_skipped()
    return 0


def _apply(
    hub: Hub, lines: list[int], batch: list[Event], skip: Complaints, *, skips: bool
) -> None:
    """Apply a batch of subscriptions."""

    def complain(row: int, error: NearcastError) -> None:
        skip(lines[row], error)

    try:
        hub.apply(batch, on_error=complain if skips else None, first=0)
    except NearcastError as error:
        if error.event is not None:
            error.event = lines[error.event]
        raise


def _pairs(changes: pa.Table) -> Iterator[bytes]:
    """Return the pairs that a batch of messages makes as lines."""
    keys = [("event", "ascending"), ("subscription", "ascending")]
    rows = changes.select(["event", "message", "subscription", "score"]).sort_by(keys)
    return map(_line, rows.to_pylist())


def _line(row: dict[str, Any]) -> bytes:
    names = ("message", "subscription", *(() if row["score"] is None else ("score",)))
    pair = {name: row[name] for name in names}
    return json.dumps(pair, separators=(",", ":")).encode() + b"\n"


def _stop(source: EventInput, error: NearcastError) -> int:
    if error.event is None:
        raise error
    report(source.name, error.event, error)
    return 1
