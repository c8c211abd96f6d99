"""Servers in processes of their own: started, watched, ended."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.request import urlopen

if TYPE_CHECKING:
    from collections.abc import Iterator

PATIENCE_S = 300.0


class Process:
    """A process that listens on a port."""

    def __init__(self, child: subprocess.Popen[bytes], port: int) -> None:
        self.child = child
        self.port = port
        self.start_s = 0.0
        """From starting the process until it was ready."""

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.port}"

    def cpu_s(self) -> float:
        """Return the processor time that it has used, all threads together."""
        return time.clock_gettime((~self.child.pid << 3) | 2)  # how Linux names a process's clock

    def resident_bytes(self) -> int:
        """Return how much memory it has."""
        pages = Path(f"/proc/{self.child.pid}/statm").read_text().split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")

    def wait_ready(self, path: str) -> float:
        """Wait until it answers; return the seconds that took."""
        started = time.perf_counter()
        while time.perf_counter() - started < PATIENCE_S:
            if self.child.poll() is not None:
                msg = f"server ended with {self.child.returncode}"
                raise RuntimeError(msg)
            try:
                with urlopen(f"{self.url}{path}", timeout=5):
                    return time.perf_counter() - started
            except OSError:
                time.sleep(0.02)
        msg = "server does not answer"
        raise TimeoutError(msg)


@contextmanager
def server(folder: Path, database: str, **settings: object) -> Iterator[Process]:
    """Run `nearcast serve` with a fresh port; end it with SIGTERM."""
    port = free_port()
    environment = {k: v for k, v in os.environ.items() if not k.startswith("NEARCAST_")}
    for name, value in settings.items():
        environment[f"NEARCAST_{name.upper()}"] = (
            value if isinstance(value, str) else json.dumps(value)
        )
    command = [sys.executable, "-m", "nearcast.cli", "serve", "--listen", f"127.0.0.1:{port}"]
    with _child([*command, "--database", database], folder, environment) as child:
        process = Process(child, port)
        process.start_s = process.wait_ready("/readyz")
        yield process


@contextmanager
def noop_server(folder: Path) -> Iterator[Process]:
    """Run a server that reads a body and answers, on the same uvicorn."""
    port = free_port()
    command = [sys.executable, "-m", "nearcast.bench.serving.noop", str(port)]
    with _child(command, folder, dict(os.environ)) as child:
        process = Process(child, port)
        process.wait_ready("/")
        yield process


@contextmanager
def _child(
    command: list[str], folder: Path, environment: dict[str, str]
) -> Iterator[subprocess.Popen[bytes]]:
    with (folder / "server.log").open("ab") as log:
        child = subprocess.Popen(command, cwd=folder, env=environment, stderr=log, stdout=log)
        try:
            yield child
        finally:
            if child.poll() is None:
                child.send_signal(signal.SIGTERM)
            try:
                child.wait(PATIENCE_S)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()


def free_port() -> int:
    """Return a port that is free now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
