"""Which hub does a database belong to? Its settings as they are stored, and the hub itself.

A log means nothing to a hub with other settings, so a database remembers those it was made with.
They carry a version. A setting that is new has a default that means what hubs did before it, so a
database that does not name it is opened all the same; one that names what we do not know is newer
than we are, and is refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from nearcast.errors import InvalidParameterError
from nearcast.hub import Hub
from nearcast.model import Window
from nearcast.service.settings import HubSettings
from nearcast.text import Analyzer
from nearcast.weights import read_weights

if TYPE_CHECKING:
    from nearcast.service.store import Store

VERSION = 1
"""Of settings as they are stored: raised when a default changes its meaning, never for a new field.

Databases made before there were versions have none; they mean the first.
"""


def stored_form(settings: HubSettings) -> str:
    """Return settings as a database remembers them."""
    return msgspec.json.encode({"version": VERSION, **msgspec.to_builtins(settings)}).decode()


def read_stored(text: str) -> HubSettings:
    """Read what a database remembers.

    Raises
    ------
    InvalidParameterError
        If a later version of the service has written it.

    Examples
    --------
    >>> read_stored('{"window_count":5}') == HubSettings(window_count=5)
    True
    """
    found = msgspec.json.decode(text, type=dict)
    version = found.pop("version", 1)
    known = {field.name for field in msgspec.structs.fields(HubSettings)}
    if version > VERSION or not found.keys() <= known:
        what = "database was made by a later version of nearcast"
        wanted = f"hub settings of version {VERSION} at most"
        raise InvalidParameterError(what, got=text, wanted=wanted, hint="use that version")
    return msgspec.convert(found, HubSettings)


def open_hub(store: Store, settings: HubSettings) -> Hub:
    """Open the newest snapshot of a database, or make its first hub."""
    meta = store.meta()
    stored = meta.get("hub")
    if stored is not None and read_stored(stored) != settings:
        what = "hub settings are not those that the database was made with"
        hint = "make a new database, and publish and subscribe again"
        got = stored_form(settings)
        raise InvalidParameterError(what, got=got, wanted=stored, hint=hint)
    if stored != stored_form(settings):
        store.set_meta(hub=stored_form(settings))
    analyzer = Analyzer(**settings.analyzer)
    snapshot = int(meta.get("snapshot", "0"))
    if snapshot:
        with store.snapshot_file(snapshot) as path:
            return Hub.open(path, analyzer=analyzer)
    window = None
    if settings.window_count is not None or settings.window_seconds is not None:
        window = Window(count=settings.window_count, seconds=settings.window_seconds)
    weights = None if settings.weights is None else read_weights(settings.weights)
    return Hub(
        index=settings.index,
        window=window,
        weights=weights,
        space=settings.space,
        analyzer=analyzer,
        safe_region=settings.safe_region,
    )
