"""`nearcast generate moving` writes logs that replay, and positions; the same for the same seed."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from oracle import replay

from nearcast.bench.workloads.moving.fleet import SPEEDS
from nearcast.bench.workloads.moving.log import DECIMALS
from nearcast.cli.__main__ import main
from nearcast.events import Move, Publish, Subscribe, read_event
from nearcast.model import Bbox

SMALL = ["--objects", "40", "--steps", "4", "--messages", "20", "--destinations", "8"]


def generate(*options):
    try:
        return main(["generate", "moving", *SMALL, *map(str, options)])
    except SystemExit as leaving:
        return int(leaving.code or 0)


def read_log(path):
    return [read_event(line) for line in path.read_text().splitlines()]


def read_positions(path):
    with pa.ipc.open_file(str(path)) as reader:
        return reader.read_all()


@pytest.fixture
def roads(tmp_path):
    """Files of a network of two parts, and the options that name them."""
    nodes = {"node_id": [1, 2, 3, 8, 9], "x": [0, 5, 5, 90, 99], "y": [0, 0, 5, 90, 99]}
    edges = {"src": [1, 2, 8], "dst": [2, 3, 9], "length": [5.0, 5.0, 13.0]}
    paths = tmp_path / "nodes.parquet", tmp_path / "edges.parquet"
    for path, table in zip(paths, (nodes, edges), strict=True):
        pq.write_table(pa.table(table), path)
    return ["--nodes", paths[0], "--edges", paths[1]]


@pytest.mark.parametrize("speed", [*SPEEDS, "mixed", "2.5"])
def test_a_log_replays_without_errors(tmp_path, capsys, speed) -> None:
    out = tmp_path / "log.ndjson"
    many = ["--objects", 400, "--messages", 400, "--area-share", 0.3, "--preset", "zipf"]
    assert generate("--speed", speed, *many, "--out", out) == 0
    assert main(["replay", str(out)]) == 0
    captured = capsys.readouterr()
    assert captured.err.startswith("warning: subscription 's0' is live, and the hub has no window")
    assert captured.err.count("\n") == 2  # and its hint
    changes = [json.loads(line) for line in captured.out.splitlines()]
    lines = out.read_text().count("\n")
    assert {change["reason"] for change in changes} == {"published", "moved", "expired"}
    assert all(1 <= change["event"] <= lines for change in changes)


def test_a_log_has_subscriptions_then_messages_then_steps(tmp_path) -> None:
    out = tmp_path / "log.ndjson"
    assert generate("--out", out, "--life-steps", 5) == 0
    events = read_log(out)
    kinds = [type(event) for event in events]
    step = [Publish] * 4 + [Move] * 40
    assert kinds == [Subscribe] * 40 + [Publish] * 20 + step * 4
    times = [0.0] * 60 + [30.0 * number for number in range(1, 5) for _ in range(44)]
    assert [event.time for event in events] == times
    published = [event for event in events if isinstance(event, Publish)]
    assert [event.id for event in published] == [f"m{number}" for number in range(36)]
    lives = [(event.time, event.expires) for event in published[20:]]
    assert {expires - time for time, expires in lives if time is not None and expires} == {150.0}
    assert all(expires for _, expires in lives)


def test_moves_go_where_the_positions_are(tmp_path) -> None:
    log, positions = tmp_path / "log.ndjson", tmp_path / "positions.arrow"
    assert generate("--seed", 7, "--mobility", 0.5, "--out", log) == 0
    assert generate("--seed", 7, "--mobility", 0.5, "--format", "arrow", "--out", positions) == 0
    table = read_positions(positions)
    assert table.schema.names == ["step", "object", "lon", "lat"]
    moves = [event for event in read_log(log) if isinstance(event, Move)]
    assert 0 < len(moves) < 160
    rows = table.slice(40).to_pylist()
    assert [move.id for move in moves] == [f"s{row['object']}" for row in rows]
    assert [move.time for move in moves] == [30.0 * row["step"] for row in rows]
    for move, row in zip(moves, rows, strict=True):
        assert isinstance(move.area, Bbox)
        assert move.area.west <= row["lon"] <= move.area.east
        assert move.area.south <= row["lat"] <= move.area.north
        assert round(move.area.west, DECIMALS) == move.area.west


@pytest.mark.parametrize("format_", ["ndjson", "arrow"])
def test_the_same_seed_writes_the_same_bytes(tmp_path, format_) -> None:
    paths = [tmp_path / name for name in ("one", "again", "other")]
    for path, seed in zip(paths, (3, 3, 4), strict=True):
        assert generate("--seed", seed, "--format", format_, "--out", path) == 0
    one, again, other = (path.read_bytes() for path in paths)
    assert one == again != other


def test_events_go_to_stdout_by_default(capsysbinary, tmp_path) -> None:
    assert generate("--seed", 3) == 0
    assert generate("--seed", 3, "--out", tmp_path / "log") == 0
    assert capsysbinary.readouterr().out == (tmp_path / "log").read_bytes()


@pytest.mark.parametrize(("options", "is_live"), [([], True), (["--no-live"], False)])
def test_subscriptions_are_live_unless_told(tmp_path, options, is_live) -> None:
    assert generate(*options, "--out", tmp_path / "log") == 0
    events = read_log(tmp_path / "log")
    assert {e.live for e in events if isinstance(e, Subscribe)} == {is_live}


@pytest.mark.parametrize("options", [[], ["--no-live"]])
def test_a_log_gives_the_changes_of_the_oracle(tmp_path, capsys, options) -> None:
    out = tmp_path / "log.ndjson"
    many = ["--objects", 150, "--messages", 150, "--area-share", 0.3, "--preset", "zipf"]
    assert generate(*many, *options, "--life-steps", 3, "--out", out) == 0
    assert main(["replay", str(out)]) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    expected, rejected = replay(out.read_bytes().splitlines())
    names = ("event", "subscription", "message", "change", "reason")
    assert not rejected
    assert found
    assert sorted([change[name] for name in names] for change in found) == sorted(
        [change[name] for name in names] for change in expected
    )


def test_files_are_driven_on_and_what_is_not_connected_is_told(tmp_path, roads, capsys) -> None:
    out = tmp_path / "positions.arrow"
    space = ["--space", "10,20,11,22"]
    assert generate(*roads, *space, "--format", "arrow", "--out", out) == 0
    assert capsys.readouterr().err == (
        "warning: 1 edges are not connected with the others: left out\n"
    )
    table = read_positions(out)
    lon, lat = table.column("lon").to_numpy(), table.column("lat").to_numpy()
    # Nodes 1, 2, 3 make a corner: along the southern side, then along the eastern one.
    assert (np.isclose(lat, 20) | np.isclose(lon, 11)).all()
    assert ((lon >= 10) & (lon <= 11) & (lat >= 20) & (lat <= 22)).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--objects", -1], "--objects: got '-1', wanted a whole number, 0 or more"),
        (["--steps", -1], "--steps: got '-1'"),
        (["--mobility", 2], "--mobility: got '2', wanted a number from 0 to 1"),
        (["--speed", -1], "speed is not one: got -1.0"),
        (["--seed", -1], "--seed: got '-1'"),
        (["--nodes", "n.parquet"], "needs both --nodes FILE and --edges FILE"),
        (["--format", "arrow"], "--format arrow needs --out FILE"),
        (["--space", "1,2"], "space is not a box"),
    ],
)
def test_wrong_usage_is_refused_before_anything_is_written(options, message, capsys) -> None:
    assert generate(*options) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert message in captured.err


def test_a_speed_that_is_no_word_and_no_number_is_wrong_usage(capsys) -> None:
    assert generate("--speed", "quick") == 2
    assert "invalid speed value: 'quick'" in capsys.readouterr().err


def test_a_bad_file_is_a_failure_with_a_hint(roads, capsys) -> None:
    pq.write_table(pa.table({"src": [1], "dst": [77]}), roads[3])
    assert generate(*roads) == 1
    error = capsys.readouterr().err
    assert "edges.parquet: edge 0: dst is unknown: got 77, wanted a node_id" in error
    assert "hint: edges count from 0" in error


def test_an_absent_file_is_a_failure(roads, capsys) -> None:
    roads[1].unlink()
    assert generate(*roads) == 1
    assert "no such file: " in capsys.readouterr().err
