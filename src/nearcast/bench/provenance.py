"""Which code, machine and build did these numbers come from.

A number without its origin cannot be compared with anything, so nothing here fails: what cannot
be found out is left empty.
"""

from __future__ import annotations

import os
import platform
import subprocess
from datetime import datetime, timezone
from importlib import metadata
from pathlib import Path

import nearcast.matcher
from nearcast.bench.results import Provenance

CPU_FACTS = Path("/proc/cpuinfo")
PACKAGES = ("nearcast", "numpy", "pyarrow")


def find_provenance() -> Provenance:
    """Describe the code, the machine and the moment."""
    top = source_folder()
    changes = None if top is None else _git(top, "status", "--porcelain", "--untracked-files=no")
    return Provenance(
        commit=None if top is None else _git(top, "rev-parse", "HEAD"),
        is_dirty=None if changes is None else bool(changes),
        date=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        machine=_machine(),
        software={"python": platform.python_version()} | {p: _version(p) for p in PACKAGES},
        build=_build_info(),
    )


def source_folder() -> Path | None:
    """Return the top of our own repository; another one around the package does not count."""
    for folder in (Path(__file__).parent, Path.cwd()):
        top = _git(folder, "rev-parse", "--show-toplevel")
        if top and (Path(top) / "src" / "nearcast").is_dir():
            return Path(top)
    return None


def _git(folder: Path, *arguments: str) -> str | None:
    command = ["git", "-C", str(folder), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=10)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def _machine() -> dict[str, str | int]:
    return {"cpu": _cpu_model(), "cores": os.cpu_count() or 0, "system": platform.platform()}


def _cpu_model() -> str:
    if CPU_FACTS.is_file():
        for line in CPU_FACTS.read_text(errors="replace").splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                return value.strip()
    return platform.processor() or platform.machine()


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "unknown"


def _build_info() -> dict[str, object]:
    build_info = getattr(nearcast.matcher, "build_info", None)
    return {} if build_info is None else dict(build_info())
