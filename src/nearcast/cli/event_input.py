"""Files of events as commands read them: by lines, from stdin, compressed or not.

A name that ends in `.gz` or `.zst` says how the file is compressed; `-` is stdin. What is read is
what has come: a pipe is not made to wait for more.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from nearcast.cli.progress import byte_progress
from nearcast.errors import NearcastError
from nearcast.events import read_event

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from nearcast.events import Event

CHUNK = 1 << 20
STDIN = "-"
HELP = "NDJSON file, also .gz or .zst, or - for stdin"
_CODECS = {".gz": "gzip", ".zst": "zstd"}
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Block(NamedTuple):
    """Whole lines, and the number of the first."""

    first: int
    lines: bytes


class EventInput:
    """One open input: its name in complaints, and its lines."""

    def __init__(self, name: str, source: Any, advance: Callable[[], None]) -> None:  # noqa: ANN401 — pyarrow has no types
        self.name = name
        self._source = source
        self._advance = advance

    def blocks(self) -> Iterator[Block]:
        """Yield whole lines as they come."""
        first = 1
        for lines in self._whole_lines():
            yield Block(first, lines)
            first += lines.count(b"\n")
            self._advance()

    def events(
        self, on_error: Callable[[int, NearcastError], None] | None = None
    ) -> Iterator[tuple[int, Event]]:
        """Yield each event with the number of its line; empty lines have one but are no events.

        A line that is no event is told to `on_error`; without that it raises, with its number as
        `event`.
        """
        for first, lines in self.blocks():
            for number, line in enumerate(lines.split(b"\n"), first):
                if not line.strip():
                    continue
                try:
                    event = read_event(line)
                except NearcastError as error:
                    if on_error is None:
                        error.event = number
                        raise
                    on_error(number, error)
                else:
                    yield number, event

    def _whole_lines(self) -> Iterator[bytes]:
        rest = [self._read(3).removeprefix(_BYTE_ORDER_MARK)]  # pieces: a line may have many
        while piece := self._read_some():
            whole, newline, end = piece.rpartition(b"\n")
            if newline:
                yield b"".join([*rest, whole, newline])
                rest = [end]
            else:
                rest.append(piece)
        if any(rest):
            yield b"".join(rest)

    def _read(self, size: int) -> bytes:
        return self._named(self._source.read, size)

    def _read_some(self) -> bytes:
        return self._named(getattr(self._source, "read1", self._source.read), CHUNK)

    def _named(self, read: Callable[[int], bytes], size: int) -> bytes:
        """Read; what is wrong with the compressed bytes does not say in which file they are."""
        try:
            return bytes(read(size))
        except OSError as error:
            if error.filename is None:
                what = f"{self.name} cannot be read: {error}"
                raise OSError(what) from None
            raise


@contextmanager
def open_events(path: str, title: str) -> Iterator[EventInput]:
    """Open a file of events, or stdin; a terminal shows how far it has been read."""
    if path == STDIN:
        yield EventInput("<stdin>", sys.stdin.buffer, lambda: None)
        return
    file = Path(path)
    with file.open("rb") as raw, byte_progress(title, file.stat().st_size) as advance:
        codec = _CODECS.get(file.suffix.lower())
        source = raw if codec is None else pa.CompressedInputStream(raw, codec)
        yield EventInput(path, source, _follow(raw, advance))


def read_lines(path: str | Path) -> list[tuple[int, bytes]]:
    """Return the lines of a file that are not empty, with their numbers."""
    with open_events(str(path), "read") as source:
        return [
            (number, line)
            for first, lines in source.blocks()
            for number, line in enumerate(lines.split(b"\n"), first)
            if line.strip()
        ]


def _follow(raw: IO[bytes], advance: Callable[[int], None]) -> Callable[[], None]:
    """Return what tells how many bytes of the file, compressed or not, have been read since."""
    done = 0

    def tell() -> None:
        nonlocal done
        now = raw.tell()
        advance(now - done)
        done = now

    return tell


def report(name: str, line: int, error: NearcastError) -> None:
    """Say on stderr which line is bad and why."""
    print(f"{name}:{line}: {error.summary}", file=sys.stderr)
    if error.hint:
        print(f"hint: {error.hint}", file=sys.stderr)


class Complaints:
    """Reports the bad lines of one input and counts them."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.count = 0

    def __call__(self, line: int, error: NearcastError) -> None:
        """Report one."""
        self.count += 1
        report(self._name, line, error)

    def say_skipped(self) -> None:
        """Say how many lines were left out, if any."""
        if self.count:
            print(f"{self.count} bad lines skipped", file=sys.stderr)
