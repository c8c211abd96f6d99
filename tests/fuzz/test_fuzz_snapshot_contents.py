"""Any file can be opened: whatever it says under right checksums, it is refused or it works.

Each mutant is tried in another process, so that a crash and an endless loop are seen. Answers of a
mutant may be anything: a file that is sound is believed.
"""

from __future__ import annotations

import os
import queue
import random
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from fuzz.mutate import ROUNDS, SEED
from fuzz.snapshot_corpus import open_any, save_corpus, try_out
from fuzz.snapshot_mutants import Content

pytestmark = pytest.mark.filterwarnings("ignore::nearcast.KeepsNothingWarning")

HERE = Path(__file__).parent
MUTANTS = max(150, ROUNDS // 5)
SECONDS = 60.0  # for one mutant; far above what a slow machine needs


class Worker:
    """A process that tries mutants, and the last number it has named."""

    def __init__(self, folder: Path, first: int, last: int) -> None:
        command = [sys.executable, str(HERE / "snapshot_mutants.py"), str(folder), str(SEED)]
        with (folder / "stderr").open("w") as errors:
            self.process = subprocess.Popen(
                [*command, str(first), str(last)],
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                env={**os.environ, "PYTHONPATH": str(HERE)},
            )
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        for line in self.process.stdout or ():
            self._lines.put(line)
        self._lines.put(None)

    def lines(self):
        """Yield what it says. Ends it, and raises queue.Empty, if it is silent for too long."""
        while True:
            try:
                line = self._lines.get(timeout=SECONDS)
            except queue.Empty:
                self.process.kill()
                raise
            if line is None:
                return
            yield line

    def end(self) -> int:
        self._reader.join()
        (self.process.stdout or sys.stdin).close()
        return self.process.wait()


def try_all(folder: Path, first: int, last: int) -> tuple[int, list[str]]:
    """Try mutants in one process after another: how many were opened, and what went wrong."""
    opened, failures = 0, []
    while first < last:
        worker = Worker(folder, first, last)
        number, why = first, ""
        try:
            for line in worker.lines():
                if line.startswith("opened"):
                    opened += int(line.split()[1])
                    number = last
                else:
                    number = int(line)
        except queue.Empty:
            why = f"does not end within {SECONDS:g} s"
        code = worker.end()
        if number < last:
            why = why or f"ends the process ({code}): {(folder / 'stderr').read_text()[-1500:]}"
            failures.append(f"mutant {number} of NEARCAST_FUZZ_SEED={SEED} {why}")
        first = number + 1
    return opened, failures


def test_a_snapshot_that_lies_under_right_checksums_is_refused_or_works(tmp_path) -> None:
    (tmp_path / "good").mkdir()
    save_corpus(tmp_path / "good")
    opened, failures = try_all(tmp_path, 0, MUTANTS)
    assert not failures, "\n\n".join(failures)
    assert opened > 0


def test_the_file_that_mutants_are_made_of_is_what_was_saved(tmp_path) -> None:
    (tmp_path / "good").mkdir()
    save_corpus(tmp_path / "good")
    rng = random.Random(1)
    rng.random = lambda: 1.0  # type: ignore[method-assign]
    for path in sorted((tmp_path / "good").iterdir()):
        data = path.read_bytes()
        assert Content(data).to_bytes(rng) == data
        open_any(path).check_invariants()
        assert try_out(path, random.Random(2))
