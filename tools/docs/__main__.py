"""Builds the site in build/site; every warning is an error."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from tools.docs.source import ROOT, write_source


def main() -> int:
    """Lay out the source, then build."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "site", metavar="DIR")
    parser.add_argument(
        "--source", type=Path, default=ROOT / "build" / "site-source", metavar="DIR"
    )
    args = parser.parse_args()
    write_source(args.source)
    settings = ROOT / "docs" / "site"
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-c", str(settings)]
    done = subprocess.run([*command, str(args.source), str(args.out)], check=False)
    if done.returncode == 0:
        print(f"open {args.out / 'index.html'}", file=sys.stderr)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
