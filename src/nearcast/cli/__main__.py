"""`nearcast`: data to stdout, everything else to stderr; exit 2 for wrong usage, 1 for failure."""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from typing import TYPE_CHECKING

import nearcast
from nearcast.cli import (
    bench,
    completion,
    demo,
    explain,
    generate,
    index,
    match,
    replay,
    serve,
    spark,
    validate,
)
from nearcast.cli.usage import UsageError
from nearcast.errors import KeepsNothingWarning, NearcastError

if TYPE_CHECKING:
    from collections.abc import Sequence

_QUESTIONS = (match, explain, validate)
_COMMANDS = (replay, *_QUESTIONS, serve, demo, bench, generate, index, spark, completion)


def parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    top = argparse.ArgumentParser(
        prog="nearcast", description="Saved searches with a place, matched as things happen."
    )
    top.add_argument("--version", action="version", version=f"nearcast {nearcast.__version__}")
    commands = top.add_subparsers(metavar="COMMAND", required=True)
    for command in _COMMANDS:
        command.add_parser(commands)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return the exit code."""
    args = parser().parse_args(arguments)
    try:
        with warnings.catch_warnings():  # what a command warns of it says itself
            warnings.simplefilter("ignore", KeepsNothingWarning)
            code: int = args.run(args)
        sys.stdout.flush()
    except UsageError as error:
        return fail(error.summary, error.hint, code=2)
    except NearcastError as error:
        return fail(error.summary, error.hint)
    except BrokenPipeError:
        # The reader has gone, as `| head` does: not our failure. Python would complain at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        return fail(str(error))
    except KeyboardInterrupt:
        return fail("interrupted")
    return code


def fail(message: str, hint: str | None = None, *, code: int = 1) -> int:
    """Say what went wrong on stderr and return the exit code."""
    print(f"error: {message}", file=sys.stderr)
    if hint:
        print(f"\nhint: {hint}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
