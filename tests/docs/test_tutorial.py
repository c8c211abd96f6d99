"""The commands of the tutorial, typed one after the other, answer what it shows."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("uvicorn")
pytest.importorskip("httpx")

pytestmark = [
    pytest.mark.docs,
    pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed"),
]

ROOT = Path(__file__).parent.parent.parent
TUTORIAL = ROOT / "docs" / "tutorial.md"
PORT = "8080"

_FENCE = re.compile(r"^```(\w+)[ ]?(\S*)\n(.*?)^```$", re.M | re.S)


def test_the_commands_of_the_tutorial_answer_what_it_shows(tmp_path) -> None:
    port = free_port()
    text = TUTORIAL.read_text(encoding="utf-8").replace(f":{PORT}", f":{port}")
    for language, name, content in _FENCE.findall(text):
        if name:
            (tmp_path / name).write_text(content, encoding="utf-8")
        elif language == "console":
            assert content.startswith("$ ")
    shown = "".join(c for language, _, c in _FENCE.findall(text) if language == "console")
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    here = {"cwd": tmp_path, "env": {**os.environ, "PATH": programs}}
    servers = []
    try:
        for part in re.split(r"^\$ ", shown, flags=re.M)[1:]:
            command, _, expected = part.partition("\n")
            if command.endswith(" &"):
                listen = ["--listen", f"127.0.0.1:{port}"]
                started = [*command.removesuffix(" &").split(), *listen]
                servers.append(subprocess.Popen(started, stderr=subprocess.DEVNULL, **here))
                continue
            done = subprocess.run(
                command, shell=True, capture_output=True, text=True, timeout=120, **here
            )
            assert done.returncode == 0, done.stderr
            assert is_like(done.stdout.strip(), expected.strip()), f"{command}\n{done.stdout}"
    finally:
        for server in servers:
            server.terminate()
    assert [server.wait(60) for server in servers] == [0]


def is_like(text: str, shown: str) -> bool:
    """Whether a text is what is shown, where … stands for anything."""
    pattern = ".*".join(map(re.escape, shown.split("…")))
    return re.fullmatch(pattern, text, re.S) is not None


def test_an_answer_that_differs_is_noticed() -> None:
    assert is_like('{"event":2,"changes":1}', '{"event":…,"changes":1}')
    assert not is_like('{"event":2,"changes":0}', '{"event":…,"changes":1}')


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
