"""How do events of any shape come into the core? Lines, mappings, values, rows of tables.

Lines are read by msgspec, some hundred at once, and go from there into the core without another
Python object (`event_lines.py`). What msgspec or the core does not take is read line by line by
`nearcast.events`, so that every error is the one that a line alone would get. Events keep the order
and the numbers of their lines.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, cast

import pyarrow as pa

from nearcast import _core, events
from nearcast.columns import attributes_of, imported, validate_own
from nearcast.errors import InvalidEventError, InvalidParameterError, NearcastError
from nearcast.event_lines import KINDS, REFUSED, decode, decode_attributes, decode_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from nearcast.events import Event
    from nearcast.text import Analyzer

CHUNK_LINES = 256
"""Lines of an iterable that are decoded at once."""
CHUNK_BYTES = 1 << 15
"""Characters of NDJSON that are decoded at once, at least; a chunk ends with its line."""

_ONLY_IN_TABLES = (
    "event",
    "words",
    "said",
    "surplus",
    "line",
    *["mode", "live", "alpha", "threshold", "k"],
)
_NEWLINES: dict[type, Any] = {bytes: b"\n", str: "\n"}
_EVENTS = (
    events.Publish,
    events.Subscribe,
    events.Move,
    events.Retract,
    events.Unsubscribe,
    events.Advance,
)


PutEvent: TypeAlias = "Callable[[_core.EventBatch, int, Event, str | None], None]"
"""Puts an event that Python has read into its row; gets the line that it was read from, too."""


class EventReader:
    """Reads events into a batch, and collects those that are rejected.

    Parameters
    ----------
    analyzer
        Reads keywords; texts are analysed by `analyze`.
    put
        Puts what the core does not take by itself.
    stops
        Whether the first rejected event is the last one that is looked at.
    """

    takes_subscriptions: ClassVar[bool] = True
    """Whether plain subscriptions are taken as they are, without their lines."""

    def __init__(self, analyzer: Analyzer, put: PutEvent, *, stops: bool) -> None:
        self.batch = _core.EventBatch(KINDS, analyzer.is_plain and self.takes_subscriptions)
        self.rejected: list[tuple[int, NearcastError]] = []
        self._analyzer = analyzer
        self._put = put
        self._stops = stops
        self.is_stopped = False

    def reject(self, row: int, error: NearcastError) -> None:
        """Leave an event out; if the first one ends the batch, all that follow, too."""
        self.rejected.append((self.batch.number(row), error))
        if self._stops:
            self.batch.cut(row)
            self.is_stopped = True
        else:
            self.batch.leave_out(row)

    # ---- lines ------------------------------------------------------------------------------

    def read(self, source: Any, first: int) -> None:  # noqa: ANN401 — anything that is iterable
        """Read events of any shape; they have the numbers from `first` on."""
        if isinstance(source, (bytes, bytearray)):
            self._read_text(bytes(source), b"\n", first)
        elif isinstance(source, str):
            self._read_text(source, "\n", first)
        elif isinstance(source, (pa.Array, pa.ChunkedArray)):
            self._read_items(source.to_pylist(), first)
        elif hasattr(source, "__arrow_c_stream__") or hasattr(source, "__arrow_c_array__"):
            self._read_table(imported(source, "events", InvalidParameterError), first)
        else:
            self._read_items(source, first)

    def _read_text(self, text: Any, newline: Any, number: int) -> None:  # noqa: ANN401 — bytes or str
        end = len(text) - text.endswith(newline)
        start = 0
        while start < end and not self.is_stopped:
            stop = text.find(newline, start + CHUNK_BYTES, end)
            stop = end if stop < 0 else stop
            chunk = text[start:stop]
            lines = chunk.count(newline) + 1
            if not self._take(chunk, lines, number, lambda chunk=chunk: chunk.split(newline)):
                self._read_each(chunk.split(newline), number)
            start, number = stop + 1, number + lines

    def _read_items(self, items: Iterable[Any], number: int) -> None:
        waiting = iter(items)
        while not self.is_stopped and (chunk := list(islice(waiting, CHUNK_LINES))):
            kinds = set(map(type, chunk))
            newline = _NEWLINES.get(kinds.pop()) if len(kinds) == 1 else None
            joined = None if newline is None else newline.join(chunk)
            is_lines = joined is not None and joined.count(newline) == len(chunk) - 1
            if not (is_lines and self._take(joined, len(chunk), number, lambda chunk=chunk: chunk)):
                self._read_each(chunk, number)
            number += len(chunk)

    def _take(self, text: Any, lines: int, number: int, listed: Any) -> bool:  # noqa: ANN401
        """Read a chunk at once; false: it has lines that are empty or no plain events."""
        try:
            read = decode_lines(text)
        except REFUSED:
            return False
        if len(read) != lines:  # an empty line, or a value that reaches over several
            return False
        start = len(self.batch)
        left = self.batch.add_read(read, number)
        self.took(read, start)
        if left:
            each = listed()
            for position, row in left:
                if not self._read_line(row, each[position]):
                    break
        return True

    def took(self, read: list[Any], first_row: int) -> None:
        """Look at what msgspec has read, before rows that were not taken are put."""

    def _read_each(self, items: Iterable[Any], first: int) -> None:
        """Read items one by one; empty lines have a number but are no events."""
        for number, item in enumerate(items, first):
            if isinstance(item, (bytes, str)):
                if item.strip():
                    self._read_one(number, item)
            else:
                self._read_value(self.batch.add(number), item)
            if self.is_stopped:
                return

    def _read_one(self, number: int, line: bytes | str) -> None:
        try:
            read = [decode(line)]
        except REFUSED:
            left = [(0, self.batch.add(number))]
        else:
            left = self.batch.add_read(read, number)
            self.took(read, len(self.batch) - 1)
        for _, row in left:
            self._read_line(row, line)

    def _read_line(self, row: int, line: bytes | str) -> bool:
        """Read a line in Python; false: nothing more is looked at."""
        try:
            event = events.read_event(line, self._analyzer)
            text = line if isinstance(line, str) else line.decode()
            self._put(self.batch, row, event, text)
        except NearcastError as error:
            self.reject(row, error)
        return not self.is_stopped

    def _read_value(self, row: int, item: Any) -> None:  # noqa: ANN401 — a value, a mapping, or wrong
        try:
            is_event = isinstance(item, _EVENTS)
            event = item if is_event else events.event_from(item, self._analyzer)
            self._put(self.batch, row, event, None)
        except NearcastError as error:
            self.reject(row, error)

    # ---- tables -----------------------------------------------------------------------------

    def _read_table(self, table: pa.Table, first: int) -> None:
        validate_own(table, InvalidParameterError)
        start = len(self.batch)
        for row in self.batch.add_table(table, first, is_outline=False):
            try:
                line = cast("str | None", self.batch.line(row))
                fields = table.slice(row - start, 1).to_pylist()[0] if line is None else None
                event = self._event_of(line, fields)
                self._put(self.batch, row, event, line)
            except NearcastError as error:
                self.reject(row, error)
            if self.is_stopped:
                return
        for row, text in self.batch.attribute_texts():
            try:
                self.batch.put_attributes(row, decode_attributes(text))
            except REFUSED:
                self._read_attributes(row, text)
            if self.is_stopped:
                return

    def _read_attributes(self, row: int, text: str) -> None:
        try:
            self.batch.put_attributes(row, attributes_of(text))
        except NearcastError as error:
            self.reject(row, error)

    def _event_of(self, line: str | None, row: dict[str, Any] | None) -> Event:
        if line is not None:
            return events.read_event(line, self._analyzer)
        fields = {name: value for name, value in (row or {}).items() if value is not None}
        for name in _ONLY_IN_TABLES:
            fields.pop(name, None)
        if fields.get("op") == "subscribe":
            what = "subscription is not whole"
            wanted = "words and areas that suit its mode, or the line that it came from"
            raise InvalidEventError(what, wanted=wanted, field="line")
        target = fields.pop("target", None)
        box = [fields.pop(side, None) for side in ("west", "south", "east", "north")]
        if fields.get("op") == "publish" and box != [None] * 4:
            fields["bbox"] = box
        elif fields.get("op") == "move":
            fields["at" if target == "point" else "area"] = box[:2] if target == "point" else box
        if "attributes" in fields:
            fields["attributes"] = attributes_of(fields["attributes"])
        return events.event_from(fields, self._analyzer)

    # ---- texts ------------------------------------------------------------------------------

    def analyze(self) -> None:
        """Analyse the texts that the core cannot: it knows no Unicode, and no options."""
        analyzer = self._analyzer
        for row, text in self.batch.texts(not analyzer.is_plain):
            try:
                self.batch.put_words(row, analyzer.places(text))
            except NearcastError as error:  # noqa: PERF203 — one bad event spares the others
                self.reject(row, error)
                if self.is_stopped:
                    return
