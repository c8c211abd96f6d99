"""Road networks from files: Parquet or CSV, one file of nodes and one of edges.

=========  ==============================================================================
nodes      `node_id`; `lon`, `lat` (degrees), or `x`, `y` (any unit)
edges      `src`, `dst` (ids of nodes); optional `length` (positive, any one unit) and
           `edge_class` (whole numbers from 0, the fastest)
=========  ==============================================================================

Other columns are left alone. Networks of real roads are not part of the project; those that
benchmarks know by name are looked for in the folder of real data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

from nearcast.bench.workloads.moving.network import make_network
from nearcast.bench.workloads.moving.town import make_town
from nearcast.bench.workloads.real import data_folder
from nearcast.errors import InvalidParameterError, Verbatim

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from nearcast.bench.workloads.moving.network import Network

LON_LAT, X_Y = ("lon", "lat"), ("x", "y")
TOWN = "town"
NETWORKS = (TOWN, "oldenburg", "oldenburg_brinkhoff", "sanjoaquin")
"""The made-up town, and real networks of [AP §5.2.1]: `road_<name>_nodes.parquet` and `…_edges`."""


def find_network(name: str, folder: Path | None, seed: int) -> Network:
    """Return the network called `name`; the town belongs to the seed.

    Raises
    ------
    ValueError
        If no network has that name, or no folder is given for a real one.
    FileNotFoundError, InvalidParameterError
        As `read_network`.
    """
    if name not in NETWORKS:
        msg = f"no road network is called {name!r}; there are {', '.join(NETWORKS)}"
        raise ValueError(msg)
    if name == TOWN:
        return make_town(seed)
    files = data_folder(folder)
    parts = (files / f"road_{name}_{part}.parquet" for part in ("nodes", "edges"))
    return read_network(*parts)


def read_network(nodes: Path, edges: Path) -> Network:
    """Read a network.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    InvalidParameterError
        If a file cannot be read, lacks a column, or says something that cannot be; the message
        begins with the name of the file.
    """
    try:
        node_table = _read(nodes)
        names = LON_LAT if set(LON_LAT) <= set(node_table.column_names) else X_Y
        ids = _node_ids(node_table)
        points = np.column_stack([_floats(node_table, name) for name in names])
        if names == LON_LAT:
            _check_degrees(points)
    except InvalidParameterError as error:
        error.locate(str(nodes))
        raise
    try:
        edge_table = _read(edges)
        return make_network(
            points,
            _ends(edge_table, "src", ids),
            _ends(edge_table, "dst", ids),
            _floats(edge_table, "length") if "length" in edge_table.column_names else None,
            _classes(edge_table),
            is_geographic=names == LON_LAT,
        )
    except InvalidParameterError as error:
        error.locate(str(edges))
        raise


def _read(path: Path) -> pa.Table:
    readers = {".parquet": pq.read_table, ".csv": pa.csv.read_csv}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        what = "file has an unknown ending"
        raise InvalidParameterError(what, got=path.suffix, wanted=" or ".join(readers))
    if not path.is_file():
        msg = f"no such file: {path}"
        raise FileNotFoundError(msg)
    try:
        return reader(path)
    except (pa.ArrowException, OSError) as error:
        what = "file cannot be read"
        got = Verbatim(str(error).splitlines()[0])
        raise InvalidParameterError(what, got=got, wanted=path.suffix[1:]) from None


def _node_ids(table: pa.Table) -> pa.Array:
    ids = _column(table, "node_id")
    if len(pc.unique(ids)) < len(ids):
        counts = pc.value_counts(ids)
        twice = counts.filter(pc.greater(counts.field("counts"), 1))
        what = "node_id is not unique"
        got = twice.field("values")[0].as_py()
        raise InvalidParameterError(what, got=got, wanted="each id once", field="node_id")
    return ids


def _ends(table: pa.Table, name: str, ids: pa.Array) -> NDArray[np.int64]:
    """Return the rows of the nodes that a column names."""
    column = _column(table, name)
    if column.type != ids.type:
        column = _cast(column, name, ids.type)
    rows = pc.index_in(column, value_set=ids)
    if rows.null_count:
        edge = int(pc.is_null(rows).to_numpy(zero_copy_only=False).argmax())
        what = f"edge {edge}: {name} is unknown"
        hint = "edges count from 0; are nodes and edges of the same network?"
        got = column[edge].as_py()
        raise InvalidParameterError(what, got=got, wanted="a node_id", hint=hint, field=name)
    return np.asarray(rows.to_numpy(), dtype=np.int64)


def _classes(table: pa.Table) -> NDArray[np.int64] | None:
    if "edge_class" not in table.column_names:
        return None
    classes = _cast(_column(table, "edge_class"), "edge_class", pa.int64())
    return np.asarray(classes.to_numpy())


def _floats(table: pa.Table, name: str) -> NDArray[np.float64]:
    numbers = np.asarray(_cast(_column(table, name), name, pa.float64()).to_numpy())
    is_wrong = ~np.isfinite(numbers)
    if is_wrong.any():
        row = int(is_wrong.argmax())
        what = f"row {row}: {name} is not finite"
        raise InvalidParameterError(what, got=numbers[row].item(), wanted="a number", field=name)
    return numbers


def _cast(column: pa.Array, name: str, wanted: pa.DataType) -> pa.Array:
    try:
        return column.cast(wanted)
    except pa.ArrowException:
        what = f"{name} is of another type"
        got = Verbatim(str(column.type))
        raise InvalidParameterError(what, got=got, wanted=str(wanted), field=name) from None


def _column(table: pa.Table, name: str) -> pa.Array:
    """Return a column in one piece, without nulls."""
    if name not in table.column_names:
        what = f"column {name!r} is missing"
        got = Verbatim(", ".join(table.column_names) or "no column")
        hint = "nodes have node_id and lon, lat or x, y; edges have src, dst"
        raise InvalidParameterError(what, got=got, wanted=name, hint=hint, field=name)
    column = pa.concat_arrays(table.column(name).chunks or [pa.array([], table.field(name).type)])
    if column.null_count:
        row = int(pc.is_null(column).to_numpy(zero_copy_only=False).argmax())
        what = f"row {row}: {name} is missing"
        raise InvalidParameterError(what, got=Verbatim("null"), wanted="a value", field=name)
    return column


def _check_degrees(points: NDArray[np.float64]) -> None:
    for name, limit, values in (("lon", 180.0, points[:, 0]), ("lat", 90.0, points[:, 1])):
        is_wrong = np.abs(values) > limit
        if is_wrong.any():
            row = int(is_wrong.argmax())
            what = f"row {row}: {name} is out of range"
            hint = "coordinates in another unit are called x and y"
            wanted, got = f"{-limit:g} to {limit:g}", values[row].item()
            raise InvalidParameterError(what, got=got, wanted=wanted, hint=hint, field=name)
