"""Which partitions must hear of an event? A plan, for subscriptions of several modes at once.

A message goes where subscriptions of any of the modes may need it, so a pipeline that is told its
modes sends less: where space is cut, only top subscriptions need messages from everywhere.

Rows of bits say who hears of what, eight partitions to a byte, as `partition.pack` makes them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from nearcast.errors import UnsupportedError
from nearcast.partition import wants_of_events
from nearcast.partition.plan import pack

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from nearcast.events import Subscribe
    from nearcast.partition import Plan
    from nearcast.partition.wants import Mode


@dataclass(frozen=True)
class Routes:
    """Where events go.

    Parameters
    ----------
    plan
        Of any mode: what it knows of words and space serves all of them.
    modes
        Of the subscriptions that may come.
    """

    plan: Plan
    modes: tuple[Mode, ...]

    @property
    def width(self) -> int:
        """How many bytes the bits of a row take."""
        return (self.plan.partitions + 7) // 8

    @property
    def has_words(self) -> bool:
        """Whether words decide where something goes."""
        return bool(self.plan.homes.size)

    @property
    def has_copies(self) -> bool:
        """Whether a subscription can live in several partitions."""
        return self.plan.mechanism != "hash"

    def of_messages(self, messages: pa.Table) -> NDArray[np.uint8]:
        """Say who must see messages; columns as `Plan.route` takes them."""
        seen = np.zeros((messages.num_rows, self.plan.partitions), bool)
        for mode in self.modes:
            seen |= replace(self.plan, mode=mode).route(messages, may_stay=True)
            if self.plan.mechanism == "hash":
                break  # all see everything
        return pack(seen)

    def of_subscriptions(self, events: Sequence[Subscribe]) -> NDArray[np.uint8]:
        """Say who must hold subscriptions."""
        placed = np.zeros((len(events), self.plan.partitions), bool)
        for mode in self.modes:
            rows = [row for row, event in enumerate(events) if event.mode == mode]
            if rows:
                chosen = [events[row] for row in rows]
                ids = pa.array([event.id for event in chosen], pa.string())
                plan = replace(self.plan, mode=mode)
                placed[rows] = plan.place(wants_of_events(chosen, mode), ids)
        return pack(placed)

    def of_areas(self, boxes: NDArray[np.float64]) -> NDArray[np.uint8]:
        """Say who must hold subscriptions that move to these, beside those that hold them already.

        A top subscription stays where it is: wherever space is cut, all see every message.
        """
        return pack(self.plan.reach(boxes))

    def wrong_mode(self, id_: str, mode: str) -> UnsupportedError:
        """Return what is wrong with a subscription of a mode that messages are not routed for."""
        wanted = " or ".join(map(repr, self.modes))
        what = f"subscription {id_!r} is not of mode {wanted}"
        return UnsupportedError(what, got=mode, wanted=wanted)


def bit_of(partition: int) -> tuple[int, int]:
    """Return which byte of a row, and which bit of it, stands for a partition."""
    return partition // 8, 0x80 >> partition % 8


def has_bit(bits: NDArray[np.uint8], partition: int) -> NDArray[np.bool_]:
    """Say which rows of bits have a partition."""
    byte, mask = bit_of(partition)
    return np.asarray((bits[:, byte] & mask) != 0)
