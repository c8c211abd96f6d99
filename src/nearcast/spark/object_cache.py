"""Copies of objects on this machine: fetched once, checked, shared by its workers, bounded.

An object is known by its stamp, so a copy serves whatever names that content. While one process
fetches an object, others that want it wait; one that dies leaves nothing that is taken for a copy.
When all copies together are larger than the bound, those not used for longest are removed. What a
process has mapped stays mapped.

`NEARCAST_CACHE` names the folder (by default one of the user's, among temporary files), and
`NEARCAST_CACHE_BYTES` the bound (by default 20 GiB).
"""

from __future__ import annotations

import fcntl
import os
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from nearcast.errors import SnapshotError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from nearcast.spark.stamps import Stamp

Opened = TypeVar("Opened")

DEFAULT_BYTES = 20 << 30
_ATTEMPTS = 5


class ObjectCache:
    """Copies in one folder.

    Parameters
    ----------
    folder
        Of this machine's own disk.
    max_bytes
        How large all copies may be; the one in use may be larger alone.
    """

    def __init__(self, folder: Path, max_bytes: int = DEFAULT_BYTES) -> None:
        self._folder, self._max_bytes = folder, max_bytes

    @classmethod
    def of_machine(cls) -> ObjectCache:
        """Return the one that the processes of this user share."""
        default = Path(tempfile.gettempdir()) / f"nearcast-{os.getuid()}"
        folder = Path(os.environ.get("NEARCAST_CACHE") or default)
        return cls(folder, int(os.environ.get("NEARCAST_CACHE_BYTES") or DEFAULT_BYTES))

    def open(
        self, stamp: Stamp, fetch: Callable[[Path], object], open_: Callable[[Path], Opened]
    ) -> Opened:
        """Return what `open_` makes of a copy, which `fetch` writes if there is none."""
        self._make_folder()
        path = self._folder / stamp.checksum
        for _ in range(_ATTEMPTS):
            try:
                os.utime(path)
                if path.stat().st_size == stamp.size:
                    return open_(path)
                path.unlink(missing_ok=True)  # a disk that lost some of it
            except FileNotFoundError:  # never fetched, or removed just now
                pass
            self._fetch(path, stamp, fetch)
        what = "copies of objects are removed faster than they can be opened"
        hint = "let NEARCAST_CACHE_BYTES be more than what the workers of a machine use at once"
        raise SnapshotError(what, got=f"{self._max_bytes} bytes", hint=hint)

    def _make_folder(self) -> None:
        """Make the folder, for this user alone; refuse one that another user has made there."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        owner = self._folder.stat().st_uid
        if owner != os.getuid():
            what = f"{str(self._folder)!r} belongs to another user"
            hint = "let NEARCAST_CACHE name a folder of your own"
            raise SnapshotError(what, got=owner, wanted=f"{os.getuid()}", hint=hint)

    def _fetch(self, path: Path, stamp: Stamp, fetch: Callable[[Path], object]) -> None:
        with self._locked(path.name):
            if path.is_file():  # fetched by another process, for which this one waited
                return
            unfinished = path.with_name(f".{path.name}")  # belongs to the process that has the lock
            try:
                fetch(unfinished)
                stamp.check(unfinished)
                with unfinished.open("rb") as file:
                    os.fsync(file.fileno())
                unfinished.replace(path)
            finally:
                unfinished.unlink(missing_ok=True)
        self._evict(stamp)

    def _evict(self, newest: Stamp) -> None:
        """Remove copies not used for longest until the others are within the bound."""
        found = []
        for path in self._folder.iterdir():
            if path.is_file() and path.name != newest.checksum:
                with suppress(FileNotFoundError):  # another process removed it
                    found.append((path.stat().st_mtime, path.stat().st_size, path))
        room = self._max_bytes - newest.size
        for _, size, path in sorted(found, reverse=True):
            room -= size
            if path.name[0] == ".":
                self._remove_unfinished(path)
            elif room < 0:
                path.unlink(missing_ok=True)

    def _remove_unfinished(self, path: Path) -> None:
        """Remove what a process that died was fetching."""
        with suppress(BlockingIOError), self._locked(path.name[1:], fcntl.LOCK_NB):
            path.unlink(missing_ok=True)

    @contextmanager
    def _locked(self, name: str, flag: int = 0) -> Iterator[None]:
        """Let one process at a time fetch an object; the lock of one that dies is free."""
        locks = self._folder / "locks"  # as many as there are first two digits
        locks.mkdir(parents=True, exist_ok=True)
        with (locks / name[:2]).open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX | flag)
            yield
