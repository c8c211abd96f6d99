"""Folders of stores that are not mounted: objects over the network, by Arrow's file systems.

Arrow reads, writes, lists and removes. What it cannot say is "unless it is there": S3, GCS and ABFS
take that condition with the write itself, which `obstore` sends (`pip install nearcast[stores]`);
on HDFS a move to a name that exists is refused.

Credentials come from the environment, or the machine's role, as both libraries look them up.
Options of an S3 address (`?region=…&endpoint_override=host:port&scheme=http`) are Arrow's.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

from pyarrow import fs

from nearcast.errors import UnsupportedError
from nearcast.spark.folders import Folder
from nearcast.spark.object_cache import ObjectCache
from nearcast.spark.stamps import Stamp, stamp_of

if TYPE_CHECKING:
    from collections.abc import Callable

Opened = TypeVar("Opened")
_BLOCK = 8 << 20


class StoreFolder(Folder):
    """A prefix of a bucket or container, or a folder of HDFS.

    Parameters
    ----------
    address
        Without a slash at its end.
    """

    def __init__(self, address: str) -> None:
        self._parts = urlsplit(address)

    @property
    def address(self) -> str:
        """The address, with its options."""
        return self._parts.geturl()

    @property
    def path(self) -> str:
        """Bucket and prefix, as Arrow names them."""
        root = _file_system(self._root)[1]
        return (root.rstrip("/") + "/" + self._parts.path.strip("/")).rstrip("/")

    @property
    def files(self) -> fs.FileSystem:
        """Arrow's file system of this store; one for all folders of it."""
        return _file_system(self._root)[0]

    @property
    def _root(self) -> str:
        return self._parts._replace(path="/" if self._parts.scheme == "hdfs" else "").geturl()

    def __truediv__(self, name: str) -> StoreFolder:
        """Return a folder in this one."""
        inner = self._parts.path.rstrip("/") + "/" + name
        return StoreFolder(self._parts._replace(path=inner).geturl())

    def create(self, name: str, content: bytes, *, is_durable: bool = True) -> bool:
        """Write on condition that nothing is there; every write to a store is durable."""
        make = self._create_by_move if _is_hdfs(self._root) else self._create_by_condition
        # The answer to a write that succeeded may be lost, and the second try be refused.
        return make(name, content) or self.read(name) == content

    def _create_by_condition(self, name: str, content: bytes) -> bool:
        store = _conditional(self._root)
        from obstore.exceptions import AlreadyExistsError

        key = (self._parts.path.strip("/") + "/" + name).lstrip("/")
        try:
            store.put(key, content, mode="create")
        except AlreadyExistsError:
            return False
        return True

    def _create_by_move(self, name: str, content: bytes) -> bool:
        unfinished = f"_unfinished-{uuid4().hex}"
        self.write(unfinished, content)
        try:
            self.files.move(self._in(unfinished), self._in(name))
        except OSError:
            self.delete(unfinished)
            if not self.has(name):
                raise
            return False
        return True

    def write(self, name: str, content: bytes) -> Stamp:
        """Write an object, over what is there."""
        with self.writer(name) as stream:
            stream.write(content)
        return stamp_of(content)

    def save(self, name: str, save: Callable[[Path], object]) -> Stamp:
        """Write to a temporary file and send that."""
        with tempfile.TemporaryDirectory(prefix="nearcast-") as place:
            path = Path(place) / "object"
            save(path)
            with path.open("rb") as source, self.writer(name) as stream:
                shutil.copyfileobj(source, stream, _BLOCK)
            return stamp_of(path)

    def writer(self, name: str) -> Any:  # noqa: ANN401 — Arrow's stream
        """Return a stream to an object."""
        if _is_hdfs(self._root):
            self.files.create_dir(self._in(name).rpartition("/")[0], recursive=True)
        return self.files.open_output_stream(self._in(name))

    def open(self, name: str, stamp: Stamp, open_: Callable[[Path], Opened]) -> Opened:
        """Open the copy that this machine keeps."""

        def fetch(path: Path) -> None:
            with self.files.open_input_stream(self._in(name)) as stream, path.open("wb") as file:
                shutil.copyfileobj(stream, file, _BLOCK)

        return ObjectCache.of_machine().open(stamp, fetch, open_)

    def read(self, name: str) -> bytes:
        """Return the content of an object."""
        with self.files.open_input_stream(self._in(name)) as stream:
            return bytes(stream.readall())

    def has(self, name: str) -> bool:
        """Whether an object is there."""
        return bool(self.files.get_file_info(self._in(name)).is_file)

    def names(self) -> list[str]:
        """Return the names of objects."""
        return self._list(fs.FileType.File)

    def folders(self) -> list[str]:
        """Return the first parts of names with a slash."""
        return self._list(fs.FileType.Directory)

    def delete(self, name: str) -> None:
        """Remove an object."""
        with suppress(FileNotFoundError):
            self.files.delete_file(self._in(name))

    def delete_folder(self, name: str) -> None:
        """Remove all objects whose names begin so."""
        if self.files.get_file_info(self._in(name)).type == fs.FileType.Directory:
            self.files.delete_dir(self._in(name))

    def publish(self, target: str, names: list[str]) -> None:
        """Settle which objects it will be, then copy them."""
        agreed = self.settle(_published(target), json.dumps(names).encode())
        self._show(target, json.loads(agreed))

    def has_published(self, target: str) -> bool:
        """Whether it is settled which objects it is; then they are there."""
        try:
            agreed = self.read(_published(target))
        except FileNotFoundError:
            return False
        self._show(target, json.loads(agreed))
        return True

    def _show(self, target: str, names: list[str]) -> None:
        shown = set((self / target).names())
        for name in names:
            last = name.rpartition("/")[2]
            if last not in shown:
                self.files.copy_file(self._in(name), self._in(f"{target}/{last}"))
        for name in names:
            self.delete(name)

    def _in(self, name: str) -> str:
        return f"{self.path}/{name}"

    def _list(self, kind: fs.FileType) -> list[str]:
        selector = fs.FileSelector(self.path, allow_not_found=True)
        found = self.files.get_file_info(selector)
        return sorted(info.base_name for info in found if info.type == kind)


def _published(target: str) -> str:
    return f"_published/{target}.json"


def _is_hdfs(root: str) -> bool:
    return urlsplit(root).scheme in ("hdfs", "viewfs")


@lru_cache(maxsize=16)
def _file_system(root: str) -> tuple[fs.FileSystem, str]:
    if root.startswith("s3:"):  # a small object in one request, not three
        root += ("&" if "?" in root else "?") + "allow_delayed_open=true"
    found, path = fs.FileSystem.from_uri(root)
    return found, path


@lru_cache(maxsize=16)
def _conditional(root: str) -> Any:  # noqa: ANN401 — obstore may be missing
    """Return what writes on a condition."""
    try:
        from obstore.store import from_url
    except ImportError:
        what = "this store needs the package obstore"
        raise UnsupportedError(what, got=root, hint="pip install 'nearcast[stores]'") from None
    parts = urlsplit(root)
    given = {name: values[-1] for name, values in parse_qs(parts.query).items()}
    options: dict[str, Any] = {}
    if "region" in given:
        options["region"] = given["region"]
    if "endpoint_override" in given:
        scheme = given.get("scheme", "https")
        options["endpoint"] = f"{scheme}://{given['endpoint_override']}"
        options["client_options"] = {"allow_http": scheme == "http"}
    return from_url(parts._replace(query="").geturl(), **options)
