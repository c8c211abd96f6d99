"""docs/thresholds.md names every constant of the core, as it is."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
CORE = ROOT / "cpp" / "nearcast"
PAGE = (ROOT / "docs" / "thresholds.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (\S+\.(?:h|cpp)) \| `(.+?)` \|", PAGE, re.MULTILINE)
_CONSTANTS = re.compile(r"constexpr\s+([\w:]+(?:\s+long)*)\s+(k[A-Z][^;(]*[^;]*);")


def _squeezed(text: str) -> str:
    return re.sub(r"\s+", " ", text)


def test_each_row_of_the_page_stands_in_its_file() -> None:
    assert len(ROWS) > 100
    missing = [
        (name, code)
        for name, code in ROWS
        if code.replace("\\|", "|") not in _squeezed((CORE / name).read_text(encoding="utf-8"))
    ]
    assert missing == []


def test_each_whole_number_constant_of_the_core_stands_on_the_page() -> None:
    named = set(re.findall(r"`(k[A-Z]\w*)`", PAGE.split("## Constants that no size", 1)[1]))
    rows = {(name, word) for name, code in ROWS for word in re.findall(r"k[A-Z]\w*", code)}
    unknown = []
    for path in sorted(CORE.rglob("*")):
        if path.suffix not in (".h", ".cpp"):
            continue
        name = path.relative_to(CORE).as_posix()
        for kind, declared in _CONSTANTS.findall(path.read_text(encoding="utf-8")):
            if kind in ("double", "float", "bool", "char", "auto", "std::string_view"):
                continue
            unknown += [
                (name, constant)
                for constant in re.findall(r"(k[A-Z]\w*)\s*=[^=]", declared)
                if constant not in named and (name, constant) not in rows
            ]
    assert unknown == [], "each needs a row in docs/thresholds.md, or a name in its last section"
