"""`nearcast replay`: the whole system on a file of events, or on stdin."""

from __future__ import annotations

import sys
import warnings
from contextlib import ExitStack
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TextIO

from nearcast.changes import changes_of
from nearcast.cli import event_input
from nearcast.cli.event_input import Complaints, EventInput, open_events, report
from nearcast.cli.kinds import add_kind_option, add_topk_option
from nearcast.cli.option_types import above_zero, at_least_one
from nearcast.cli.space import space_from
from nearcast.cli.usage import options_as_parameters
from nearcast.errors import KeepsNothingWarning, NearcastError
from nearcast.events import write_change
from nearcast.hub import WORLD, Hub, expiry_kinds
from nearcast.matcher import DEFAULT_INDEX, indexes
from nearcast.model import Window
from nearcast.weights import read_weights

if TYPE_CHECKING:
    import argparse

    import pyarrow as pa


def add_parser(commands: Any) -> None:  # noqa: ANN401 — argparse hides the type
    """Add the command."""
    command = commands.add_parser("replay", help="apply a file of events and print the changes")
    command.add_argument("events", metavar="EVENTS", help=event_input.HELP)
    command.add_argument("--out", metavar="FILE", help="where to write the changes (stdout)")
    add_kind_option(command)
    window = command.add_mutually_exclusive_group()
    window.add_argument("--window-count", type=at_least_one, metavar="N", help="the newest N live")
    window.add_argument(
        "--window-seconds", type=above_zero, metavar="T", help="messages live T seconds"
    )
    command.add_argument("--weights", metavar="FILE", help="weights epoch, JSON")
    command.add_argument("--space", metavar="W,S,E,N", help="space of the hub (the world)")
    add_topk_option(command)
    expiries = [kind.name for kind in expiry_kinds()]
    command.add_argument("--expiry", choices=expiries, help="kind of top-k expiry")
    add_error_option(command)
    command.set_defaults(run=run)


def add_index_option(command: argparse.ArgumentParser) -> None:
    """Add the option that chooses an index kind."""
    kinds = [kind.name for kind in indexes()]
    command.add_argument(
        "--index", default=DEFAULT_INDEX, choices=kinds, metavar="NAME", help="index kind"
    )


def add_error_option(command: argparse.ArgumentParser) -> None:
    """Add the option that says what a bad line does."""
    command.add_argument(
        "--on-error", choices=("stop", "skip"), default="stop", help="what a bad line does"
    )


def run(args: argparse.Namespace) -> int:
    """Replay; return 1 if a bad line stopped it."""
    weights = None if args.weights is None else read_weights(args.weights)
    space = WORLD if args.space is None else space_from(args.space)
    index, index_parameters = args.index
    topk, topk_parameters = args.topk
    with options_as_parameters():
        hub = Hub(
            index=index,
            index_parameters=index_parameters,
            window=_window(args),
            weights=weights,
            space=space,
            topk=topk,
            expiry=args.expiry or "",
            topk_parameters=topk_parameters,
        )
    with ExitStack() as stack:
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("always", KeepsNothingWarning)
        warnings.showwarning = _say
        source = stack.enter_context(open_events(args.events, "replay"))
        out = stack.enter_context(Path(args.out).open("wb")) if args.out else sys.stdout.buffer
        return _replay(hub, source, out, skips=args.on_error == "skip")


def _say(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Say a warning on stderr, in the words of the command line."""
    del category, filename, lineno, file, line  # of the program, not of the log
    print(f"warning: {str(message).partition('; ')[0]}", file=sys.stderr)
    print("hint: --window-count and --window-seconds give it one", file=sys.stderr)


def _window(args: argparse.Namespace) -> Window | None:
    if args.window_count is None and args.window_seconds is None:
        return None
    return Window(count=args.window_count, seconds=args.window_seconds)


def _replay(hub: Hub, source: EventInput, out: IO[bytes], *, skips: bool) -> int:
    skip = Complaints(source.name)
    for first, lines in source.blocks():
        try:
            table = hub.apply(lines, on_error=skip if skips else None, first=first)
        except NearcastError as error:
            if error.event is None:
                raise
            _write(out, error.changes)
            report(source.name, error.event, error)
            return 1
        _write(out, table)
    skip.say_skipped()
    return 0


def _write(out: IO[bytes], table: pa.Table) -> None:
    lines = [write_change(change) for change in changes_of(table)]
    if lines:
        out.write(("\n".join(lines) + "\n").encode())
        out.flush()
