"""An index in versions, in a folder that every machine sees.

A version is a manifest: one *base* (a plan, and for each partition a snapshot to be mapped and a
table of ids) and the *deltas* since. Files are written first and the manifest last, under a name
that must not exist yet: a version is there as a whole or not at all, of two writers one is refused,
and a reader that holds a version keeps it while others are made. Nothing is changed in place.

The folder must be one of a POSIX file system that driver and executors share (local disk, NFS): the
snapshots are mapped, and the commit is a hard link.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pyarrow as pa

from nearcast.errors import InvalidParameterError, SnapshotError
from nearcast.partition import Plan

if TYPE_CHECKING:
    from os import PathLike

_MANIFEST = re.compile(r"version-(\d{8})\.json")


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a version is made of."""

    version: int
    base: str
    """Folder of plan, snapshots and the table they were built from."""
    deltas: tuple[tuple[int, str], ...]
    """Versions and files of the changes since, oldest first."""
    mode: str
    mechanism: str
    partitions: int
    index: str

    def to_json(self) -> str:
        """Return the file's text."""
        return json.dumps(asdict(self), indent=1)

    @classmethod
    def from_json(cls, text: str | bytes) -> Manifest:
        """Read the file's text."""
        fields = json.loads(text)
        deltas = tuple((version, name) for version, name in fields.pop("deltas"))
        return cls(deltas=deltas, **fields)


class Index:
    """The folder of an index.

    Parameters
    ----------
    path
        Made if it is not there.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = Path(path).absolute()

    def versions(self) -> list[int]:
        """Return the numbers of all versions, oldest first."""
        if not self.path.is_dir():
            return []
        found = (_MANIFEST.fullmatch(name) for name in os.listdir(self.path))  # noqa: PTH208
        return sorted(int(match[1]) for match in found if match)

    def latest(self) -> Manifest:
        """Return the newest version; `SnapshotError` if there is none."""
        versions = self.versions()
        if not versions:
            what = f"no index is at {str(self.path)!r}"
            hint = "nearcast spark build makes one"
            raise SnapshotError(what, wanted="a folder with a version", hint=hint)
        return self.at(versions[-1])

    def at(self, version: int) -> Manifest:
        """Return one version."""
        try:
            return Manifest.from_json((self.path / _name(version)).read_bytes())
        except FileNotFoundError:
            what = f"index {str(self.path)!r} has no such version"
            raise SnapshotError(what, got=version, wanted=f"one of {self.versions()}") from None

    def commit(self, manifest: Manifest) -> Manifest:
        """Make a version visible; `SnapshotError` if its number was taken meanwhile."""
        self.path.mkdir(parents=True, exist_ok=True)
        unfinished = self.path / f".{uuid4().hex}"
        _write_durably(unfinished, manifest.to_json().encode())
        try:
            os.link(unfinished, self.path / _name(manifest.version))
        except FileExistsError:
            what = f"version {manifest.version} was made by another writer"
            raise SnapshotError(what, wanted="the next number", hint="try again") from None
        finally:
            unfinished.unlink()
        return manifest

    def next_version(self) -> int:
        """Return the number after the newest."""
        versions = self.versions()
        return versions[-1] + 1 if versions else 1

    def new_base(self) -> Path:
        """Make an empty folder for a base that is not committed yet."""
        folder = self.path / f"base-{uuid4().hex[:12]}"
        folder.mkdir(parents=True)
        return folder

    def plan(self, manifest: Manifest) -> Plan:
        """Return the plan of a version's base."""
        return Plan.from_buffer((self.path / manifest.base / "plan.arrow").read_bytes())

    def vacuum(self, *, keep: int = 2) -> list[str]:
        """Remove versions but the newest `keep`, and files that none of these needs.

        Only when no query uses an older version, and no build is running.
        """
        if keep < 1:
            what = "keep is too small"
            raise InvalidParameterError(what, got=keep, wanted="at least 1")
        versions = self.versions()
        for version in versions[:-keep]:
            (self.path / _name(version)).unlink()
        kept = [self.at(version) for version in versions[-keep:]]
        needed = {m.base for m in kept} | {name for m in kept for _, name in m.deltas}
        removed = []
        for entry in sorted(self.path.iterdir()):
            is_ours = entry.name.startswith(("base-", "delta-"))
            if is_ours and entry.name not in needed:
                _remove(entry)
                removed.append(entry.name)
        return removed


def snapshot_file(base: Path, partition: int) -> Path:
    """Return where the snapshot of a partition is."""
    return base / f"part-{partition:05}.snapshot"


def ids_file(base: Path, partition: int) -> Path:
    """Return where the ids of a partition are."""
    return base / f"part-{partition:05}.arrow"


def write_arrow(path: Path, table: pa.Table) -> None:
    """Write a table, whole or not at all."""
    unfinished = path.with_name(f".{path.name}.{uuid4().hex}")
    with pa.OSFile(str(unfinished), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table.combine_chunks())
    with unfinished.open("rb") as written:
        os.fsync(written.fileno())
    unfinished.replace(path)


def read_arrow(path: Path) -> pa.Table:
    """Map a table that `write_arrow` wrote."""
    return pa.ipc.open_file(pa.memory_map(str(path))).read_all()


def _name(version: int) -> str:
    return f"version-{version:08}.json"


def _write_durably(path: Path, content: bytes) -> None:
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _remove(entry: Path) -> None:
    if entry.is_dir():
        for inner in entry.iterdir():
            _remove(inner)
        entry.rmdir()
    else:
        entry.unlink()


def json_line(fields: dict[str, Any]) -> str:
    """Return a line of JSON."""
    return json.dumps(fields, ensure_ascii=False)
