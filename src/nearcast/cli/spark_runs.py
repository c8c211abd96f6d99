"""What the commands of `nearcast spark` do. Imported when one of them runs, not before."""

from __future__ import annotations

import json
import os
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq

from nearcast.bench.workloads.generate import messages as generated_messages
from nearcast.bench.workloads.generate import subscriptions as generated_subscriptions
from nearcast.bench.workloads.presets import find_preset
from nearcast.cli.event_input import read_lines
from nearcast.cli.usage import UsageError
from nearcast.errors import (
    InvalidEventError,
    InvalidParameterError,
    NearcastError,
    UnsupportedError,
)
from nearcast.events import Subscribe, read_event
from nearcast.model import Window
from nearcast.partition import Plan, make_plan, wants_of_events
from nearcast.spark.build import build_index, compact_index, rebalance_index
from nearcast.spark.costs import read_costs
from nearcast.spark.deltas import append_delta
from nearcast.spark.files import parquet_files, read_table
from nearcast.spark.folders import folder_at, is_remote
from nearcast.spark.kafka import is_topic, read_topic, topic_of, with_connector
from nearcast.spark.monitor import measured_loads, watch
from nearcast.spark.prepare import (
    generate_rows,
    prepare_messages,
    prepare_subscriptions,
    read_raw,
    table_rows,
)
from nearcast.spark.stateful.pipeline import Pipeline
from nearcast.spark.stateful.stream import stream_changes
from nearcast.spark.store import Index
from nearcast.spark.streaming import sink_of, stream_matches
from nearcast.weights import read_weights

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    import pyarrow as pa

    from nearcast.spark.folders import Folder
    from nearcast.spark.store import Manifest

MAX_SAMPLE = 100_000
ROWS_PER_BATCH = 65_536
SAMPLED = ("tokens", "lon", "lat", "west", "south", "east", "north")
CHECKPOINTS = (
    "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
)


def make_session(master: str | None, *addresses: object) -> Any:  # noqa: ANN401 — pyspark may be missing
    """Return a session with settings that make small batches quick.

    With the address of a topic among `addresses` it has Kafka's connector too.
    """
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        what = "pyspark is not installed"
        raise UnsupportedError(what, hint="pip install 'nearcast[spark]'") from None
    if (master or "local").startswith("local"):
        # Spark's own choice is the first python3 of the path, which may not have this package.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("nearcast")
    if master:
        builder = builder.master(master)
    # Tasks are short: one that waits for the executor that has its rows leaves the others idle.
    builder = builder.config("spark.locality.wait", "0s")
    # The default forks a shell for every file of a checkpoint: a tenth of a second per batch.
    builder = builder.config("spark.sql.streaming.checkpointFileManagerClass", CHECKPOINTS)
    # Matching a batch as a whole is quicker than its parts: the index sorts messages by place.
    builder = builder.config("spark.sql.execution.arrow.maxRecordsPerBatch", ROWS_PER_BATCH)
    if any(map(is_topic, addresses)):
        builder = with_connector(builder)
    return builder.getOrCreate()


def run_prepare(args: argparse.Namespace) -> int:
    """Write a version of a table; its report to stdout."""
    if (args.input is None) == (args.preset is None):
        what = "exactly one of PATH and --preset is needed"
        raise UsageError(what, got=args.input, wanted="one of them")
    wrong = [pair for pair in args.column if "=" not in pair]
    if wrong:
        what = "--column is not a pair"
        raise UsageError(what, got=wrong[0], wanted="FIELD=COLUMN")
    columns = dict(pair.split("=", 1) for pair in args.column)
    spark = make_session(args.master)
    is_made = args.preset is not None
    raw = _generated(spark, args) if is_made else read_raw(spark, args.input, args.format)
    if args.what == "messages":
        made = prepare_messages(raw, args.out, columns or None)
    else:
        made = prepare_subscriptions(raw, args.out, columns or None, mode=args.mode)
    print(json.dumps({"version": str(made), **json.loads((made / "report.json").read_text())}))
    return 0


def _generated(spark: Any, args: argparse.Namespace) -> Any:  # noqa: ANN401
    preset = find_preset(args.preset)
    if args.what == "messages":
        return generate_rows(spark, partial(_message_rows, preset, args.seed), args.count)
    return generate_rows(spark, partial(_subscription_rows, preset, args.seed), args.count)


