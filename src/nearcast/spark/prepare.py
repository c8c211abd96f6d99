"""Raw files to versioned tables: cleaned, analysed, counted.

A version of a table is a folder that appears as a whole: `rows` has the clean rows, `refused` the
others with reasons, `report.json` how many of each; messages also have `keywords` (how many
messages and how many places have a word), `places` (a histogram), and `weights.json`, an epoch.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from nearcast.errors import InvalidParameterError, UnsupportedError
from nearcast.spark.cleaning import (
    MESSAGE_FIELDS,
    POINT,
    SUBSCRIPTION_FIELDS,
    check_mapping,
    clean_messages,
    clean_subscriptions,
    message_schema,
    subscription_schema,
)
from nearcast.spark.definitions import SIDES, TERMS
from nearcast.spark.folders import folder_at, is_remote

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from os import PathLike

    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

GRID = 100
"""Cells per side of the histogram of places: 10,000, as in [Rt §4.2]."""
MAX_REASONS = 20


def read_raw(spark: SparkSession, path: str, form: str | None = None) -> DataFrame:
    """Read CSV (with a header), JSON, NDJSON, Parquet, or events (lines as they are).

    JSON is an array of objects or one object; with an object on each line it is NDJSON, whatever
    the file is called.
    """
    kind = form or _form_of(path)
    found = _files_of(path)
    if kind == "csv":
        # As RFC 4180 and most programs write it: texts have line breaks, and quotes are doubled.
        return spark.read.csv(found, header=True, escape='"', multiLine=True)
    if kind in ("json", "ndjson"):
        # Of several values in a file Spark reads the first and says nothing.
        return spark.read.json(found, multiLine=kind == "json" and not _is_lines(spark, found))
    if kind == "events":
        return spark.read.text(found)
    if kind == "parquet":
        return spark.read.parquet(*found)
    what = "format is unknown"
    raise InvalidParameterError(what, got=kind, wanted="csv, json, ndjson, parquet or events")


def _files_of(path: str) -> list[str]:
    """Return what a pattern of local files stands for.

    Spark takes patterns too, but prints a Java exception first: it looks for a file of that name.
    """
    if "://" in path or not any(letter in path for letter in "*?["):
        return [path]
    root = Path("/") if path.startswith("/") else Path()
    found = sorted(map(str, root.glob(path.lstrip("/"))))
    if not found and not Path(path).exists():
        what = f"no file is called {path!r}"
        raise InvalidParameterError(what, wanted="a file, a folder, or a pattern of files")
    return found or [path]


def _is_lines(spark: SparkSession, found: list[str]) -> bool:
    """Whether the first line is an object of its own."""
    try:
        return isinstance(json.loads(spark.read.text(found).head(1)[0][0]), dict)
    except (ValueError, IndexError):
        return False


def _form_of(path: str) -> str:
    suffix = Path(path.rstrip("/")).name.removesuffix(".gz").rpartition(".")[2].lower()
    return {"jsonl": "ndjson"}.get(suffix, suffix)


def prepare_messages(
    raw: DataFrame, out: str | PathLike[str], columns: Mapping[str, str] | None = None
) -> Path:
    """Clean, analyse and count messages; return the folder of the new version.

    Parameters
    ----------
    raw
        Any columns; or one column `event` or `value` with publish events as lines.
    out
        Folder of the versions.
    columns
        Field to column, where the names differ: id, text, lon and lat or west, south, east and
        north, time, expires.
    """
    is_events = _is_events(raw, columns)
    mapping = {} if is_events else _mapping(columns, MESSAGE_FIELDS, raw.columns)
    place: tuple[str, ...] = POINT if "lon" in mapping else SIDES
    if is_events:
        place = POINT + SIDES

    def clean(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return (clean_messages(batch, mapping, place) for batch in batches)

    def count(rows: DataFrame, folder: Path, report: dict[str, Any]) -> None:
        _write_statistics(rows, folder, report["clean"])

    return _write(raw.mapInArrow(clean, _ddl(message_schema(place))), out, count)


def prepare_subscriptions(
    raw: DataFrame,
    out: str | PathLike[str],
    columns: Mapping[str, str] | None = None,
    *,
    mode: str = "match",
) -> Path:
    """Clean and analyse subscriptions; return the folder of the new version.

    Parameters
    ----------
    raw
        Any columns; or one column `event` or `value` with subscribe events as lines.
    out
        Folder of the versions.
    columns
        Field to column, where the names differ: id, keywords, area or west, south, east, north,
        alpha, threshold.
    mode
        "match" or "rank".
    """
    is_events = _is_events(raw, columns)
    # Who does not rank may have a column of that name all the same.
    known = tuple(f for f in SUBSCRIPTION_FIELDS if mode == "rank" or f not in TERMS)
    mapping = {} if is_events else _mapping(columns, known, raw.columns)

    def clean(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return (clean_subscriptions(batch, mapping, mode=mode) for batch in batches)

    schema = _ddl(subscription_schema(mode))
    return _write(raw.mapInArrow(clean, schema), out, None, unique=True)


def generate_rows(
    spark: SparkSession,
    make: Callable[[int, int], pa.Table],
    count: int,
    *,
    per_task: int = 100_000,
) -> DataFrame:
    """Make rows of an endless sequence on all machines.

    Parameters
    ----------
    spark
        Whose machines.
    make
        Returns the rows from `first` on, `count` of them; a function of a module, or a partial of
        one. Dictionaries become plain columns.
    count, per_task
        How many rows, and how many a task makes.
    """
    sample = _plain(make(0, 1))

    def rows(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column("id").to_pylist():
                first = number * per_task
                yield from _plain(make(first, min(per_task, count - first))).to_batches()

    tasks = -(-count // per_task)
    return spark.range(tasks, numPartitions=max(tasks, 1)).mapInArrow(rows, _ddl(sample.schema))


def latest_version(out: str | PathLike[str]) -> Path:
    """Return the newest version of a table."""
    found = sorted(Path(out).glob("version-*"))
    if not found:
        what = f"no table is at {str(out)!r}"
        raise InvalidParameterError(what, wanted="a folder with a version")
    return found[-1]


def table_rows(place: str) -> str:
    """Return the folder with the rows of a table's newest version; or itself, if it is no table."""
    found = [name for name in folder_at(place).folders() if name.startswith("version-")]
    return str(folder_at(place) / sorted(found)[-1] / "rows") if found else place


