"""Which messages would match a subscription if it asked for one thing less?

What it asks for are the parts that its keywords and its `where` join by AND, its area and its
`except`. For each of them there is a subscription without it, if that still asks for something, and
a hub finds the messages that match one of these but not the whole. A rank subscription asks for a
score: messages that miss its threshold by at most a tenth are near.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from nearcast.errors import InvalidSubscriptionError, NearcastError, shown
from nearcast.expressions import And
from nearcast.hub import Hub

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nearcast.events import Publish, Subscribe

RANK_SHARE = 0.9
_WHOLE = "whole"


class NearMisses:
    """Finds the near misses of one subscription among messages."""

    def __init__(self, wanted: Subscribe) -> None:
        if wanted.mode == "top":
            what = f"subscription {shown(wanted.id)}: a top list has no near misses"
            raise InvalidSubscriptionError(what, got=wanted.mode, wanted="mode match or rank")
        whole = replace(wanted, id=_WHOLE, replace=False, said_keywords=None, said_where=None)
        self._hub = Hub()
        self._hub.apply([whole])
        self._hub.apply(replace(less, id=str(i)) for i, less in enumerate(_lesser(whole)))

    def among(self, messages: list[Publish]) -> Iterator[Publish]:
        """Yield the messages that are near misses, in their order."""
        found = self._hub.apply(messages, first=0)
        rows = found.column("event").to_pylist()
        pairs = zip(rows, found.column("subscription").to_pylist(), strict=True)
        hits: dict[int, set[str]] = {}
        for row, subscription in pairs:
            hits.setdefault(row, set()).add(subscription)
        for row in sorted(hits):
            if _WHOLE not in hits[row]:
                yield messages[row]


def _lesser(whole: Subscribe) -> Iterator[Subscribe]:
    """Yield the subscription with one thing less, where that is a subscription."""
    if whole.mode == "rank":
        yield replace(whole, threshold=(whole.threshold or 0.0) * RANK_SHARE)
        return
    for fields in _fewer(whole):
        try:
            yield replace(whole, **fields)
        except NearcastError:  # noqa: PERF203 — nothing is left to ask for, or next to nothing
            continue


def _fewer(whole: Subscribe) -> Iterator[dict[str, Any]]:
    for name in ("keywords", "where"):
        yield from ({name: tree} for tree in _without_one(getattr(whole, name)))
    for name in ("area", "except_"):
        if getattr(whole, name) is not None:
            yield {name: None}


def _without_one(tree: Any) -> Iterable[Any]:  # noqa: ANN401 — of keywords or of where
    """Return the trees that lack one of the parts that AND joins."""
    if tree is None:
        return []
    if not isinstance(tree, And):
        return [None]
    parts = tree.parts
    rests = [parts[:i] + parts[i + 1 :] for i in range(len(parts))]
    return [rest[0] if len(rest) == 1 else And(rest) for rest in rests]
