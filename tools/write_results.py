"""Writes the measured numbers into README.md, docs/benchmarks.md, the sizing guide, docs/results.

They come from the files that `nearcast bench … --out` wrote to benchmarks/results. No number is
typed: the block between the markers is made here, and a test compares it with what this program
would write. With the argument `plots` the figures of docs/results are drawn too, which needs
Matplotlib.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from nearcast.bench.paper.pages import FIGURES, markdown, plot_of, read_entries
from nearcast.bench.paper.sizing import sizing

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
BENCHMARKS = ROOT / "docs" / "benchmarks.md"
SIZING = ROOT / "docs" / "guides" / "sizing.md"
PAPER_PAGE = ROOT / "docs" / "results" / "README.md"
RESULTS = ROOT / "benchmarks" / "results"
IN_SHORT = "auto-*.json"

FORMAT = 1
COLUMNS = (
    *("workload", "subscriptions", "index", "µs/message", "p99 µs", "cpu µs"),
    *("candidates", "matches", "build s", "bytes/subscription"),
)
TOPK_COLUMNS = (
    *("workload", "subscriptions / window", "index", "arrival µs", "expiry µs", "cpu µs"),
    *("step p99 µs", "worst µs", "bytes/subscription", "buffer", "searches"),
)
MOVING_COLUMNS = (
    *("workload", "operation", "index", "cpu µs", "times auto"),
    *("p50 µs", "p99 µs", "p99.9 µs", "worst µs", "changes", "bytes/message"),
)
FAST_COLUMNS = (
    *("workload", "subscriptions", "µs a message", "slowest 1 % from µs", "messages/s on one core"),
    "alerts a message",
)
SMALL = {
    "bytes_per_subscription": "bytes a subscription",
    "build_per_second": "subscriptions built a second",
    "open_ms": "ms to open a snapshot",
    "insert_us": "µs to insert one",
    "delete_us": "µs to delete one",
}
PEER_COLUMNS = (
    *("workload", "subscriptions", "index", "µs/message", "cpu µs", "p50 µs", "p99 µs"),
    *("times the first, by cpu", "build s", "bytes/subscription"),
)
RATIO_COLUMNS = (
    *("workload", "subscriptions", "auto cpu µs"),
    *("keyword-first / auto", "auto / floor", "without vector instructions / auto"),
)
SPARK_COLUMNS = (
    *("what", "messages/s", "times one bare matcher", "the same by cpu"),
    *("cpu µs", "cpu µs in the partition", "cpu µs around it"),
)
SPARK_SHARES = ("ratio", "cpu_ratio", "cpu_us", "native_us", "around_us")
SPARK_WAYS = {
    "bare": "one bare matcher, messages in memory",
    "files": "Spark, Parquet files or a frame of them",
    "rows": "Spark, a frame of which something is computed",
    "to_files": "Spark, files to files",
}
SPARK_TIMES = {
    "latency_s": "from making a message to its pairs in the output",
    "batch_s": "a batch, without Spark's own part",
    "until_a_batch_has_it_s": "from committing a subscription to a batch that sees it",
    "until_its_pairs_are_there_s": "from committing a subscription to the output of that batch",
}
PLAN_COLUMNS = (
    *("mechanism", "partitions", "copies of a subscription", "partitions that see a message"),
    *("share of all partitions", "balance", "messages/s of the slowest partition"),
    *("one hub µs", "driver µs", "slowest partition µs", "projected speed-up"),
)
SERVE_COLUMNS = ("what", "a second", "p50 ms", "p99 ms", "cpu µs", "times its measure")
SERVE_ROWS = {
    "noop-64": "POST that does nothing, 64 connections",
    "publish-64": "durable publication, 64 connections",
    "noop-256": "POST that does nothing, 256 connections",
    "publish-256": "durable publication, 256 connections",
    "hub": "bare hub, 500 lines at a time",
    "bulk": "bulk over HTTP, 1,000 lines a request",
    "streams": "deliveries by Server-Sent Events",
    "webhooks-0-dead": "webhooks to {endpoints} endpoints",
    "webhooks-10-dead": "the same, ten of them dead",
}
SERVE_MEASURES = ("cpu_of_noop", "cpu_of_hub")
PLAN_TIMES = ("plain_us", "driver_us", "slowest_us", "speed_up")
PLAIN = "auto:kernels=plain"
IN_AGAINST = {
    "auto": "nearcast-bulk",
    "keyword-first": "lists by rarest keyword, in C++ (`keyword-first`)",
}
PAPERS = (
    *("ap-tree", "rt-tree", "rt+-tree", "rt++-tree"),
    *("mbr-trie", "pt-quadtree", "lfilter"),
)
"""Kinds that the papers propose; what they compare themselves with is not among them."""
CLAIM_COLUMNS = ("claim", "workload", "subscriptions", "cpu µs, in the claimed order", "holds")
NO_RESULTS = "No results are recorded yet: `benchmarks/results` is empty.\n"

LIMITS = {
    "build_per_second": "built per second, from dictionary arrays",
    "bytes_per_subscription": "bytes per subscription",
    "codes_us": "µs per message in bulk, words as dictionary codes",
    "strings_us": "µs per message in bulk, words as strings",
    "single_core_us": "µs per message in bulk, the messages of the single calls",
    "single_call_us": "µs per call of `Matcher.match` with a list of words",
    "two_threads": "messages per second of two threads, as a multiple of one's",
    "insert_us": "µs per insert, in batches",
    "delete_us": "µs per delete, in batches",
    "change_p999_us": "p99.9 µs of inserts and deletes one by one",
    "change_max_us": "slowest µs of them",
    "churned_us": "µs per message after a third was replaced three times",
    "open_ms": "ms to open a snapshot",
}
EVENT_WAYS = {
    "bare matcher": "the bare matcher, texts in a table",
    "ndjson": "`Hub.apply`, NDJSON bytes",
    "lines": "`Hub.apply`, a list of lines",
    "table": "`Hub.apply`, a table of events",
    "values": "`Hub.apply`, event values",
    "ndjson, kept": "`Hub.apply`, NDJSON bytes, messages kept in a window",
    "reading alone": "`read_events` alone, NDJSON bytes to a table",
    "life alone": "`Life.apply` alone, a table with a window",
    "line by line, read": "`read_event` alone, line by line",
    "bare matcher, of the calls": "the bare matcher, the messages of the single calls",
    "Matcher.match(tokens)": "a call of `Matcher.match` with a list of words",
    "Matcher.match(text)": "a call of `Matcher.match` with a text",
    "Hub.match(tokens)": "a call of `Hub.match` with a list of words",
    "Hub.match(text)": "a call of `Hub.match` with a text",
    "Hub.publish": "a call of `Hub.publish`, not kept",
    "Hub.publish, kept": "a call of `Hub.publish`, kept in a window",
}
AREA_COLUMNS = (
    *("corners", "noise", "ns per message", "of the box", "ms to subscribe", "bytes per corner"),
)
SHARED_COLUMNS = (
    *("subscriptions", "that share", "cpu µs", "with boxes", "ratio"),
    *("matches per message, both", "bytes per subscription, both"),
)
CLAIMS = {
    "LFilter, Rt++, IR": ("lfilter", "rt++-tree", "ir-tree"),
    "AP before IQ": ("ap-tree", "iq-tree"),
    "AP before Rt": ("ap-tree", "rt-tree"),
    "cost-based probe before token sets": ("mbr-trie", "mbr-trie:probe=token-set"),
    "cost-based probe before trie": ("mbr-trie", "mbr-trie:probe=trie"),
    "locality, idf, df, random": (
        "rt+-tree",
        "rt+-tree:representative=idf",
        "rt+-tree:representative=df",
        "rt+-tree:representative=random",
    ),
}
"""Orders that papers claim, the fastest first."""


def block(folder: Path = RESULTS, pattern: str = "*.json") -> str:
    """Return the tables of matching, one part per file in the order of their names."""
    parts = [
        f"{_origin(path.name, result)}\n\n{_match_table(result)}"
        for path, result in recorded(folder, pattern, "match")
    ]
    return "\n".join(parts) or NO_RESULTS


def benchmarks(folder: Path = RESULTS) -> str:
    """Return everything that is recorded, for docs/benchmarks.md."""
    runs = [r for _, result in recorded(folder, "*.json", "match") for r in result["runs"]]
    rows = {
        "Against the baseline and the floor": (RATIO_COLUMNS, _ratios(folder)),
        "Orders that the papers claim": (CLAIM_COLUMNS, [c for run in runs for c in _claims(run)]),
    }
    parts = [f"## {title}\n\n{_table(*table)}" for title, table in rows.items()]
    for command, (title, tables) in COMMANDS.items():
        found = recorded(folder, "*.json", command)
        if found:
            parts.append(f"## {title}\n")
        parts += [f"{_origin(path.name, result)}\n\n{tables(result)}" for path, result in found]
    return "\n".join(parts)


def with_block(text: str, content: str, name: str = "results") -> str:
    """Return a document with `content` between the markers of this name.

    Raises
    ------
    ValueError
        If the document has not exactly one pair of markers.
    """
    start, end = f"<!-- {name}:start -->", f"<!-- {name}:end -->"
    if text.count(start) != 1 or text.count(end) != 1 or text.index(start) > text.index(end):
        msg = f"got other markers, wanted {start} and after it {end}, once each"
        raise ValueError(msg)
    before, rest = text.split(start)
    return f"{before}{start}\n{content}{end}{rest.split(end)[1]}"


def documents() -> dict[Path, str]:
    """Return what each document should be."""
    readme, pages = (path.read_text(encoding="utf-8") for path in (README, BENCHMARKS))
    found = read_entries(RESULTS)
    return {
        README: with_block(readme, in_short()["How fast"]),
        BENCHMARKS: with_block(with_block(pages, summary(), "summary"), benchmarks()),
        SIZING: with_block(SIZING.read_text(encoding="utf-8"), sizing(found)),
        PAPER_PAGE: markdown(found),
    }


def summary(folder: Path = RESULTS) -> str:
    """Return what a reader wants to know first: how fast, how small, against what."""
    return "\n".join(f"## {title}\n\n{content}" for title, content in in_short(folder).items())


def in_short(folder: Path = RESULTS) -> dict[str, str]:
    """Return three short tables under their titles."""
    runs = [r for _, found in recorded(folder, IN_SHORT, "match") for r in found["runs"]]
    runs.sort(key=lambda run: (run["workload"]["subscriptions"], run["workload"]["source"]))
    own = [(run, next(c for c in run["contenders"] if c["name"] == "auto")) for run in runs]
    fast = []
    for run, auto in own:
        mean, slow = (auto["match"][name]["median"] for name in ("mean_us", "p99_us"))
        matches = auto["work_per_message"]["matches"]
        numbers = map(_number, (mean, slow, 1e6 / mean, matches))
        fast.append([run["workload"]["source"], f"{run['workload']['subscriptions']:,}", *numbers])
    limits = [r for _, found in recorded(folder, "*.json", "limits") for r in found["runs"]]
    small = [
        [run["source"], f"{run['subscriptions']:,}", *map(_number, (run[name] for name in SMALL))]
        for run in limits
    ]
    return {
        "How fast": _table(FAST_COLUMNS, fast),
        "How small": _table(("workload", "subscriptions", *SMALL.values()), small),
        "Against what": _against(runs, folder),
    }


def _against(runs: list[dict[str, Any]], folder: Path) -> str:
    """Return one row per alternative, one column per number of subscriptions, all on tweets."""
    cells: dict[str, dict[int, float]] = {}
    for _, found in recorded(folder, "*.json", "peers"):
        for run in found["runs"]:
            size = run["workload"]["subscriptions"]
            for peer in run["peers"]:
                cells.setdefault(peer["name"], {})[size] = peer["cpu_us"]["median"]
    for run in runs:
        cpu, facts = _cpu_us(run), run["workload"]
        for kind, title in IN_AGAINST.items():
            if facts["source"] == "tweets" and kind in cpu:
                cells.setdefault(title, {}).setdefault(facts["subscriptions"], cpu[kind])
    for _, found in recorded(folder, "kinds-*.json", "match"):
        for run in found["runs"]:
            facts, cpu = run["workload"], _cpu_us(run)
            if _where(facts)[0] == "tweets, short-point":
                best = min((k for k in PAPERS if k in cpu), key=lambda kind: cpu[kind])
                row = cells.setdefault("the best of the papers' own kinds, in C++", {})
                row[facts["subscriptions"]] = cpu[best]
    sizes = sorted({size for row in cells.values() for size in row})
    rows = [
        [name, *(_number(row[size]) if size in row else "" for size in sizes)]
        for name, row in cells.items()
    ]
    return _table(("what", *(f"cpu µs at {size:,}" for size in sizes)), rows)


def recorded(folder: Path, pattern: str, command: str) -> list[tuple[Path, dict[str, Any]]]:
    """Return the files that hold this measurement, with their content."""
    found = []
    for path in sorted(folder.glob(pattern)):
        result = json.loads(path.read_text(encoding="utf-8"))
        if result.get("command") != command:
            continue
        if result["format"] != FORMAT:
            msg = f"{path.name}: got format {result['format']}, wanted {FORMAT}"
            raise ValueError(msg)
        found.append((path, result))
    return found


def _match_table(result: dict[str, Any]) -> str:
    rows = [_cells(run["workload"], c) for run in result["runs"] for c in run["contenders"]]
    return _table(COLUMNS, rows)


def _limits_table(result: dict[str, Any]) -> str:
    runs = result["runs"]
    titles = [f"{run['index']}, {run['source']}, {run['subscriptions']:,}" for run in runs]
    rows = [[text, *(_number(run[name]) for run in runs)] for name, text in LIMITS.items()]
    return _table(("what", *titles), rows)


def _events_table(result: dict[str, Any]) -> str:
    runs = result["runs"]
    titles = [f"{run['source']}, {run['subscriptions']:,} subscriptions: cpu µs" for run in runs]
    rows = [
        [text, *(_spread(run["cpu_us"][name]) for run in runs)] for name, text in EVENT_WAYS.items()
    ]
    rows.append(["a subscription from its line", *(_number(run["subscribe_us"]) for run in runs)])
    rows.append(["changes per message", *(_number(run["changes_per_message"]) for run in runs)])
    return _table(("an event as", *titles), rows)


def _areas_tables(result: dict[str, Any]) -> str:
    rows = [
        [
            f"{each['corners']:,}",
            _number(each["noise"]),
            _number(each["polygon_ns"]),
            _number(each["box_ns"]),
            _number(each["subscribe_ms"]),
            _number(each["bytes_per_corner"]),
        ]
        for each in result["polygons"]
    ]
    shared = result["shared"]
    ratio = shared["polygon_us"] / shared["box_us"]
    rest = [
        [
            f"{shared['subscriptions']:,}",
            f"{shared['shapes']:,} of {shared['corners']:,} corners",
            _number(shared["polygon_us"]),
            _number(shared["box_us"]),
            _number(ratio),
            f"{_number(shared['polygon_matches'])}, {_number(shared['box_matches'])}",
            f"{_number(shared['polygon_bytes'])}, {_number(shared['box_bytes'])}",
        ]
    ]
    return _table(AREA_COLUMNS, rows) + "\n" + _table(SHARED_COLUMNS, rest)


def _spread(values: dict[str, Any]) -> str:
    low, high = _number(values["low"]), _number(values["high"])
    return f"{_number(values['median'])} ({low} to {high})"


def _rank_table(result: dict[str, Any]) -> str:
    rows = []
    for run in result["runs"]:
        base = _cpu_us(run).get("keyword-first")
        for contender in run["contenders"]:
            workload, *cells = _cells(run["workload"], contender)
            terms = f"α {run['workload']['alpha']}, θ {run['workload']['threshold']}"
            cpu = contender["match"]["cpu_us"]["median"]
            times = _number(base / cpu) if base else ""
            rows.append([f"{workload}, {terms}", *cells, times])
    return _table((*COLUMNS, "times keyword-first"), rows)


def _peers_table(result: dict[str, Any]) -> str:
    rows: list[list[str]] = []
    notes: dict[str, str] = {}
    missing: dict[str, str] = {}
    for run in result["runs"]:
        where = _where(run["workload"])
        own = run["peers"][0]["cpu_us"]["median"]
        for peer in run["peers"]:
            times = [peer[n]["median"] for n in ("mean_us", "cpu_us", "p50_us", "p99_us")]
            held = peer["bytes_per_subscription"]
            tail = [_number(peer["build_seconds"]), "" if held is None else _number(held)]
            ratio = _number(times[1] / own)
            rows.append([*where, f"`{peer['name']}`", *map(_number, times), ratio, *tail])
            settings = [f"{name} {value}" for name, value in peer["versions"].items()]
            settings += [f"{name} `{value}`" for name, value in peer["settings"].items()]
            notes[peer["name"]] = f"- `{peer['name']}`. {peer['what']}. {'; '.join(settings)}."
        missing |= {name: f"- `{name}` did not run: {why}" for name, why in run["missing"].items()}
    return "\n".join([_table(PEER_COLUMNS, rows), *notes.values(), *missing.values(), ""])


def _moving_table(result: dict[str, Any]) -> str:
    rows = []
    for run in result["runs"]:
        facts, contenders = run["workload"], run["contenders"]
        where = [f"{facts['source']}, {facts['objects']:,} moving, {facts['messages']:,} live"]
        own = next(c for c in contenders if c["kind"] == "auto")["operations"]
        for operation in own:
            for contender in contenders:
                cost = contender["operations"][operation]
                cpu = cost["cpu_us"]["median"]
                times = cpu / own[operation]["cpu_us"]["median"]
                tail = [cost[name] for name in ("p50_us", "p99_us", "p999_us", "worst_us")]
                numbers = [cpu, times, *tail, cost["changes"], contender["bytes_per_message"]]
                cells = [operation, f"`{contender['name']}`", *map(_number, numbers)]
                rows.append([*where, *cells])
    return _table(MOVING_COLUMNS, rows)


def _topk_table(result: dict[str, Any]) -> str:
    rows, notes = [], []
    for run in result["runs"]:
        facts = run["workload"]
        where = f"{facts['source']}, keywords by {facts['keywords']}, k {facts['k']}"
        sizes = f"{facts['subscriptions']:,} / {facts['window']:,}"
        where += f", after {facts['settling']:,} messages" if facts.get("settling") else ""
        notes += [f"- {where}, {sizes}: {what} {ratio}" for what, ratio in run["ratios"].items()]
        for contender in run["contenders"]:
            step, memory, work = contender["step_us"], contender["memory"], contender["work"]
            parts = [contender[part]["mean"] for part in ("arrival_us", "expiry_us")]
            own = [contender["cpu_us"]["median"], *(step[name] for name in ("p99", "worst"))]
            held = [memory["bytes_per_subscription"], memory["mean_buffer"], work["evaluations"]]
            numbers = map(_number, [*parts, *own, *held])
            rows.append([where, sizes, f"`{contender['name']}`", *numbers])
    return "\n".join([_table(TOPK_COLUMNS, rows), *notes, ""])


def _spark_tables(result: dict[str, Any]) -> str:
    parts = {"plans": _plan_part, "batch": _batch_part, "stream": _stream_part}
    return "\n".join(parts[run["part"]](run) for run in result["runs"] if run["part"] in parts)


def _batch_part(run: dict[str, Any]) -> str:
    found, rows = run["batch"], []
    for name, what in SPARK_WAYS.items():
        shares = [found[part].get(name) for part in SPARK_SHARES]
        cells = ["" if share is None else _number(share) for share in shares]
        rows.append([what, _number(found["messages_per_s"][name]), *cells])
    facts = run["workload"]
    return (
        f"{facts['source']}, {facts['subscriptions']:,} subscriptions, {facts['master']}; the same "
        f"{found['pairs']:,} pairs; {_number(found['open_ms'])} ms until a worker can use the "
        f"partition.\n\n{_table(SPARK_COLUMNS, rows)}"
    )


def _stream_part(run: dict[str, Any]) -> str:
    found, facts = run["stream"], run["workload"]
    marks = ("p50", "p95", "p99", "max")
    rows = [[w, *(_number(found[n][mark]) for mark in marks)] for n, w in SPARK_TIMES.items()]
    return (
        f"{facts['source']}, {facts['subscriptions']:,} subscriptions, {facts['master']}; "
        f"{found['rate']:,} messages per second for {found['seconds']} s after warming up, in "
        f"{found['files_per_s']} Parquet files per second, {found['changes']} changes of "
        f"subscriptions; when the last file came {found['waiting_at_the_end']:,} messages were "
        f"waiting.\n\n{_table(('what', *(f'{mark} s' for mark in marks)), rows)}"
    )


def _plan_part(run: dict[str, Any]) -> str:
    facts, rows = run["workload"], []
    for cost in run["costs"]:
        share = cost["communication"] / cost["partitions"]
        counts = (cost["replication"], cost["communication"])
        own = [_number(count) for count in counts]
        rest = [f"{share:.1%}", _number(cost["balance"]), _number(cost["messages_per_s"])]
        rest += [_number(cost[name]) if name in cost else "" for name in PLAN_TIMES]
        rows.append([f"`{cost['mechanism']}`", str(cost["partitions"]), *own, *rest])
    return (
        f"The comparison of [Skype §8.2] on {facts['source']}: {facts['subscriptions']:,} "
        f"{facts.get('mode', 'top')} subscriptions, a full window of {facts['window']:,} "
        f"messages.\n\n"
        f"{_table(PLAN_COLUMNS, rows)}"
    )


def _serve_tables(result: dict[str, Any]) -> str:
    return "\n".join(_serve_part(run) for run in result["runs"])


def _serve_part(run: dict[str, Any]) -> str:
    facts, found = run["workload"], run["results"]
    rows = []
    for name, text in SERVE_ROWS.items():
        if name not in found:
            continue
        own = found[name]
        rate = own.get("per_second", own.get("deliveries_per_second", 0.0))
        measure = next((own[one] for one in SERVE_MEASURES if one in own), None)
        cells = [rate, *(own.get(one) for one in ("p50_ms", "p99_ms", "cpu_us")), measure]
        shown = ["" if cell is None else _number(cell) for cell in cells]
        rows.append([text.format(**{k: int(v) for k, v in own.items()}), *shown])
    notes = [f"{facts['subscriptions']:,} subscriptions of {facts['owners']:,} subscribers"]
    notes.append(f"database {facts['database']}")
    if "hub" in found:
        notes.append(f"{_number(found['hub']['changes_a_message'])} changes a message")
    if "streams" in found:
        own = found["streams"]
        notes.append(
            f"{own['clients']:,.0f} stream clients take {_number(own['cores'])} of a core and "
            f"{_number(own['bytes_a_client'] / 1024)} KiB each"
        )
    if "start" in found:
        own = found["start"]
        notes.append(
            f"a start takes {_number(own['seconds'])} s, "
            f"{own['resident_bytes'] / (1 << 20):,.0f} MiB after it"
        )
    return f"{'; '.join(notes)}.\n\n{_table(SERVE_COLUMNS, rows)}"


def _ratios(folder: Path) -> list[list[str]]:
    rows = []
    for _, result in recorded(folder, IN_SHORT, "match"):
        for run in result["runs"]:
            cpu = _cpu_us(run)
            own, base, floor = (cpu[name] for name in ("auto", "keyword-first", "floor"))
            plain = _number(cpu[PLAIN] / own) if PLAIN in cpu else ""
            ratios = map(_number, (own, base / own, own / floor))
            rows.append([*_where(run["workload"]), *ratios, plain])
    return rows


def _claims(run: dict[str, Any]) -> list[list[str]]:
    cpu = _cpu_us(run)
    rows = []
    for claim, names in CLAIMS.items():
        if not all(name in cpu for name in names):
            continue
        times = [cpu[name] for name in names]
        holds = "yes" if times == sorted(times) else "no"
        shown = ", ".join(map(_number, times))
        rows.append([claim, *_where(run["workload"]), shown, holds])
    return rows


def _cpu_us(run: dict[str, Any]) -> dict[str, float]:
    return {c["name"]: c["match"]["cpu_us"]["median"] for c in run["contenders"]}


def _origin(name: str, result: dict[str, Any]) -> str:
    source, machine = result["provenance"], result["provenance"]["machine"]
    commit = (source["commit"] or "unknown")[:10]
    changed = ", with uncommitted changes" if source["is_dirty"] else ""
    facts = [run.get("workload", {}) for run in result.get("runs", [])]
    repeated = f"; {result['repetitions']} repetitions" if "repetitions" in result else ""
    seeds = sorted({fact["seed"] for fact in facts if "seed" in fact})
    messages = sorted({fact["messages"] for fact in facts if "messages" in fact})
    more = f", seed {', '.join(map(str, seeds))}" if seeds else ""
    more += f", {', '.join(f'{count:,}' for count in messages)} messages" if messages else ""
    return (
        f"`{name}`: {source['date'][:10]}, commit {commit}{changed}; {machine['cpu']}, "
        f"{machine['cores']} cores{repeated}{more}."
    )


def _where(workload: dict[str, Any]) -> tuple[str, str]:
    return f"{workload['source']}, {workload['group']}", f"{workload['subscriptions']:,}"


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
    return [*_where(workload), f"`{contender['name']}`", *map(_number, numbers)]


def _table(columns: tuple[str, ...], rows: list[list[str]]) -> str:
    left = ("workload", "index", "operation", "what", "claim", "holds", "mechanism")
    marks = [":---" if name in left else "---:" for name in columns]
    return "\n".join([_line(list(columns)), _line(marks), *map(_line, rows)]) + "\n"


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


COMMANDS = {
    "peers": ("What people would use instead", _peers_table),
    "limits": ("Beside matching in bulk", _limits_table),
    "events": ("Events, from lines to changes", _events_table),
    "areas": ("Polygons, against their boxes", _areas_tables),
    "moving": ("Moving subscriptions and live messages", _moving_table),
    "rank": ("Ranking", _rank_table),
    "topk": ("Top lists", _topk_table),
    "spark": ("On Spark", _spark_tables),
    "serve": ("The service", _serve_tables),
    "match": ("Matching, every kind", _match_table),
}


def main() -> int:
    """Write the blocks, and the figures if they are asked for."""
    figures = PAPER_PAGE.parent / FIGURES
    figures.mkdir(parents=True, exist_ok=True)
    for entry in read_entries(RESULTS) if "plots" in sys.argv[1:] else ():
        (figures / f"{entry.experiment.name}.svg").write_text(plot_of(entry), encoding="utf-8")
    for path, text in documents().items():
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
