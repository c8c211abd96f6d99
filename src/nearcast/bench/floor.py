"""The floor: how fast could any index be that looks its words up? Not an index, a lower bound.

It finds where the lists of a message's words begin, touches the first line of each, and copies the
answer, which `auto` has worked out before the clock started.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nearcast.bench.contenders import MatcherContender, Measurement
from nearcast.bench.measuring import floor_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from nearcast.arguments import Parameter

FLOOR = "floor"


class FloorContender(MatcherContender):
    """The lists of `auto`, touched but not read."""

    def __init__(self, parameters: Mapping[str, Parameter]) -> None:
        super().__init__("auto", parameters)
        self._known: tuple[pa.Table, pa.RecordBatch, pa.Table] | None = None

    def measure(self, messages: pa.Table) -> Measurement:
        """Touch and copy; the answer is worked out once per table."""
        if self._known is None or self._known[0] is not messages:
            batch = messages.combine_chunks().to_batches()[0]
            self._known = (messages, batch, self.match(messages))
        _, batch, answer = self._known
        measured = floor_table(self._matcher, batch, answer)
        return Measurement(
            nanoseconds=np.asarray(measured.nanoseconds, dtype=np.int64),
            cpu_seconds=measured.cpu_seconds,
            matches=measured.matches,
            nodes_visited=measured.work["nodes_visited"],
            candidates=0,
        )
