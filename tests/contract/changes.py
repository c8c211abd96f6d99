"""Changes as rows that can be compared."""

from __future__ import annotations

from typing import Any

_NAMES = ("event", "subscription", "message", "change", "reason")


def rows(changes: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """Return changes in one order, with scores in the units in which they are compared."""
    return sorted(
        (*(change[name] for name in _NAMES), _units(change.get("score"))) for change in changes
    )


def _units(score: float | None) -> int | None:
    return -(2**40) if score is None else round(score * 1e9)
