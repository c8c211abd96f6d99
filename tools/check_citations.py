"""Does every [KEY §x] in the sources name a paper that docs/papers.md lists? Exits 1 if not."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
CITATION = re.compile(r"\[(\w+) (?:§|Alg|Fig|Eq)")
KEY = re.compile(r"^\| `\[(\w+)\]`", re.M)


def main() -> int:
    """Print citations of unknown papers."""
    known = set(KEY.findall((ROOT / "docs" / "papers.md").read_text()))
    faults = []
    for path in [*ROOT.glob("cpp/**/*.*"), *ROOT.glob("src/**/*.py"), *ROOT.glob("tests/**/*.py")]:
        for number, line in enumerate(path.read_text().splitlines(), start=1):
            faults += [
                f"{path.relative_to(ROOT)}:{number}: no paper has the key {key}"
                for key in CITATION.findall(line)
                if key not in known
            ]
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
