"""`nearcast validate`: is each line of a file an event?"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from nearcast.cli import event_input
from nearcast.cli.event_input import Complaints, open_events
from nearcast.event_table import read_events

if TYPE_CHECKING:
    import argparse


def add_parser(commands: Any) -> None:  # noqa: ANN401 — argparse hides the type
    """Add the command."""
    command = commands.add_parser(
        "validate",
        help="check files of events, line by line",
        description="Report every line that is no event: what is wrong, where, and what would be "
        "right. Each line counts for itself: what depends on the lines before it, such as an id "
        "that is in use, is found by replay --on-error skip.",
    )
    command.add_argument("events", nargs="+", metavar="EVENTS", help=event_input.HELP)
    command.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Check all files; return 1 if a line is bad."""
    bad = good = 0
    for path in args.events:
        with open_events(path, "validate") as source:
            complain = Complaints(source.name)
            for first, lines in source.blocks():
                good += read_events(lines, first=first, on_error=complain).num_rows
            bad += complain.count
    print(f"{good + bad} events, {bad} of them bad", file=sys.stderr)
    return 1 if bad else 0
