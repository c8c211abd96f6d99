"""An index for one join, of a frame of subscriptions: built in a folder that does not stay.

A join is lazy and may be asked again, by itself or as a part of other frames, so nothing can tell
when it is the last time. The folder therefore stays until the process of the driver ends.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from nearcast.spark.build import build_index
from nearcast.spark.store import Index

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_folders: list[tempfile.TemporaryDirectory[str]] = []
"""Removed when the process ends: each has a finalizer, which the interpreter runs."""


def temporary_index(subscriptions: DataFrame, mode: str) -> Index:
    """Build an index that is removed when this process ends."""
    folder = tempfile.TemporaryDirectory(prefix="nearcast-index-")
    try:
        build_index(subscriptions, Path(folder.name) / "index", mode=mode)
    except BaseException:
        folder.cleanup()
        raise
    _folders.append(folder)
    return Index(Path(folder.name) / "index")


def remove_temporary() -> int:
    """Remove the folders now, if no join of a frame of subscriptions will be asked again.

    Returns
    -------
    int
        How many there were.
    """
    count = len(_folders)
    while _folders:
        _folders.pop().cleanup()
    return count
