"""Folders of any store: local disks, S3, GCS, ABFS, HDFS, by address.

A folder holds objects by name (`a/b` is in its folder `a`). An object is written whole: it is there
with all of its content or not at all, and none is ever renamed. Two things decide what is true:

- `create` makes an object unless there is one of that name, so of two writers one wins. A local
  disk does that by a link, object stores by a condition on the write, HDFS by a move that refuses
  what exists. The second writer is told so.
- Everything else is written under a name that is used once, before the object that names it is
  created. So what a reader finds by following names never changes, and may be kept in a cache.

A folder is a value: it can be compared and sent to workers.
"""

from __future__ import annotations

import os
import shutil
from abc import ABC, abstractmethod
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar
from urllib.parse import urlsplit
from uuid import uuid4

from pyarrow import fs

from nearcast.errors import InvalidParameterError
from nearcast.spark.stamps import Stamp, stamp_of

if TYPE_CHECKING:
    from collections.abc import Callable

Opened = TypeVar("Opened")
Address: TypeAlias = "str | PathLike[str] | Folder"
_STORES = ("s3", "s3a", "gs", "abfs", "abfss", "hdfs", "viewfs")


def folder_at(address: Address) -> Folder:
    """Return the folder at a path or an address; nothing is made yet.

    Examples
    --------
    >>> folder_at("s3://bucket/index?region=eu-central-1") / "base"
    folder_at('s3://bucket/index/base?region=eu-central-1')
    """
    if isinstance(address, Folder):
        return address
    text = os.fspath(address)
    scheme, colon, _ = text.partition("://")
    if not colon:
        return LocalFolder(Path(text).absolute())
    if scheme == "file":
        return LocalFolder(Path(fs.FileSystem.from_uri(text)[1]))
    if scheme not in _STORES:
        what = "address is not of a store that is known"
        raise InvalidParameterError(what, got=text, wanted=f"a path, or {', '.join(_STORES)}://…")
    from nearcast.spark.object_stores import StoreFolder

    return StoreFolder(text.replace("s3a://", "s3://", 1).rstrip("/"))


def is_remote(address: object) -> bool:
    """Whether an address is that of a store, and not a path."""
    return isinstance(address, str) and urlsplit(address).scheme in _STORES


class Folder(ABC):
    """Where objects are; see the head of this file."""

    @property
    @abstractmethod
    def address(self) -> str:
        """What `folder_at` makes this folder of."""

    @property
    @abstractmethod
    def path(self) -> str:
        """The folder as `files` names it."""

    @property
    @abstractmethod
    def files(self) -> fs.FileSystem:
        """What Arrow reads and writes tables with."""

    @abstractmethod
    def __truediv__(self, name: str) -> Folder:
        """Return a folder in this one."""

    @abstractmethod
    def create(self, name: str, content: bytes, *, is_durable: bool = True) -> bool:
        """Make an object unless one is there; return whether what is there has this content.

        Of writers with different contents one is told True. Without `is_durable` a local object
        may be gone after a failure of the machine.
        """

    @abstractmethod
    def write(self, name: str, content: bytes) -> Stamp:
        """Write an object, over what is there."""

    @abstractmethod
    def save(self, name: str, save: Callable[[Path], object]) -> Stamp:
        """Write an object with what `save` writes to a local file."""

    @abstractmethod
    def writer(self, name: str) -> Any:  # noqa: ANN401 — Arrow's stream
        """Return a stream for an object that no reader looks for before it is closed."""

    @abstractmethod
    def open(self, name: str, stamp: Stamp, open_: Callable[[Path], Opened]) -> Opened:
        """Return what `open_` makes of a local file with the content of an object.

        The file is the object itself, or a copy that the machine keeps (`object_cache.py`). It may
        be removed later, so `open_` maps it, or reads all of it.
        """

    @abstractmethod
    def read(self, name: str) -> bytes:
        """Return the content of an object; `FileNotFoundError` if it is not there."""

    @abstractmethod
    def has(self, name: str) -> bool:
        """Whether an object is there."""

    @abstractmethod
    def names(self) -> list[str]:
        """Return the names of the objects of this folder, in order; of none if it is not there."""

    @abstractmethod
    def folders(self) -> list[str]:
        """Return the names of the folders in this one, in order; a store may show empty ones."""

    @abstractmethod
    def delete(self, name: str) -> None:
        """Remove an object, if it is there."""

    @abstractmethod
    def delete_folder(self, name: str) -> None:
        """Remove a folder and all that is in it, if it is there."""

    @abstractmethod
    def publish(self, target: str, names: list[str]) -> None:
        """Move objects to a folder that is not there yet, for readers who only list it.

        On a disk it appears as a whole. In a store its objects appear one after the other, but
        which ones is settled before the first, and a publisher that dies is helped by the next:
        those of one call, and no others. Who comes second changes nothing.
        """

    @abstractmethod
    def has_published(self, target: str) -> bool:
        """Whether a folder was published; what one who died left to do is done now."""

    def settle(self, name: str, content: bytes, *, is_durable: bool = True) -> bytes:
        """Make an object unless one is there; return what it holds."""
        is_made = self.create(name, content, is_durable=is_durable)
        return content if is_made else self.read(name)

    def __str__(self) -> str:
        """Return the address."""
        return self.address

    def __repr__(self) -> str:
        """Return how to make it."""
        return f"folder_at({self.address!r})"

    def __eq__(self, other: object) -> bool:
        """Whether both are the same place."""
        return isinstance(other, Folder) and self.address == other.address

    def __hash__(self) -> int:
        """Hash the address."""
        return hash(self.address)


