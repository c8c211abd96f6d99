"""Is a frame nothing but columns of Parquet files? Then its rows can be read from the files.

Asked of Spark's optimised plan, which is not a public interface: whatever is not recognised, or
fails, is answered with no, and Spark reads the rows as it always does. The same rows come out only
if files and frame agree, so every file must have the columns of the frame, with their types.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote, urlsplit

import pyarrow as pa
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import DataFrame

_FORMAT = "org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat"
_PLAIN = ("bigint", "int", "string", "double", "array<string>")
"""Types that Spark and Arrow read alike whatever the settings, unlike dates."""


class Scan(NamedTuple):
    """What a frame reads."""

    files: tuple[str, ...]
    columns: Mapping[str, str]
    """Names of columns in the files, by their names in the frame."""


def scan_of(frame: DataFrame) -> Scan | None:
    """Return which columns of which files a frame is, or None if it is anything else."""
    java = getattr(frame, "_jdf", None)  # a frame of Spark Connect has none
    if java is None or frame.isStreaming or not {t for _, t in frame.dtypes} <= set(_PLAIN):
        return None
    from py4j.protocol import Py4JError

    try:
        scan = _scan_of_plan(java.queryExecution().optimizedPlan())
        return scan if scan and _agree(frame, scan) else None
    except (Py4JError, OSError, pa.ArrowException):
        return None


def _scan_of_plan(plan: Any) -> Scan | None:  # noqa: ANN401 — Java's
    columns: dict[str, str] | None = None
    if _kind(plan) == "Project":
        columns = _renamed(plan.projectList())
        plan = plan.child()
    if _kind(plan) != "LogicalRelation" or _kind(plan.relation()) != "HadoopFsRelation":
        return None
    relation = plan.relation()
    is_plain = relation.fileFormat().getClass().getName() == _FORMAT
    if not is_plain or relation.partitionSchema().length():
        return None
    if columns is None:
        columns = _renamed(plan.output())
    addresses = [urlsplit(address) for address in relation.location().inputFiles()]
    if not addresses or not columns or any(a.scheme != "file" for a in addresses):
        return None
    return Scan(tuple(unquote(address.path) for address in addresses), columns)


def _renamed(expressions: Any) -> dict[str, str] | None:  # noqa: ANN401
    """Return what is renamed to what; None if something is computed."""
    columns = {}
    for place in range(expressions.length()):
        expression = expressions.apply(place)
        source = expression.child() if _kind(expression) == "Alias" else expression
        if _kind(source) != "AttributeReference":
            return None
        columns[expression.name()] = source.name()
    return columns


def _kind(java: Any) -> str:  # noqa: ANN401
    return str(java.getClass().getSimpleName())


def _agree(frame: DataFrame, scan: Scan) -> bool:
    """Whether every file has the columns of the frame, of the same types."""
    from pyspark.sql.pandas.types import to_arrow_schema

    wanted = to_arrow_schema(frame.schema)
    if set(scan.columns) != set(wanted.names):
        return False
    for file in scan.files:
        found = pq.read_schema(file)
        for name, source in scan.columns.items():
            if found.names.count(source) != 1:
                return False
            if not _is_alike(found.field(source).type, wanted.field(name).type):
                return False
    return True


def _is_alike(one: pa.DataType, other: pa.DataType) -> bool:
    if pa.types.is_list(one) and pa.types.is_list(other):  # whatever their items are called
        return bool(one.value_type == other.value_type)
    return bool(one == other)
