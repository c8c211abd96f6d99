"""In which order do the events of several files happen?

Batch by batch; within a batch file by file, by name; within a file line by line. Names are compared
as paths in which runs of digits count as numbers, so that ``9.ndjson`` comes before ``10.ndjson``.
Modification times decide nothing within a batch.

Which files a batch takes is Spark's choice: all that are new, or, with ``maxFilesPerTrigger``,
those with the oldest modification times. A file whose name is not after those of the batches
before it comes too late to happen in its place: the batch is refused, or the caller says that such
files happen when they come.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from nearcast.errors import InvalidEventError
from nearcast.spark.sinks import write_once

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame

_FILE, _BLOCK = "nearcast_file", "nearcast_block"
_DIGITS = re.compile(r"([0-9]+)")


def with_files(events: DataFrame) -> DataFrame:
    """Add to each line the file it is from; a stream that is not of files stays as it is."""
    from pyspark.errors import AnalysisException

    try:
        return events.selectExpr(
            "value",
            f"_metadata.file_path as {_FILE}",
            f"_metadata.file_block_start as {_BLOCK}",
        )
    except AnalysisException:
        return events


def is_of_files(batch: DataFrame) -> bool:
    """Whether `with_files` added files."""
    return _FILE in batch.columns


def ordered_lines(batch: DataFrame) -> tuple[list[str], list[str]]:
    """Return the lines of a batch in the order of files and places, and the files in theirs."""
    rows = batch.select("value", _FILE, _BLOCK).collect()
    # A part of a file is one task's, whose rows come in order; sorting keeps the order of equals.
    keys = {path: name_key(path) for path in {row[_FILE] for row in rows}}
    rows.sort(key=lambda row: (keys[row[_FILE]], row[_BLOCK]))
    files = sorted(keys, key=lambda path: keys[path])
    return [row["value"] for row in rows], [unquote(path) for path in files]


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


def refuse_late(files: list[str], number: int, checkpoint: Path) -> None:
    """Refuse a batch with a file whose name is not after those of the batches before it.

    Raises
    ------
    InvalidEventError
        It names both files. The batch has not been applied.
    """
    seen = checkpoint / "nearcast" / "files"
    before = seen / f"{number - 1}.json"
    last: str | None = json.loads(before.read_text()) if before.is_file() else None
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
    write_once(seen / f"{number}.json", json.dumps(newest))
