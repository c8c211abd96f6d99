"""Finds the slowest single event of each kind: what does one event pay for what came before it?

The same log is applied to several new hubs, one event at a time, and of each event the least
processor time of its thread counts: a pause that belongs to the event happens in every run, one of
the machine does not. For each kind it prints the slowest event of each sort in milliseconds.

    python tools/measure_pauses.py
    python tools/measure_pauses.py --mode match --kinds ap-tree ap+-tree --subscriptions 40000
    python tools/measure_pauses.py --mode top --kinds auto --where
    python tools/measure_pauses.py --mode match --kinds rt-tree --small-pages

`brute-force` looks at everything by definition and is left out unless it is named.
"""

from __future__ import annotations

import argparse
import ctypes
import random
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

import nearcast as nc
from nearcast import events, records

if TYPE_CHECKING:
    from collections.abc import Iterator

_WORDS = 20_000
_DISABLE_HUGE_PAGES = 41  # PR_SET_THP_DISABLE of Linux's prctl
_SORTS = {
    "subscribe": "subscribe",
    "first live": "first live",
    "subscribe live": "subscribe live",
    "publish": "publish, the oldest leaves",
    "move": "move",
    "retract": "retract",
    "unsubscribe": "unsubscribe",
}


class _Log:
    """Fill a window, subscribe, then everything at once; the words follow Zipf's law."""

    def __init__(self, subscriptions: int, messages: int, mode: str) -> None:
        self.subscriptions, self.messages, self.mode = subscriptions, messages, mode
        self.random = random.Random(7)
        count = 4 * subscriptions + 16 * messages
        self.words = iter((np.random.default_rng(7).zipf(1.2, count) % _WORDS).tolist())

    def _text(self, count: int) -> str:
        return " ".join(f"w{next(self.words)}" for _ in range(count))

    def _at(self) -> list[float]:
        return [self.random.gauss(10, 3), self.random.gauss(50, 3)]

    def _place(self) -> dict[str, Any]:
        if self.mode == "top":
            return {"at": self._at()}
        west, south = self._at()
        return {"area": [west, south, west + 0.2, south + 0.2]}

    def _publish(self, number: int) -> dict[str, Any]:
        return {"op": "publish", "id": f"m{number}", "text": self._text(8), "at": self._at()}

    def _subscribe(self, number: int, *, is_live: bool) -> dict[str, Any]:
        event = {"op": "subscribe", "id": f"s{number}", "keywords": self._text(2), **self._place()}
        terms: dict[str, Any] = {"live": is_live}
        if self.mode == "top":
            terms = {"mode": "top", "k": 5, "alpha": 0.4}
        if self.mode == "rank":
            terms |= {"mode": "rank", "alpha": 0.4, "threshold": 0.9}
        return {**event, **terms}

    def _all_at_once(self, first: int, last: int) -> Iterator[tuple[str, dict[str, Any]]]:
        for number in range(first, last):
            event = self._subscribe(number, is_live=True)
            yield "first live" if number == first else "subscribe live", event
            new = self.messages + number - first
            yield "publish", self._publish(new)
            if self.random.random() < 0.25:
                gone = new - self.random.randrange(self.messages)
                yield "retract", {"op": "retract", "id": f"m{gone}"}
            if self.random.random() < 0.5:
                # Of top subscriptions all are live; of the others the last ones.
                moved = self.random.randrange(0 if self.mode == "top" else first, number + 1)
                yield "move", {"op": "move", "id": f"s{moved}", **self._place()}

    def events(self) -> Iterator[tuple[str, dict[str, Any]]]:
        for number in range(self.messages):
            yield "fill", self._publish(number)
        for number in range(self.subscriptions):
            yield "subscribe", self._subscribe(number, is_live=False)
        last = self.subscriptions + self.messages // 4
        yield from self._all_at_once(self.subscriptions, last)
        order = list(range(last))
        self.random.shuffle(order)
        for number in order:
            yield "unsubscribe", {"op": "unsubscribe", "id": f"s{number}"}


def _hub(kind: str, mode: str, messages: int) -> nc.Hub:
    window = nc.Window(count=messages)
    return nc.Hub(window=window, topk=kind) if mode == "top" else nc.Hub(index=kind, window=window)


def _slowest(
    kind: str, mode: str, subscriptions: int, messages: int, runs: int
) -> dict[str, tuple[float, int]]:
    """Return for each sort of event the milliseconds of the slowest, and its number."""
    sorts, log = zip(*_Log(subscriptions, messages, mode).events(), strict=True)
    told = [records.core_record(events.event_from(event)) for event in log]
    least = np.full(len(told), np.inf)
    for _ in range(runs):
        # Not through Hub.measure: a table of changes for each event would take most of the time.
        core = _hub(kind, mode, messages)._core
        for row, record in enumerate(told):
            (*_, refused), _, seconds = core.measure([record])
            if refused:
                raise refused[0][1]
            least[row] = min(least[row], seconds)
    found: dict[str, tuple[float, int]] = {}
    for row in np.argsort(least):
        found[sorts[row]] = (least[row] * 1e3, int(row))
    return found


def _kinds(mode: str) -> list[str]:
    if mode == "top":
        names = [kind.name for kind in nc.topk_kinds()]
    else:
        names = [kind.name for kind in nc.indexes() if mode in kind.capabilities]
    return [name for name in names if name != "brute-force"]


def main() -> int:
    """Print one table for each mode."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mode", nargs="+", default=["match", "rank", "top"])
    parser.add_argument("--kinds", nargs="+", help="default: every one of the mode")
    parser.add_argument("--subscriptions", type=int, default=100_000)
    parser.add_argument("--messages", type=int, default=40_000, help="live ones")
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--where", action="store_true", help="also the slowest event's number")
    parser.add_argument("--small-pages", action="store_true", help="do without huge pages")
    args = parser.parse_args()
    if args.small_pages and ctypes.CDLL(None).prctl(_DISABLE_HUGE_PAGES, 1, 0, 0, 0) != 0:
        parser.error("--small-pages: this system has no such switch")
    for mode in args.mode:
        print(f"\n| {mode}, ms | " + " | ".join(_SORTS.values()) + " |")
        print("|---|" + "--:|" * len(_SORTS))
        for kind in args.kinds or _kinds(mode):
            found = _slowest(kind, mode, args.subscriptions, args.messages, args.runs)
            cells = (
                f"{found[sort][0]:.1f}" + f" ({found[sort][1]})" * args.where for sort in _SORTS
            )
            print(f"| {kind} | " + " | ".join(cells) + " |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
