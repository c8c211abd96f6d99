"""A PostgreSQL of our own on loopback: found, started in a folder that goes, ended by its id."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PLACES = ("/usr/lib/postgresql", "/usr/local/pgsql", "/opt/homebrew/opt/postgresql")
PATIENCE_S = 120.0


def find_programs() -> Path | None:
    """Return the folder with `initdb` and `postgres`, or None."""
    for place in PLACES:
        for found in sorted(Path(place).glob("**/bin/initdb"), reverse=True):
            if (found.parent / "postgres").exists():
                return found.parent
    named = shutil.which("initdb")
    return Path(named).parent if named else None


def missing() -> str | None:
    """Say what is missing to start one."""
    if find_programs() is None:
        return "PostgreSQL is not installed"
    if os.getuid() == 0 and _user() is None:
        return "PostgreSQL does not run as root, and there is no user postgres"
    return None


def _user() -> pwd.struct_passwd | None:
    try:
        return pwd.getpwnam("postgres")
    except KeyError:
        return None


@contextmanager
def running_server(settings: Sequence[str] = ()) -> Iterator[str]:
    """Start a server; give its URL without the name of a database.

    Parameters
    ----------
    settings
        Further settings, `name=value`.
    """
    programs = find_programs()
    if programs is None:
        msg = "PostgreSQL is not installed"
        raise FileNotFoundError(msg)
    folder = Path(tempfile.mkdtemp(prefix="nearcast-pg-"))
    options: dict[str, Any] = {}
    user = _user()
    if os.getuid() == 0 and user is not None:
        os.chown(folder, user.pw_uid, user.pw_gid)
        options = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    data = folder / "data"
    null = subprocess.DEVNULL
    quiet: dict[str, Any] = {"stdout": null, "stderr": null, "cwd": folder, **options}
    command = [
        str(programs / "initdb"),
        "-D",
        str(data),
        "-A",
        "trust",
        "-U",
        "nearcast",
        "-E",
        "UTF8",
    ]
    subprocess.run([*command, "--locale=C", "-N"], check=True, **quiet)
    own = ["listen_addresses=127.0.0.1", f"unix_socket_directories={folder}", *settings]
    told = [part for setting in own for part in ("-c", setting)]
    start = [str(programs / "postgres"), "-D", str(data), "-p", str(port), *told]
    server: subprocess.Popen[bytes] = subprocess.Popen(start, **quiet)
    try:
        _wait_for(port, server)
        yield f"postgresql://nearcast@127.0.0.1:{port}/"
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(60)
        shutil.rmtree(folder, ignore_errors=True)


def _wait_for(port: int, server: subprocess.Popen[bytes]) -> None:
    import psycopg

    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        if server.poll() is not None:
            msg = f"PostgreSQL ended by itself with {server.returncode}"
            raise RuntimeError(msg)
        try:
            psycopg.connect(f"postgresql://nearcast@127.0.0.1:{port}/postgres").close()
        except psycopg.OperationalError:
            time.sleep(0.1)
        else:
            return
    msg = "PostgreSQL does not answer"
    raise TimeoutError(msg)
