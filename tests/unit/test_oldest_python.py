"""The oldest Python that is promised can read every file, and has what the files import.

`make oldest` builds for that Python and runs unit tests in it, which takes minutes. This takes two
seconds, and needs nothing but the interpreter.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CHECK = ROOT / "tools" / "check_stdlib.py"


def promised() -> str:
    """Return the oldest version that pyproject.toml allows, such as 3.10."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    found = re.search(r'^requires-python = ">=([\d.]+)"$', text, re.MULTILINE)
    assert found
    return found[1]


def answers(python: str, version: str) -> bool:
    """Say whether a program is a Python of this version; a shim of pyenv may be none."""
    line = "import sys; print('%d.%d' % sys.version_info[:2])"
    done = subprocess.run([python, "-c", line], capture_output=True, text=True, check=False)
    return done.stdout.strip() == version


@pytest.fixture(scope="module")
def oldest() -> str:
    """Return the oldest Python, from $OLDEST, the path or pyenv."""
    version = promised()
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    named = [os.environ.get("OLDEST"), shutil.which(f"python{version}")]
    named += [str(path) for path in sorted(pyenv.glob(f"{version}.*/bin/python{version}"))]
    for python in named:
        if python and answers(python, version):
            return python
    pytest.skip(f"there is no Python {version} here: OLDEST names it, or the path has it")


def check(python: str, *folders: Path) -> subprocess.CompletedProcess[str]:
    """Run the check under that Python, apart from the packages that are installed here."""
    return subprocess.run(
        [python, "-I", CHECK, *folders], cwd=ROOT, capture_output=True, text=True, check=False
    )


def test_every_file_compiles_and_finds_its_standard_library(oldest: str) -> None:
    done = check(oldest, ROOT / "src", ROOT / "tests", ROOT / "tools")
    assert done.stderr == ""
    assert done.returncode == 0
    assert int(done.stdout.split()[2]) > 200


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("from typing import Required", "typing.Required"),
        ("import datetime as d\nnow = d.datetime.now(d.UTC)", "datetime.UTC"),
        ("import tomllib", "tomllib"),
        ("def first[T](items: list[T]) -> T: ...", "invalid syntax"),
    ],
)
def test_what_came_later_is_found(oldest: str, tmp_path: Path, line: str, said: str) -> None:
    (tmp_path / "newer.py").write_text(line)
    done = check(oldest, tmp_path)
    assert done.returncode == 1
    assert said in done.stderr