class LocalFolder(Folder):
    """A folder of a POSIX file system, of this machine or shared by several."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @property
    def address(self) -> str:
        """The path."""
        return str(self._path)

    @property
    def path(self) -> str:
        """The path."""
        return str(self._path)

    @property
    def files(self) -> fs.FileSystem:
        """The local one, which maps what it reads."""
        return fs.LocalFileSystem(use_mmap=True)

    def __truediv__(self, name: str) -> LocalFolder:
        """Return a folder in this one."""
        return LocalFolder(self._path / name)

    def create(self, name: str, content: bytes, *, is_durable: bool = True) -> bool:
        """Link a file that is whole to a name that is free."""
        target = self._path / name
        unfinished = self._unfinished(target)
        try:
            _write(unfinished, content, is_durable=is_durable)
            os.link(unfinished, target)
        except FileExistsError:
            return target.read_bytes() == content
        finally:
            unfinished.unlink(missing_ok=True)
        return True

    def write(self, name: str, content: bytes) -> Stamp:
        """Write an object, over what is there."""
        return self.save(name, lambda path: path.write_bytes(content))

    def save(self, name: str, save: Callable[[Path], object]) -> Stamp:
        """Write beside the name and then under it."""
        target = self._path / name
        unfinished = self._unfinished(target)
        try:
            save(unfinished)
            with unfinished.open("rb") as file:
                os.fsync(file.fileno())
            stamp = stamp_of(unfinished)
            unfinished.replace(target)
        finally:
            unfinished.unlink(missing_ok=True)
        return stamp

    def writer(self, name: str) -> Any:  # noqa: ANN401
        """Return a stream to a file."""
        (self._path / name).parent.mkdir(parents=True, exist_ok=True)
        return self.files.open_output_stream(str(self._path / name))

    def open(self, name: str, stamp: Stamp, open_: Callable[[Path], Opened]) -> Opened:
        """Open the object itself."""
        stamp.check_size(self._path / name)
        return open_(self._path / name)

    def read(self, name: str) -> bytes:
        """Return the content of a file."""
        return (self._path / name).read_bytes()

    def has(self, name: str) -> bool:
        """Whether a file is there."""
        return (self._path / name).is_file()

    def names(self) -> list[str]:
        """Return the names of files; those that begin with a dot are being written."""
        return sorted(e.name for e in self._entries() if e.is_file() and e.name[0] != ".")

    def folders(self) -> list[str]:
        """Return the names of folders."""
        return sorted(e.name for e in self._entries() if e.is_dir())

    def delete(self, name: str) -> None:
        """Remove a file."""
        (self._path / name).unlink(missing_ok=True)

    def delete_folder(self, name: str) -> None:
        """Remove a folder."""
        shutil.rmtree(self._path / name, ignore_errors=True)

    def publish(self, target: str, names: list[str]) -> None:
        """Move objects to a folder without a name and give it one."""
        unfinished = self._unfinished(self._path / target)
        unfinished.mkdir()
        try:
            for name in names:
                (self._path / name).rename(unfinished / Path(name).name)
            unfinished.rename(self._path / target)
        except OSError:
            if not self.has_published(target):
                raise
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)

    def has_published(self, target: str) -> bool:
        """Whether the folder is there."""
        return (self._path / target).is_dir()

    def _entries(self) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(self._path) as entries:
                return list(entries)
        except FileNotFoundError:
            return []

    def _unfinished(self, target: Path) -> Path:
        target.parent.mkdir(parents=True, exist_ok=True)
        return target.with_name(f".{uuid4().hex}")


def _write(path: Path, content: bytes, *, is_durable: bool) -> None:
    with path.open("wb") as file:
        file.write(content)
        if is_durable:
            file.flush()
            os.fsync(file.fileno())
