"""The kinds of the registry, with their parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import nearcast as nc
from nearcast.hub import topk_parameters
from tools.docs.tables import code, table

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nearcast._core import IndexKind, ParameterSpec


def page() -> str:
    """Return the page."""
    intro = (
        "# Index kinds\n\nEvery kind gives the same answers; only time and memory differ. `auto` "
        "is the default and stands for the kind that the library chooses. Where the ideas come "
        "from: [the papers](../docs/papers.md).\n"
    )
    return "\n".join([intro, *map(_kind, nc.indexes()), _tops()])


def _kind(kind: IndexKind) -> str:
    stands_for = f" It stands for `{kind.stands_for}`." if kind.stands_for else ""
    can = f" Can: {', '.join(kind.capabilities)}."
    own = "" if kind.stands_for else _parameters(kind.parameters)
    return f"## {kind.name}\n\n{_sentence(kind.summary)}{stands_for}{can}\n\n{own}"


def _tops() -> str:
    arrival = [(code(kind.name), kind.summary) for kind in nc.topk_kinds()]
    kept = [(code(kind.name), kind.summary) for kind in nc.expiry_kinds()]
    return (
        "## Top lists: how a message finds the lists that it enters\n\n"
        f"`Hub(topk=…)`, `nearcast replay --topk`.\n\n{table(('kind', 'what it does'), arrival)}\n"
        "## Top lists: what is kept beyond the k best\n\n"
        f"`Hub(expiry=…)`, `nearcast replay --expiry`.\n\n{table(('kind', 'what is kept'), kept)}\n"
        f"## Top lists: parameters\n\n{_parameters(topk_parameters())}"
    )


def _parameters(found: Iterable[ParameterSpec]) -> str:
    rows = [(code(p.name), _range(p), code(str(p.default)), p.meaning) for p in found]
    return table(("parameter", "values", "default", "meaning"), rows) if rows else ""


def _range(spec: ParameterSpec) -> str:
    if spec.choices:
        return ", ".join(map(code, spec.choices))
    if isinstance(spec.default, bool):
        return "true or false"
    kind = "whole number" if spec.is_whole else "number"
    return f"{kind} from {spec.minimum:g} to {spec.maximum:g}"


def _sentence(text: str) -> str:
    text = text[:1].upper() + text[1:]
    return text if text.endswith(".") else f"{text}."
