"""What operators do at a terminal, beside running it: settings and keys."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import msgspec
from sqlalchemy import select
from sqlalchemy.engine import make_url

from nearcast.errors import UnknownIdError
from nearcast.service.keys import make_key
from nearcast.service.schema import API_KEYS
from nearcast.service.store import Records, Store

if TYPE_CHECKING:
    from nearcast.service.settings import Settings


def shown_settings(settings: Settings) -> str:
    """Return settings as TOML would say them, secrets left out."""
    values = msgspec.to_builtins(settings)
    values["database"] = make_url(settings.database).render_as_string(hide_password=True)
    for name in ("admin_key", "secret_key", "secret_key_before"):
        if values.get(name):
            values[name] = "***"
    lines = [f"{k} = {_shown(v)}" for k, v in values.items() if not _is_section(settings, k)]
    for name, section in values.items():
        if _is_section(settings, name):
            lines += ["", f"[{name}]"]
            lines += [f"{k} = {_shown(v)}" for k, v in section.items()]
    return "\n".join(lines)


def _is_section(settings: Settings, name: str) -> bool:
    return isinstance(getattr(settings, name), msgspec.Struct)


def _shown(value: object) -> str:
    return "# not set" if value is None else msgspec.json.encode(value).decode()


def create_key(settings: Settings, name: str, roles: list[str], owner: str | None) -> str:
    """Write a new key to the database and return it."""
    token, records = make_key(name, roles, owner, None, time.time())
    store = Store(settings.database, is_exclusive=False)
    try:
        store.write(None, records)
    finally:
        store.close()
    return token


def list_keys(settings: Settings) -> list[str]:
    """Return a line for each key."""
    store = Store(settings.database, is_exclusive=False)
    try:
        rows = store.rows(select(API_KEYS).order_by(API_KEYS.c.created))
    finally:
        store.close()
    return [f"{row.id}  {row.roles}  {row.owner or '-'}  {row.name}" for row in rows]


def remove_key(settings: Settings, id: str) -> None:
    """Remove a key from the database."""
    store = Store(settings.database, is_exclusive=False)
    try:
        if not store.rows(select(API_KEYS.c.id).where(API_KEYS.c.id == id)):
            msg = "key is not there"
            raise UnknownIdError(msg, got=id, wanted="the id of a key")
        records = Records()
        records.remove(API_KEYS, id=id)
        store.write(None, records)
    finally:
        store.close()
