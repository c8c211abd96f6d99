"""Files of a folder, taken by their names: which come next, and which come too late?

A stream's offset is the name of the last file taken, as `name_key` compares names; Spark keeps it
in its checkpoint. A file that appears before that name later would have happened earlier: it is
refused and never skipped in silence. So is a batch that is tried again and has other files than at
first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

from pyarrow import fs

from nearcast.errors import InvalidEventError
from nearcast.spark.event_files import name_key

if TYPE_CHECKING:
    from nearcast.spark.folders import Folder


class Offset(TypedDict):
    """How far a stream is."""

    last: str
    """Name of the last file taken; nothing is before the empty name."""
    taken: int
    """How many files the batch that ends here has."""
    known: int
    """How many files there were up to here."""


class NamedFiles:
    """The files of a folder and of the folders in it; hidden ones are not there.

    Parameters
    ----------
    folder
        Files must appear in it as a whole.
    """

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._passed: set[str] | None = None

    def start(self) -> Offset:
        """Return where a stream begins."""
        return {"last": "", "taken": 0, "known": 0}

    def next(self, start: Offset, limit: int | None = None, last: str | None = None) -> Offset:
        """Return the end of the batch that begins somewhere: as far as there are files.

        Parameters
        ----------
        start
            The end of the batch before.
        limit
            How many files it has at most.
        last
            The last file to take, whatever else there is.
        """
        names = self.names()
        passed = [name for name in names if name_key(name) <= name_key(start["last"])]
        self._refuse_late(passed, start)
        fresh = names[len(passed) :]
        if last is not None:
            fresh = [name for name in fresh if name_key(name) <= name_key(last)]
        taken = fresh[:limit]
        if not taken:
            return start
        self._passed = {*passed, *taken}
        return {"last": taken[-1], "taken": len(taken), "known": len(passed) + len(taken)}

    def between(self, start: Offset, end: Offset) -> list[str]:
        """Return the files of a batch, in order."""
        after, until = name_key(start["last"]), name_key(end["last"])
        found = [name for name in self.names() if after < name_key(name) <= until]
        if len(found) != end["taken"]:
            what = f"files up to {end['last']!r} are not those of the first try"
            wanted = f"{end['taken']} after {start['last']!r}"
            raise InvalidEventError(what, got=found, wanted=wanted, hint=_HINT)
        return found

    def names(self) -> list[str]:
        """Return all files, in order, by their paths in the folder."""
        selector = fs.FileSelector(self._folder.path, recursive=True, allow_not_found=True)
        start = len(self._folder.path) + 1
        found = (
            info.path[start:] for info in self._folder.files.get_file_info(selector) if info.is_file
        )
        return sorted((name for name in found if not _is_hidden(name)), key=name_key)

    def _refuse_late(self, passed: list[str], start: Offset) -> None:
        late = [name for name in passed if self._passed is not None and name not in self._passed]
        # A stream that starts again knows how many there were, but not which.
        if late or (self._passed is None and len(passed) > start["known"]):
            what = f"file {late[0]!r} comes too late" if late else "a file came too late"
            got = f"{len(passed)} files up to {start['last']!r}"
            wanted = "names after that of the last file read"
            raise InvalidEventError(what, got=got, wanted=wanted, hint=_HINT)
        self._passed = set(passed)


_HINT = "give later files later names, and leave files where they are while they are read"


def _is_hidden(name: str) -> bool:
    return any(part[0] in "._" for part in name.split("/"))
