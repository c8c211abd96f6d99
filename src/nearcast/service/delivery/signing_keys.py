"""What is an endpoint's secret, and what of it does the database know?

With `secret_key` set, a secret is derived from that key and a random salt, and the database holds
the salt alone: who reads the database or a backup of it can sign nothing. Without the key, secrets
are stored as they are, and the service says so when it starts.

While the key is changed, `secret_key_before` is the one that older secrets are derived from; an
endpoint uses the new key from its next rotation on.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from typing import TYPE_CHECKING

from nearcast.errors import InvalidParameterError

if TYPE_CHECKING:
    from nearcast.service.settings import Settings

PREFIX = "whsec_"
_DERIVED = "derived_"


class SigningKeys:
    """Makes secrets, and finds them again from what is stored.

    Examples
    --------
    >>> keys = SigningKeys("a key of the operator, 32 characters")
    >>> stored = keys.make()
    >>> keys.secret("anna", "shop", stored) == keys.secret("anna", "shop", stored)
    True
    >>> keys.secret("anna", "shop", stored) == keys.secret("ben", "shop", stored)
    False
    """

    def __init__(self, key: str | None = None, before: str | None = None) -> None:
        self._newest = None if key is None else _id_of(key)
        self._keys = {_id_of(one): one.encode() for one in (key, before) if one is not None}

    @property
    def are_set(self) -> bool:
        """Whether new secrets are derived."""
        return self._newest is not None

    @classmethod
    def of(cls, settings: Settings) -> SigningKeys:
        """Return the keys that settings name."""
        return cls(settings.secret_key, settings.secret_key_before)

    def make(self) -> str:
        """Return a new secret as it is stored."""
        if self._newest is None:
            return PREFIX + base64.b64encode(secrets.token_bytes(32)).decode()
        return f"{_DERIVED}{self._newest}_{secrets.token_hex(16)}"

    def secret(self, owner: str, endpoint: str, stored: str) -> str:
        """Return the secret that a subscriber was shown.

        Raises
        ------
        InvalidParameterError
            If it is derived from a key that is not set.
        """
        if is_plain(stored):
            return stored
        name, _, salt = stored.removeprefix(_DERIVED).partition("_")
        key = self._keys.get(name)
        if key is None:
            what = f"secret of endpoint {endpoint!r} was made with a key that is not set"
            wanted = f"the key whose fingerprint is {name}"
            hint = "set it as secret_key or secret_key_before"
            raise InvalidParameterError(what, wanted=wanted, hint=hint)
        parts = "\0".join(("nearcast webhook", owner, endpoint, salt))
        digest = hmac.digest(key, parts.encode(), "sha256")
        return PREFIX + base64.b64encode(digest).decode()


def is_plain(stored: str) -> bool:
    """Whether a stored secret is the secret itself."""
    return not stored.startswith(_DERIVED)


def _id_of(key: str) -> str:
    """Return a name for a key that says nothing about it."""
    return hashlib.sha256(b"nearcast key name\0" + key.encode()).hexdigest()[:12]
