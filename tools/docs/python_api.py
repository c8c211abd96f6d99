"""The Python interface: Sphinx reads the docstrings, this says of what."""

from __future__ import annotations

import importlib
from inspect import isclass, isfunction
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from types import ModuleType

MODULES: Mapping[str, str] = MappingProxyType(
    {
        "nearcast": "The library",
        "nearcast.client": "The client of the service",
        "nearcast.spark": "On Spark",
        "nearcast.events": "Events as lines",
    }
)
"""The modules whose `__all__` users call, with their titles."""


def page() -> str:
    """Return the page."""
    parts = ["# Python\n\nEverything here is typed; the extra of a module is named in its guide.\n"]
    for name, title in MODULES.items():
        parts.append(f"## {title}: `{name}`\n")
        parts += list(_members(importlib.import_module(name)))
    return "\n".join(parts)


def _members(module: ModuleType) -> Iterator[str]:
    name = module.__name__
    for member in sorted(module.__all__, key=_order(module)):
        value = getattr(module, member)
        if isclass(value):
            options = ":members:\n   :show-inheritance:" if _is_error(value) else ":members:"
            yield _directive("autoclass", f"{name}.{member}", options)
        elif isfunction(value):
            yield _directive("autofunction", f"{name}.{member}", "")


def _order(module: ModuleType) -> Callable[[str], tuple[int, str]]:
    def key(member: str) -> tuple[int, str]:
        value = getattr(module, member)
        rank = 2 if _is_error(value) else 0 if isclass(value) else 1
        return rank, member

    return key


def _is_error(value: object) -> bool:
    return isclass(value) and issubclass(value, BaseException)


def _directive(kind: str, name: str, options: str) -> str:
    told = f"\n   {options}" if options else ""
    return f"```{{eval-rst}}\n.. {kind}:: {name}{told}\n```\n"
