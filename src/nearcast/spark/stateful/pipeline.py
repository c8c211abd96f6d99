"""The driver's side: batches in sequence, what is written when, and what is removed.

A batch takes these steps. Workers read its lines into the log. The driver decides, and the decision
is created under the number of the batch: from now on the batch is this, whatever dies. Partitions
carry it out, lists are merged, and the changes appear as the folder `batch=N`. A batch that is
tried again finds what was decided, and one whose changes are there is not done again.

From time to time a partition is saved, and so is the driver's life. What came before the oldest of
these is removed: decisions, log, raw rows, older saves. So what is kept, and how long a restart
takes, depends on what is live and not on what has happened.
"""

from __future__ import annotations

import json
import time
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol
from uuid import uuid4

import numpy as np
import pyarrow as pa

from nearcast.errors import InvalidParameterError
from nearcast.life import Life
from nearcast.partition.bounds import WORLD
from nearcast.partition.wants import MODES
from nearcast.spark.folders import folder_at
from nearcast.spark.stateful.assembling import Read, in_order
from nearcast.spark.stateful.definitions import has_wanted, wanted_definitions
from nearcast.spark.stateful.retention import Saves, trim
from nearcast.spark.stateful.routes import Routes
from nearcast.spark.stateful.sequencing import Batch, Decision, decide, from_bytes, to_bytes
from nearcast.spark.stateful.telling import CHANGES
from nearcast.spark.stateful.work import (
    Job,
    answers_name,
    decision_name,
    do_merging,
    do_partition,
    give_definitions,
    moved_name,
    read_lines,
    write_part,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nearcast.model import Window
    from nearcast.partition import Plan
    from nearcast.partition.wants import Mode
    from nearcast.spark.folders import Address

SAVE_EVERY = 64
"""Batches after which a state is saved again: how many a worker without it does again at most."""

METRICS_KEPT = 1_000
"""Batches whose costs are remembered."""

LINES_PER_PART = 65_536


class Tasks(Protocol):
    """Runs a function for each number below `count`, in workers; returns what each returned."""

    def __call__(self, function: Callable[[int], str], count: int) -> list[str]:
        """Run all."""


def in_process(function: Callable[[int], str], count: int) -> list[str]:
    """Run tasks here, one after the other."""
    return [function(number) for number in range(count)]


class Pipeline:
    """Subscriptions and messages of a stream, which survive in a folder.

    Parameters
    ----------
    folder
        Where everything is kept; `batch=N` has the changes of batch N. What is there is continued.
    plan
        How subscriptions and messages are distributed; a folder keeps its own.
    window
        As of a hub.
    modes
        Of the subscriptions that may come. Where space is cut, the mode top needs every message
        everywhere: a pipeline without it sends less.
    space, topk
        As of a hub.
    """

    def __init__(
        self,
        folder: Address,
        plan: Plan,
        *,
        window: Window | None = None,
        modes: Sequence[Mode] = MODES,
        space: tuple[float, float, float, float] = WORLD,
        topk: str = "auto",
    ) -> None:
        self.folder = folder_at(folder)
        if not modes or not set(modes) <= set(MODES):
            what = "modes are not modes of subscriptions"
            raise InvalidParameterError(what, got=modes, wanted="some of " + ", ".join(MODES))
        kept = self.folder.settle("plan.arrow", plan.to_buffer().to_pybytes())
        routes = Routes(type(plan).from_buffer(kept), tuple(m for m in MODES if m in modes))
        size = [window.count, window.seconds] if window else [None, None]
        said = {"window": size, "modes": routes.modes, "space": space}
        facts = json.loads(
            self.folder.settle("pipeline.json", json.dumps({**said, "nonce": uuid4().hex}).encode())
        )
        for name, value in said.items():
            if facts[name] != json.loads(json.dumps(value)):
                what = f"folder {str(self.folder)!r} was begun with another {name}"
                raise InvalidParameterError(what, got=value, wanted=facts[name])
        self.job = Job(self.folder, facts["nonce"], routes, space, topk)
        self.window = window
        self.loads: dict[str, float] = {}
        self._restore()

    # ---- where the other stopped ------------------------------------------------------------

    def _restore(self) -> None:
        self.saves = Saves.read(self.folder)
        self.life, self._decided = self._saved_life()
        while self.folder.has(decision_name(self._decided + 1)):
            self._decided += 1
            decide(self.life, self.decision(self._decided).batch)
        self._trim(is_thorough=True)

    def _saved_life(self) -> tuple[Life, int]:
        saved = self.saves.life
        if saved is None:
            return Life(self.window, width=self.job.routes.width), -1
        ((name, stamp),) = saved.objects
        return (self.folder / "saved").open(name, stamp, Life.open), saved.seen

    def decision(self, number: int) -> Decision:
        """Return what was decided of a batch that is still kept."""
        return from_bytes(self.folder.read(decision_name(number)))

    def _trim(self, *, is_thorough: bool = False) -> None:
        routes = self.job.routes
        has_merging = routes.has_copies and "top" in routes.modes
        oldest = self.saves.oldest(routes.plan.partitions, has_merging=has_merging)
        trim(self.folder, self.saves, self._decided, oldest=oldest, is_thorough=is_thorough)

    # ---- a batch ----------------------------------------------------------------------------

    def run_batch(self, number: int, read: Callable[[], Batch], tasks: Tasks) -> str:
        """Apply a batch; return the name of the folder of its changes.

        Parameters
        ----------
        number
            Of the batch, from 0 and without gaps; one that is done is not done again.
        read
            Reads its lines, if they have not been.
        tasks
            Runs what workers do.
        """
        target = f"batch={number}"
        if self.folder.has_published(target):
            return target
        start = time.perf_counter()
        decision = self._settled(number, read)
        self._move(number, decision, tasks)
        is_saving = self._savers(number)
        parts = tasks(
            partial(_partition_task, self.job, number, self.saves.partitions, is_saving),
            self.job.routes.plan.partitions,
        )
        found = [json.loads(part) for part in parts]
        found += self._merge(number, found, is_saving, tasks)
        if decision.rejected:  # before the changes: what is there is not done again
            listed = json.dumps(decision.rejected).encode()
            self.folder.create(f"rejected/{number}.json", listed)
        self._publish(target, found)
        self._save(number, found)
        self._tell_costs(number, decision, found, time.perf_counter() - start)
        return target

    def _tell_costs(
        self, number: int, decision: Decision, found: list[dict[str, Any]], seconds: float
    ) -> None:
        """Write what a batch cost, for `monitor`; nothing depends on it."""
        partitions = self.job.routes.plan.partitions
        told = np.unpackbits(decision.bits("places"), axis=1).sum(axis=0)
        load = {
            str(at): [int(told[at]), facts["changes"], facts["seconds"]]
            for at, facts in enumerate(found[:partitions])
        }
        facts = {
            "batch": number,
            "pairs": sum(one["changes"] for one in found),
            "refused": len(decision.rejected),
            "seconds": seconds,
            "partitions": partitions,
            "load": load,
        }
        name = f"_metrics/{number}.json"
        self.folder.create(name, json.dumps(facts).encode(), is_durable=False)
        self.folder.delete(f"_metrics/{number - METRICS_KEPT}.json")

    def _settled(self, number: int, read: Callable[[], Batch]) -> Decision:
        if number <= self._decided:
            return self.decision(number)
        if number != self._decided + 1:
            what = f"batch {number} does not follow"
            raise InvalidParameterError(what, got=number, wanted=f"batch {self._decided + 1}")
        batch = read()
        try:
            decision = decide(self.life, batch)
            content = to_bytes(decision)
            held = self.folder.settle(decision_name(number), content)
        except BaseException:
            self._restore()  # life has gone on: back to what is written
            raise
        self._decided = number
        if held != content:  # another driver was here first
            self._restore()
            return from_bytes(held)
        return decision

    def _move(self, number: int, decision: Decision, tasks: Tasks) -> None:
        """Have definitions written of subscriptions that move to other partitions."""
        if not self.job.routes.has_copies or self.folder.has(moved_name(number)):
            return
        if not has_wanted(decision):
            return
        wanted = wanted_definitions(decision)
        holders = sorted(wanted)
        asked = [(holder, wanted[holder], self.saves.partitions.get(holder)) for holder in holders]
        named = tasks(partial(_definitions_task, self.job, number, asked), len(asked))
        self.folder.settle(moved_name(number), json.dumps([json.loads(n) for n in named]).encode())

    def _merge(
        self, number: int, found: list[dict[str, Any]], is_saving: list[bool], tasks: Tasks
    ) -> list[dict[str, Any]]:
        routes = self.job.routes
        if not routes.has_copies or "top" not in routes.modes:
            return []
        raw = [facts["raw"] for facts in found if "raw" in facts]
        self.folder.settle(answers_name(number), json.dumps(raw).encode())
        if not raw and not any(is_saving):
            return []
        task = partial(_merging_task, self.job, number, self.saves.merging, is_saving)
        return [json.loads(part) for part in tasks(task, routes.plan.partitions)]

    def _publish(self, target: str, found: list[dict[str, Any]]) -> None:
        names = [facts["part"] for facts in found if facts["part"]]
        names = names or [write_part(self.folder, CHANGES.empty_table(), is_empty_too=True)]
        self.folder.publish(target, names)

    # ---- what is kept -----------------------------------------------------------------------

    def _savers(self, number: int) -> list[bool]:
        """Say which partitions save their state after a batch: by turns."""
        partitions = self.job.routes.plan.partitions
        turns = [
            (number + 1 + p * SAVE_EVERY // partitions) % SAVE_EVERY for p in range(partitions)
        ]
        return [turn == 0 for turn in turns]

    def _save(self, number: int, found: list[dict[str, Any]]) -> None:
        partitions = self.job.routes.plan.partitions
        groups = (("partitions", found[:partitions]), ("merging", found[partitions:]))
        news = {
            name: {at: facts["saved"] for at, facts in enumerate(answers) if "saved" in facts}
            for name, answers in groups
        }
        life = None
        if (number + 1) % SAVE_EVERY == 0 and number == self._decided:
            name = f"{uuid4().hex}.snapshot"
            life = [(name, (self.folder / "saved").save(name, self.life.save))]
        if life or any(news.values()):
            self.saves = self.saves.with_new(number, life, news["partitions"], news["merging"])
            self.saves.write(self.folder)
            self._trim()


def _partition_task(
    job: Job, number: int, saved: dict[int, Any], is_saving: list[bool], partition: int
) -> str:
    known = saved.get(partition)
    return do_partition(job, number, known, partition, is_saving=is_saving[partition])


def _definitions_task(job: Job, number: int, asked: list[Any], at: int) -> str:
    partition, wanted, saved = asked[at]
    return give_definitions(job, number, saved, wanted, partition)


def _merging_task(
    job: Job, number: int, saved: dict[int, Any], is_saving: list[bool], home: int
) -> str:
    return do_merging(job, number, saved.get(home), home, is_saving=is_saving[home])


def read_here(job: Job, lines: Sequence[str]) -> Batch:
    """Read the lines of a batch in this process."""
    parts: list[Read] = []
    for begin in range(0, max(len(lines), 1), LINES_PER_PART):
        named, part = read_lines(job, lines[begin : begin + LINES_PER_PART])
        nothing = pa.table({})
        parts.append(Read(0, len(parts), named, part.lines, part.narrow, part.refused, nothing))
    return in_order(parts)
