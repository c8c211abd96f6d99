"""Who is this, and what may it do? Keys with roles, hashed at rest, and how often they may ask.

A key is ``nc_<id>_<secret>``. The secret is random and long, so one round of SHA-256 is enough:
there is nothing to guess. Keys are read again from the database every few seconds, so that a new
one counts and a removed one does not, without a restart.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from sqlalchemy import select

from nearcast.service.problems import (
    ForbiddenError,
    MalformedError,
    TooManyError,
    UnauthenticatedError,
)
from nearcast.service.schema import API_KEYS
from nearcast.service.store import Records

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nearcast.service.settings import Limits
    from nearcast.service.store import Store

Role: TypeAlias = Literal["publish", "subscribe", "read", "admin"]
ROLES: tuple[Role, ...] = get_args(Role)
DEFAULT_OWNER = "default"
BURST_S = 2.0
_OWNER_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._@:-")
MAX_OWNER = 64


@dataclass(slots=True)
class Principal:
    """A key that was recognised, or the one that everybody is where no keys are needed."""

    id: str
    roles: frozenset[str]
    owner: str | None = None
    expires: float | None = None
    requests: Bucket | None = None
    events: Bucket | None = None

    def needs(self, *roles: Role) -> None:
        """Refuse what none of these roles allows."""
        if "admin" not in self.roles and self.roles.isdisjoint(roles):
            what = f"key {self.id!r} may not do this"
            got = ", ".join(sorted(self.roles))
            raise ForbiddenError(what, got=got, wanted=f"role {' or '.join(roles)}")

    def sees_all(self) -> bool:
        """Whether it may read what belongs to others."""
        return not self.roles.isdisjoint(("admin", "read"))

    def owner_for(self, asked: str | None) -> str:
        """Return whose subscriptions and deliveries are meant, if this key may act for them."""
        if self.owner is not None and asked in (None, self.owner):
            return self.owner
        if "admin" in self.roles:
            return check_owner(asked or DEFAULT_OWNER)
        what = f"key {self.id!r} belongs to another subscriber"
        raise ForbiddenError(what, got=asked, wanted=f"owner {self.owner!r}")


def check_owner(owner: object) -> str:
    """Return the name of a subscriber, if it can be one."""
    if isinstance(owner, str) and 0 < len(owner) <= MAX_OWNER and set(owner) <= _OWNER_CHARACTERS:
        return owner
    wanted = f"1 to {MAX_OWNER} of the letters a to z and A to Z, digits and . _ @ : -"
    msg = "owner is not a name"
    raise MalformedError(msg, got=owner, wanted=wanted, field="owner")


@dataclass(slots=True)
class Bucket:
    """Allows `rate` a second on average, and a burst of two seconds."""

    rate: float
    level: float = 0.0
    seen: float = field(default_factory=time.monotonic)

    def take(self, amount: float = 1.0) -> None:
        """Take some, or say when there will be enough."""
        now = time.monotonic()
        most = self.rate * BURST_S
        self.level = max(0.0, self.level - (now - self.seen) * self.rate)
        self.seen = now
        if self.level > 0 and self.level + amount > most:
            wait_s = (self.level + amount - most) / self.rate
            error = TooManyError(
                "too much at once", wanted=f"{self.rate:g} a second", hint=f"wait {wait_s:.1f} s"
            )
            error.headers = {"retry-after": str(max(1, round(wait_s)))}
            raise error
        self.level += amount


ANYBODY = Principal("anybody", frozenset(ROLES))


class Keys:
    """All keys, in memory.

    Parameters
    ----------
    limits
        How often a key may ask.
    admin_key
        One with all roles that is not in the database.
    """

    def __init__(self, limits: Limits, admin_key: str | None = None) -> None:
        self._limits = limits
        self._admin = None if admin_key is None else digest_of(admin_key)
        self._by_digest: dict[str, Principal] = {}
        self._known: dict[str, Principal] = {}

    def load(self, store: Store) -> None:
        """Read the keys anew; those that stay keep their rate."""
        found: dict[str, Principal] = {}
        if self._admin is not None:
            found[self._admin] = Principal("admin", frozenset({"admin"}))
        for row in store.rows(select(API_KEYS)):
            roles = frozenset(row.roles.split(","))
            found[row.digest] = Principal(row.id, roles, row.owner, row.expires)
        for digest, principal in found.items():
            old = self._by_digest.get(digest)
            limits = self._limits
            principal.requests = old.requests if old else _bucket(limits.requests_per_second)
            principal.events = old.events if old else _bucket(limits.events_per_second)
        self._by_digest = found
        self._known = {}

    @property
    def are_needed(self) -> bool:
        """Whether a request without a key is refused: as soon as there is one."""
        return bool(self._by_digest)

    def recognise(self, token: str | None) -> Principal:
        """Return who has this key."""
        if not self._by_digest:
            return ANYBODY
        if token is None:
            what = "key is missing"
            wanted = "a header Authorization: Bearer <key>"
            raise UnauthenticatedError(what, wanted=wanted)
        principal = self._known.get(token)
        if principal is None:
            principal = self._by_digest.get(digest_of(token))
            if principal is None:
                msg = "key is not known"
                raise UnauthenticatedError(msg, wanted="a key that is in use")
            if len(self._known) < 10_000:
                self._known[token] = principal
        if principal.expires is not None and principal.expires <= time.time():
            msg = "key has expired"
            raise UnauthenticatedError(msg, wanted="a key that is in use")
        if principal.requests is not None:
            principal.requests.take()
        return principal


def _bucket(rate: float) -> Bucket | None:
    return Bucket(rate) if rate > 0 else None


def digest_of(token: str) -> str:
    """Return what is stored of a key."""
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()


def are_equal(one: str, other: str) -> bool:
    """Compare secrets in a time that tells nothing."""
    return hmac.compare_digest(one.encode(), other.encode())


def make_key(
    name: str, roles: Iterable[str], owner: str | None, expires: float | None, now: float
) -> tuple[str, Records]:
    """Return a new key, which is never seen again, and what to write about it."""
    chosen = list(dict.fromkeys(roles))
    unknown = [role for role in chosen if role not in ROLES]
    if unknown or not chosen:
        wanted = "some of " + ", ".join(ROLES)
        msg = "roles are wrong"
        raise MalformedError(msg, got=unknown or chosen, wanted=wanted, field="roles")
    if "subscribe" in chosen and owner is None and "admin" not in chosen:
        what = "owner is missing"
        wanted = "the subscriber whose subscriptions and deliveries the key is for"
        raise MalformedError(what, wanted=wanted, field="owner")
    if owner is not None:
        check_owner(owner)
    id = secrets.token_hex(6)
    token = f"nc_{id}_{secrets.token_urlsafe(32)}"
    records = Records()
    records.put(
        API_KEYS,
        {
            "id": id,
            "name": name,
            "digest": digest_of(token),
            "roles": ",".join(chosen),
            "owner": owner,
            "created": now,
            "expires": expires,
        },
    )
    return token, records