def _message_rows(preset: Any, seed: int, first: int, count: int) -> pa.Table:  # noqa: ANN401
    import pyarrow as pa
    import pyarrow.compute as pc

    table = generated_messages(preset, count, seed, first=first)
    words = table.column("tokens").cast(pa.list_(pa.string()))
    ids = pa.array([f"m{row}" for row in range(first, first + count)])
    return pa.table(
        {
            "id": ids,
            "text": pc.binary_join(words, " "),
            "lon": table.column("lon"),
            "lat": table.column("lat"),
        }
    )


def _subscription_rows(preset: Any, seed: int, first: int, count: int) -> pa.Table:  # noqa: ANN401
    return generated_subscriptions(preset, count, seed, first=first)


def _sample(args: argparse.Namespace) -> pa.Table | None:
    if args.sample is None:
        return None
    import pyarrow.dataset as ds

    files = parquet_files(table_rows(args.sample))
    rows = ds.dataset(files, format="parquet", filesystem=folder_at(args.sample).files)
    return rows.head(MAX_SAMPLE, columns=[name for name in SAMPLED if name in rows.schema.names])


def run_build(args: argparse.Namespace) -> int:
    """Build an index; its manifest to stdout."""
    spark = make_session(args.master)
    rows = read_table(spark, table_rows(args.subscriptions))
    made = build_index(
        rows,
        args.out,
        mode=args.mode,
        mechanism=args.mechanism,
        partitions=args.partitions,
        sample=_sample(args),
        index=args.index,
        weights=read_weights(args.weights) if args.weights else None,
    )
    _print_planned(Index(args.out), made)
    return 0


def _print_planned(index: Index, made: Manifest) -> None:
    """Print a version whose plan is new, and what that is expected to cost."""
    costs = read_costs(index.base(made))
    print(json.dumps({**json.loads(made.to_json()), "predicted": costs}))


def run_change(args: argparse.Namespace) -> int:
    """Commit changes of subscriptions; the new manifest to stdout."""
    changes = [_fields(f"{args.events}:{line}", text) for line, text in read_lines(args.events)]
    print(append_delta(Index(args.index), changes).to_json())
    return 0


def _fields(where: str, line: bytes) -> dict[str, Any]:
    try:
        return dict(json.loads(line))
    except (ValueError, TypeError):
        what = f"{where}: line is not a JSON object"
        raise InvalidEventError(what, got=line, wanted="an event") from None


def run_compact(args: argparse.Namespace) -> int:
    """Write the newest version as a base of its own."""
    print(compact_index(make_session(args.master), args.index).to_json())
    return 0


def run_vacuum(args: argparse.Namespace) -> int:
    """Remove old versions; what was removed to stdout."""
    index = Index(args.index)
    for user in args.unpin:
        index.unpin(str(folder_at(user)))
    print(json.dumps({"removed": index.vacuum(keep=args.keep), "pinned": index.pins()}))
    return 0


def run_rebalance(args: argparse.Namespace) -> int:
    """Distribute the newest version anew."""
    sample = _sample(args)
    if sample is None:
        what = "rebalancing needs recent messages"
        raise UsageError(what, wanted="--sample DIR")
    options = {"mechanism": args.mechanism, "partitions": args.partitions}
    loads = measured_loads(folder_at(args.load), Index(args.index)) if args.load else None
    spark = make_session(args.master)
    made = rebalance_index(spark, args.index, sample, loads=loads, **options)
    _print_planned(Index(args.index), made)
    return 0


def run_stream(args: argparse.Namespace) -> int:
    """Match a stream until it ends or is interrupted."""
    out = topic_of(args.out) if is_topic(args.out) else args.out
    checkpoint = args.checkpoint or _checkpoint_beside(args.out)
    is_events = args.format == "events" or is_topic(args.messages)
    first = None if is_events else _first_file(args.messages)
    Index(args.subscriptions).latest()  # what is missing is said before Spark starts
    spark = make_session(args.master, args.messages, args.out)
    messages = _lines(spark, args.messages, args) if is_events else _parquet(spark, first, args)
    query = stream_matches(
        messages,
        args.subscriptions,
        out,
        checkpoint=checkpoint,
        trigger_seconds=args.trigger,
        until_empty=args.until_empty,
    )
    return _follow(query, sink_of(out, folder_at(checkpoint)).state, args)


def _checkpoint_beside(out: str) -> str:
    if is_topic(out) or is_remote(out):
        # Spark reaches stores by connectors of its own, which may not be there.
        what = f"{out!r} as output has no room for a checkpoint"
        raise UsageError(what, wanted="--checkpoint DIR")
    return str(Path(out) / "_checkpoint")


