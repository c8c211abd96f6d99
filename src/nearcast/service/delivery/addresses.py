"""May the service call this address? Only public ones, and those that the operator allows.

A name is checked after it was resolved, and the connection goes to the addresses that were checked:
a name that changes its mind in between gains nothing. Redirects pass the same checks.
"""

from __future__ import annotations

import ipaddress
import socket
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.resolver import ThreadedResolver

from nearcast.service.problems import MalformedError

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_URL = 2_000
MOST_CHECKED = 10_000
"""Addresses that are remembered as good: an endpoint is called again and again."""


class RefusedAddressError(OSError):
    """An address that must not be called."""


class AddressRule:
    """Which addresses may be called."""

    def __init__(self, allowed: Sequence[str]) -> None:
        self._allowed = [ipaddress.ip_network(network) for network in allowed]
        self._checked: set[str] = set()

    def check(self, address: str) -> None:
        """Refuse an address that is not public and not allowed."""
        ip = ipaddress.ip_address(address.partition("%")[0])
        mapped = getattr(ip, "ipv4_mapped", None)
        ip = mapped or ip
        if any(ip.version == network.version and ip in network for network in self._allowed):
            return
        if not ip.is_global or ip.is_multicast or ip.is_reserved:
            msg = f"address {ip} is not public"
            raise RefusedAddressError(msg)

    def check_url(self, url: str) -> None:
        """Refuse a URL that cannot be called; a name in it is resolved, and checked, later."""
        if url in self._checked:
            return
        wanted = "https://… or http://…, without user and password"
        if not isinstance(url, str) or not 0 < len(url) <= MAX_URL or not url.isprintable():
            msg = "url is not a URL"
            raise MalformedError(msg, got=url, wanted=wanted, field="url")
        try:
            parts = urlsplit(url)
            host, _ = parts.hostname, parts.port
        except ValueError:
            host, parts = None, urlsplit("")
        if parts.scheme not in ("http", "https") or not host or parts.username or parts.password:
            msg = "url is not a URL"
            raise MalformedError(msg, got=url, wanted=wanted, field="url")
        if is_literal(host):
            try:
                self.check(host)
            except RefusedAddressError as error:
                hint = "the operator can allow networks: webhooks.allow"
                msg = f"url: {error}"
                raise MalformedError(
                    msg, got=url, wanted="a public address", hint=hint, field="url"
                ) from None
        if len(self._checked) >= MOST_CHECKED:
            self._checked.clear()
        self._checked.add(url)


def is_literal(host: str) -> bool:
    """Whether a host is an address and no name."""
    try:
        ipaddress.ip_address(host.strip("[]").partition("%")[0])
    except ValueError:
        return False
    return True


class CheckedResolver(AbstractResolver):
    """Resolves names, and gives only addresses that may be called."""

    def __init__(self, rule: AddressRule, inner: Any = None) -> None:  # noqa: ANN401
        self._rule = rule
        self._inner = inner or ThreadedResolver()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Return the addresses of a name that may be called; refuse if there are none."""
        found: list[ResolveResult] = await self._inner.resolve(host, port, family)
        allowed, refused = [], ""
        for one in found:
            try:
                self._rule.check(one["host"])
                allowed.append(one)
            except RefusedAddressError as error:
                refused = str(error)
        if not allowed:
            msg = refused or f"{host} has no address"
            raise RefusedAddressError(msg)
        return allowed

    async def close(self) -> None:
        """Release what resolves."""
        await self._inner.close()
