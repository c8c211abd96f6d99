"""Shows a result as tables: one per workload, ratios against a baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nearcast.bench.results import ContenderResult, MixedCost, Result, Run, Spread

DEFAULT_BASELINE = "keyword-first"
MIN_WIDTH = 135
"""Columns that a table needs; a narrower terminal wraps lines rather than losing digits."""

MATCH_COLUMNS = (
    *("µs/message", "±", "p50", "p99", "cpu µs", "faster", "build s", "bytes/sub"),
    *("nodes", "candidates", "matches"),
)
MIXED_COLUMNS = ("operations/s", "±", "message µs", "insert µs", "delete µs")


def tables(result: Result, baseline: str = DEFAULT_BASELINE) -> Iterator[Table]:
    """Yield a table for each run, and one for its mixed load if there was one."""
    for run in result.runs:
        yield _match_table(run, _find(run, baseline))
        if any(contender.mixed for contender in run.contenders):
            yield _mixed_table(run)


def _match_table(run: Run, baseline: ContenderResult | None) -> Table:
    table = _empty_table(_title(run), *MATCH_COLUMNS)
    if baseline is not None:
        table.caption = f"faster: than {baseline.name}, by processor time"
    for contender in run.contenders:
        table.add_row(contender.name, *_match_cells(contender, baseline))
    return table


def _match_cells(contender: ContenderResult, baseline: ContenderResult | None) -> list[str]:
    match, work = contender.match, contender.work_per_message
    return [
        _number(match.mean_us.median),
        _swing(match.mean_us),
        _number(match.p50_us.median),
        _number(match.p99_us.median),
        _number(match.cpu_us.median),
        "" if baseline is None else _faster(baseline.match.cpu_us.median, match.cpu_us.median),
        _number(contender.build.wall_seconds),
        _number(contender.memory.bytes_per_subscription),
        _number(work.nodes_visited),
        _number(work.candidates),
        _number(work.matches),
    ]


def _mixed_table(run: Run) -> Table:
    table = _empty_table(f"mixed load, {_title(run)}", *MIXED_COLUMNS)
    for contender in run.contenders:
        if contender.mixed is not None:
            table.add_row(contender.name, *_mixed_cells(contender.mixed))
    return table


def _mixed_cells(mixed: MixedCost) -> list[str]:
    rate = mixed.operations_per_second
    kinds = (mixed.message_us, mixed.insert_us, mixed.delete_us)
    return [_number(rate.median), _swing(rate), *(_number(spread.median) for spread in kinds)]


def _empty_table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left", caption_justify="left", box=SIMPLE_HEAD)
    table.add_column("index", no_wrap=True)
    for column in columns:
        table.add_column(column, justify="right", no_wrap=True)
    return table


def _title(run: Run) -> str:
    facts = run.workload
    terms = "" if facts.alpha is None else f", alpha {facts.alpha}, threshold {facts.threshold}"
    return (
        f"{facts.source} {facts.group}{terms}: {facts.subscriptions:,} subscriptions, "
        f"{facts.messages:,} messages, seed {facts.seed}"
    )


def _find(run: Run, name: str) -> ContenderResult | None:
    return next((c for c in run.contenders if name in (c.name, c.kind)), None)


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _faster(baseline_us: float, own_us: float) -> str:
    # Processor time: a busy machine stretches the wall time of the kind that runs.
    return f"{_number(baseline_us / own_us)}×" if own_us > 0 else ""


def _swing(spread: Spread) -> str:
    """Return half the distance from low to high, as a share of the median."""
    if spread.median == 0:
        return "-"
    return f"{(spread.high - spread.low) / 2 / spread.median:.0%}"
