"""Road networks are connected, and files that do not make one are refused with reasons."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from nearcast.bench.workloads.moving.files import find_network, read_network
from nearcast.bench.workloads.moving.network import components, make_network
from nearcast.bench.workloads.moving.town import MAIN_ROAD, MOTORWAY, STREET, make_town
from nearcast.errors import InvalidParameterError

POINTS = np.array([[0.0, 0.0], [3.0, 4.0], [3.0, 0.0], [9.0, 9.0], [9.0, 8.0]])


def ends(*pairs: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    return np.array([tail for tail, _ in pairs]), np.array([head for _, head in pairs])


# ---- networks -------------------------------------------------------------------------------


def test_edges_are_as_long_as_their_ends_are_apart_unless_told() -> None:
    network = make_network(POINTS, *ends((0, 1), (1, 2)))
    assert network.lengths.tolist() == [5.0, 4.0]
    assert network.extent == 3 + 4
    assert network.space == (0.0, 0.0, 3.0, 4.0)
    told = make_network(POINTS, *ends((0, 1), (1, 2)), np.array([5_000.0, 4_000.0]))
    assert told.extent == 7_000


def test_a_class_is_slower_than_the_one_before_it() -> None:
    network = make_network(POINTS, *ends((0, 1), (1, 2)), np.array([1.0, 1.0]), np.array([0, 2]))
    assert network.edge_times() == pytest.approx([1.0, 1.0 / 0.64])


def test_the_largest_connected_part_remains() -> None:
    network = make_network(POINTS, *ends((3, 4), (1, 0), (1, 2)))
    assert network.points.tolist() == POINTS[:3].tolist()
    assert network.left_out == 1
    assert sorted(zip(network.tails.tolist(), network.heads.tolist(), strict=True)) == [
        (1, 0),
        (1, 2),
    ]
    assert network.lengths.tolist() == [5.0, 4.0]


def test_roads_that_end_where_they_begin_are_dropped() -> None:
    network = make_network(POINTS, *ends((0, 0), (0, 1)))
    assert (len(network.tails), network.left_out) == (1, 0)


def test_arcs_are_edges_there_and_back() -> None:
    network = make_network(POINTS, *ends((0, 1), (1, 2)))
    assert network.arc_tails().tolist() == [0, 1, 1, 2]
    assert network.arc_heads().tolist() == [1, 0, 2, 1]


@pytest.mark.parametrize("seed", range(5))
def test_components_are_those_of_a_walk(seed) -> None:
    rng = np.random.default_rng(seed)
    tails, heads = rng.integers(60, size=(2, 45))
    neighbours: dict[int, set[int]] = {node: set() for node in range(60)}
    for a, b in zip(tails.tolist(), heads.tolist(), strict=True):
        neighbours[a].add(b)
        neighbours[b].add(a)
    for node, root in enumerate(components(60, tails, heads).tolist()):
        reached, waiting = {node}, [node]
        while waiting:
            new = neighbours[waiting.pop()] - reached
            reached |= new
            waiting += new
        assert root == min(reached)


@pytest.mark.parametrize(
    ("lengths", "classes", "message"),
    [
        ([1.0, -2.0], None, "edge 1: length is out of range: got -2.0, wanted more than 0"),
        ([0.0, 1.0], None, "edge 0: length is out of range: got 0.0, wanted more than 0"),
        ([1.0, np.nan], None, "edge 1: length is out of range: got nan"),
        ([np.inf, 1.0], None, "edge 0: length is out of range: got inf"),
        (None, [0, -1], "edge 1: edge_class is out of range: got -1, wanted 0 to 31"),
        (None, [32, 0], "edge 0: edge_class is out of range: got 32, wanted 0 to 31"),
    ],
)
def test_a_network_that_cannot_be_is_refused(lengths, classes, message) -> None:
    lengths = None if lengths is None else np.array(lengths)
    classes = None if classes is None else np.array(classes)
    with pytest.raises(InvalidParameterError, match=message) as raised:
        make_network(POINTS, *ends((0, 1), (1, 2)), lengths, classes)
    assert raised.value.hint


def test_a_network_without_roads_or_extent_is_refused() -> None:
    with pytest.raises(InvalidParameterError, match="no edge between two nodes: got 1, wanted"):
        make_network(POINTS, *ends((0, 0)))
    nowhere = np.zeros((2, 2))
    with pytest.raises(InvalidParameterError, match=r"edge 0: length is out of range: got 0\.0"):
        make_network(nowhere, *ends((0, 1)))
    with pytest.raises(InvalidParameterError, match="network has no extent"):
        make_network(nowhere, *ends((0, 1)), np.array([1.0]))


# ---- towns ----------------------------------------------------------------------------------


def test_a_town_is_the_same_for_the_same_seed() -> None:
    assert np.array_equal(make_town(3, 20).points, make_town(3, 20).points)
    assert np.array_equal(make_town(3, 20).tails, make_town(3, 20).tails)
    assert not np.array_equal(make_town(3, 20).points, make_town(4, 20).points)


def test_a_town_is_connected_and_has_motorways_main_roads_and_streets() -> None:
    town = make_town(1)
    assert len(np.unique(components(len(town.points), town.tails, town.heads))) == 1
    assert set(town.classes.tolist()) == {MOTORWAY, MAIN_ROAD, STREET}
    lengths = {c: town.lengths[town.classes == c].sum() for c in (MOTORWAY, MAIN_ROAD, STREET)}
    assert lengths[MOTORWAY] < lengths[MAIN_ROAD] < lengths[STREET]
    all_edges = 2 * 80 * 79
    assert 0.8 * all_edges < len(town.tails) < 0.9 * all_edges


def test_a_town_is_denser_in_the_middle() -> None:
    points = make_town(1).points
    is_central = (np.abs(points - 0.5) < 0.25).all(axis=1)
    assert 0.3 < is_central.mean() < 0.5  # a quarter if nodes were spread evenly


@pytest.mark.parametrize("side", [2, 3, 5])
def test_tiny_towns_can_be_driven_through(side) -> None:
    assert len(make_town(1, side).tails) > 0


# ---- files ----------------------------------------------------------------------------------

NODES = {"node_id": [7, 3, 9], "x": [0.0, 1.0, 2.0], "y": [0.0, 0.0, 1.0]}
EDGES = {"edge_id": [0, 1], "src": [7, 9], "dst": [3, 3], "length": [2.0, 3.0]}


def write(folder, nodes=NODES, edges=EDGES, ending=".parquet"):
    paths = folder / f"nodes{ending}", folder / f"edges{ending}"
    for path, columns in zip(paths, (nodes, edges), strict=True):
        table = pa.table(columns)
        if ending == ".csv":
            pa.csv.write_csv(table, path)
        else:
            pq.write_table(table, path)
    return paths


@pytest.mark.parametrize("ending", [".parquet", ".csv"])
def test_files_give_the_network_they_describe(tmp_path, ending) -> None:
    network = read_network(*write(tmp_path, ending=ending))
    assert network.points.tolist() == [[0.0, 0.0], [1.0, 0.0], [2.0, 1.0]]
    assert network.tails.tolist() == [0, 2]
    assert network.heads.tolist() == [1, 1]
    assert network.lengths.tolist() == [2.0, 3.0]
    assert network.classes.tolist() == [0, 0]
    assert not network.is_geographic


def test_ids_may_be_words_and_edges_may_have_classes_and_no_length(tmp_path) -> None:
    nodes = {"node_id": ["a", "b"], "lon": [13.3, 13.4], "lat": [52.5, 52.5]}
    edges = {"src": ["b"], "dst": ["a"], "edge_class": pa.array([3], pa.int8())}
    network = read_network(*write(tmp_path, nodes, edges))
    assert network.is_geographic
    assert network.lengths == pytest.approx([0.1])
    assert network.classes.tolist() == [3]


def without(columns, name):
    return {key: value for key, value in columns.items() if key != name}


@pytest.mark.parametrize(
    ("nodes", "edges", "message"),
    [
        (without(NODES, "node_id"), EDGES, r"nodes.\w+: column 'node_id' is missing: got x, y"),
        (without(NODES, "y"), EDGES, r"nodes.\w+: column 'y' is missing: got node_id, x, wanted y"),
        (NODES, without(EDGES, "src"), r"edges.\w+: column 'src' is missing"),
        (NODES, without(EDGES, "dst"), r"edges.\w+: column 'dst' is missing"),
        ({**NODES, "node_id": [7, 3, 7]}, EDGES, r"nodes.\w+: node_id is not unique: got 7"),
        ({**NODES, "x": [0.0, None, 1.0]}, EDGES, r"nodes.\w+: row 1: x is missing: got null"),
        ({**NODES, "x": [0.0, 1.0, np.inf]}, EDGES, r"nodes.\w+: row 2: x is not finite: got inf"),
        ({**NODES, "x": ["a", "b", "c"]}, EDGES, r"nodes.\w+: x is of another type: got string"),
        (
            {"node_id": [7, 3, 9], "lon": [0.0, 181.0, 1.0], "lat": [0.0, 0.0, 1.0]},
            EDGES,
            r"nodes.\w+: row 1: lon is out of range: got 181.0, wanted -180 to 180",
        ),
        (NODES, {**EDGES, "dst": [3, 4]}, r"edges.\w+: edge 1: dst is unknown: got 4, wanted a"),
        (NODES, {**EDGES, "src": [None, 3]}, r"edges.\w+: row 0: src is missing: got null"),
        (NODES, {**EDGES, "src": ["u", "v"]}, r"edges.\w+: src is of another type: got string"),
        (NODES, {**EDGES, "length": [1.0, -1.0]}, r"edges.\w+: edge 1: length is out of range"),
        (NODES, {**EDGES, "length": ["far", "near"]}, r"edges.\w+: length is of another type"),
        (NODES, {**EDGES, "edge_class": [0, -3]}, r"edges.\w+: edge 1: edge_class is out of"),
        (NODES, {**EDGES, "edge_class": [0.5, 1]}, r"edges.\w+: edge_class is of another type"),
    ],
)
@pytest.mark.parametrize("ending", [".parquet", ".csv"])
def test_a_bad_file_is_refused_by_name_with_what_was_wanted(
    tmp_path, nodes, edges, message, ending
) -> None:
    with pytest.raises(InvalidParameterError, match=message) as raised:
        read_network(*write(tmp_path, nodes, edges, ending))
    assert raised.value.wanted


def test_an_empty_file_of_edges_is_no_network(tmp_path) -> None:
    edges = {"src": pa.array([], pa.int64()), "dst": pa.array([], pa.int64())}
    with pytest.raises(InvalidParameterError, match=r"edges.parquet: network has no edge"):
        read_network(*write(tmp_path, NODES, edges))


@pytest.mark.parametrize("name", ["nodes.parquet", "nodes.csv"])
def test_what_is_not_a_table_is_refused(tmp_path, name) -> None:
    _, edges = write(tmp_path)
    broken = tmp_path / name
    broken.write_bytes(b'a,b\n1,2\n3\n"\x00')
    with pytest.raises(InvalidParameterError, match=f"{name}: file cannot be read"):
        read_network(broken, edges)


def test_unknown_endings_and_absent_files_are_told_apart(tmp_path) -> None:
    nodes, edges = write(tmp_path)
    with pytest.raises(InvalidParameterError, match=r"unknown ending: got '.shp', wanted .parquet"):
        read_network(tmp_path / "nodes.shp", edges)
    with pytest.raises(FileNotFoundError, match=r"absent\.parquet"):
        read_network(nodes, tmp_path / "absent.parquet")


def test_networks_are_found_by_name_in_the_folder_of_real_data(tmp_path, monkeypatch) -> None:
    nodes, edges = write(tmp_path)
    nodes.rename(tmp_path / "road_oldenburg_nodes.parquet")
    edges.rename(tmp_path / "road_oldenburg_edges.parquet")
    assert find_network("oldenburg", tmp_path, 1).lengths.tolist() == [2.0, 3.0]
    monkeypatch.setenv("NEARCAST_DATA", str(tmp_path))
    assert find_network("oldenburg", None, 1).lengths.tolist() == [2.0, 3.0]
    with pytest.raises(FileNotFoundError, match="road_sanjoaquin_nodes"):
        find_network("sanjoaquin", None, 1)


def test_the_town_needs_no_folder_and_other_names_are_refused(monkeypatch) -> None:
    monkeypatch.delenv("NEARCAST_DATA", raising=False)
    assert np.array_equal(find_network("town", None, 3).points, make_town(3).points)
    with pytest.raises(ValueError, match="no road network is called 'rome'; there are town, olden"):
        find_network("rome", None, 1)
    with pytest.raises(ValueError, match="no data folder: give --data DIR"):
        find_network("oldenburg", None, 1)
