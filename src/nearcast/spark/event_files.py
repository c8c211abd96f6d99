"""In which order do the events of several files happen?

Batch by batch; within a batch file by file, by name; within a file line by line. Names are compared
as paths in which runs of digits count as numbers, so that ``9.ndjson`` comes before ``10.ndjson``.
Modification times decide nothing within a batch.

Which files a batch takes is the source's choice. Ours takes the next by name (`named_files.py`).
Spark's takes all that are new, or, with ``maxFilesPerTrigger``, those with the oldest modification
times. A file whose name is not after those of the batches before it comes too late to happen in its
place: the batch is refused, or the caller says that such files happen when they come.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from nearcast.errors import InvalidEventError, InvalidParameterError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from nearcast.spark.folders import Folder

FILE, BLOCK = "nearcast_file", "nearcast_block"
_OF_TOPICS = ("partition", "offset")
_DIGITS = re.compile(r"([0-9]+)")
_REMEMBERED = 100
"""Batches of which the last file is kept; Spark itself can go back by as many."""


def with_files(events: DataFrame) -> DataFrame:
    """Add to each line the file it is from; a stream that is not of files stays as it is."""
    from pyspark.errors import AnalysisException

    if is_of_files(events):
        return events
    try:
        return events.selectExpr(
            "value",
            f"_metadata.file_path as {FILE}",
            f"_metadata.file_block_start as {BLOCK}",
        )
    except AnalysisException:
        return events


def known_order(events: DataFrame, order: str | list[str] | None) -> tuple[DataFrame, list[str]]:
    """Return a stream with what says in which order its events happened, and these columns.

    Of files there are none: `FILE` and `BLOCK` say it. Of a topic: its partition and offset.

    Raises
    ------
    InvalidParameterError
        The order cannot be known.
    """
    if order:
        return events, [order] if isinstance(order, str) else list(order)
    rows = with_files(events)
    if is_of_files(rows):
        return rows, []
    if set(_OF_TOPICS) <= set(events.columns):
        return events, list(_OF_TOPICS)
    what = "in which order the events of this stream happened cannot be known"
    wanted = "a stream of files or of a topic, or order=… with columns that say it"
    raise InvalidParameterError(what, got=events.columns, wanted=wanted)


def is_of_files(batch: DataFrame) -> bool:
    """Whether `with_files` added files."""
    return FILE in batch.columns


def name_key(path: str) -> tuple[Any, ...]:
    """Return what paths are sorted by: runs of digits are numbers.

    Examples
    --------
    >>> sorted(["in/10.ndjson", "in/9.ndjson", "in/a"], key=name_key)
    ['in/9.ndjson', 'in/10.ndjson', 'in/a']
    """
    name = unquote(path)
    words = _DIGITS.split(name)  # every other one has digits
    return [int(word) if place % 2 else word for place, word in enumerate(words)], name


def refuse_late(files: list[str], number: int, checkpoint: Folder) -> None:
    """Refuse a batch with a file whose name is not after those of the batches before it.

    Raises
    ------
    InvalidEventError
        It names both files. The batch has not been applied.
    """
    seen = checkpoint / "nearcast" / "files"
    last: str | None = None
    with suppress(FileNotFoundError):
        last = json.loads(seen.read(f"{number - 1}.json"))
    if last is not None and files and name_key(files[0]) <= name_key(last):
        what = f"batch {number}: file {files[0]!r} comes too late"
        raise InvalidEventError(
            what,
            got=last,
            wanted="names after that of the last file read",
            hint="give later files later names; read all that are there in one batch; or say that "
            "a late file happens when it comes",
        )
    newest = files[-1] if files else last
    seen.create(f"{number}.json", json.dumps(newest).encode())
    seen.delete(f"{number - _REMEMBERED}.json")
