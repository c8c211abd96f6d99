"""What machine for how many alerts and messages a second? Tables from the measured curves.

Rows are sizes that were measured; nothing is extrapolated.
"""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from nearcast.bench.paper.growth import OWN
from nearcast.bench.plots import short

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nearcast.bench.paper.pages import Entry
    from nearcast.bench.plots import Panel

RATES = (10_000, 100_000, 1_000_000)
LOAD = 0.5
"""A core is planned to be busy for so much of its time: bursts and changes need the rest."""
SPARE_MEMORY = 2.0
"""So many times what the index holds: a snapshot, a rebuild and the words come on top."""
BASE_GB = 0.5
"""Of the process itself."""
NOTHING = "No curves are recorded yet: run `nearcast bench growth`.\n"


def sizing(entries: Sequence[Entry]) -> str:
    """Return the tables of the sizing guide."""
    found = {entry.experiment.name: entry for entry in entries}
    if "G-1" not in found:
        return NOTHING
    parts = [_origin(found["G-1"]), *_matching(found["G-1"])]
    if "G-3" in found:
        parts += ["### Longer messages\n", _words(found["G-3"])]
    if "G-4" in found and "G-5" in found:
        parts += ["### Top lists\n", _tops(found["G-4"], "messages in the window")]
        parts.append(_tops(found["G-5"], "k"))
    if "G-6" in found:
        parts += ["### More machines\n", _partitions(found["G-6"], "Top lists")]
    if "G-7" in found:
        parts.append(_partitions(found["G-7"], "Matching"))
    return "\n".join(parts)


def _origin(entry: Entry) -> str:
    source = entry.outcome.provenance
    machine = source["machine"]
    return (
        f"Measured on {source['date'][:10]}, commit {(source['commit'] or 'unknown')[:10]}, "
        f"{machine['cpu']}, {machine['cores']} cores; {_workload(entry)}.\n"
    )


def _workload(entry: Entry) -> str:
    run = entry.outcome.facts["studies"][0]["runs"][0]
    if "tokens_per_message" not in run:
        return str(run["source"])
    return (
        f"{run['source']}: {run['tokens_per_message']:.0f} words a message, "
        f"{run.get('keywords_per_subscription', 3):.0f} keywords a subscription"
    )


def _values(panel: Panel, name: str = OWN) -> list[tuple[float, float]]:
    line = next(line for line in panel.lines if line.name == name)
    return [
        (float(x), value[0])
        for x, value in zip(panel.xs, line.values, strict=True)
        if value is not None
    ]


def _matching(entry: Entry) -> tuple[str, str, str]:
    panels = [dict(_values(panel)) for panel in entry.outcome.panels]
    time, build, held, slow = panels
    rows = [
        [
            f"{int(count):,}",
            f"{time[count]:.3g}",
            f"{slow[count]:.3g}",
            f"{1e6 / time[count]:,.0f}",
            f"{held[count]:.0f}",
            f"{held[count] * count / 1e9:.2g}",
            f"{build[count]:.2g}",
        ]
        for count in time
    ]
    columns = (
        *("subscriptions", "µs a message", "µs, 99 of 100", "messages a second and core"),
        *("bytes a subscription", "GB", "s to build"),
    )
    plan = [
        [
            f"{int(count):,}",
            f"{BASE_GB + SPARE_MEMORY * held[count] * count / 1e9:.1f}",
            *(str(ceil(rate * time[count] / 1e6 / LOAD)) for rate in RATES),
        ]
        for count in time
    ]
    head = ("subscriptions", "GB to have", *(f"cores for {rate:,} a second" for rate in RATES))
    text = (
        "\nThese are messages in bulk (`match_table`, Spark); single calls, events of a hub and "
        "HTTP cost more, see [what was measured](../benchmarks.md). A core is planned to be busy "
        f"for {LOAD:.0%} of its time, and memory is {BASE_GB:g} GB and {SPARE_MEMORY:g} times the "
        "index:\n"
    )
    return table(columns, rows), text, table(head, plan)


def _words(entry: Entry) -> str:
    panel = entry.outcome.panels[0]
    sizes = entry.outcome.facts["studies"][0]["runs"][0]["subscriptions"]
    rows = [[short(x), f"{y:.3g}", f"{1e6 / y:,.0f}"] for x, y in _values(panel)]
    title = f"words in a message, {sizes:,} subscriptions"
    return table((title, "µs a message", "messages a second and core"), rows)


def _tops(entry: Entry, axis: str) -> str:
    run = entry.outcome.facts["studies"][0]["runs"][0]
    step, held = (dict(_values(panel)) for panel in entry.outcome.panels[:2])
    rows = [
        [f"{int(x):,}", f"{step[x]:.3g}", f"{1e6 / step[x]:,.0f}", f"{held[x]:.0f}"] for x in step
    ]
    title = f"{axis}, {run['subscriptions']:,} top lists"
    return table((title, "µs a message", "messages a second and core", "bytes a list"), rows)


def _partitions(entry: Entry, what: str) -> str:
    rate, seen, copies = entry.outcome.panels[:3]
    names = [line.name for line in rate.lines]
    rows = []
    for name in names:
        parts = zip(_values(rate, name), _values(seen, name), _values(copies, name), strict=True)
        rows += [
            [f"`{name}`", f"{int(x):,}", f"{speed:,.0f}", f"{sent:.3g}", f"{copy:.3g}"]
            for (x, speed), (_, sent), (_, copy) in parts
        ]
    columns = (
        *("mechanism", "partitions", "messages a second"),
        *("partitions that see a message", "copies of a subscription"),
    )
    note = (
        f"{what}, {short(_largest(entry))} subscriptions, projected: each partition is run by "
        "itself, as if it had a core, and the slowest counts. The network is not in it.\n"
    )
    return f"{note}\n{table(columns, rows)}"


def _largest(entry: Entry) -> int:
    runs = entry.outcome.facts["studies"][0]["runs"]
    return max(int(run["subscriptions"]) for run in runs)


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown, numbers to the right."""
    lines = [columns, ["---:"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"
