"""A PostgreSQL of our own on loopback, from Debian's package: started by tests, ended by its id."""

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
from typing import Any

PLACES = ("/usr/lib/postgresql", "/usr/local/pgsql", "/opt/homebrew/opt/postgresql")


def find_programs():
    """Return the folder with `initdb` and `postgres`, or None."""
    for place in PLACES:
        for found in sorted(Path(place).glob("**/bin/initdb"), reverse=True):
            if (found.parent / "postgres").exists():
                return found.parent
    named = shutil.which("initdb")
    return Path(named).parent if named else None


def missing():
    """Say what is missing to start one."""
    if find_programs() is None:
        return "PostgreSQL is not installed"
    if os.getuid() == 0 and not _user():
        return "PostgreSQL does not run as root, and there is no user postgres"
    return None


def _user():
    try:
        return pwd.getpwnam("postgres")
    except KeyError:
        return None


@contextmanager
def running_server():
    """Start a server; give the URL of its first database without the name."""
    programs = find_programs()
    folder = Path(tempfile.mkdtemp(prefix="nearcast-pg-"))
    options: dict[str, Any] = {}
    if os.getuid() == 0:
        user = _user()
        os.chown(folder, user.pw_uid, user.pw_gid)
        options = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    data = folder / "data"
    quiet: dict[str, Any] = {
        "stdout": subprocess.DEVNULL,
        "stderr": subprocess.DEVNULL,
        "cwd": folder,
    }
    command = [programs / "initdb", "-D", data, "-A", "trust", "-U", "nearcast", "-E", "UTF8"]
    subprocess.run([*command, "--locale=C", "-N"], check=True, **quiet, **options)
    settings = ["-c", "listen_addresses=127.0.0.1", "-c", f"unix_socket_directories={folder}"]
    server = subprocess.Popen(
        [programs / "postgres", "-D", data, "-p", str(port), *settings], **quiet, **options
    )
    try:
        _wait_for(port, server)
        yield f"postgresql://nearcast@127.0.0.1:{port}/"
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(60)
        shutil.rmtree(folder, ignore_errors=True)


def _wait_for(port, server, patience_s=120) -> None:
    import psycopg

    end = time.monotonic() + patience_s
    while time.monotonic() < end:
        assert server.poll() is None, "PostgreSQL ended by itself"
        try:
            psycopg.connect(f"postgresql://nearcast@127.0.0.1:{port}/postgres").close()
        except psycopg.OperationalError:
            time.sleep(0.1)
        else:
            return
    msg = "PostgreSQL does not answer"
    raise TimeoutError(msg)


def new_database(server, name):
    """Make a database; return its URL."""
    import psycopg

    with psycopg.connect(f"{server}postgres", autocommit=True) as connection:
        connection.execute(f'create database "{name}"')
    return f"{server}{name}"
