"""Everything to a file and back, from either kind of database to either kind.

A backup is an SQLite file with our tables, read in one transaction: it holds one moment, whatever
the service does meanwhile. So a backup of PostgreSQL can be restored to SQLite, and the other way
round.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import func, insert, select
from sqlalchemy.exc import SQLAlchemyError

from nearcast.service.schema import META, METADATA
from nearcast.service.store import Store, StoreError

if TYPE_CHECKING:
    from sqlalchemy import Connection

ROWS = 500


def backup(database: str, out: str | Path) -> int:
    """Copy a database to a new file; return how many rows it has."""
    path = Path(out)
    if path.exists():
        msg = "backup is there already"
        raise StoreError(msg, got=str(path), wanted="a new file")
    unfinished = path.with_name(path.name + ".unfinished")
    for old in path.parent.glob(unfinished.name + "*"):
        old.unlink()
    source = Store(database, is_exclusive=False)
    try:
        rows = _copy(source, f"sqlite:///{unfinished}")
    finally:
        source.close()
    unfinished.rename(path)
    for left in path.parent.glob(unfinished.name + "*"):
        left.unlink()
    return rows


def restore(file: str | Path, database: str) -> int:
    """Fill an empty database from a backup; return how many rows it has."""
    if not Path(file).is_file():
        msg = "backup is not there"
        raise StoreError(msg, got=str(file), wanted="a file")
    source = Store(f"sqlite:///{file}", is_exclusive=False)
    try:
        return _copy(source, database)
    finally:
        source.close()


def _copy(source: Store, target_url: str) -> int:
    target = Store(target_url)
    try:
        with target.engine.begin() as into:
            filled = into.execute(select(func.count()).select_from(META)).scalar_one()
            if filled > 1:
                msg = "database is not empty"
                raise StoreError(msg, wanted="a new one", hint="nothing changed")
            into.execute(META.delete())
            isolation = "SERIALIZABLE" if source.is_sqlite else "REPEATABLE READ"
            with source.engine.connect().execution_options(isolation_level=isolation) as origin:
                if source.is_sqlite:
                    origin.exec_driver_sql("begin")
                return sum(_copy_table(origin, into, name) for name in METADATA.tables)
    except SQLAlchemyError as error:
        cause = getattr(error, "orig", None) or error
        msg = "copy failed"
        raise StoreError(msg, got=str(cause), wanted="two databases") from error
    finally:
        target.close()


def _copy_table(origin: Connection, into: Connection, name: str) -> int:
    table = METADATA.tables[name]
    count = 0
    rows = origin.execution_options(yield_per=ROWS).execute(select(table))
    for part in rows.partitions(ROWS):
        into.execute(insert(table), [dict(row._mapping) for row in part])
        count += len(part)
    return count