def _first_file(folder: str) -> str:
    """Return a file that says what the columns are."""
    try:
        return parquet_files(folder)[0]
    except InvalidParameterError:
        what = f"no Parquet file is in {folder!r} yet"
        hint = "--format events for lines, of which files may come later"
        wanted = "one, which says what the columns are"
        raise InvalidParameterError(what, wanted=wanted, hint=hint) from None


def _parquet(spark: Any, first: str | None, args: argparse.Namespace) -> Any:  # noqa: ANN401
    from pyspark.sql.pandas.types import from_arrow_schema

    schema = pq.read_schema(first, filesystem=folder_at(args.messages).files)
    reader = spark.readStream.schema(from_arrow_schema(schema))
    if args.files_per_batch:
        reader = reader.option("maxFilesPerTrigger", args.files_per_batch)
    return reader.parquet(args.messages)


def _lines(spark: Any, address: str, args: argparse.Namespace) -> Any:  # noqa: ANN401
    """Return a stream of lines of the event format, from files or a topic."""
    if is_topic(address):
        return read_topic(spark, topic_of(address), per_batch=args.lines_per_batch)
    is_ordered = args.files_per_batch and not getattr(args, "accept_late", True)
    if is_ordered or is_remote(address):
        return _lines_by_name(spark, address, args.files_per_batch)
    reader = spark.readStream
    if args.files_per_batch:
        reader = reader.option("maxFilesPerTrigger", args.files_per_batch)
    return reader.text(address)


def _lines_by_name(spark: Any, address: str, per_batch: int | None) -> Any:  # noqa: ANN401
    try:
        from nearcast.spark.file_source import read_by_name
    except ImportError:
        what = "files cannot be taken by name"
        hint = "without --files-per-batch a batch takes all files that are there, in order"
        raise UnsupportedError(what, wanted="Spark 4.2 or later", hint=hint) from None
    return read_by_name(spark, address, per_batch)


def run_apply(args: argparse.Namespace) -> int:
    """Apply events until the stream ends or is interrupted."""
    plan, checkpoint = _event_plan(args), args.checkpoint or _checkpoint_beside(args.out)
    spark = make_session(args.master, args.events)
    pipeline = Pipeline(args.out, plan, window=_window(args), modes=args.modes)
    query = stream_changes(
        _lines(spark, args.events, args),
        pipeline,
        checkpoint=checkpoint,
        accept_late=args.accept_late,
        trigger_seconds=args.trigger,
        until_empty=args.until_empty,
    )
    return _follow(query, pipeline.folder, args)


def _window(args: argparse.Namespace) -> Window | None:
    if args.window_count is None and args.window_seconds is None:
        return None
    return Window(count=args.window_count, seconds=args.window_seconds)


def _event_plan(args: argparse.Namespace) -> Plan:
    """Make a plan; a folder that was begun keeps its own."""
    weights = read_weights(args.weights) if args.weights else None
    mode = args.modes[0]
    plan = Plan("hash", mode, args.partitions, weights=weights)
    if args.mechanism == "hash" or folder_at(args.out).has("plan.arrow"):
        return plan
    sample = _sample(args)
    if sample is None or args.plan_from is None:
        what = f"mechanism {args.mechanism!r} needs something to plan by"
        raise UsageError(what, wanted="--plan-from EVENTS and --sample DIR")
    events = [read_event(line) for _, line in read_lines(args.plan_from)]
    known = [e for e in events if isinstance(e, Subscribe) and e.mode == mode]
    wants = wants_of_events(known, mode)
    return make_plan(args.mechanism, args.partitions, wants, sample, weights=weights)


def _follow(query: Any, state: Folder | None, args: argparse.Namespace) -> int:  # noqa: ANN401
    """Watch a query to its end; its error is ours."""
    files = {"metrics": args.metrics, "prometheus": args.prometheus}
    try:
        watch(query, state=state, **files, is_terminal=sys.stderr.isatty())
    except KeyboardInterrupt:
        query.stop()
        raise
    error = query.exception()
    if error is not None:
        raise NearcastError(str(error))
    return 0


RUNS: dict[str, Callable[[argparse.Namespace], int]] = {
    "prepare": run_prepare,
    "build": run_build,
    "change": run_change,
    "compact": run_compact,
    "vacuum": run_vacuum,
    "rebalance": run_rebalance,
    "stream": run_stream,
    "apply": run_apply,
}
