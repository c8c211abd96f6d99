"""What can be set, where it comes from, and whether it makes sense. Read once, never changed.

A TOML file, then the environment (`NEARCAST_DATABASE`, `NEARCAST_HUB__WINDOW_COUNT`: two
underscores between a section and its field), then options of the command line: the later wins.
"""

from __future__ import annotations

import ipaddress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from nearcast.errors import InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Mapping

PREFIX = "NEARCAST_"
MIN_SECRET = 32
"""Characters of `secret_key`: less could be guessed."""


class Section(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Settings that belong together."""


class HubSettings(Section, frozen=True):
    """The hub: fixed when the database is made, because a log means nothing to another hub."""

    index: str = "auto"
    window_count: int | None = None
    window_seconds: float | None = None
    space: tuple[float, float, float, float] = (-180.0, -90.0, 180.0, 90.0)
    weights: str | None = None
    safe_region: bool = False
    """Whether moving subscribers are told how far they may go without reporting."""
    analyzer: dict[str, Any] = {}


class Limits(Section, frozen=True):
    """Most of what one request, one key or one subscriber may take. Beyond: refused, not cut."""

    body_bytes: int = 1 << 20
    bulk_bytes: int = 64 << 20
    bulk_lines: int = 100_000
    line_bytes: int = 1 << 18
    expression_characters: int = 20_000
    corners: int = 20_000
    metadata_bytes: int = 4_096
    endpoints_per_owner: int = 16
    streams_per_owner: int = 64
    streams: int = 10_000
    waiting_events: int = 50_000
    requests_per_second: float = 0.0
    """Of one key; 0: no limit. A burst of two seconds is allowed."""
    events_per_second: float = 0.0
    """Of one key, lines of bulk requests included; 0: no limit."""


class Retention(Section, frozen=True):
    """Until when is it kept? All of it is bounded by one of these numbers."""

    seconds: float = 7 * 86_400.0
    """How long a subscriber that is away can come back and miss nothing."""
    events: int = 5_000_000
    """At most so many events in the log, however young."""
    tail_changes: int = 200_000
    """At most so many changes in memory; older ones are read from the database."""
    snapshot_events: int = 200_000
    """A snapshot is written after so many events: what a start has to replay at most."""
    answer_seconds: float = 86_400.0
    answers: int = 1_000_000
    """How long, and how many, answers are remembered for idempotency keys."""
    dead_letters: int = 10_000
    """Of one endpoint; the oldest go first."""
    recent_messages: int = 10_000
    """In memory, for drafts and the feed."""


class Webhooks(Section, frozen=True):
    """Deliveries to endpoints."""

    timeout_seconds: float = 10.0
    attempts: int = 12
    first_wait_seconds: float = 1.0
    longest_wait_seconds: float = 900.0
    in_flight: int = 500
    batch: int = 1
    """Deliveries in one request; more than one: the batch format of CloudEvents."""
    allow: tuple[str, ...] = ()
    """Networks that are not public and may be called all the same, such as 10.1.0.0/16."""


class Kafka(Section, frozen=True):
    """A topic that gets every delivery; the key is the subscriber."""

    topic: str | None = None


class Page(Section, frozen=True):
    """The page at `/`. Without tiles it draws the outlines that it has, and asks no one."""

    tiles: str | None = None
    """Address of a tile server, such as https://tiles.example.org/{z}/{x}/{y}.png."""
    center: tuple[float, float] | None = None
    """Longitude and latitude of what the map shows first; without, it shows the world."""
    attribution: str | None = None
    """What the tile server wants to be said about its tiles."""


class Tls(Section, frozen=True):
    """PEM files. With `clients`, only clients with a certificate of that authority get in."""

    certificate: str | None = None
    key: str | None = None
    clients: str | None = None


class Settings(Section, frozen=True):
    """Everything that `nearcast serve` can be told."""

    listen: str = "127.0.0.1:8080"
    database: str = "sqlite:///nearcast.db"
    synchronous: Literal["full", "normal"] = "full"
    commit_wait_ms: float = 0.0
    """How long a commit waits for company: for disks whose fsync takes long."""
    clock: Literal["wall", "events"] = "wall"
    """Whether events without time get that of the machine, or happen at the hub's clock."""
    ahead_seconds: float = 300.0
    """With the wall clock: how far ahead the time of an event may be."""
    admin_key: str | None = None
    """A key with all roles, beside those in the database; better in the environment."""
    secret_key: str | None = None
    """What secrets of webhooks are derived from, so that the database does not hold them."""
    secret_key_before: str | None = None
    """The one before, while some secrets are still derived from it."""
    open_access: bool = False
    """No keys needed although the address is public: something in front checks."""
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    log_format: Literal["json", "text"] = "json"
    grace_seconds: float = 20.0
    """How long requests and deliveries may take to end when the service stops."""
    hub: HubSettings = HubSettings()
    limits: Limits = Limits()
    retention: Retention = Retention()
    webhooks: Webhooks = Webhooks()
    kafka: Kafka = Kafka()
    page: Page = Page()
    tls: Tls = Tls()

    @property
    def host(self) -> str:
        """The address part of `listen`."""
        return self.listen.rpartition(":")[0].strip("[]")

    @property
    def port(self) -> int:
        """The port part of `listen`."""
        return int(self.listen.rpartition(":")[2])

    @property
    def is_public(self) -> bool:
        """Whether others than this machine can connect."""
        try:
            return not ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host != "localhost"


def read_settings(
    path: str | Path | None = None,
    environment: Mapping[str, str] | None = None,
    **options: Any,  # noqa: ANN401 — each is checked against its field
) -> Settings:
    """Read and check settings.

    Parameters
    ----------
    path
        A TOML file.
    environment
        Variables; those that begin with `NEARCAST_` count.
    options
        Fields of `Settings`, the strongest.

    Raises
    ------
    InvalidParameterError
        Which names the setting.

    Examples
    --------
    >>> read_settings(environment={"NEARCAST_HUB__WINDOW_COUNT": "5"}).hub.window_count
    5
    """
    found: dict[str, Any] = {} if path is None else _read_file(Path(path))
    for name, text in (environment or {}).items():
        if name.startswith(PREFIX):
            _set_from_environment(found, name, text)
    found.update({name: value for name, value in options.items() if value is not None})
    settings = _converted(found)
    _check(settings)
    return settings


def _read_file(path: Path) -> dict[str, Any]:
    try:
        content = msgspec.toml.decode(path.read_bytes())
    except OSError as error:
        what = f"settings file {str(path)!r} cannot be read"
        raise InvalidParameterError(what, got=error.strerror, wanted="a TOML file") from None
    except msgspec.DecodeError as error:
        what = f"settings file {str(path)!r} is not TOML"
        raise InvalidParameterError(what, got=str(error), wanted="TOML") from None
    return dict(content)


_SECTIONS = {
    field.name: field.type
    for field in msgspec.structs.fields(Settings)
    if isinstance(field.type, type) and issubclass(field.type, Section)
}


def _set_from_environment(found: dict[str, Any], name: str, text: str) -> None:
    path = name[len(PREFIX) :].lower().split("__")
    section = _SECTIONS.get(path[0]) if len(path) == 2 else None
    owner: Any = section or Settings
    known = {field.name for field in msgspec.structs.fields(owner)}
    if path[-1] not in known or (len(path) == 2) != (section is not None):
        if len(path) == 1 and path[0] not in known:
            return  # of another command, such as NEARCAST_EXAMPLES of the tests
        msg = f"{name}: no such setting"
        raise InvalidParameterError(msg, got=text, wanted="a known name")
    target = found.setdefault(path[0], {}) if section else found
    target[path[-1]] = _value(text)


def _value(text: str) -> Any:  # noqa: ANN401
    """Read JSON where it is some (numbers, lists), otherwise take the text."""
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text


def _converted(found: dict[str, Any]) -> Settings:
    try:
        return msgspec.convert(found, Settings)
    except msgspec.ValidationError as error:
        what = "settings are wrong"
        raise InvalidParameterError(what, got=str(error), wanted="see docs/guides") from None


def _check(settings: Settings) -> None:
    for section in (settings.limits, settings.retention, settings.webhooks):
        for field in msgspec.structs.fields(section):
            value = getattr(section, field.name)
            if isinstance(value, (int, float)) and not 0 <= value < 2**53:
                _refuse(field.name, value, "a number of at least 0")
    port = settings.listen.rpartition(":")[2]
    if not (settings.host and port.isascii() and port.isdigit() and int(port) < 65_536):
        _refuse("listen", settings.listen, "address:port, such as 127.0.0.1:8080")
    if not settings.database.startswith(("sqlite:///", "postgresql://")):
        _refuse("database", settings.database.partition(":")[0], "sqlite:///… or postgresql://…")
    for name in ("secret_key", "secret_key_before"):
        if len(getattr(settings, name) or "x" * MIN_SECRET) < MIN_SECRET:
            _refuse(
                name, "***", f"at least {MIN_SECRET} characters, such as of openssl rand -hex 32"
            )
    if (settings.tls.certificate is None) != (settings.tls.key is None):
        _refuse("tls", settings.tls.certificate or settings.tls.key, "both certificate and key")
    for network in settings.webhooks.allow:
        try:
            ipaddress.ip_network(network)
        except ValueError:
            _refuse("webhooks.allow", network, "networks such as 10.1.0.0/16")
    if settings.hub.window_count is not None and settings.hub.window_seconds is not None:
        _refuse("hub.window_count", settings.hub.window_count, "one window at most")


def _refuse(name: str, got: object, wanted: str) -> None:
    msg = f"setting {name}"
    raise InvalidParameterError(msg, got=got, wanted=wanted, field=name)
