"""What the sync and the async client are made of, and how they are told where the service is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from itertools import islice
from typing import TYPE_CHECKING, Generic, TypeVar

import httpx

from nearcast.client.calls import Calls

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nearcast.client.calls import Call, Json

BULK_LINES = 1_000

Http = TypeVar("Http", httpx.Client, httpx.AsyncClient)


class Connection(ABC, Generic[Http]):
    """A client of `nearcast serve`.

    Parameters
    ----------
    url
        Where the service is.
    key
        An API key.
    owner
        The subscriber that is meant, for keys that may act for several.
    attempts
        How often a request is tried, if it is not known whether it arrived.
    timeout_s
        How long one attempt may take.
    """

    def __init__(
        self,
        url: str,
        *,
        key: str | None = None,
        owner: str | None = None,
        attempts: int = 8,
        timeout_s: float = 30.0,
    ) -> None:
        headers = {} if key is None else {"authorization": f"Bearer {key}"}
        self._http: Http = self._connect(url, headers, timeout_s)
        self._calls = Calls(owner)
        self._attempts = attempts
        self._url = url

    @abstractmethod
    def _connect(self, url: str, headers: dict[str, str], timeout_s: float) -> Http:
        """Return what sends the requests of this kind of client."""

    def _bulk_calls(self, path: str, some: Iterable[Json]) -> Iterator[tuple[int, Call]]:
        """Yield requests of many lines each, with the number of lines before them."""
        rest, before = iter(some), 0
        while part := list(islice(rest, BULK_LINES)):
            yield before, self._calls.lines(path, part)
            before += len(part)
