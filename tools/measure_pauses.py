"""Finds the slowest single event of each kind: what does one event pay for what came before it?

The same log is applied to several new hubs, and of each event the shortest time counts: a pause
that belongs to the event happens in every run, one of the machine does not. For each kind and each
sort of event it prints the slowest one and which it was, for growing sizes; what grows with them
is a pause in the making.

    python tools/measure_pauses.py --index auto ap-tree --sizes 10000 20000 40000 80000
    python tools/measure_pauses.py --mode top --top auto igpt --sizes 10000 80000
"""

from __future__ import annotations

import argparse
import random
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

import nearcast as nc
from nearcast import events, hub

if TYPE_CHECKING:
    from collections.abc import Iterator

_WORDS = 20_000


class _Log:
    """Fill a window, subscribe, then everything at once; the words follow Zipf's law."""

    def __init__(self, size: int, mode: str) -> None:
        self.size, self.mode = size, mode
        self.random = random.Random(7)
        ranks = np.random.default_rng(7).zipf(1.2, 40 * size + 4096)
        self.words = iter((ranks % _WORDS).tolist())

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
            terms |= {"mode": "rank", "alpha": 0.4, "threshold": 0.6}
        return {**event, **terms}

    def events(self) -> Iterator[tuple[str, dict[str, Any]]]:
        for number in range(self.size):
            yield "publish", self._publish(number)
        if self.mode != "top":
            for number in range(self.size):
                yield "subscribe", self._subscribe(number, is_live=False)
        for number in range(self.size, self.size + self.size // 4):
            is_first = number == self.size
            event = self._subscribe(number, is_live=True)
            yield "first live" if is_first else "subscribe live", event
            yield "publish live", self._publish(number)
            if self.random.random() < 0.25:
                gone = number - self.random.randrange(self.size)
                yield "retract", {"op": "retract", "id": f"m{gone}"}
            if self.random.random() < 0.5:
                moved = self.random.randrange(self.size, number + 1)
                yield "move", {"op": "move", "id": f"s{moved}", **self._place()}
        last = self.size + self.size // 4
        for number in range(self.size if self.mode == "top" else 0, last):
            yield "unsubscribe", {"op": "unsubscribe", "id": f"s{number}"}


def _hub(size: int, mode: str, kind: str) -> nc.Hub:
    window = nc.Window(count=size)
    return nc.Hub(window=window, topk=kind) if mode == "top" else nc.Hub(index=kind, window=window)


def _slowest(size: int, mode: str, runs: int, kind: str) -> dict[str, tuple[float, int]]:
    """Return for each sort of event the milliseconds of the slowest, and its number."""
    sorts, log = zip(*_Log(size, mode).events(), strict=True)
    records = [hub.core_record(events.event_from(event)) for event in log]
    least = np.full(len(records), np.inf)
    for _ in range(runs):
        least = np.minimum(least, _hub(size, mode, kind).measure(records)[1])
    found: dict[str, tuple[float, int]] = {}
    for row in np.argsort(least):
        found[sorts[row]] = (least[row] / 1e6, int(row))
    return found


def main() -> int:
    """Print one table for each kind."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--index", nargs="+", default=["auto"])
    parser.add_argument("--top", nargs="+", default=["auto"], help="kinds of arrival")
    parser.add_argument("--mode", choices=("match", "rank", "top"), default="match")
    parser.add_argument("--sizes", nargs="+", type=int, default=[10_000, 20_000, 40_000, 80_000])
    parser.add_argument("--runs", type=int, default=3)
    args = parser.parse_args()
    for kind in args.top if args.mode == "top" else args.index:
        table = [_slowest(size, args.mode, args.runs, kind) for size in args.sizes]
        print(f"\n{kind}, {args.mode}: milliseconds of the slowest event (its number)")
        print(f"{'':>16}" + "".join(f"{size:>20,}" for size in args.sizes))
        for sort in table[0]:
            cells = (f"{at[sort][0]:>10.3f} {at[sort][1]:>9}" for at in table)
            print(f"{sort:>16}" + "".join(cells), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
