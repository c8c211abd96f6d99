"""Fragments become items of the changelog, once, below the headings of their kinds."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
PROGRAM = ROOT / "tools" / "assemble_changes.py"


@pytest.fixture
def project(tmp_path):
    (tmp_path / "changes").mkdir()
    (tmp_path / "changes" / "README.md").write_text("# One file per change\n")
    (tmp_path / "CHANGELOG.md").write_text("# Changes\n\nFor users.\n\n## 0.1.0\n\nThe first.\n")
    return tmp_path


def add(project: Path, **fragments: str) -> None:
    for name, text in fragments.items():
        (project / "changes" / f"{name.replace('_', '.')}.md").write_text(text)


def run(project: Path, version: str = "0.2.0") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(PROGRAM), version, "--root", str(project)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_fragments_move_below_the_headings_of_their_kinds(project) -> None:
    add(project, b_fix="A box is\nclosed.\n", a_feature="More.\n", c_fix="Less.\n")
    assert run(project).returncode == 0
    assert (project / "CHANGELOG.md").read_text() == (
        "# Changes\n\nFor users.\n\n## 0.2.0\n\n### New\n\n- More.\n\n"
        "### Mended\n\n- A box is closed.\n- Less.\n\n## 0.1.0\n\nThe first.\n"
    )
    assert [path.name for path in (project / "changes").iterdir()] == ["README.md"]


def test_a_second_run_adds_to_the_part_and_keeps_what_was_written(project) -> None:
    add(project, a_fix="One.\n")
    run(project)
    text = (project / "CHANGELOG.md").read_text()
    (project / "CHANGELOG.md").write_text(text.replace("## 0.2.0\n", "## 0.2.0\n\nTo know.\n"))
    add(project, b_fix="Two.\n", c_feature="Three.\n")
    assert run(project).returncode == 0
    wanted = "## 0.2.0\n\nTo know.\n\n### New\n\n- Three.\n\n### Mended\n\n- One.\n- Two.\n\n"
    assert wanted in (project / "CHANGELOG.md").read_text()


def test_without_fragments_nothing_changes_the_second_time(project) -> None:
    add(project, a_fix="One.\n")
    run(project)
    text = (project / "CHANGELOG.md").read_text()
    run(project)
    assert (project / "CHANGELOG.md").read_text() == text


def test_links_are_seen_from_the_top(project) -> None:
    add(project, a_fix="See [it](../docs/it.md).\n")
    run(project)
    assert "- See [it](docs/it.md).\n" in (project / "CHANGELOG.md").read_text()


def test_an_unknown_kind_is_refused_and_nothing_is_deleted(project) -> None:
    add(project, a_mend="One.\n")
    done = run(project)
    assert done.returncode != 0
    assert "got kind 'mend'" in done.stderr
    assert (project / "changes" / "a.mend.md").exists()
