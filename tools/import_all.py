"""Import every module of the installed package, so that a name this Python lacks is found."""

from __future__ import annotations

import importlib
import pkgutil
import sys

import nearcast


def main() -> int:
    """Print how many modules were imported; fail with the first that cannot be."""
    names = [found.name for found in pkgutil.walk_packages(nearcast.__path__, "nearcast.")]
    for name in names:
        importlib.import_module(name)
    print(f"Python {sys.version.split()[0]}: {len(names)} modules imported")
    return 0


if __name__ == "__main__":
    sys.exit(main())
