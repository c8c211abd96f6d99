"""A POST that does nothing but read JSON and answer: what HTTP costs on the same server."""

from __future__ import annotations

import sys
from typing import Any

import msgspec
import uvicorn

_ANSWER = b'{"id":"m","event":1,"changes":10}'
_decode = msgspec.json.Decoder().decode


async def app(scope: Any, receive: Any, send: Any) -> None:  # noqa: ANN401 — ASGI
    """Answer."""
    if scope["type"] != "http":
        return
    body = (await receive()).get("body", b"")
    if body:
        _decode(body)
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(_ANSWER))]
    await send({"type": "http.response.start", "status": 201, "headers": headers})
    await send({"type": "http.response.body", "body": _ANSWER})


if __name__ == "__main__":
    uvicorn.run(
        app,
        host="127.0.0.1",
        port=int(sys.argv[1]),
        lifespan="off",
        access_log=False,
        log_level="warning",
        server_header=False,
        date_header=False,
    )
