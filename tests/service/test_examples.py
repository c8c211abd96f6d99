"""The files under docs/examples are what the tools they are for accept."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from nearcast.cli.__main__ import main
from nearcast.service.settings import read_settings

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
PROJECT = (EXAMPLES.parents[1] / "pyproject.toml").read_text()


def test_systemd_accepts_the_unit(tmp_path) -> None:
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("needs systemd-analyze")
    text = (EXAMPLES / "nearcast.service").read_text()
    unit = tmp_path / "nearcast.service"
    unit.write_text(text.replace("/opt/nearcast/bin/nearcast", sys.executable))  # it must be there
    done = subprocess.run([analyze, "verify", unit], capture_output=True, text=True, check=False)
    assert "nearcast.service" not in done.stderr, done.stderr
    assert done.returncode == 0, done.stderr


def test_what_the_unit_runs_are_commands_that_there_are(capsys) -> None:
    text = (EXAMPLES / "nearcast.service").read_text()
    commands = re.findall(r"^Exec\w+=/opt/nearcast/bin/nearcast (.+)$", text, re.M)
    assert [command.split()[0] for command in commands] == ["config", "serve"]
    check = commands[0].replace("/etc/nearcast.toml", str(EXAMPLES / "nearcast.toml"))
    assert main(check.split()) == 0
    assert "window_seconds = 86400.0" in capsys.readouterr().out


def test_the_container_file_names_what_there_is() -> None:
    text = (EXAMPLES / "Containerfile").read_text()
    for extras in re.findall(r"\[([a-z,]+)\]\"", text):
        for extra in extras.split(","):
            assert re.search(rf"^{extra} = \[", PROJECT, re.M), extra
    variables = dict(re.findall(r"(NEARCAST_\w+)=(\S+)", text))
    settings = read_settings(None, variables)
    assert settings.is_public
    assert settings.database == "sqlite:////home/nearcast/nearcast.db"
    command = re.search(r'^CMD \["nearcast", "(\w+)"\]$', text, re.M)
    assert command is not None
    assert command[1] == "serve"
