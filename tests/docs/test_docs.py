"""What the documents say is true: their code runs, their links lead somewhere, numbers fit."""

from __future__ import annotations

import contextlib
import doctest
import importlib.util
import io
import json
import os
import pkgutil
import re
import subprocess
import sys
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import nearcast as nc
from nearcast.matcher import DEFAULT_INDEX

pytestmark = pytest.mark.docs

ROOT = Path(__file__).parent.parent.parent
README = ROOT / "README.md"
TUTORIAL = ROOT / "docs" / "tutorial.md"  # whose commands test_tutorial.py runs
GUIDES = sorted((ROOT / "docs" / "guides").glob("*.md"))
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("changes/*.md"), *ROOT.glob("docs/**/*.md")])

_FENCE = re.compile(r"^```(\w*)[ ]?(\S*)\n(.*?)^```$", re.M | re.S)
_LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
_ROOMS = "src|cpp|docs|tools|tests|changes"
_NAMED_PATH = re.compile(rf"`((?:{_ROOMS})/[\w./*+-]*)`")
_HEADING = re.compile(r"^#+ +(.*)$", re.M)


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, the file name after it, its text, and where it starts."""

    language: str
    name: str
    text: str
    line: int


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def blocks(path: Path) -> list[Block]:
    text = path.read_text(encoding="utf-8")
    return [
        Block(found[1], found[2], found[3], line=text.count("\n", 0, found.start()) + 1)
        for found in _FENCE.finditer(text)
    ]


def prose(path: Path) -> str:
    """Return a document without its fenced blocks."""
    return _FENCE.sub("", path.read_text(encoding="utf-8"))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty current folder, for the files that examples write."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


# ---- code ------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", [README, TUTORIAL, *GUIDES], ids=name_of)
def test_python_blocks_run_and_print_what_stands_below_them(path, folder) -> None:
    found = blocks(path)
    write_files(found, folder)
    names: dict[str, object] = {"__name__": "__main__"}
    ran = 0
    for block, following in pairwise([*found, Block("", "", "", 0)]):
        if block.language != "python" or block.name:
            continue
        printed = io.StringIO()
        # Empty lines in front, so that a traceback names the line of the document.
        code = compile("\n" * block.line + block.text, str(path), "exec")
        with contextlib.redirect_stdout(printed):
            exec(code, names)
        expected = following.text if following.language == "text" else ""
        assert printed.getvalue() == expected, f"{name_of(path)}:{block.line}"
        ran += 1
    assert ran > 0 or any(block.language == "console" for block in found)


def write_files(found: list[Block], folder: Path) -> None:
    for block in found:
        if block.name:
            (folder / block.name).write_text(block.text, encoding="utf-8")


def commands(block: Block) -> list[tuple[str, str]]:
    """Return the commands of a console block with what they print according to it."""
    parts = re.split(r"^\$ ", block.text, flags=re.M)[1:]
    return [(command, output) for command, _, output in (part.partition("\n") for part in parts)]


WITH_COMMANDS = [
    path for path in [README, *GUIDES] if any(block.language == "console" for block in blocks(path))
]


@pytest.mark.parametrize("path", WITH_COMMANDS, ids=name_of)
def test_console_blocks_run_and_print_what_they_show(path, folder) -> None:
    found = blocks(path)
    write_files(found, folder)
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    shown = [pair for block in found if block.language == "console" for pair in commands(block)]
    ours = [pair for pair in shown if pair[0].startswith("nearcast ")]
    assert ours
    for command, output in ours:
        done = subprocess.run(
            command,
            shell=True,
            env={**os.environ, "PATH": programs},
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, f"{command}\n{done.stderr}"
        if output:
            assert done.stdout == output, command


def module_names() -> list[str]:
    found = pkgutil.walk_packages(nc.__path__, "nearcast.")
    return ["nearcast", *sorted(module.name for module in found)]


@pytest.mark.parametrize("name", [name for name in module_names() if name != "nearcast._core"])
def test_docstring_examples_are_true(name) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


# ---- names -----------------------------------------------------------------------------------


def slug(heading: str) -> str:
    """Return the anchor that hosting sites give a heading."""
    kept = re.sub(r"[^\w\- ]", "", heading.strip().lower())
    return kept.replace(" ", "-")


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_relative_links_lead_to_files_and_headings(path) -> None:
    for link in _LINK.findall(prose(path)):
        if re.match(r"[a-z]+:", link):
            continue
        file, _, anchor = link.partition("#")
        target = path.parent / file if file else path
        assert target.exists(), link
        if anchor:
            assert anchor in map(slug, _HEADING.findall(prose(target))), link


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_paths_in_backticks_exist(path) -> None:
    for named in _NAMED_PATH.findall(prose(path)):
        assert any(ROOT.glob(named.rstrip("/"))), named


def test_readme_names_the_default_index_kind() -> None:
    assert f"`{DEFAULT_INDEX}` is the default" in README.read_text(encoding="utf-8")


def test_make_targets_named_in_the_documents_exist() -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.M))
    for path in DOCUMENTS:
        assert set(re.findall(r"\bmake ([a-z]+)\b(?=`| *#)", path.read_text())) <= targets, path


# ---- numbers ---------------------------------------------------------------------------------


def load_writer() -> Any:
    spec = importlib.util.spec_from_file_location("write_results", ROOT / "tools/write_results.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


writer = load_writer()


def test_results_in_the_documents_are_those_of_the_recorded_files() -> None:
    for path, wanted in writer.documents().items():
        assert path.read_text(encoding="utf-8") == wanted, path


def test_the_picture_shows_the_recorded_numbers() -> None:
    pytest.importorskip("matplotlib")
    from tools import draw_growth

    made = draw_growth.COMMENT.format(json.dumps(draw_growth.series()))
    assert draw_growth.OUT.read_text(encoding="utf-8").startswith(made)


def test_without_results_the_block_says_so(tmp_path) -> None:
    assert "No results" in writer.block(tmp_path)


@pytest.fixture
def recorded(tmp_path):
    """A folder with one result, as the command line writes it."""
    command = [sys.executable, "-m", "nearcast.cli", "bench", "match", "--index", "brute-force"]
    sizes = ["--subscriptions", "20", "--messages", "10", "--repeat", "1"]
    out = tmp_path / "small.json"
    subprocess.run([*command, *sizes, "--out", out], check=True, capture_output=True, timeout=120)
    return out


def test_a_result_becomes_a_row_with_its_origin(recorded) -> None:
    content = writer.block(recorded.parent)
    machine = json.loads(recorded.read_text())["provenance"]["machine"]
    assert "`small.json`: 20" in content
    assert machine["cpu"] in content
    assert "| tweets, short-point | 20 | `brute-force` |" in content


def test_a_result_of_another_format_is_refused(recorded) -> None:
    result = json.loads(recorded.read_text())
    recorded.write_text(json.dumps({**result, "format": 99}))
    with pytest.raises(ValueError, match=r"small\.json: got format 99, wanted 1"):
        writer.block(recorded.parent)


def test_a_measurement_of_something_else_is_left_out(recorded) -> None:
    result = json.loads(recorded.read_text())
    recorded.write_text(json.dumps({**result, "command": "other"}))
    assert "No results" in writer.block(recorded.parent)


@pytest.mark.parametrize("text", ["", "<!-- results:start -->", "<!-- results:end -->"])
def test_a_document_without_both_markers_is_refused(text) -> None:
    with pytest.raises(ValueError, match="markers"):
        writer.with_block(text, "")
