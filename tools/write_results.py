"""Writes the measured numbers into README.md, from benchmarks/results/*.json.

The files are those of `nearcast bench match --out`. Nobody types a number: the block between the
two markers is made here, and a test compares it with what this program would write.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
RESULTS = ROOT / "benchmarks" / "results"

START = "<!-- results:start -->"
END = "<!-- results:end -->"
FORMAT = 1
COLUMNS = (
    *("workload", "subscriptions", "index", "µs/message", "p99 µs", "cpu µs"),
    *("candidates", "matches", "build s", "bytes/subscription"),
)
NO_RESULTS = "No results are recorded yet: `benchmarks/results` is empty.\n"


def block(folder: Path = RESULTS) -> str:
    """Return what stands between the markers, one part per file in the order of their names."""
    parts = [part for path in sorted(folder.glob("*.json")) if (part := _part(path))]
    return "\n".join(parts) or NO_RESULTS


def with_block(text: str, content: str) -> str:
    """Return a document with `content` between its markers.

    Raises
    ------
    ValueError
        If the document has not exactly one pair of markers.
    """
    if text.count(START) != 1 or text.count(END) != 1 or text.index(START) > text.index(END):
        msg = f"got other markers, wanted {START} and after it {END}, once each"
        raise ValueError(msg)
    before, rest = text.split(START)
    return f"{before}{START}\n{content}{END}{rest.split(END)[1]}"


def _part(path: Path) -> str:
    """Return the table of one file, or nothing if it holds another measurement."""
    result = json.loads(path.read_text(encoding="utf-8"))
    if result.get("command") != "match":
        return ""
    if result["format"] != FORMAT:
        msg = f"{path.name}: got format {result['format']}, wanted {FORMAT}"
        raise ValueError(msg)
    rows = [_cells(run["workload"], c) for run in result["runs"] for c in run["contenders"]]
    marks = [":---" if name in ("workload", "index") else "---:" for name in COLUMNS]
    lines = [_line(list(COLUMNS)), _line(marks), *map(_line, rows)]
    return f"{_origin(path.name, result)}\n\n" + "\n".join(lines) + "\n"


def _origin(name: str, result: dict[str, Any]) -> str:
    source, machine = result["provenance"], result["provenance"]["machine"]
    commit = (source["commit"] or "unknown")[:10]
    changed = ", with uncommitted changes" if source["is_dirty"] else ""
    seeds = sorted({run["workload"]["seed"] for run in result["runs"]})
    return (
        f"`{name}`: {source['date'][:10]}, commit {commit}{changed}; {machine['cpu']}, "
        f"{machine['cores']} cores; {result['repetitions']} repetitions, "
        f"seed {', '.join(map(str, seeds))}."
    )


def _cells(workload: dict[str, Any], contender: dict[str, Any]) -> list[str]:
    match, work = contender["match"], contender["work_per_message"]
    numbers = (
        match["mean_us"]["median"],
        match["p99_us"]["median"],
        match["cpu_us"]["median"],
        work["candidates"],
        work["matches"],
        contender["build"]["wall_seconds"],
        contender["memory"]["bytes_per_subscription"],
    )
    where = f"{workload['source']}, {workload['group']}"
    index = f"`{contender['name']}`"
    return [where, f"{workload['subscriptions']:,}", index, *map(_number, numbers)]


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def main() -> int:
    """Write the block."""
    text = README.read_text(encoding="utf-8")
    README.write_text(with_block(text, block()), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
