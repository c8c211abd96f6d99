"""What workers do in a batch: read lines, carry out a partition, merge lists. Ordinary functions.

Each returns facts as JSON for the driver: names of what it wrote, and how long it took.
"""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq

from nearcast.hub import Hub
from nearcast.spark.stateful.definitions import Wanted, copies_of, has_wanted, lines_by_row
from nearcast.spark.stateful.kept import Kept
from nearcast.spark.stateful.merging import MergedList, from_table, home_of, merge, to_table
from nearcast.spark.stateful.partition import Carried, Holding, carry_out
from nearcast.spark.stateful.reading import Part, read_part
from nearcast.spark.stateful.sequencing import from_bytes
from nearcast.spark.stateful.tables import (
    Named,
    read_groups,
    read_whole,
    write_groups,
    write_whole,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nearcast.spark.folders import Folder
    from nearcast.spark.stateful.routes import Routes
    from nearcast.spark.stateful.sequencing import Decision

holdings: Kept[Holding] = Kept()
merged: Kept[dict[str, MergedList]] = Kept()


class Job(NamedTuple):
    """What all tasks of a pipeline know."""

    folder: Folder
    nonce: str
    """Another pipeline at the same place has another one."""
    routes: Routes
    space: tuple[float, float, float, float]
    topk: str


class Saved(NamedTuple):
    """Where a state is, and the last batch in it."""

    seen: int
    objects: list[Named]


def decision_name(number: int) -> str:
    """Return where the decision of a batch is."""
    return f"decided/{number:09}.arrow"


def moved_name(number: int) -> str:
    """Return where it stands which definitions move in a batch."""
    return f"moved/{number:09}.json"


def answers_name(number: int) -> str:
    """Return where it stands which raw rows a batch has."""
    return f"answers/{number:09}.json"


# ---- reading ----------------------------------------------------------------------------------


def read_lines(job: Job, lines: Sequence[str] | pa.Array) -> tuple[Named, Part]:
    """Read lines and write their content to the log; return where, and what was read."""
    part = read_part(lines, job.routes)
    return write_groups(job.folder / "log", part.groups), part


# ---- partitions -------------------------------------------------------------------------------


def do_partition(
    job: Job, number: int, saved: Saved | None, partition: int, *, is_saving: bool
) -> str:
    """Bring a partition to a batch; write what changed."""
    start = time.process_time()

    holding, (changes, raw) = holdings.advance(
        (job.nonce, partition),
        number,
        lambda: _open_holding(job, saved),
        lambda holding, batch: _step(job, partition, holding, batch),
    )
    facts: dict[str, Any] = {"part": write_part(job.folder, changes), "changes": len(changes)}
    if raw.num_rows:
        facts["raw"] = write_groups(job.folder / "raw", _by_home(raw, job.routes.plan.partitions))
    if is_saving:
        facts["saved"] = _save_holding(job, holding)
    facts["seconds"] = time.process_time() - start
    return json.dumps(facts)


def _step(job: Job, partition: int, holding: Holding, batch: int) -> Carried:
    decision = from_bytes(job.folder.read(decision_name(batch)))
    log, has_copies = job.folder / "log", job.routes.has_copies
    contents = _contents(job, decision, partition)
    definitions = None
    if has_copies and has_wanted(decision):
        named = json.loads(job.folder.read(moved_name(batch)))
        definitions = pa.concat_tables([read_whole(log, one) for one in named])
    return carry_out(
        holding, batch, partition, decision, contents, definitions, has_copies=has_copies
    )


def _contents(job: Job, decision: Decision, partition: int) -> list[pa.Table]:
    wanted = [0, partition + 1]
    return [read_groups(job.folder / "log", named, wanted) for named in decision.batch.files]


def give_definitions(
    job: Job, number: int, saved: Saved | None, wanted: Sequence[Wanted], partition: int
) -> str:
    """Write the definitions that other partitions need of this one in a batch."""
    holding = holdings.look(
        (job.nonce, partition),
        number - 1,
        lambda: _open_holding(job, saved),
        lambda holding, batch: _step(job, partition, holding, batch),
    )
    decision = from_bytes(job.folder.read(decision_name(number)))
    log = job.folder / "log"
    lines: dict[int, str] = {}
    if any(one.since for one in wanted):
        contents = _contents(job, decision, partition)
        lines = lines_by_row(decision, contents, {one.since for one in wanted})
    batch = copies_of(holding.hub, wanted, lines)
    return json.dumps(write_groups(log, [batch]))


def _open_holding(job: Job, saved: Saved | None) -> tuple[Holding, int]:
    if saved is None:
        weights = job.routes.plan.weights
        hub = Hub(weights=weights, space=job.space, topk=job.topk)
        return Holding(hub), -1
    folder = job.folder / "saved"
    (name, stamp), *tables = saved.objects
    hub = folder.open(name, stamp, Hub.open)
    copies, tops, messages = (read_whole(folder, named) for named in tables)
    ids = messages.column("id").to_pylist()
    known = zip(*(messages.column(name).to_pylist() for name in ("places", "number")), strict=True)
    return Holding(
        hub,
        dict(zip(*(column.to_pylist() for column in copies.columns), strict=True)),
        dict(zip(*(column.to_pylist() for column in tops.columns), strict=True)),
        dict(zip(ids, known, strict=True)),
    ), saved.seen


def _save_holding(job: Job, holding: Holding) -> list[Named]:
    folder = job.folder / "saved"
    name = f"{uuid4().hex}.snapshot"
    known = holding.messages.values()
    tables = [
        pa.table({"id": _words(holding.copies), "places": _bits(holding.copies.values())}),
        pa.table({"id": _words(holding.tops), "k": pa.array(holding.tops.values(), pa.int32())}),
        pa.table(
            {
                "id": _words(holding.messages),
                "places": _bits(places for places, _ in known),
                "number": pa.array([number for _, number in known], pa.int64()),
            }
        ),
    ]
    saved = (name, folder.save(name, holding.hub.save))
    return [saved, *(write_whole(folder, table) for table in tables)]


def _words(keyed: Any) -> pa.Array:  # noqa: ANN401 — keys of any table
    return pa.array(list(keyed), pa.string())


def _bits(values: Any) -> pa.Array:  # noqa: ANN401
    return pa.array(list(values), pa.binary())


def _by_home(raw: pa.Table, homes: int) -> list[pa.RecordBatch]:
    batch = raw.combine_chunks().to_batches()[0]
    home = home_of(raw, homes)
    return [batch.filter(pa.array(home == number)) for number in range(homes)]


def write_part(folder: Folder, changes: pa.Table, *, is_empty_too: bool = False) -> str | None:
    """Write changes, if there are any, to where no reader looks yet."""
    if not changes.num_rows and not is_empty_too:
        return None
    name = f"parts/{uuid4().hex}.parquet"
    sink = pa.BufferOutputStream()
    pq.write_table(changes, sink)
    folder.write(name, sink.getvalue().to_pybytes())
    return name


# ---- merging ----------------------------------------------------------------------------------


def do_merging(job: Job, number: int, saved: Saved | None, home: int, *, is_saving: bool) -> str:
    """Bring the lists of one merging worker to a batch; write what changed."""
    start = time.process_time()

    def step(lists: dict[str, MergedList], batch: int) -> pa.Table:
        named = json.loads(job.folder.read(answers_name(batch)))
        return merge(lists, _raw_of(job, named, home)) if named else None

    def open_() -> tuple[dict[str, MergedList], int]:
        if saved is None:
            return {}, -1
        return from_table(read_whole(job.folder / "saved", saved.objects[0])), saved.seen

    lists, changes = merged.advance((job.nonce, "merging", home), number, open_, step)
    facts: dict[str, Any] = {"part": None, "changes": 0}
    if changes is not None:
        facts = {"part": write_part(job.folder, changes), "changes": len(changes)}
    if is_saving:
        facts["saved"] = [write_whole(job.folder / "saved", to_table(lists))]
    facts["seconds"] = time.process_time() - start
    return json.dumps(facts)


def _raw_of(job: Job, named: Sequence[Named], home: int) -> pa.Table:
    return pa.concat_tables([read_groups(job.folder / "raw", one, [home]) for one in named])
