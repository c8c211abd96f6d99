"""Runs the peers one after the other on one workload, and compares their answers."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from nearcast.bench.checks import require_equal
from nearcast.bench.peers.in_python import DictionaryPeer, OurBulkPeer, OurPeer
from nearcast.bench.peers.lucene import LucenePeer
from nearcast.bench.peers.peer import MissingPeerError
from nearcast.bench.peers.postgres import GIN, POSTGIS, RAREST, PostgresPeer
from nearcast.bench.peers.workload import PeerWorkload
from nearcast.bench.results import Spread

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from nearcast.bench.harness import Progress
    from nearcast.bench.peers.peer import Found, Peer
    from nearcast.bench.workloads.scenario import Scenario

PEERS: Mapping[str, Callable[[], Peer]] = MappingProxyType(
    {
        "nearcast-bulk": OurBulkPeer,
        "nearcast": OurPeer,
        "python-dict": DictionaryPeer,
        "lucene-monitor": LucenePeer,
        "postgis": lambda: PostgresPeer("postgis", POSTGIS),
        "postgresql-rarest": lambda: PostgresPeer("postgresql-rarest", RAREST),
        "postgresql-gin": lambda: PostgresPeer("postgresql-gin", GIN),
    }
)
"""All peers by the names that the command line has for them, ours first."""


@dataclass(frozen=True, slots=True)
class PeerResult:
    """What a peer took; times per message, spreads over the repetitions."""

    name: str
    what: str
    mean_us: Spread
    cpu_us: Spread
    p50_us: Spread
    p99_us: Spread
    build_seconds: float
    bytes_per_subscription: float | None
    versions: Mapping[str, str]
    settings: Mapping[str, str | int | float]


@dataclass(frozen=True, slots=True)
class PeerRun:
    """One workload, all peers that could run."""

    workload: Mapping[str, Any]
    peers: tuple[PeerResult, ...]
    missing: Mapping[str, str]
    """Peers that could not run, and what they wanted."""


def run_peers(
    scenario: Scenario, names: Sequence[str], repetitions: int, progress: Progress
) -> PeerRun:
    """Run the named peers; the first that runs is the one that the others are compared with.

    Raises
    ------
    WrongAnswerError
        If two peers disagree about a message.
    """
    workload = PeerWorkload(scenario)
    results: list[PeerResult] = []
    missing: dict[str, str] = {}
    truth: NDArray[np.int64] | None = None
    for name in names:
        progress.step(name)
        peer = PEERS[name]()
        try:
            found = peer.run(workload, repetitions)
        except MissingPeerError as error:
            missing[name] = str(error)
            continue
        rows = np.column_stack([found.pairs, np.zeros(len(found.pairs), np.int64)])
        truth = rows if truth is None else truth
        require_equal(name, rows, truth)
        results.append(_result(name, peer.what, found))
    matches = 0 if truth is None else len(truth)
    facts = {
        "source": scenario.source.name,
        "group": scenario.group.name,
        "seed": scenario.source.seed,
        "subscriptions": scenario.subscriptions.num_rows,
        "messages": scenario.messages.num_rows,
        "matches_per_message": round(matches / scenario.messages.num_rows, 4),
    }
    return PeerRun(facts, tuple(results), missing)


def _result(name: str, what: str, found: Found) -> PeerResult:
    times = found.nanoseconds / 1e3
    held = found.bytes_per_subscription
    return PeerResult(
        name=name,
        what=what,
        mean_us=Spread.over([float(row.mean()) for row in times]),
        cpu_us=Spread.over([float(s) * 1e6 / times.shape[1] for s in found.cpu_seconds]),
        p50_us=Spread.over([float(np.percentile(row, 50)) for row in times]),
        p99_us=Spread.over([float(np.percentile(row, 99)) for row in times]),
        build_seconds=round(found.build_seconds, 3),
        bytes_per_subscription=None if held is None else round(held, 1),
        versions=dict(found.versions),
        settings=dict(found.settings),
    )
