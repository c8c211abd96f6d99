"""Lucene Monitor: a small Java program under benchmarks/peers; Maven fetches its jars once."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nearcast.bench.peers.peer import Found, MissingPeerError
from nearcast.bench.provenance import source_folder

if TYPE_CHECKING:
    from nearcast.bench.peers.workload import PeerWorkload

PATIENCE_S = 3_600
PROGRAM = "nearcast.MonitorPeer"


class LucenePeer:
    """Saved queries in Lucene Monitor, whose presearcher prunes by keyword and by grid cell.

    Parameters
    ----------
    passes
        How many terms of a query a message must have before the query is run.
    heap_gib
        Most memory of Java.
    warm_up_s
        For how many processor seconds messages are matched before the clock counts.
    """

    name = "lucene-monitor"
    what = (
        "Lucene Monitor: a query of keywords, grid cells and a range; the presearcher knows how "
        "frequent words are; answers by `QueryMatch.SIMPLE_MATCHER`, one call per message"
    )

    def __init__(self, passes: int = 2, heap_gib: int = 10, warm_up_s: int = 8) -> None:
        self._passes = passes
        self._warm_up_s = warm_up_s
        self._heap_gib = heap_gib

    def run(self, workload: PeerWorkload, repetitions: int) -> Found:
        """Write the workload to files, run the program, read what it wrote."""
        classes = compiled()
        with tempfile.TemporaryDirectory(prefix="nearcast-lucene-") as name:
            folder = Path(name)
            files = _write(workload, folder)
            options = [f"-Xmx{self._heap_gib}g", "-XX:+UseParallelGC"]
            command = ["java", *options, "-cp", classes, PROGRAM, *files, str(self._passes)]
            done = _run([*command, str(repetitions), str(self._warm_up_s), str(folder)])
            told = json.loads(done.stdout.splitlines()[-1])
            times = np.fromfile(folder / "times", dtype=">i8").astype(np.int64)
            pairs = np.fromfile(folder / "pairs", dtype=">i8").astype(np.int64).reshape(-1, 2)
        count = len(workload.subscriptions)
        return Found(
            nanoseconds=times.reshape(repetitions, -1),
            cpu_seconds=np.array(told["cpu_s"]),
            pairs=pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))],
            build_seconds=told["build_s"],
            bytes_per_subscription=told["heap_bytes"] / count,
            versions={"lucene": told["lucene"], "java": told["java"]},
            settings={
                "passes": self._passes,
                "queries run per message": told["run"],
                "java options": " ".join(options),
                "warm-up": f"{self._warm_up_s} s of processor time",
            },
        )


def compiled() -> str:
    """Fetch the jars and compile the program, unless that is done; return the class path.

    Raises
    ------
    MissingPeerError
        If Java, Maven or the sources are not here.
    """
    top = source_folder()
    if top is None or not (top / "benchmarks" / "peers").is_dir():
        what = "the Java program is not here"
        raise MissingPeerError(what, wanted="a checkout of the project")
    for program in ("java", "javac", "mvn"):
        if shutil.which(program) is None:
            what = f"{program} is not installed"
            raise MissingPeerError(what, wanted="a JDK of Java 17, and Maven")
    build, project = top / "build" / "peers", top / "benchmarks" / "peers"
    jars, classes = build / "jars", build / "classes"
    if not list(jars.glob("lucene-monitor-*.jar")):
        fetch = ["mvn", "-q", "-B", "-f", str(project / "pom.xml")]
        goal = ["dependency:copy-dependencies", "-DincludeScope=runtime"]
        _run([*fetch, *goal, f"-DoutputDirectory={jars}"])
    sources = sorted(project.glob("src/main/java/**/*.java"))
    made = classes / f"{PROGRAM.replace('.', '/')}.class"
    if not made.exists() or made.stat().st_mtime < max(s.stat().st_mtime for s in sources):
        where = ["-d", str(classes), "-cp", f"{jars}/*"]
        _run(["javac", *where, *map(str, sources)])
    return f"{jars}/*:{classes}"


def _run(command: list[str]) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    if done.returncode != 0:
        what = f"{command[0]} failed"
        told: Any = (done.stderr or done.stdout)[-2_000:]
        raise MissingPeerError(what, got=told, wanted="network for the first run, and memory")
    return done


def _write(workload: PeerWorkload, folder: Path) -> list[str]:
    """Write subscriptions, messages and frequencies, one per line."""
    with (folder / "subscriptions").open("w") as out:
        for id, keywords, box in workload.subscriptions:
            out.write(f"{id}\t{' '.join(keywords)}\t{' '.join(map(repr, box))}\n")
    with (folder / "messages").open("w") as out:
        for words, at in workload.messages:
            out.write(f"{' '.join(words)}\t{' '.join(map(repr, at))}\n")
    with (folder / "frequencies").open("w") as out:
        out.writelines(f"{word}\t{count}\n" for word, count in workload.frequencies.items())
    return [str(folder / name) for name in ("subscriptions", "messages", "frequencies")]
