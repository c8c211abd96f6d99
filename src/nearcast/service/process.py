"""`nearcast serve` as a process: listening, signals, an orderly end."""

from __future__ import annotations

import asyncio
import gc
import logging
import signal
import ssl
from contextlib import contextmanager
from typing import TYPE_CHECKING

import uvicorn

from nearcast.errors import InvalidParameterError
from nearcast.service import logs
from nearcast.service.delivering import Deliverer
from nearcast.service.http.routes import make_app
from nearcast.service.running import Service

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from nearcast.service.delivering import Source
    from nearcast.service.settings import Settings

log = logging.getLogger("nearcast.service")


class Server(uvicorn.Server):
    """uvicorn's server, with streams that end when it stops: they would hold it for ever."""

    def __init__(self, config: uvicorn.Config, service: Service) -> None:
        super().__init__(config)
        self._service = service
        self.handles_signals = True

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop at a signal, and do not raise it again: there is more to do when this is over."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM) if self.handles_signals else ():
            loop.add_signal_handler(number, self.handle_exit, number, None)
        yield

    async def shutdown(self, sockets: list[object] | None = None) -> None:  # type: ignore[override]
        """Let streams say goodbye, then wait for the rest."""
        self._service.begin_stop()
        await super().shutdown(sockets)  # type: ignore[arg-type]


async def _when_listening(server: Server, beside: Callable[[], Awaitable[None]]) -> None:
    while not server.started:
        await asyncio.sleep(0.01)
    try:
        await beside()
    except Exception:
        log.exception("what runs beside the service failed")


def check_access(settings: Settings, service: Service) -> None:
    """Refuse to be open to everybody by accident."""
    if settings.is_public and not service.keys.are_needed and not settings.open_access:
        what = f"address {settings.listen} is public, and there are no keys"
        hint = "nearcast keys create --role admin, or set NEARCAST_ADMIN_KEY; or open_access"
        raise InvalidParameterError(what, wanted="a key, or a loopback address", hint=hint)


def configuration(settings: Settings, service: Service) -> uvicorn.Config:
    """Return how uvicorn listens."""
    tls = settings.tls
    return uvicorn.Config(
        make_app(service),
        host=settings.host,
        port=settings.port,
        lifespan="off",
        access_log=False,
        log_config=None,
        proxy_headers=False,  # nothing here depends on who is on the other side of a proxy
        server_header=False,
        date_header=False,
        ws="websockets-sansio",
        ws_max_size=1 << 16,
        timeout_graceful_shutdown=max(1, int(settings.grace_seconds)),
        ssl_certfile=tls.certificate,
        ssl_keyfile=tls.key,
        ssl_ca_certs=tls.clients,
        ssl_cert_reqs=ssl.CERT_REQUIRED if tls.clients else ssl.CERT_NONE,
    )


def serve(
    settings: Settings,
    source: Source | None = None,
    beside: Callable[[], Awaitable[None]] | None = None,
) -> int:
    """Run until a signal ends it.

    Parameters
    ----------
    settings
        How.
    source
        Where changes come from that another pipeline has found, if that is so.
    beside
        What else runs as long as the service listens.
    """
    logs.set_up(settings)
    make_loop = uvicorn.Config("").get_loop_factory() or asyncio.new_event_loop
    loop = make_loop()
    try:
        asyncio.set_event_loop(loop)
        return loop.run_until_complete(_serve(settings, source, beside))
    finally:
        asyncio.set_event_loop(None)
        loop.close()


async def _serve(
    settings: Settings, source: Source | None, beside: Callable[[], Awaitable[None]] | None
) -> int:
    service = Service(settings)
    try:
        check_access(settings, service)
    except InvalidParameterError:
        service.store.close()
        raise
    await service.start()
    # What was loaded stays; what a commit makes is freed by counting. Collecting more often than
    # this walks through all of it, and holds up everybody.
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 20, 50)
    tasks: list[asyncio.Task[None]] = []
    if source is not None:
        tasks.append(asyncio.create_task(Deliverer(service, source).run()))
    server = Server(configuration(settings, service), service)
    if beside is not None:
        tasks.append(asyncio.create_task(_when_listening(server, beside)))
    log.info(
        "listening", extra={"fields": {"address": settings.listen, "event": service.engine.last}}
    )
    try:
        await server.serve()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await service.stop()
        gc.unfreeze()  # so that the hub can be freed when the process ends
    log.info("stopped", extra={"fields": {"event": service.engine.last}})
    return 0 if server.started else 1
