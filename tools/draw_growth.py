"""Draws docs/pictures/growth.svg, the picture of README: `python -m tools.draw_growth`.

Processor time per message against the number of subscriptions, for nearcast, the papers' own kinds
and Lucene Monitor, from the files in benchmarks/results. The numbers stand in the picture as a
comment, so that a test can tell whether they are the recorded ones.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from nearcast.bench.plots import OURS, Line, Panel, draw
from tools.write_results import PAPERS, RESULTS, recorded

OUT = Path(__file__).parent.parent / "docs" / "pictures" / "growth.svg"
WORKLOAD = ("tweets", "short-point")
PEERS = ("lucene-monitor",)
COMMENT = "<!-- made by tools/draw_growth.py from {} -->\n"


def series(folder: Path = RESULTS) -> dict[str, dict[int, list[float]]]:
    """Return median, lowest and highest cpu µs of a message by contender and subscriptions.

    Of several files with the same contender and size the last by name counts.
    """
    found: dict[str, dict[int, list[float]]] = {}
    for command, contenders, names in (
        ("match", "contenders", (OURS, *PAPERS)),
        ("peers", "peers", PEERS),
    ):
        for _, result in recorded(folder, "*.json", command):
            for run in result["runs"]:
                facts = run["workload"]
                if (facts["source"], facts["group"]) != WORKLOAD:
                    continue
                for each in run[contenders]:
                    if each["name"] in names:
                        spread = each["match"]["cpu_us"] if command == "match" else each["cpu_us"]
                        times = [round(spread[part], 3) for part in ("median", "low", "high")]
                        found.setdefault(each["name"], {})[facts["subscriptions"]] = times
    return found


def picture(found: dict[str, dict[int, list[float]]]) -> str:
    """Return the picture with the numbers in front of it."""
    sizes = sorted({size for row in found.values() for size in row})
    lines = []
    for name, row in found.items():
        known = {size: (median, low, high) for size, (median, low, high) in row.items()}
        lines.append(Line(name, tuple(known.get(size) for size in sizes)))
    title = "generated tweets, one thread"
    panel = Panel("", "subscriptions", "cpu µs per message", tuple(map(float, sizes)), tuple(lines))
    return COMMENT.format(json.dumps(found)) + draw(title, [panel], "growth")


def main() -> int:
    """Draw it."""
    OUT.write_text(picture(series()), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
