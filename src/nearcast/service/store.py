"""What is durable, and how is it read again? The only importer of SQLAlchemy beside `schema`.

One thread writes, in one transaction per batch; others read. All methods block: the service calls
them in threads. A write either happened or did not, and a failed one leaves the store usable;
what it leaves the hub with is the caller's concern (`engine`).
"""

from __future__ import annotations

import fcntl
import os
import tempfile
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from sqlalchemy import create_engine, delete, event, func, inspect, select, text
from sqlalchemy.dialects.postgresql import insert as upsert_postgresql
from sqlalchemy.dialects.sqlite import insert as upsert_sqlite
from sqlalchemy.engine import make_url
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import QueuePool

from nearcast.errors import NearcastError
from nearcast.service import schema
from nearcast.service.schema import LOG, META, METADATA, SNAPSHOT_PARTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlalchemy import Connection, Engine, Executable, Table

PART_BYTES = 4 << 20
_ADVISORY = 0x6E656172  # "near"


class StoreError(NearcastError, OSError):
    """The database cannot be opened, read or written."""

    code = "store"

    __str__ = NearcastError.__str__


@dataclass(frozen=True, slots=True)
class LogRow:
    """One commit: event `first` is the first line of `events`; a rejected one is an empty line."""

    last: int
    first: int
    at: float
    events: bytes
    changes: bytes | None = None
    extra: bytes | None = None


@dataclass(slots=True)
class Records:
    """What a commit writes beside its log row, in this order: removals, then rows by table."""

    removals: list[Executable] = field(default_factory=list)
    rows: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    def put(self, table: Table, row: dict[str, Any]) -> None:
        """Insert a row, or replace the one with its key."""
        self.rows.setdefault(table.name, []).append(row)

    def remove(self, table: Table, **key: object) -> None:
        """Remove rows with these values, before anything is put."""
        statement = delete(table)
        for name, value in key.items():
            statement = statement.where(table.c[name] == value)
        self.removals.append(statement)

    def __bool__(self) -> bool:
        """Whether there is anything to write."""
        return bool(self.removals or self.rows)


