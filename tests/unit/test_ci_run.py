"""`.ci/run`: installs what tests would skip for, and goes on without it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

RUN = Path(__file__).parents[2] / ".ci" / "run"
NEEDED = ("bash", "env", "dirname", "id", "timeout")


@pytest.fixture
def calls(tmp_path):
    """Run the script where there is nothing but make and what is given; return what it called."""
    log = tmp_path / "log"

    def stand_in(name, code) -> None:
        path = tmp_path / "bin" / name
        path.write_text(f'#!/bin/sh\necho "{name} $@" >> {log}\nexit {code}\n')
        path.chmod(0o755)

    def run(**codes):
        (tmp_path / "bin").mkdir(exist_ok=True)
        for name in NEEDED:
            if not (tmp_path / "bin" / name).exists():
                (tmp_path / "bin" / name).symlink_to(shutil.which(name))
        # `sudo -n` of a user that may become root: the rest of the line is the command.
        (tmp_path / "bin" / "sudo").write_text('#!/bin/sh\nshift\nexec "$@"\n')
        (tmp_path / "bin" / "sudo").chmod(0o755)
        for name, code in {"make": 0, **codes}.items():
            stand_in(name.replace("_", "-"), code)
        environment = {k: v for k, v in os.environ.items() if k != "JAVA_HOME"}
        environment["PATH"] = str(tmp_path / "bin")
        done = subprocess.run([RUN], env=environment, capture_output=True, text=True, check=False)
        return done, log.read_text().splitlines()

    return run


def test_what_is_missing_is_installed_before_the_tests(calls) -> None:
    done, lines = calls(apt_get=0)
    assert done.returncode == 0
    assert [line.split()[0] for line in lines] == ["apt-get", "apt-get", "make"]
    packages = "openjdk-17-jre-headless maven chromium fonts-dejavu-core postgresql"
    assert lines[1].endswith(f"install --no-install-recommends {packages}")


def test_nothing_is_installed_where_all_is_there(calls) -> None:
    _, lines = calls(apt_get=0, java=0, mvn=0, chromium=0, psql=0)
    assert lines == ["make test"]


def test_what_cannot_be_installed_is_said_and_the_tests_run(calls) -> None:
    done, lines = calls(apt_get=100, java=0, chromium=0, psql=0)
    assert done.returncode == 0
    assert lines[-1] == "make test"
    assert "cannot install maven" in done.stderr


def test_a_machine_without_packages_runs_the_tests_too(calls) -> None:
    done, lines = calls(make=2)
    assert done.returncode == 2
    assert lines == ["make test"]
