"""Databases of a PostgreSQL that tests start."""

from __future__ import annotations

from nearcast.bench.peers.postgres_server import find_programs, missing, running_server

__all__ = ["find_programs", "missing", "new_database", "running_server"]


def new_database(server, name):
    """Make a database; return its URL."""
    import psycopg

    with psycopg.connect(f"{server}postgres", autocommit=True) as connection:
        connection.execute(f'create database "{name}"')
    return f"{server}{name}"
