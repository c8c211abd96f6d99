"""The driver that a test kills: index and output of its stream are in a store."""

from __future__ import annotations

import sys
from pathlib import Path

from spark.cluster_driver import replace, wait_at

from nearcast.cli.spark_runs import make_session
from nearcast.spark.object_stores import StoreFolder
from nearcast.spark.streaming import stream_matches


def before(gate, show):
    """Return a step that stops when it is settled which files a batch has, before they appear."""

    def step(*arguments):
        wait_at(gate)
        return show(*arguments)

    return step


def main(folder, address) -> None:
    replace(StoreFolder, "_show", before, folder / "gate")
    spark = make_session("local[2]")
    query = stream_matches(
        spark.readStream.option("maxFilesPerTrigger", 1).text(str(folder / "messages")),
        f"{address}".replace("?", "/index?"),
        f"{address}".replace("?", "/out?"),
        checkpoint=folder / "checkpoint",
        until_empty=True,
    )
    query.awaitTermination()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
