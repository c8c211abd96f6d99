"""An index in versions, in a folder of any store that every machine sees.

A version is a manifest: one *base* (a plan, and for each partition a snapshot to be mapped and a
table of ids) and the *deltas* since. Objects are written first and the manifest last, under a name
that must not exist yet: a version is there as a whole or not at all, of two writers one is refused,
and a reader that holds a version keeps it while others are made. Nothing is changed in place.

A stream that uses a version says so beside the versions: what an unfinished batch needs is kept.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, NamedTuple
from uuid import uuid4

import pyarrow as pa

from nearcast.errors import InvalidParameterError, SnapshotError
from nearcast.spark.bases import Stored, read_plan
from nearcast.spark.folders import folder_at
from nearcast.spark.stamps import Stamp

if TYPE_CHECKING:
    from pathlib import Path

    from nearcast.partition import Plan
    from nearcast.spark.folders import Address, Folder

_MANIFEST = re.compile(r"version-(\d{8})\.json")
_PINS = "pins"


class Delta(NamedTuple):
    """Changes that a version brought."""

    version: int
    table: Stored


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a version is made of."""

    version: int
    base: str
    """Folder of plan, snapshots and the table they were built from."""
    deltas: tuple[Delta, ...]
    """The changes since, oldest first."""
    mode: str
    mechanism: str
    partitions: int
    index: str

    def to_json(self) -> str:
        """Return it as a line."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str | bytes) -> Manifest:
        """Read a line."""
        fields = json.loads(text)
        deltas = (
            Delta(version, Stored(name, Stamp(*stamp)))
            for version, (name, stamp) in fields.pop("deltas")
        )
        return cls(deltas=tuple(deltas), **fields)


class Index:
    """The folder of an index.

    Parameters
    ----------
    place
        A path, or the address of a folder of a store; made if it is not there.
    """

    def __init__(self, place: Address) -> None:
        self.folder = folder_at(place)
        self._pinned: dict[str, int] = {}

    @property
    def address(self) -> str:
        """What makes this index in another process."""
        return self.folder.address

    def versions(self) -> list[int]:
        """Return the numbers of all versions, oldest first."""
        found = (_MANIFEST.fullmatch(name) for name in self.folder.names())
        return sorted(int(match[1]) for match in found if match)

    def latest(self) -> Manifest:
        """Return the newest version; `SnapshotError` if there is none."""
        versions = self.versions()
        if not versions:
            what = f"no index is at {self.address!r}"
            hint = "nearcast spark build makes one"
            raise SnapshotError(what, wanted="a folder with a version", hint=hint)
        return self.at(versions[-1])

    def at(self, version: int) -> Manifest:
        """Return one version."""
        try:
            return Manifest.from_json(self.folder.read(_name(version)))
        except FileNotFoundError:
            what = f"index {self.address!r} has no such version"
            raise SnapshotError(what, got=version, wanted=f"one of {self.versions()}") from None

    def commit(self, manifest: Manifest) -> Manifest:
        """Make a version visible; `SnapshotError` if its number was taken meanwhile."""
        if not self.folder.create(_name(manifest.version), manifest.to_json().encode()):
            what = f"version {manifest.version} was made by another writer"
            raise SnapshotError(what, wanted="the next number", hint="try again")
        return manifest

    def next_version(self) -> int:
        """Return the number after the newest."""
        versions = self.versions()
        return versions[-1] + 1 if versions else 1

    def new_base(self) -> str:
        """Return a name for a base that is not committed yet."""
        return f"base-{uuid4().hex[:12]}"

    def base(self, manifest: Manifest) -> Folder:
        """Return the folder of a version's base."""
        return self.folder / manifest.base

    def plan(self, manifest: Manifest) -> Plan:
        """Return the plan of a version's base."""
        return read_plan(self.base(manifest))

    def pin(self, version: int, user: str) -> None:
        """Keep a version, and no longer the one before, for a user that is known by an address."""
        if self._pinned.get(user) != version:
            fields = {"version": version, "user": user}
            self.folder.write(f"{_PINS}/{_pin_name(user)}", json.dumps(fields).encode())
            self._pinned[user] = version

    def pins(self) -> dict[str, int]:
        """Return the versions that users keep, by the addresses of these."""
        pins = self.folder / _PINS
        found = [json.loads(pins.read(name)) for name in pins.names()]
        return {pin["user"]: pin["version"] for pin in found}

    def unpin(self, user: str) -> None:
        """Keep nothing for a user any more."""
        self.folder.delete(f"{_PINS}/{_pin_name(user)}")

    def vacuum(self, *, keep: int = 2) -> list[str]:
        """Remove versions but the newest `keep`, and objects that none of these needs.

        What streams have pinned is kept. Only when no other query uses an older version, and no
        build is running.
        """
        if keep < 1:
            what = "keep is too small"
            raise InvalidParameterError(what, got=keep, wanted="at least 1")
        versions = self.versions()
        pinned = set(self.pins().values())
        gone = [version for version in versions[:-keep] if version not in pinned]
        for version in gone:
            self.folder.delete(_name(version))
        kept = [self.at(version) for version in versions if version not in gone]
        needed = {m.base for m in kept} | {d.table.name for m in kept for d in m.deltas}
        bases = [n for n in self.folder.folders() if n.startswith("base-") and n not in needed]
        deltas = [n for n in self.folder.names() if n.startswith("delta-") and n not in needed]
        for name in bases:
            self.folder.delete_folder(name)
        for name in deltas:
            self.folder.delete(name)
        return bases + deltas


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


def _pin_name(user: str) -> str:
    return hashlib.sha256(user.encode()).hexdigest()[:16] + ".json"
