"""Does the Python that runs this have the syntax and the standard library that sources use?

Each file is compiled, and each name that it takes from a module of the standard library is looked
up in the real module. Neither needs the packages that nearcast depends on, so a bare interpreter
will do: `python3.10 -I tools/check_stdlib.py src tests tools`. Exits 1 and prints what is missing.
"""

from __future__ import annotations

import ast
import functools
import importlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType


@functools.cache
def found(name: str) -> ModuleType | None:
    """Import a module; None if this Python does not have it."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def has(module: str, name: str) -> bool:
    """Say whether a module has a name, or a module below it of that name."""
    loaded = found(module)
    return hasattr(loaded, name) or found(f"{module}.{name}") is not None


def is_stdlib(module: str | None) -> bool:
    """Say whether some Python has this module in its standard library."""
    # tomllib came with 3.11: the running Python, if older, does not list it.
    return module is not None and module.partition(".")[0] in sys.stdlib_module_names | {"tomllib"}


def faults_of(tree: ast.Module) -> list[tuple[int, str]]:
    """Return the line and the name of each use that this Python cannot serve."""
    faults = []
    modules = {}  # the name in this file -> the module
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if not is_stdlib(alias.name):
                    continue
                if found(alias.name) is None:
                    faults.append((node.lineno, alias.name))
                elif alias.asname or "." not in alias.name:
                    modules[alias.asname or alias.name] = alias.name
        elif isinstance(node, ast.ImportFrom) and node.module and is_stdlib(node.module):
            faults += [
                (node.lineno, f"{node.module}.{alias.name}")
                for alias in node.names
                if not has(node.module, alias.name)
            ]
    assigned = set()  # a variable of the same name may hide a module
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            assigned.add(node.arg)
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            assigned.add(node.id)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            module = modules.get(node.value.id)
            if module and node.value.id not in assigned and not has(module, node.attr):
                faults.append((node.lineno, f"{module}.{node.attr}"))
    return faults


def main(folders: list[str]) -> int:
    """Print the faults of all files below the folders, and how many files were read."""
    paths = [path for folder in folders for path in sorted(Path(folder).rglob("*.py"))]
    faults = []
    for path in paths:
        source = path.read_text(encoding="utf-8")
        try:
            tree = ast.parse(source, str(path))
            compile(source, str(path), "exec")
        except SyntaxError as error:
            faults.append(f"{path}:{error.lineno}: {error.msg}")
            continue
        faults += [f"{path}:{line}: there is no {name}" for line, name in faults_of(tree)]
    for fault in faults:
        print(fault, file=sys.stderr)
    print(f"Python {sys.version.split()[0]}: {len(paths)} files, {len(faults)} faults")
    return 1 if faults or not paths else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
