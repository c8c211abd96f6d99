"""Peers give the same answers as nearcast, and one that differs ends the run."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest

from nearcast.bench.checks import WrongAnswerError
from nearcast.bench.peers import comparing
from nearcast.bench.peers.in_python import DictionaryPeer, OurPeer
from nearcast.bench.peers.lucene import LucenePeer, compiled
from nearcast.bench.peers.peer import Found, MissingPeerError
from nearcast.bench.peers.postgres import GIN, RAREST, PostgresPeer
from nearcast.bench.peers.postgres_server import missing
from nearcast.bench.peers.workload import PeerWorkload
from nearcast.bench.workloads.groups import find_group
from nearcast.bench.workloads.presets import find_preset
from nearcast.bench.workloads.scenario import PresetSource, make_scenario
from nearcast.cli.__main__ import main


@pytest.fixture(scope="module")
def scenario():
    source = PresetSource(find_preset("tweets"), seed=1)
    return make_scenario(source, find_group("short-point"), 8_000, 500)


@pytest.fixture(scope="module")
def workload(scenario):
    return PeerWorkload(scenario)


@pytest.fixture(scope="module")
def truth(workload):
    found = OurPeer().run(workload, 1)
    assert len(found.pairs) > 20
    return found.pairs


class Steps:
    def step(self, description: str) -> None:
        """Nothing is shown."""


def test_a_dictionary_finds_the_same(workload, truth) -> None:
    found = DictionaryPeer().run(workload, 2)
    assert found.pairs.tolist() == truth.tolist()
    assert found.nanoseconds.shape == (2, 500)
    assert (found.cpu_seconds > 0).all()


@pytest.mark.parametrize("schema", [GIN, RAREST], ids=["gin", "rarest"])
def test_postgresql_finds_the_same(schema, workload, truth) -> None:
    pytest.importorskip("psycopg")
    if reason := missing():
        pytest.skip(reason)
    assert PostgresPeer("postgresql", schema).run(workload, 1).pairs.tolist() == truth.tolist()


@pytest.mark.slow
@pytest.mark.parametrize("passes", [1, 2])
def test_lucene_monitor_finds_the_same(passes, workload, truth) -> None:
    if shutil.which("java") is None:
        pytest.skip("Java is not installed")
    try:
        compiled()
    except MissingPeerError as error:
        pytest.skip(str(error))
    found = LucenePeer(passes, heap_gib=1, warm_up_s=0).run(workload, 1)
    assert found.pairs.tolist() == truth.tolist()


def test_the_rarest_keyword_is_that_of_the_fewest_subscriptions(workload) -> None:
    counts = workload.frequencies
    for _, keywords, _ in workload.subscriptions[:100]:
        assert counts[workload.rarest(keywords)] == min(counts[word] for word in keywords)


def test_a_peer_that_differs_ends_the_run(scenario, monkeypatch) -> None:
    class Liar:
        name, what = "liar", "says that nothing matches"

        def run(self, workload: PeerWorkload, repetitions: int) -> Found:
            times = np.ones((repetitions, len(workload.messages)), dtype=np.int64)
            return Found(times, np.ones(repetitions), np.empty((0, 2), np.int64), 0.0, None, {})

    monkeypatch.setattr(comparing, "PEERS", {"nearcast": OurPeer, "liar": Liar})
    with pytest.raises(WrongAnswerError, match="liar gives a wrong answer"):
        comparing.run_peers(scenario, ["nearcast", "liar"], 1, Steps())


def test_a_peer_that_is_missing_is_left_out_and_named(scenario, monkeypatch) -> None:
    class Absent:
        name, what = "absent", "is not there"

        def run(self, workload: PeerWorkload, repetitions: int) -> Found:
            raise MissingPeerError(self.what, wanted="a package")

    monkeypatch.setattr(comparing, "PEERS", {"absent": Absent, "nearcast": OurPeer})
    run = comparing.run_peers(scenario, ["absent", "nearcast"], 1, Steps())
    assert [peer.name for peer in run.peers] == ["nearcast"]
    assert "a package" in run.missing["absent"]


def test_the_command_writes_a_result_with_versions_and_settings(tmp_path) -> None:
    out = tmp_path / "peers.json"
    sizes = ["--subscriptions", "500", "--messages", "50", "--repeat", "1"]
    given = ["bench", "peers", "--peers", "nearcast,python-dict", *sizes, "--out", str(out)]
    assert main(given) == 0
    result = json.loads(out.read_text())
    (run,) = result["runs"]
    assert [peer["name"] for peer in run["peers"]] == ["nearcast", "python-dict"]
    assert run["peers"][1]["versions"]["python"]
    assert run["workload"]["subscriptions"] == 500


def test_an_unknown_peer_is_wrong_usage(capsys) -> None:
    assert main(["bench", "peers", "--peers", "oracle"]) == 2
    assert "no such peer" in capsys.readouterr().err
