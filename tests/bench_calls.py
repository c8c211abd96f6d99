"""Calls of a command as from a terminal, and a progress that is only counted."""

from __future__ import annotations

import argparse
from typing import Any


def call(module: Any, *arguments: object) -> int:
    """Parse arguments with a module's parser and run what they ask for."""
    parser = argparse.ArgumentParser()
    module.add_parser(parser.add_subparsers())
    try:
        args = parser.parse_args([str(argument) for argument in arguments])
    except SystemExit as leaving:  # wrong usage
        return int(leaving.code or 0)
    code: int = args.run(args)
    return code


class Silent:
    """Remembers the steps it is told of."""

    def __init__(self) -> None:
        self.steps: list[str] = []

    def step(self, description: str) -> None:
        """One more step begins."""
        self.steps.append(description)
