"""Is this the content that was written? Size and checksum of an object that never changes."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, NamedTuple

from nearcast.errors import SnapshotError

if TYPE_CHECKING:
    from pathlib import Path

_BLOCK = 1 << 20


class Stamp(NamedTuple):
    """What an object is known by, wherever a copy of it is; JSON keeps it as a list."""

    size: int
    checksum: str
    """SHA-256, in hexadecimal digits."""

    def check_size(self, path: Path) -> None:
        """Refuse a file of another size; `FileNotFoundError` if there is none."""
        size = path.stat().st_size
        if size != self.size:
            what = f"{str(path)!r} is not what was written"
            raise SnapshotError(what, got=f"{size} bytes", wanted=f"{self.size} bytes")

    def check(self, path: Path) -> None:
        """Refuse a file with another content."""
        self.check_size(path)
        found = stamp_of(path)
        if found != self:
            what = f"{str(path)!r} is not what was written"
            raise SnapshotError(what, got=found.checksum, wanted=self.checksum)


def stamp_of(content: Path | bytes) -> Stamp:
    """Return the stamp of a file, or of bytes.

    Examples
    --------
    >>> stamp_of(b"abc").checksum[:8]
    'ba7816bf'
    """
    if isinstance(content, bytes):
        return Stamp(len(content), hashlib.sha256(content).hexdigest())
    digest, size = hashlib.sha256(), 0
    with content.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
            size += len(block)
    return Stamp(size, digest.hexdigest())
