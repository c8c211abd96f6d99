"""`nearcast index list`: which index kinds are there, and what can they be told?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from nearcast.matcher import indexes

if TYPE_CHECKING:
    import argparse


def add_parser(commands: Any) -> None:  # noqa: ANN401 — argparse hides the type
    """Add the command."""
    command = commands.add_parser("index", help="what index kinds there are")
    actions = command.add_subparsers(metavar="ACTION", required=True)
    listing = actions.add_parser("list", help="list the index kinds and their parameters")
    listing.add_argument("--json", action="store_true", help="one JSON object per kind")
    listing.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the kinds."""
    for kind in indexes():
        parameters = {spec.name: spec.default for spec in kind.parameters}
        if args.json:
            names = {"name": kind.name, "stands_for": kind.stands_for or None}
            fields = {"capabilities": kind.capabilities, "parameters": parameters}
            print(json.dumps({**names, "summary": kind.summary, **fields}))
            continue
        print(f"{kind.name:<14} {kind.summary}")
        for spec in () if kind.stands_for else kind.parameters:
            print(f"{'':<16}{spec.name}={spec.default}: {spec.meaning}")
    return 0
