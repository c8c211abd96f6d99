"""The page at `/`, its files, and what it has to know about the one who looks.

The files are plain: nothing is built, nothing comes from elsewhere. Leaflet is served from its
package.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from starlette.responses import FileResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from xstatic.pkg.leaflet import BASE_DIR as LEAFLET

import nearcast
from nearcast.service.batches import hub_id
from nearcast.service.http.context import context_of, json_response
from nearcast.service.http.subscriptions import find
from nearcast.service.keys import DEFAULT_OWNER

if TYPE_CHECKING:
    from starlette.requests import Request

    from nearcast.service.settings import Page

FILES = Path(__file__).parents[1] / "page"
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:{tiles}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


def policy(page: Page) -> str:
    """Return what a browser may load for the page: what we serve, and tiles where they are set.

    Examples
    --------
    >>> from nearcast.service.settings import Page
    >>> "img-src 'self' data: https://*.tiles.test;" in policy(
    ...     Page(tiles="https://{s}.tiles.test/{z}/{x}/{y}.png"))
    True
    """
    tiles = ""
    if page.tiles:
        parts = urlsplit(page.tiles.replace("{s}", "*"))
        tiles = f" {parts.scheme}://{parts.netloc}"
    return _POLICY.format(tiles=tiles)


async def index(request: Request) -> Response:
    """`GET /`: the page."""
    settings = context_of(request).service.settings
    headers = {"content-security-policy": policy(settings.page), "cache-control": "no-cache"}
    return FileResponse(FILES / "index.html", headers=headers)


def routes() -> list[BaseRoute]:
    """Return the page and its files."""
    return [
        Route("/", index, methods=["GET"]),
        Mount("/page", StaticFiles(directory=FILES)),
        Mount("/leaflet", StaticFiles(directory=LEAFLET)),
    ]


async def me(request: Request) -> Response:
    """`GET /v1/me`: what the caller's key may do, and for which subscriber."""
    context = context_of(request)
    principal, service = context.principal, context.service
    owner = principal.owner
    if owner is None and "admin" in principal.roles:
        owner = DEFAULT_OWNER
    answer: dict[str, Any] = {
        "id": principal.id,
        "roles": sorted(principal.roles),
        "owner": owner,
        "are_keys_needed": service.keys.are_needed,
        "version": nearcast.__version__,
        "page": service.settings.page,
    }
    return json_response(answer)


async def safe_region(request: Request) -> Response:
    """`GET /v1/subscriptions/{id}/safe-region`: how far it may move before its set can change."""
    row = await find(request)
    hub = context_of(request).service.engine.hub
    distance = hub.safe_distance(hub_id(row.owner, row.id))
    return json_response({"id": row.id, "safe_distance": distance})
