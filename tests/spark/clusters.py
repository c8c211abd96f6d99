"""A standalone cluster on loopback: a master and two workers, each a process that can be killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import pyspark
from spark.ports import free_port, wait_for_port

SPARK_CLASS = Path(pyspark.__file__).parent / "bin" / "spark-class"
QUICK_JAVA = (
    "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC "
    "-XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
)
"""What lives for seconds is mostly starting, and starts quicker without being made quick."""
HERE = {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
DAEMONS = {
    "SPARK_DAEMON_MEMORY": "256m",
    "SPARK_DAEMON_JAVA_OPTS": f"{QUICK_JAVA} -Dspark.master.rest.enabled=false",
}


class Cluster:
    """Processes of a cluster; the first of them is the master."""

    def __init__(self, folder, port) -> None:
        self.url = f"spark://127.0.0.1:{port}"
        self.processes: list[subprocess.Popen[bytes]] = []
        self._folder = folder

    def start(self, name, *options):
        home = {**HERE, **DAEMONS, "SPARK_WORKER_DIR": str(self._folder / "work")}
        command = [str(SPARK_CLASS), f"org.apache.spark.deploy.{name}", *options]
        with (self._folder / f"{len(self.processes)}.log").open("w") as log:
            process = subprocess.Popen(command, stdout=log, stderr=log, env={**os.environ, **home})
        self.processes.append(process)
        return process

    def executor_and_worker(self, pid):
        """Return the executor that a Python worker belongs to, and the worker that started it."""
        _, executor, worker, *_ = _ancestors(pid)
        assert worker in [process.pid for process in self.processes[1:]]
        return executor, worker


@contextmanager
def running_cluster(folder):
    """Start a master and two workers of one core; stop them and what they started."""
    port = free_port()
    cluster = Cluster(folder, port)
    try:
        where = ["--host", "127.0.0.1", "--port", str(port), "--webui-port", "0"]
        wait_for_port(port, cluster.start("master.Master", *where))
        size = ["--cores", "1", "--memory", "1g", "--host", "127.0.0.1", "--webui-port", "0"]
        for _ in range(2):
            cluster.start("worker.Worker", *size, cluster.url)
        yield cluster
    finally:
        kill_tree(*(process.pid for process in cluster.processes))
        for process in cluster.processes:
            process.wait()


def kill(pid) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def kill_tree(*pids) -> None:
    """Kill processes and all that they have started, as if a machine went off."""
    for pid in [*pids, *descendants(pids)]:
        kill(pid)


def descendants(pids):
    """Return the processes that these have started, and those again."""
    parents = {int(entry.name): _parent(entry) for entry in Path("/proc").glob("[0-9]*")}
    found = list(pids)
    for one in found:
        found += [pid for pid, parent in parents.items() if parent == one]
    return found[len(pids) :]


def _ancestors(pid):
    """Return who started a process, who started that, and so on."""
    found = []
    while (pid := _parent(Path(f"/proc/{pid}"))) > 1:
        found.append(pid)
    return found


def is_alive(pid):
    return _field(Path(f"/proc/{pid}"), 0) not in ("", "Z")


def until(is_true, what, patience_s=400):
    """Wait for something and return it; say what did not come."""
    end = time.time() + patience_s
    while time.time() < end:
        if found := is_true():
            return found
        time.sleep(0.02)
    raise TimeoutError(what)


def _parent(entry):
    return int(_field(entry, 1) or 0)


def _field(entry, number):
    """Return a field of what the system knows about a process; nothing if it has ended."""
    with suppress(OSError):
        return (entry / "stat").read_text().rpartition(")")[2].split()[number]
    return ""