class Store:
    """A database with our tables, of which this process is the only writer.

    Parameters
    ----------
    url
        ``sqlite:///path`` or ``postgresql://…``.
    synchronous
        "full" or "normal", of SQLite: whether a commit survives a power cut or just a crash.
    is_exclusive
        Refuse to open what another service has open. Tools that only read a little pass False.
    """

    def __init__(self, url: str, *, synchronous: str = "full", is_exclusive: bool = True) -> None:
        self.url = url
        self.is_sqlite = url.startswith("sqlite")
        self._lock: Any = None
        self.engine = _engine(url, synchronous)
        self._puts: dict[str, Any] = {}
        self._open: dict[bool, Connection] = {}
        """Connections of the thread that commits, by whether a statement is a transaction."""
        # Of each commit, so it is not put together each time; the order is that of `LogRow`.
        marks = ", ".join(["?" if self.is_sqlite else "%s"] * len(LOG.c))
        self._insert_log = f"insert into log values ({marks})"
        try:
            if is_exclusive:
                self._take_lock()
            self._prepare()
        except SQLAlchemyError as error:
            self.close()
            msg = "database cannot be opened"
            raise _failure(msg, error) from error
        except StoreError:
            self.close()
            raise

    @property
    def folder(self) -> Path:
        """Where files of a moment may lie: beside the database, or where the system has them."""
        path = make_url(self.url).database
        if self.is_sqlite and path and path != ":memory:":
            return Path(path).absolute().parent
        return Path(tempfile.gettempdir())

    def close(self) -> None:
        """Release everything."""
        self._forget_open()
        lock, self._lock = self._lock, None
        if lock is not None and not self.is_sqlite:
            lock.close()
        self.engine.dispose()
        if lock is not None and self.is_sqlite:
            lock.close()

    # ---- opening ----------------------------------------------------------------------------

    def _take_lock(self) -> None:
        """Hold a lock as long as the process lives: two writers would number changes twice."""
        if self.is_sqlite:
            path = make_url(self.url).database
            if not path or path == ":memory:":
                return
            try:
                Path(path).absolute().parent.mkdir(parents=True, exist_ok=True)
                self._lock = Path(f"{path}.lock").open("w")  # noqa: SIM115 — held as long as we live
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise self._in_use() from None
            except OSError as error:
                what = f"database {path!r} cannot be opened"
                raise StoreError(what, got=error.strerror, wanted="a folder to write in") from None
            return
        self._lock = self.engine.connect()
        taken = self._lock.execute(select(func.pg_try_advisory_lock(_ADVISORY))).scalar()
        self._lock.commit()
        if not taken:
            raise self._in_use()

    def _in_use(self) -> StoreError:
        what = "database is in use by another service"
        return StoreError(what, wanted="one service per database", hint="is it running already?")

    def _prepare(self) -> None:
        if not inspect(self.engine).has_table(META.name):
            with self.engine.begin() as connection:
                if self.is_sqlite:  # whose driver would commit each table by itself
                    connection.exec_driver_sql("begin")
                METADATA.create_all(connection)
                self._put(connection, META, [{"name": "format", "value": str(schema.FORMAT)}])
        found = self.meta().get("format")
        if found != str(schema.FORMAT):
            what = "database has another format"
            raise StoreError(what, got=found, wanted=str(schema.FORMAT))

    # ---- writing ----------------------------------------------------------------------------

    def write(self, row: LogRow | None, records: Records) -> None:
        """Commit a batch: its log row and everything that belongs to it, or nothing."""
        try:
            with self.engine.begin() as connection:
                if row is not None:
                    connection.exec_driver_sql(self._insert_log, _log_values(row))
                if records:
                    self._write_records(connection, records)
        except SQLAlchemyError as error:
            msg = "commit failed"
            raise _failure(msg, error) from error

    def commit(self, row: LogRow | None, records: Records) -> None:
        """Do the same over a connection that is kept open: for the one thread that does it most.

        A row of the log alone is one statement that commits by itself: each further one would wait
        for its turn among all that the process does, or for an answer of the server.
        """
        try:
            if row is not None and not records:
                self._kept(is_single=True).exec_driver_sql(self._insert_log, _log_values(row))
                return
            connection = self._kept(is_single=False)
            if row is not None:
                connection.exec_driver_sql(self._insert_log, _log_values(row))
            if records:
                self._write_records(connection, records)
            connection.commit()
        except SQLAlchemyError as error:
            self._forget_open(is_broken=True)
            what = "commit failed"
            raise _failure(what, error) from error

    def _kept(self, *, is_single: bool) -> Connection:
        found = self._open.get(is_single)
        if found is None:
            found = self.engine.connect()
            if is_single:
                found = found.execution_options(isolation_level="AUTOCOMMIT")
            self._open[is_single] = found
        return found

    def _forget_open(self, *, is_broken: bool = False) -> None:
        while self._open:
            _, connection = self._open.popitem()
            with suppress(SQLAlchemyError):
                if is_broken:
                    connection.invalidate()
                connection.close()

    def _write_records(self, connection: Connection, records: Records) -> None:
        for statement in records.removals:
            connection.execute(statement)
        for name, rows in records.rows.items():
            self._put(connection, METADATA.tables[name], rows)

    def _put(self, connection: Connection, table: Table, rows: list[dict[str, Any]]) -> None:
        """Insert or replace rows. A key that comes twice counts once, with its last row."""
        statement = self._puts.get(table.name)
        keys = [column.name for column in table.primary_key]
        if statement is None:
            make: Any = upsert_sqlite if self.is_sqlite else upsert_postgresql
            made = make(table)
            kept = {*keys, *table.info.get("keeps", ())}
            others = {c.name: made.excluded[c.name] for c in table.c if c.name not in kept}
            statement = self._puts[table.name] = made.on_conflict_do_update(
                index_elements=keys, set_=others
            )
        if len(rows) > 1:
            rows = list({tuple(row[key] for key in keys): row for row in rows}.values())
        connection.execute(statement, rows)

    def set_meta(self, **values: object) -> None:
        """Remember a few facts."""
        records = Records()
        for name, value in values.items():
            records.put(META, {"name": name, "value": str(value)})
        self.write(None, records)

    # ---- reading ----------------------------------------------------------------------------

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Give a connection for questions."""
        try:
            with self.engine.connect() as connection:
                yield connection
        except SQLAlchemyError as error:
            msg = "database cannot be read"
            raise _failure(msg, error) from error

    def rows(self, statement: Executable) -> list[Any]:
        """Return all rows that a question has."""
        with self.reading() as connection:
            return list(connection.execute(statement).all())

    def meta(self) -> dict[str, str]:
        """Return all facts."""
        return {name: value for name, value in self.rows(select(META.c.name, META.c.value))}  # noqa: C416

    def log_after(self, last: int, *, limit: int = 500) -> list[LogRow]:
        """Return the next commits after event `last`."""
        statement = select(LOG).where(LOG.c.last > last).order_by(LOG.c.last).limit(limit)
        return [LogRow(**row._mapping) for row in self.rows(statement)]

    def log_row_of(self, number: int) -> LogRow | None:
        """Return the commit that has an event."""
        statement = select(LOG).where(LOG.c.last >= number).order_by(LOG.c.last).limit(1)
        found = [LogRow(**row._mapping) for row in self.rows(statement)]
        return found[0] if found and found[0].first <= number else None

    def last_event(self) -> int:
        """Return the number of the last event in the log; 0: there is none."""
        return int(self.rows(select(func.max(LOG.c.last)))[0][0] or 0)

    # ---- snapshots --------------------------------------------------------------------------

    def put_part(self, snapshot: int, part: int, content: bytes) -> None:
        """Write a piece of a snapshot that does not count yet."""
        records = Records()
        values = {"snapshot": snapshot, "part": part, "content": content}
        records.put(SNAPSHOT_PARTS, values)
        self.write(None, records)

    def adopt_snapshot(self, snapshot: int) -> None:
        """Let a snapshot count that is written as a whole, and forget all others."""
        records = Records()
        records.removals.append(delete(SNAPSHOT_PARTS).where(SNAPSHOT_PARTS.c.snapshot != snapshot))
        records.put(META, {"name": "snapshot", "value": str(snapshot)})
        self.write(None, records)

    @contextmanager
    def snapshot_file(self, snapshot: int) -> Iterator[Path]:
        """Give the newest snapshot as a file that is gone afterwards; who maps it keeps it."""
        part = SNAPSHOT_PARTS.c.part
        where = SNAPSHOT_PARTS.c.snapshot == snapshot
        handle, name = tempfile.mkstemp(".nearcast", "snapshot-", self.folder)
        try:
            with os.fdopen(handle, "wb") as file, self.reading() as connection:
                numbers = connection.execute(select(part).where(where).order_by(part)).scalars()
                for number in numbers.all():
                    statement = select(SNAPSHOT_PARTS.c.content).where(where, part == number)
                    file.write(connection.execute(statement).scalar_one())
            yield Path(name)
        finally:
            Path(name).unlink(missing_ok=True)

    def size_bytes(self) -> int:
        """Return how large the database is."""
        if self.is_sqlite:
            path = Path(make_url(self.url).database or "")
            files = (path, path.with_name(path.name + "-wal"))
            return sum(file.stat().st_size for file in files if file.is_file())
        with self.reading() as connection:
            statement = text("select pg_database_size(current_database())")
            return int(connection.execute(statement).scalar_one())


def _log_values(row: LogRow) -> tuple[Any, ...]:
    return (row.last, row.first, row.at, row.events, row.changes, row.extra)


def _engine(url: str, synchronous: str) -> Engine:
    if not url.startswith("sqlite"):
        address = make_url(url).set(drivername="postgresql+psycopg")
        return create_engine(address, pool_size=4, max_overflow=8, pool_pre_ping=True)
    arguments = {"timeout": 30, "check_same_thread": False}
    engine = create_engine(url, poolclass=QueuePool, pool_size=6, connect_args=arguments)

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _record: object) -> None:  # noqa: ANN401
        connection.execute("pragma journal_mode=wal")
        connection.execute(f"pragma synchronous={synchronous}")
        connection.execute("pragma wal_autocheckpoint=4000")

    return engine


def _failure(what: str, error: SQLAlchemyError) -> StoreError:
    """Say what the database said, without the statement: its values may be secrets."""
    cause = getattr(error, "orig", None) or error
    reason = str(cause).partition("\n")[0]
    return StoreError(what, got=reason, wanted="a database that can be written")


def encode(value: object) -> bytes:
    """Return JSON as it is stored."""
    return msgspec.json.encode(value)


def joined(lines: Sequence[bytes]) -> bytes:
    """Return lines as NDJSON."""
    return b"\n".join(lines)
