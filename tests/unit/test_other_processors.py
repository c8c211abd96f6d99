"""What is written for one processor has a twin for the others: the sources compile for ARM too."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

CORE = Path(__file__).parents[2] / "cpp"
COMPILER = "aarch64-linux-gnu-g++"
_NAMES_A_PROCESSOR = re.compile(r"__x86_64__|#pragma GCC target|immintrin")


def test_sources_that_name_a_processor_compile_for_arm(tmp_path: Path) -> None:
    if shutil.which(COMPILER) is None:
        pytest.skip(f"there is no {COMPILER} here (Debian: g++-aarch64-linux-gnu)")
    named = [
        path
        for path in sorted(CORE.glob("nearcast/**/*.*"))
        if _NAMES_A_PROCESSOR.search(path.read_text(encoding="utf-8"))
    ]
    assert len(named) > 5
    together = tmp_path / "together.cpp"
    together.write_text("".join(f'#include "{path}"\n' for path in named))
    command = [COMPILER, "-std=c++20", "-fsyntax-only", "-Wall", "-Werror", "-Wno-psabi"]
    done = subprocess.run(
        [*command, "-I", CORE, together], capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    assert done.returncode == 0
