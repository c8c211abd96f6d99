"""`nearcast replay`: the whole system on a file of events, or on stdin."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from nearcast.cli.progress import byte_progress
from nearcast.cli.space import space_from
from nearcast.errors import NearcastError
from nearcast.events import write_change
from nearcast.hub import WORLD, Hub, changes_of, expiry_kinds, topk_kinds
from nearcast.matcher import DEFAULT_INDEX
from nearcast.model import Window
from nearcast.weights import read_weights

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator

    import pyarrow as pa

CHUNK = 1 << 20


def add_parser(commands: Any) -> None:  # noqa: ANN401 — argparse hides the type
    """Add the command."""
    command = commands.add_parser("replay", help="apply a file of events and print the changes")
    command.add_argument("events", metavar="EVENTS", help="NDJSON file, or - for stdin")
    command.add_argument("--out", metavar="FILE", help="where to write the changes (stdout)")
    command.add_argument("--index", default=DEFAULT_INDEX, metavar="NAME", help="index kind")
    window = command.add_mutually_exclusive_group()
    window.add_argument("--window-count", type=int, metavar="N", help="the newest N messages live")
    window.add_argument("--window-seconds", type=float, metavar="T", help="messages live T seconds")
    command.add_argument("--weights", metavar="FILE", help="weights epoch, JSON")
    command.add_argument("--space", metavar="W,S,E,N", help="space of the hub (the world)")
    arrivals = [kind.name for kind in topk_kinds()]
    command.add_argument("--topk", choices=arrivals, default="auto", help="kind of top-k arrival")
    expiries = [kind.name for kind in expiry_kinds()]
    command.add_argument("--expiry", choices=expiries, help="kind of top-k expiry")
    command.add_argument(
        "--on-error", choices=("stop", "skip"), default="stop", help="what a bad line does"
    )
    command.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Replay; return 1 if a bad line stopped it."""
    weights = None if args.weights is None else read_weights(args.weights)
    hub = Hub(
        index=args.index,
        window=_window(args),
        weights=weights,
        space=WORLD if args.space is None else space_from(args.space),
        topk=args.topk,
        expiry=args.expiry or "",
    )
    name = "<stdin>" if args.events == "-" else args.events
    with ExitStack() as stack:
        source = sys.stdin.buffer if args.events == "-" else stack.enter_context(open_(args.events))
        out = stack.enter_context(Path(args.out).open("wb")) if args.out else sys.stdout.buffer
        size = None if args.events == "-" else Path(args.events).stat().st_size
        advance = stack.enter_context(byte_progress("replay", size))
        return _replay(hub, source, out, name, skips=args.on_error == "skip", advance=advance)


def open_(path: str) -> IO[bytes]:
    """Open a file of events for reading."""
    return Path(path).open("rb")


def _window(args: argparse.Namespace) -> Window | None:
    if args.window_count is None and args.window_seconds is None:
        return None
    return Window(count=args.window_count, seconds=args.window_seconds)


def _replay(
    hub: Hub,
    source: IO[bytes],
    out: IO[bytes],
    name: str,
    *,
    skips: bool,
    advance: Callable[[int], None],
) -> int:
    skipped = 0

    def skip(line: int, error: NearcastError) -> None:
        nonlocal skipped
        skipped += 1
        report(name, line, error)

    first = 1
    for block in _blocks(source):
        try:
            table = hub.apply(block, on_error=skip if skips else None, first=first)
        except NearcastError as error:
            if error.event is None:
                raise
            _write(out, error.changes)
            report(name, error.event, error)
            return 1
        _write(out, table)
        first += block.count(b"\n")
        advance(len(block))
    if skipped:
        print(f"{skipped} bad lines skipped", file=sys.stderr)
    return 0


def _blocks(source: IO[bytes]) -> Iterator[bytes]:
    """Yield whole lines as they come: what a pipe has brought is not made to wait for more."""
    rest = [source.read(3).removeprefix(b"\xef\xbb\xbf")]  # pieces: a line may have many
    read = getattr(source, "read1", source.read)
    while piece := read(CHUNK):
        whole, newline, end = piece.rpartition(b"\n")
        if newline:
            yield b"".join([*rest, whole, newline])
            rest = [end]
        else:
            rest.append(piece)
    if any(rest):
        yield b"".join(rest)


def report(name: str, line: int, error: NearcastError) -> None:
    """Say on stderr which line is bad and why."""
    print(f"{name}:{line}: {error}", file=sys.stderr)
    if error.hint:
        print(f"hint: {error.hint}", file=sys.stderr)


def _write(out: IO[bytes], table: pa.Table) -> None:
    lines = [write_change(change) for change in changes_of(table)]
    if lines:
        out.write(("\n".join(lines) + "\n").encode())
        out.flush()
