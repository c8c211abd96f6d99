"""`nearcast bench topk`, end to end and small."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from bench_calls import Silent, call

from nearcast.bench.checks import WrongAnswerError
from nearcast.bench.top_stream import TopStream
from nearcast.bench.topk import make_stream, read_contender, run_topk
from nearcast.bench.topk_results import ratios_of
from nearcast.bench.workloads.presets import find_preset
from nearcast.bench.workloads.tops import TopSizes, make_top_scenario
from nearcast.cli import bench

SIZES = TopSizes(subscriptions=400, window=1_500, messages=300, k=4)
PAIRS = ("auto", "auto+cskyband", "brute-force+cskyband", "auto+skyband", "auto+kmax", "auto+naive")


@pytest.fixture(scope="module")
def scenario():
    return make_top_scenario(find_preset("zipf"), "messages", 1, SIZES)


def test_bench_topk_writes_all_numbers_as_json(tmp_path, capsys) -> None:
    out = tmp_path / "topk.json"
    sizes = ["--subscriptions", 300, "--window", 1_000, "--messages", 200, "--k", 3]
    arguments = ["--preset", "zipf", "topics", "--keywords", "messages", "zipf", "--check", 50]
    arguments += ["--kinds", ",".join(PAIRS), "--out", out]
    assert call(bench, "bench", "topk", *sizes, *arguments) == 0

    captured = capsys.readouterr()
    assert captured.out == ""
    assert "zipf, keywords of messages: 300 subscriptions, window 1,000, k 3" in captured.err
    result = json.loads(out.read_text())
    assert (result["command"], len(result["runs"])) == ("topk", 4)
    for run in result["runs"]:
        assert run["workload"]["checked_lists"] == 100
        names = [cost["name"] for cost in run["contenders"]]
        assert names == list(PAIRS)
        started = [cost["name"] for cost in run["contenders"] if cost["start_seconds"] is not None]
        assert set(names) - set(started) == {"brute-force+cskyband"}  # has those of auto+cskyband
        for cost in run["contenders"]:
            for part in ("arrival_us", "expiry_us", "step_us"):
                assert 0 < cost[part]["p50"] <= cost[part]["p99"] <= cost[part]["worst"]
            assert cost["memory"]["bytes_per_subscription"] > 0
            assert cost["memory"]["mean_buffer"] > 0
        searches = {cost["name"]: cost["work"]["evaluations"] for cost in run["contenders"]}
        assert searches["auto+cskyband"] < searches["auto+naive"] / 4


def test_bench_topk_refuses_what_it_does_not_know(capsys) -> None:
    assert call(bench, "bench", "topk", "--kinds", "best") == 2
    assert "no arrival is called 'best'" in capsys.readouterr().err
    assert call(bench, "bench", "topk", "--kinds", "auto+best") == 2
    assert "no expiry is called 'best'" in capsys.readouterr().err
    assert call(bench, "bench", "topk", "--settling", -1) == 2
    assert "--settling: got '-1', wanted a whole number, 0 or more" in capsys.readouterr().err
    assert call(bench, "bench", "topk", "--window", 0) == 2
    assert "wanted a whole number, 1 or more" in capsys.readouterr().err


class Forgetful(TopStream):
    """Loses the best message of its last subscription."""

    def results(self, subscriptions):
        ends, messages, scores = super().results(subscriptions)
        last = int(ends[-2])
        keep = np.arange(len(messages)) != last
        ends = np.where(np.arange(len(ends)) < len(ends) - 1, ends, ends - 1)
        return ends, messages[keep], scores[keep]


class Inexact(TopStream):
    """Scores a little too high."""

    def results(self, subscriptions):
        ends, messages, scores = super().results(subscriptions)
        return ends, messages, scores + 2e-9


@pytest.mark.parametrize("fault", [Forgetful, Inexact])
def test_a_wrong_list_ends_the_run(scenario, fault) -> None:
    def make(spec, scenario):
        stream = make_stream(spec, scenario)
        if spec.kind == "auto+kmax":
            stream.__class__ = fault
        return stream

    specs = [read_contender("auto"), read_contender("auto+kmax")]
    assert run_topk(scenario, specs, Silent(), checked=50).workload.checked_lists == 100
    with pytest.raises(WrongAnswerError, match="auto\\+kmax gives a wrong list"):
        run_topk(scenario, specs, Silent(), checked=50, make=make)


def test_lists_taken_over_are_those_that_were_searched(scenario) -> None:
    specs = [read_contender(name) for name in ("brute-force+skyband", "auto+skyband")]
    searched, taken = run_topk(scenario, specs, Silent(), checked=SIZES.subscriptions).contenders
    assert searched.start_seconds is not None
    assert taken.start_seconds is None
    assert searched.work.changes == taken.work.changes
    assert searched.memory.mean_buffer == taken.memory.mean_buffer


def test_lists_whose_length_depends_on_the_search_are_not_taken_over(scenario) -> None:
    kinds = ("auto+cskyband", "auto+kmax")
    names = [*kinds, *(f"{kind}:search=ir-tree" for kind in kinds)]
    run = run_topk(scenario, [read_contender(name) for name in names], Silent(), checked=0)
    assert [cost.start_seconds is None for cost in run.contenders] == [False, False, False, True]


def test_ratios_are_those_that_the_contenders_can_give(scenario) -> None:
    run = run_topk(scenario, [read_contender(name) for name in PAIRS], Silent(), checked=0)
    assert ratios_of(run.contenders) == run.ratios


def test_a_contender_with_parameters_does_not_stand_for_its_kind(scenario) -> None:
    names = ["igpt+cskyband", "igpt+kmax", "igpt+skyband", "igpt+cskyband:search=ir-tree"]
    run = run_topk(scenario, [read_contender(name) for name in names], Silent(), checked=0)
    assert run.ratios == ratios_of(run.contenders[:3])


def test_contenders_of_the_same_parameters_are_compared_with_each_other(scenario) -> None:
    kinds = ("igpt+cskyband", "igpt+kmax", "igpt+skyband", "ipt+cskyband")
    specs = [read_contender(f"{kind}:max_cell=50") for kind in kinds]
    run = run_topk(scenario, specs, Silent(), checked=50)
    assert len(run.ratios) == 2
    assert all(name.endswith(", max_cell=50") for name in run.ratios)


def test_work_says_what_a_newcomer_looked_at(scenario) -> None:
    specs = [read_contender(f"{kind}+naive") for kind in ("igpt", "ipt", "ciq", "brute-force")]
    igpt, ipt, ciq, brute = (cost.work for cost in run_topk(scenario, specs, Silent()).contenders)
    assert igpt.groups > 0
    assert igpt.candidates < ipt.candidates
    # Group pruning skips none that the bounds of single subscriptions would let through.
    assert igpt.inserts < igpt.verified == ipt.verified < igpt.candidates
    assert ciq.verified < ciq.candidates < brute.candidates == SIZES.subscriptions


def test_messages_that_settle_are_not_measured() -> None:
    sizes = replace(SIZES, messages=100, settling=200)
    late = make_top_scenario(find_preset("zipf"), "messages", 1, sizes)
    early = make_top_scenario(
        find_preset("zipf"), "messages", 1, replace(sizes, messages=200, settling=0)
    )
    specs = [read_contender("auto")]
    settled, fresh = (run_topk(each, specs, Silent(), checked=50) for each in (late, early))
    both = run_topk(
        make_top_scenario(find_preset("zipf"), "messages", 1, SIZES), specs, Silent(), checked=0
    )
    assert (settled.workload.settling, settled.workload.messages) == (200, 100)
    changes = [100 * settled.contenders[0].work.changes, 200 * fresh.contenders[0].work.changes]
    assert sum(changes) == pytest.approx(300 * both.contenders[0].work.changes, abs=0.1)


def test_scenario_weighs_words_by_the_window_and_spans_everything(scenario) -> None:
    window, rest = scenario.window, scenario.messages
    assert (len(window), len(rest)) == (SIZES.window, SIZES.messages)
    first = window.take(np.array([5, 3]))
    begin, end = window.offsets[5:7]
    assert first.tokens[: first.offsets[1]].tolist() == window.tokens[begin:end].tolist()
    said = window.tokens[: window.offsets[-1]]
    assert scenario.df[said[0]] == np.count_nonzero(said == said[0])
    west, south, east, north = scenario.space
    for rows in (window, rest, scenario.subscriptions):
        assert west <= rows.lon.min() <= rows.lon.max() <= east
        assert south <= rows.lat.min() <= rows.lat.max() <= north
    lengths = np.diff(scenario.subscriptions.offsets)
    assert (lengths.min(), lengths.max()) == (1, 5)
