"""Every test of the service that needs a database runs on SQLite and on PostgreSQL."""

from __future__ import annotations

from itertools import count

import pytest
from service import postgres
from service.harness import running

_numbers = count(1)


@pytest.fixture(scope="session")
def postgresql():
    """One server for all tests of a process."""
    reason = postgres.missing()
    if reason:
        pytest.skip(reason)
    # What tests kill is the service; the machine stays, and what the server has written with it.
    with postgres.running_server(["fsync=off", "full_page_writes=off"]) as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request, tmp_path):
    """The URL of an empty database."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/nearcast.db"
    server = request.getfixturevalue("postgresql")
    return postgres.new_database(server, f"test_{next(_numbers)}")


@pytest.fixture
def sqlite(tmp_path):
    """The URL of an empty SQLite file, for what does not depend on the kind of database."""
    return f"sqlite:///{tmp_path}/nearcast.db"


@pytest.fixture
def service(database):
    with running(database) as service:
        yield service
