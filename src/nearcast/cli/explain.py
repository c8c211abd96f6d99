"""`nearcast explain`: why does a message of a file match a subscription of another, or why not?"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn

from nearcast.cli.event_input import EventInput, report
from nearcast.cli.file_pair import (
    add_files,
    in_batches,
    open_files,
    read_messages,
    read_subscriptions,
)
from nearcast.cli.near_misses import NearMisses
from nearcast.errors import NearcastError, UnknownIdError, Verbatim, shown
from nearcast.events import Move, Publish, Subscribe, Unsubscribe
from nearcast.hub import Hub
from nearcast.model import Bbox
from nearcast.weights import read_weights

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from nearcast.explain import Explanation


def add_parser(commands: Any) -> None:  # noqa: ANN401 — argparse hides the type
    """Add the command."""
    command = commands.add_parser(
        "explain",
        help="say why a message matches a subscription, or what is missing",
        description="Explain one message, or all near misses of a subscription: messages that "
        "would match if it asked for one thing less (a keyword, a comparison, the area), or, in "
        "mode rank, that miss the threshold by at most a tenth of it.",
    )
    add_files(command)
    command.add_argument("--subscription", required=True, metavar="ID", help="which to explain")
    command.add_argument("--message", metavar="ID", help="which to explain (near misses)")
    command.add_argument("--weights", metavar="FILE", help="weights epoch, JSON")
    command.add_argument("--json", action="store_true", help="one JSON object per line")
    command.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Explain; return 1 if a line is bad or an id is not there."""
    weights = None if args.weights is None else read_weights(args.weights)
    hub = Hub(weights=weights)
    with open_files(args, "explain") as (subscriptions, messages):
        source = subscriptions
        try:
            wanted = _definition(source, args.subscription)
            hub.apply([wanted])
            source = messages
            found = _near(messages, wanted) if args.message is None else _named(messages, args)
            for message in found:
                _print(message, args.subscription, _explained(hub, wanted, message), args)
        except NearcastError as error:
            if error.event is None or isinstance(error, UnknownIdError):
                raise
            report(source.name, error.event, error)
            return 1
    return 0


def _definition(source: EventInput, id_: str) -> Subscribe:
    """Return the subscription as the file leaves it."""
    hub = Hub()  # which refuses what does not follow from the lines before
    known: Subscribe | None = None
    for lines, batch in in_batches(read_subscriptions(source, None)):
        about = [(line, event) for line, event in zip(lines, batch, strict=True) if event.id == id_]
        for line, event in about:
            try:
                hub.apply([event], first=line)
            except NearcastError as error:
                error.event = line
                raise
            if isinstance(event, Subscribe):
                known = event
            elif isinstance(event, Unsubscribe):
                known = None
            elif known is not None and isinstance(event, Move):
                known = replace(known, area=event.area, at=event.at)
    if known is None:
        _refuse_unknown("subscription", id_, source)
    return known


def _named(source: EventInput, args: argparse.Namespace) -> Iterator[Publish]:
    is_there = False
    for _, message in read_messages(source, None):
        if message.id == args.message:
            is_there = True
            yield message
    if not is_there:
        _refuse_unknown("message", args.message, source)


def _near(source: EventInput, wanted: Subscribe) -> Iterator[Publish]:
    misses = NearMisses(wanted)
    for _, batch in in_batches(read_messages(source, None)):
        yield from misses.among([event for event in batch if isinstance(event, Publish)])


def _explained(hub: Hub, wanted: Subscribe, message: Publish) -> Explanation:
    place = message.place
    fields: dict[str, Any] = {"bbox": place} if isinstance(place, Bbox) else {"at": place}
    if message.attributes:
        fields["attributes"] = message.attributes
    return hub.explain(wanted.id, message.text, **fields)


def _print(
    message: Publish, subscription: str, explanation: Explanation, args: argparse.Namespace
) -> None:
    if args.json:
        row = {"message": message.id, "subscription": subscription}
        print(json.dumps({**row, "matches": explanation.matches, "why": str(explanation)}))
    else:
        print(f"{message.id}: {explanation}")
    sys.stdout.flush()


def _refuse_unknown(noun: str, id_: str, source: EventInput) -> NoReturn:
    what = f"{noun} {shown(id_)}"
    raise UnknownIdError(what, got=Verbatim(f"no such id in {source.name}"), wanted="one there")
