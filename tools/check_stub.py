"""Is the committed stub of the extension what its bindings say? `--write` makes it so."""

from __future__ import annotations

import difflib
import sys
from pathlib import Path

from nanobind.stubgen import StubGen

import nearcast._core

STUB = Path(__file__).parent.parent / "src" / "nearcast" / "_core.pyi"


def generated() -> str:
    """Return the stub as the extension describes itself."""
    generator = StubGen(nearcast._core)
    generator.put(nearcast._core)
    text: str = generator.get()
    return text


def main() -> int:
    """Compare, or write."""
    wanted = generated()
    if "--write" in sys.argv:
        STUB.write_text(wanted)
        return 0
    have = STUB.read_text() if STUB.exists() else ""
    if have == wanted:
        return 0
    lines = difflib.unified_diff(
        have.splitlines(), wanted.splitlines(), "committed", "built", lineterm=""
    )
    print("\n".join(lines), file=sys.stderr)
    print("the stub is not what the extension says; run 'make stub'", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
