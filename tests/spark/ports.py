"""Ports of loopback for servers that tests start."""

from __future__ import annotations

import socket
import time


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for_port(port, process, patience_s=240) -> None:
    end = time.time() + patience_s
    while time.time() < end:
        assert process.poll() is None, "it ended by itself"
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.2)
    msg = f"nothing listens on port {port}"
    raise TimeoutError(msg)
