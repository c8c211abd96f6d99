"""Does a hub that runs for long stay as large as what lives in it?

Events that replace everything by something else, with ever new words (`workloads/churn.py`), go
through a hub; between them it gets another weights epoch, and is saved and opened again. Bytes by
part and resident memory are written down at regular points. Nothing may grow once everything has
its usual size: what a part had at most in the last quarter is compared with what it had at most in
the second. Peaks of a random process still rise a little; what leaks grows with the events.
"""

from __future__ import annotations

import gc
import tempfile
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from nearcast.bench.workloads.churn import MODES, Churn, ChurnPlan
from nearcast.hub import Hub
from nearcast.model import Window
from nearcast.weights import Weights

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

PARTS = (
    "store_bytes",
    "id_bytes",
    "index_bytes",
    "vocabulary_bytes",
    "message_index_bytes",
    "message_bytes",
    "top_bytes",
    "other_bytes",
)
RESIDENT = "resident_bytes"
SNAPSHOT = "snapshot_bytes"
ALL = (*PARTS, SNAPSHOT, RESIDENT)
TOLERANCE = 1.25
SLACK_BYTES = 4_096
"""So much may any part grow: a small one has large steps."""
RESIDENT_SLACK_BYTES = 8 << 20
"""Of resident memory: the allocator's and the interpreter's own ups and downs."""
_PAGE_BYTES = 4_096


@dataclass(frozen=True, slots=True)
class SoakPlan:
    """What lives at a time, and how often it is looked at."""

    index: str = "auto"
    topk: str = "auto"
    expiry: str = ""
    modes: tuple[str, ...] = MODES
    subscriptions: int = 2_000
    window: int = 2_000
    seed: int = 1
    step_events: int = 2_000
    """Events between two looks at the sizes."""
    reopen_steps: int = 10
    """Steps from one save, open and epoch to the next."""


class Soak:
    """One hub under churn, and its sizes over time."""

    def __init__(self, plan: SoakPlan) -> None:
        self.plan = plan
        self.events = 0
        self.sizes: list[dict[str, int]] = []
        self._churn = Churn(
            ChurnPlan(
                subscriptions=plan.subscriptions,
                modes=plan.modes,
                words=5 * plan.subscriptions,
                message_seconds=2 * plan.window,
                seed=plan.seed,
            )
        )
        self._hub = Hub(
            index=plan.index,
            topk=plan.topk,
            expiry=plan.expiry,
            window=Window(count=plan.window),
        )
        self._snapshot_bytes = 0

    def step(self) -> dict[str, int]:
        """Apply some events, write down the sizes, and return them."""
        self._hub.apply(self._churn.take(self.plan.step_events))
        self.events += self.plan.step_events
        if (len(self.sizes) + 1) % self.plan.reopen_steps == 0:
            self._reopen()
        known = self._hub.stats()
        now = {part: known[part] for part in PARTS}
        now |= {SNAPSHOT: self._snapshot_bytes, RESIDENT: resident_bytes()}
        self.sizes.append(now)
        return now

    def _reopen(self) -> None:
        documents, df = self._churn.documents()
        self._hub.set_weights(Weights(documents=documents, df=df))
        self._hub.check_invariants()
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "hub"
            self._hub.save(path)
            self._snapshot_bytes = path.stat().st_size
            self._hub = Hub.open(path)
        gc.collect()

    def run(
        self, is_over: Callable[[], bool], report: Callable[[dict[str, int]], None] | None = None
    ) -> None:
        """Go on until it is over."""
        while not is_over():
            now = self.step()
            if report is not None:
                report(now)

    def growing(self, parts: Sequence[str] = ALL) -> dict[str, tuple[int, int]]:
        """Return the parts that are larger in the last quarter than in the second, with both."""
        quarter = len(self.sizes) // 4
        if quarter == 0:
            return {}
        second, last = self.sizes[quarter : 2 * quarter], self.sizes[-quarter:]
        grown = {}
        for part in parts:
            before, after = (max(each[part] for each in some) for some in (second, last))
            slack = RESIDENT_SLACK_BYTES if part == RESIDENT else SLACK_BYTES
            if after > TOLERANCE * before + slack and before:
                grown[part] = (before, after)
        return grown


def until(seconds: float | None, events: int | None, soak: Soak) -> Callable[[], bool]:
    """Return what says that the time is over, or that there were enough events."""
    end = None if seconds is None else monotonic() + seconds

    def is_over() -> bool:
        if events is not None and soak.events >= events:
            return True
        return end is not None and monotonic() >= end

    return is_over


def resident_bytes() -> int:
    """Return the resident memory of this process; 0 where the system does not say."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * _PAGE_BYTES
    except OSError:
        return 0