def _is_events(raw: DataFrame, columns: Mapping[str, str] | None) -> bool:
    return columns is None and set(raw.columns) in ({"event"}, {"value"})


def _mapping(
    columns: Mapping[str, str] | None, known: tuple[str, ...], there: list[str]
) -> dict[str, str]:
    mapping = {name: name for name in known if name in there}
    mapping.update(columns or {})
    check_mapping(mapping, known, there)
    return mapping


def _write(
    rows: DataFrame,
    place: str | PathLike[str],
    count: Callable[[DataFrame, Path, dict[str, Any]], None] | None,
    *,
    unique: bool = False,
) -> Path:
    """Write a version in a folder that no reader sees yet, then give it its name."""
    from pyspark.sql import functions as f

    if is_remote(str(place)):
        what = "tables are prepared in a folder that is mounted"
        raise UnsupportedError(
            what, got=str(place), hint="copy the version to the store afterwards"
        )
    out = Path(place)
    out.mkdir(parents=True, exist_ok=True)
    folder = (out / f"_unfinished-{uuid4().hex}").absolute()
    spark = rows.sparkSession
    try:
        staged = str(folder / "staged")
        rows.write.parquet(staged)
        kept = spark.read.parquet(staged)
        kept = _refuse_repeated(kept) if unique else kept
        clean = kept.where(f.col("reason").isNull()).drop("reason", "raw")
        clean.write.parquet(str(folder / "rows"))
        refused = kept.where(f.col("reason").isNotNull()).select("reason", "raw")
        refused.write.parquet(str(folder / "refused"))
        report = _report(spark, folder)
        if count is not None:
            count(spark.read.parquet(str(folder / "rows")), folder, report)
        (folder / "report.json").write_text(json.dumps(report, indent=1))
        shutil.rmtree(staged)
        return _commit(out, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _refuse_repeated(rows: DataFrame) -> DataFrame:
    """Return rows of which only one of each id is clean: the first, as files are read."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    is_clean = f.col("reason").isNull()
    if rows.where(is_clean).groupBy("id").count().where("count > 1").isEmpty():
        return rows
    order = f.monotonically_increasing_id()
    place = f.row_number().over(Window.partitionBy("id", "is_clean").orderBy("order"))
    numbered = rows.withColumn("order", order).withColumn("is_clean", is_clean)
    numbered = numbered.withColumn("place", place)
    is_repeated = f.col("is_clean") & (f.col("place") > 1)
    what = f.concat(f.lit("subscription '"), "id", f.lit("': id is in use by an earlier row"))
    told = f.to_json(f.struct(*(name for name in rows.columns if name not in ("reason", "raw"))))
    return (
        numbered.withColumn("reason", f.when(is_repeated, what).otherwise(f.col("reason")))
        .withColumn("raw", f.when(is_repeated, told).otherwise(f.col("raw")))
        .select(rows.columns)
    )


def _report(spark: SparkSession, folder: Path) -> dict[str, Any]:
    from pyspark.sql import functions as f

    refused = spark.read.parquet(str(folder / "refused"))
    # What is refused differs from row to row; what was wrong does not.
    kind = f.split(f.col("reason"), ": got ").getItem(0)
    kind = f.regexp_replace(kind, r"^(message|subscription) '[^']*': ", "")
    reasons = refused.groupBy(kind.alias("reason")).count().orderBy(f.desc("count"))
    return {
        "clean": spark.read.parquet(str(folder / "rows")).count(),
        "refused": refused.count(),
        "reasons": {row["reason"]: row["count"] for row in reasons.take(MAX_REASONS)},
    }


def _commit(out: Path, folder: Path) -> Path:
    while True:
        versions = [int(path.name[8:]) for path in out.glob("version-*")]
        target = out / f"version-{max(versions, default=0) + 1:08}"
        try:
            return folder.rename(target)
        except OSError:
            if not target.is_dir():
                raise


def _write_statistics(rows: DataFrame, folder: Path, documents: int) -> None:
    from pyspark.sql import functions as f

    def middle(point: str, low: str, high: str) -> Any:  # noqa: ANN401 — a Column
        found = [f.col(point)] if point in rows.columns else []
        if low in rows.columns:
            found.append((f.col(low) + f.col(high)) / 2)
        return f.coalesce(*found)

    lon, lat = middle("lon", "west", "east"), middle("lat", "south", "north")
    x = f.least(f.floor((lon + 180) / 360 * GRID), f.lit(GRID - 1)).cast("int")
    y = f.least(f.floor((lat + 90) / 180 * GRID), f.lit(GRID - 1)).cast("int")
    placed = rows.select("tokens", x.alias("x"), y.alias("y"))
    placed.groupBy("x", "y").count().write.parquet(str(folder / "places"))
    words = placed.select(f.explode(f.array_distinct("tokens")).alias("word"), "x", "y")
    cell = f.col("x") * GRID + f.col("y")
    counted = words.groupBy("word").agg(
        f.count("*").alias("messages"), f.countDistinct(cell).alias("places")
    )
    counted.write.parquet(str(folder / "keywords"))
    spark = rows.sparkSession
    counts = spark.read.parquet(str(folder / "keywords")).select("word", "messages").toArrow()
    df = dict(
        zip(counts.column("word").to_pylist(), counts.column("messages").to_pylist(), strict=True)
    )
    epoch = {"documents": documents, "df": df}
    (folder / "weights.json").write_text(json.dumps(epoch, ensure_ascii=False), encoding="utf-8")


def _plain(table: pa.Table) -> pa.Table:
    """Return a table without dictionaries, which Spark does not take."""
    import pyarrow as pa

    fields = [
        pa.field(f.name, pa.list_(pa.string()) if pa.types.is_list(f.type) else f.type)
        for f in table.schema
    ]
    return table.cast(pa.schema(fields))


def _ddl(schema: pa.Schema) -> str:
    names = {
        "string": "string",
        "double": "double",
        "int64": "long",
        "list<element: string>": "array<string>",
        "list<item: string>": "array<string>",
    }
    return ", ".join(f"`{field.name}` {names[str(field.type)]}" for field in schema)
