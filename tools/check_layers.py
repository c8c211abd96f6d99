"""Does every file import only from the layers below it? Exits 1 and names the lines if not."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent

# A room may use the rooms listed for it, and itself.
CPP = {
    "base": set(),
    "geo": {"base"},
    "text": {"base"},
    "model": {"base", "geo", "text"},
    "index": {"base", "geo", "text", "model"},
    "rank": {"base", "geo", "text", "model", "index"},
    "topk": {"base", "geo", "text", "model", "index"},
    "columns": {"base", "geo", "text", "model", "index"},
    "life": {"base", "geo", "text", "model"},
    "modes": {"base", "geo", "text", "model", "index", "rank", "topk", "columns", "life"},
    "engine": {"base", "geo", "text", "model", "topk", "columns", "life", "modes"},
    "snapshot": {"base", "index", "engine"},
}
PYTHON = {
    "errors": set(),
    "areas": {"errors"},
    "model": {"errors", "areas"},
    "in_process": {"errors"},
    "tokens": set(),
    "stop_words": set(),
    "text": {"errors", "stop_words", "tokens"},
    "weights": {"errors"},
    "sizes": set(),
    "accepted": {"model"},
    "arguments": {"errors", "model", "text"},
    "expressions": set(),
    "grammar": {"errors", "expressions"},
    "keywords": {"errors", "expressions", "grammar", "text"},
    "where": {"attributes", "errors", "expressions", "grammar", "model"},
    "times": {"errors", "model"},
    "clocks": {"errors", "times"},
    "attributes": {"errors", "model"},
    "comparing": {"attributes", "expressions"},
    "tree_checks": {"attributes", "errors", "expressions", "model"},
    "event_values": {"attributes", "errors", "expressions", "model", "times", "tree_checks"},
    "events": {"errors", "model", "text", "keywords", "where", "times", "event_values"},
    "columns": {"_core", "areas", "attributes", "errors", "expressions", "model", "text"},
    "changes": {"_core", "model", "columns"},
    "said": {"errors", "event_values", "expressions"},
    "definition": {"model", "columns", "said"},
    "records": {"_core", "model", "text", "events", "columns", "said"},
    "event_lines": set(),
    "event_reader": {"_core", "errors", "text", "events", "columns", "event_lines"},
    "event_table": {"_core", "errors", "model", "text", "events", "columns", "records"}
    | {"event_lines", "event_reader"},
    "reasons": {"attributes", "comparing", "expressions"},
    "explain_score": set(),
    "explain": {"attributes", "event_values", "explain_score", "model", "reasons"},
    "safe_region": {"model", "explain"},
    "matcher": {"_core", "errors", "expressions", "model", "text", "weights", "keywords", "where"}
    | {"accepted", "arguments", "attributes", "columns", "in_process", "sizes"},
    "hub_questions": {
        "_core",
        "attributes",
        "errors",
        "events",
        "expressions",
        "keywords",
        "model",
        "text",
        "where",
    }
    | {"accepted", "definition", "explain", "explain_score", "in_process", "matcher", "sizes"},
    "hub": {"_core", "errors", "model", "text", "weights", "events", "accepted", "arguments"}
    | {"changes", "clocks", "columns", "event_reader", "hub_arguments", "hub_questions"}
    | {"matcher", "records"},
    "hub_arguments": {"errors", "model"},
    "life": {"_core", "errors", "model", "events", "arguments", "in_process", "columns"}
    | {"event_lines", "event_table"},
    "partition": {"errors", "expressions", "model", "weights", "events"},
    "spark": {"errors", "expressions", "model", "text", "weights", "events", "columns"}
    | {"definition", "event_table", "hub", "life", "matcher", "partition"},
    "service": {
        "changes",
        "event_table",
        "errors",
        "model",
        "text",
        "weights",
        "events",
        "hub",
        "explain",
    },
    "client": {"errors"},
    "bench": {"_core", "errors", "expressions", "model", "text", "weights", "keywords", "events"}
    | {"event_table", "life"}
    | {"arguments", "changes", "columns", "hub", "in_process", "matcher", "partition", "records"}
    | {"service", "spark"},
    "cli": {
        "event_table",
        "errors",
        "expressions",
        "model",
        "text",
        "weights",
        "events",
        "matcher",
        "hub",
    }
    | {"arguments", "bench", "changes", "explain", "partition", "service", "spark"},
}
INCLUDE = re.compile(r'#include "nearcast/(\w+)/(?:(\w+)/)?(?:(\w+)/)?')
IMPORT = re.compile(r"^\s*(?:from nearcast import ([\w, ]+)|(?:from|import) nearcast\.(\w+))", re.M)
MAX_LINES = 600


def line_of(text: str, position: int) -> int:
    """Return the 1-based line of a position."""
    return text.count("\n", 0, position) + 1


def cpp_faults() -> list[str]:
    """Return includes that reach up, or from one index into another's room."""
    faults = []
    for path in sorted((ROOT / "cpp" / "nearcast").rglob("*.[hc]*")):
        room, *inner = path.relative_to(ROOT / "cpp" / "nearcast").parts
        text = path.read_text()
        for found in INCLUDE.finditer(text):
            where = f"{path.relative_to(ROOT)}:{line_of(text, found.start())}"
            if found[1] != room and found[1] not in CPP[room]:
                faults.append(f"{where}: {room} must not include {found[1]}")
            if room == found[1] == "index" and len(inner) > 2 and found[3]:
                own, other = inner[1], found[3]
                is_allowed = other == own or found[2] == "parts" or other in BUILT_ON.get(own, ())
                if not is_allowed or (inner[0] == "parts" and found[2] != "parts"):
                    faults.append(f"{where}: {own} must not know {other}'s internals")
    return faults


# Kinds may use all of index/parts. These kinds are declared combinations of others, too.
BUILT_ON: dict[str, set[str]] = {
    "ap_plus_tree": {"ap_tree", "grid_index"},
    "iq_plus_tree": {"iq_tree"},
    "rq_plus_tree": {"rq_tree"},
    "ir_tree": {"rt_tree"},
    "lfilter": {"mbr_trie", "pt_quadtree"},
    "message_postings": {"sized_lists"},
}


def python_faults() -> list[str]:
    """Return imports that reach up."""
    package = ROOT / "src" / "nearcast"
    faults = []
    for path in sorted(package.rglob("*.py")):
        room = path.relative_to(package).parts[0].removesuffix(".py")
        if room == "__init__":
            continue
        text = path.read_text()
        for found in IMPORT.finditer(text):
            names = re.split(r",\s*", found[1]) if found[1] else [found[2]]
            for name in names:
                if name not in (room, "__version__") and name not in PYTHON.get(room, set()):
                    where = f"{path.relative_to(ROOT)}:{line_of(text, found.start())}"
                    faults.append(f"{where}: {room} must not import {name}")
    return faults


def long_files() -> list[str]:
    """Return source files that are too long to find a line in."""
    paths = [p for room in ("cpp", "src", "tests", "tools") for p in (ROOT / room).rglob("*.*")]
    sources = [p for p in sorted(paths) if p.suffix in {".py", ".h", ".cpp"}]
    lengths = {path: len(path.read_text().splitlines()) for path in sources}
    return [
        f"{path.relative_to(ROOT)}: {length} lines, at most {MAX_LINES}"
        for path, length in lengths.items()
        if length > MAX_LINES
    ]


def main() -> int:
    """Print the faults."""
    faults = cpp_faults() + python_faults() + long_files()
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
