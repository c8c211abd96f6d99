"""Kinds on the command line: ``NAME`` or ``NAME:PARAMETER=VALUE…``; another name is wrong usage."""

from __future__ import annotations

from argparse import ArgumentTypeError
from typing import TYPE_CHECKING, Any

from nearcast.arguments import read_kind
from nearcast.errors import InvalidParameterError
from nearcast.hub import topk_kinds
from nearcast.matcher import DEFAULT_INDEX, indexes

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from nearcast.arguments import Parameter

_METAVAR = "NAME[:PARAMETER=VALUE…]"


def add_kind_option(command: argparse.ArgumentParser) -> None:
    """Add the option that chooses an index kind, maybe with parameters."""
    _add(command, "--index", DEFAULT_INDEX, "index kind", [kind.name for kind in indexes()])


def add_topk_option(command: argparse.ArgumentParser) -> None:
    """Add the option that chooses a kind of top-k arrival, maybe with parameters."""
    arrivals = [kind.name for kind in topk_kinds()]
    _add(command, "--topk", "auto", "kind of top-k arrival", arrivals)


def _add(
    command: argparse.ArgumentParser, option: str, default: str, help: str, names: list[str]
) -> None:
    kinds = _Kinds(names)
    command.add_argument(
        option, type=kinds.read, choices=kinds, default=default, metavar=_METAVAR, help=help
    )


class _Kinds:
    """The choices of an option: listed by name, and read with their parameters."""

    def __init__(self, names: list[str]) -> None:
        self._names = names

    def read(self, text: str) -> tuple[str, dict[str, Parameter]]:
        """Read one."""
        try:
            kind, parameters = read_kind(text)
        except InvalidParameterError as error:
            raise ArgumentTypeError(str(error)) from None
        if kind not in self._names:
            msg = f"got {kind!r}, wanted one of {', '.join(self._names)}"
            raise ArgumentTypeError(msg)
        return kind, parameters

    def __contains__(self, value: Any) -> bool:  # noqa: ANN401 — whatever argparse asks for
        """Whether it was read, which refuses what is none."""
        return isinstance(value, tuple) or value in self._names

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names, for completion."""
        return iter(self._names)
