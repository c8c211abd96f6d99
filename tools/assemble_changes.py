"""Moves the fragments of changes/ into CHANGELOG.md: `python tools/assemble_changes.py 0.2.0`.

They become items below the headings of their kinds, in the part of that version, which is made if
it is not there. What was written by hand in that part stays, so the program can be run again when
there are new fragments.
"""

from __future__ import annotations

import argparse
import re
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).parent.parent
KINDS = {
    "feature": "New",
    "change": "Different now",
    "fix": "Mended",
    "speed": "Faster or smaller",
    "removal": "Gone",
}
"""Kinds of fragments in the order of their headings."""
WIDTH = 110


def main() -> int:
    """Assemble, and delete the fragments."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("version", help="such as 0.2.0")
    parser.add_argument("--root", type=Path, default=ROOT, help="the top of the project")
    parser.add_argument("--keep", action="store_true", help="do not delete the fragments")
    args = parser.parse_args()
    changelog, found = args.root / "CHANGELOG.md", fragments(args.root / "changes")
    text = changelog.read_text(encoding="utf-8")
    changelog.write_text(assembled(text, args.version, found), encoding="utf-8")
    for path in () if args.keep else found:
        path.unlink()
    print(f"{len(found)} fragments", file=sys.stderr)
    return 0


def fragments(folder: Path) -> dict[Path, str]:
    """Return the fragments with their kinds, in the order of their names.

    Raises
    ------
    ValueError
        If a name has no kind that is known.
    """
    found = {}
    for path in sorted(folder.glob("*.md")):
        if path.name == "README.md":
            continue
        kind = path.name.split(".")[-2]
        if kind not in KINDS:
            msg = f"{path.name}: got kind {kind!r}, wanted one of {', '.join(KINDS)}"
            raise ValueError(msg)
        found[path] = kind
    return found


def assembled(changelog: str, version: str, found: dict[Path, str]) -> str:
    """Return the changelog with the fragments in the part of a version."""
    intro, *parts = re.split(r"^(?=## )", changelog, flags=re.M)
    own = f"## {version}\n"
    if not parts or not parts[0].startswith(own):
        parts.insert(0, own)
    parts[0] = _with_items(parts[0], found)
    return intro + "".join(parts)


def _with_items(part: str, found: dict[Path, str]) -> str:
    head, *sections = re.split(r"^(?=### )", part, flags=re.M)
    lists = {section.partition("\n")[0]: section.partition("\n")[2] for section in sections}
    for kind, title in KINDS.items():
        items = [
            item(path.read_text(encoding="utf-8")) for path, own in found.items() if own == kind
        ]
        if items:
            heading = f"### {title}"
            lists[heading] = f"{lists.get(heading, '').rstrip()}\n{''.join(items)}"
    order = [f"### {title}" for title in KINDS.values()]
    first = sorted(lists, key=lambda heading: order.index(heading) if heading in order else -1)
    written = [f"{heading}\n\n{lists[heading].strip()}\n\n" for heading in first]
    return f"{head.rstrip()}\n\n{''.join(written)}"


def item(text: str) -> str:
    """Return a fragment as an item of a list, its links seen from the top of the project."""
    plain = " ".join(text.split()).replace("](../", "](")
    lines = textwrap.wrap(plain, WIDTH - 2, break_long_words=False, break_on_hyphens=False)
    return f"- {chr(10).join(['', *lines])[1:]}\n".replace("\n", "\n  ").rstrip(" ")


if __name__ == "__main__":
    sys.exit(main())
