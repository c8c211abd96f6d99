"""All drivers by name: which cases there are, and which kinds take them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from contract.variants import moving_variants, rank_variants, top_variants, variants
from differential import hubs, silence, tables, top_streams
from differential.hub_cases import HUB_PROFILES, hub_case
from differential.table_cases import MATCH_PROFILES, RANK_PROFILES, match_case, rank_case

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from differential.cases import Case


@dataclass(frozen=True)
class Driver:
    """How cases are made, and what takes them."""

    profiles: tuple[str, ...]
    make: Callable[[str, int], Case]
    variants: Callable[[str], list[Any]]
    expect: Callable[[Case], list[Any]]
    run: Callable[[Case, list[Any], Any], None]
    size: Callable[[list[Any]], int]  # what was expected: pairs or changes


def _match_variants(profile: str) -> list[Any]:
    """Nodes that split all the time are for small cases."""
    return [v for v in variants() if profile != "thousands" or not v[1]]


def _run_tables(case: Case, expected: list[Any], variant: Any) -> None:
    kind, parameters = variant
    tables.run(case, expected, kind, parameters)


def _pairs(expected: list[Any]) -> int:
    return sum(len(answer) for answer in expected if answer is not None)


def _changes(expected: list[Any]) -> int:
    return sum(len(changes) for changes, _ in expected)


def _hub_variants(profile: str) -> list[Any]:
    """A hub has an index and kinds of top lists; a profile looks at one or the other."""
    if profile in ("top lists", "crowded tops", "equal tops", "churn"):
        return top_variants()
    return [{"index": kind, "index_parameters": parameters} for kind, parameters in variants()]


DRIVERS = {
    "match": Driver(
        tuple(MATCH_PROFILES), match_case, _match_variants, tables.expect, _run_tables, _pairs
    ),
    "rank": Driver(
        RANK_PROFILES, rank_case, lambda _: rank_variants(), tables.expect, _run_tables, _pairs
    ),
    "hub": Driver(tuple(HUB_PROFILES), hub_case, _hub_variants, hubs.expect, hubs.run, _changes),
    "silence": Driver(
        silence.PROFILES,
        silence.silence_case,
        lambda _: [
            {"index": kind, "index_parameters": parameters}
            for kind, parameters in moving_variants()
        ],
        silence.expect,
        silence.run,
        _pairs,
    ),
    "top stream": Driver(
        top_streams.PROFILES,
        top_streams.top_stream_case,
        lambda _: top_variants(),
        top_streams.expect,
        top_streams.run,
        top_streams.size,
    ),
}


def schedule(driver: str, seeds: Iterable[int], count: int) -> dict[tuple[str, int], list[Any]]:
    """Return who takes which case: our own kind takes all, the others `count` of them by turns."""
    turn: dict[tuple[str, int], int] = {}
    taken = {}
    for seed in seeds:
        for profile in DRIVERS[driver].profiles:
            own, *others = DRIVERS[driver].variants(profile)
            key = (repr(own), len(others))
            first = turn.get(key, 0)
            turn[key] = first + count
            some = [others[(first + i) % len(others)] for i in range(min(count, len(others)))]
            taken[profile, seed] = [own, *some]
    return taken
