"""Processes of `nearcast serve` that start in no time: children of one that has imported all of it.

A service that is killed fifty times would spend most of the time with importing. Here a process
imports once and waits; each service is a fork of it that runs the command as it always runs, with a
process id of its own to kill. Run as a program this file is the process that waits: it reads a line
for each child, and answers with its id; for `wait ID` with what it ended with.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any


class Nursery:
    """The process that waits, from outside."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        )

    def _ask(self, question: object) -> int:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def start(self, arguments, environment, log) -> int:
        """Run `nearcast` in a new process; return its id."""
        return self._ask({"run": arguments, "environment": environment, "log": str(log)})

    def is_alive(self, process: int) -> bool:
        """Whether a process has not ended yet."""
        return self._ask({"poll": process}) == 0

    def wait(self, process: int) -> int:
        """Wait until a process has ended; return its status."""
        return self._ask({"wait": process})

    def close(self) -> None:
        """End the process that waits; its children are to be ended before."""
        self._process.communicate()


def _become(asked: dict[str, Any]) -> None:
    """Be the service from now on."""
    log = os.open(asked["log"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for target, source in ((0, nothing), (1, log), (2, log)):
        os.dup2(source, target)
    os.environ.update(asked["environment"])
    status = 1
    try:
        from nearcast.cli.__main__ import main

        status = main(asked["run"])
    finally:
        os._exit(status)


def _main() -> None:
    import nearcast.cli.__main__
    import nearcast.cli.serve
    import nearcast.service.process  # noqa: F401

    ended: dict[int, int] = {}
    for line in sys.stdin:
        asked = json.loads(line)
        if "run" in asked:
            answer = os.fork()
            if answer == 0:
                _become(asked)
        elif "poll" in asked:
            found, status = os.waitpid(asked["poll"], os.WNOHANG)
            ended.update({found: status} if found else {})
            answer = int(asked["poll"] in ended)
        else:
            found = asked["wait"]
            answer = ended.pop(found) if found in ended else os.waitpid(found, 0)[1]
        print(answer, flush=True)


if __name__ == "__main__":
    _main()
