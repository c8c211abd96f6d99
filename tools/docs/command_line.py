"""The command line, as its parsers know it."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from nearcast.cli.__main__ import parser
from tools.docs.tables import code, table

if TYPE_CHECKING:
    from collections.abc import Iterator

_WIDTH = 100


def page() -> str:
    """Return the page."""
    top = parser()
    intro = (
        "# Command line\n\nData goes to stdout, everything else to stderr. The exit code is 0, 2 "
        "for wrong usage, 1 for any other failure. `-h` shows the same as this page.\n"
    )
    return "\n".join([intro, *(_part(*found) for found in commands(top, "nearcast", ""))])


def commands(
    found: argparse.ArgumentParser, name: str, told: str
) -> Iterator[tuple[argparse.ArgumentParser, str, str]]:
    """Yield each command that can be run: its parser, its full name, what the list says of it."""
    nested = next((a for a in found._actions if isinstance(a, argparse._SubParsersAction)), None)
    if nested is None:
        yield found, name, told
        return
    helps = {choice.dest: choice.help or "" for choice in nested._choices_actions}
    for child, inner in nested.choices.items():
        yield from commands(inner, f"{name} {child}", helps.get(child, ""))


def _part(found: argparse.ArgumentParser, name: str, told: str) -> str:
    formatter = argparse.HelpFormatter(name, width=_WIDTH)
    formatter.add_usage(None, found._actions, found._mutually_exclusive_groups, prefix="")
    usage = formatter.format_help().rstrip()
    said = (found.description or told).replace("%%", "%")
    rows = [_row(found, a) for a in found._actions if not isinstance(a, argparse._HelpAction)]
    options = table(("option", "meaning", "default"), rows) if rows else ""
    return f"## {name}\n\n{_sentence(said)}\n\n```text\n{usage}\n```\n\n{options}"


def _row(found: argparse.ArgumentParser, action: argparse.Action) -> tuple[str, str, str]:
    shown = action.metavar or (action.dest if not action.option_strings else "")
    value = " ".join(shown) if isinstance(shown, tuple) else str(shown)
    if action.nargs == 0:
        value = ""
    name = " ".join([", ".join(action.option_strings), value]).strip()
    choices = ", ".join(map(str, action.choices or ()))
    words = found._get_formatter()._expand_help(action) if action.help else ""
    means = "; ".join(filter(None, [words, f"one of {choices}" if choices else ""]))
    return code(name), means.replace("<", "&lt;"), code(_default(action))


def _default(action: argparse.Action) -> str:
    value = action.default
    if value in (None, False, argparse.SUPPRESS, (), []):
        return ""
    return " ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def _sentence(text: str) -> str:
    text = text[:1].upper() + text[1:]
    return text if text.endswith(".") or not text else f"{text}."
