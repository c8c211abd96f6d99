"""Events as a table: the schema, and how lines become one.

One row is one event. A message, a retraction, the end of a subscription, an advance of time and a
move to a point or a box are wholly in their columns. A subscription of plain words and a box may
be; `read_events` gives subscriptions, and moves to other shapes, the `line` that they came from,
which is read where it is applied, and the columns that `nearcast.life` looks at. All columns but
`op` may be missing where no row needs them, and strings may be of any of Arrow's layouts,
dictionaries included.

======================== ======= ===================================================================
event                    int64   number of the event; if missing, rows are numbered one by one
op                       string  as in a line
id                       string  null of an advance
time, expires            double  seconds; null: not given
replace                  bool    of a publish or a subscribe
text                     string  of a message
west, south, east, north double  of a message, a move, or the area of a subscription (of mode top:
                                 where it is); a point has no width and no height
attributes               string  of a message: a JSON object
mode, live               string, of a subscription
                         bool
words                    string  of a subscription: its words, all wanted, with a space between
said                     string  of a subscription: how it was said, if its words do not tell it
alpha, threshold, k      double  of a subscription
target                   string  of a move: "point", "box" or "shape"
surplus                  string  id of a message that goes with this event (see below)
line                     string  the whole event; what only it has is read from it
======================== ======= ===================================================================

**Rows that were decided elsewhere.** A pipeline of many hubs has one clock and one window, which
`nearcast.life.Life` keeps. A hub that sees a part of the events does what a single hub would do, if
it has no window of its own and each row that it gets says what was decided:

- `time` is the clock after the event (`Outcome.clock`): a hub that saw fewer events may be behind.
- `expires` of a message is when it goes by itself (`Outcome.end`), also where that follows from a
  window of seconds, which counts from the message's own time; infinity if it only goes when told;
  null if it is not kept. Infinity is allowed in tables only.
- `surplus` is the message that a window of so many messages lets go with this event: it goes in the
  same event, with the reason "expired", so that top lists change once. A hub that gets the message
  that goes but not the one that comes gets a row with op "advance" and `surplus`.
- Rejected rows are left out. `event` keeps the numbers.

In a row that has a `line`, `time`, `expires` and `replace` are those of the columns.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from nearcast import columns, events
from nearcast.errors import InvalidParameterError
from nearcast.event_lines import PublishLine, encode_attributes
from nearcast.event_reader import EventReader
from nearcast.model import MODES, Bbox, is_encodable
from nearcast.records import OPS, put_message
from nearcast.text import DEFAULT_ANALYZER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from nearcast import _core
    from nearcast.errors import NearcastError
    from nearcast.events import Event
    from nearcast.text import Analyzer

EVENTS = pa.schema(
    [
        ("event", pa.int64()),
        ("op", pa.string()),
        ("id", pa.string()),
        ("time", pa.float64()),
        ("expires", pa.float64()),
        ("replace", pa.bool_()),
        ("text", pa.string()),
        ("west", pa.float64()),
        ("south", pa.float64()),
        ("east", pa.float64()),
        ("north", pa.float64()),
        ("attributes", pa.string()),
        ("mode", pa.string()),
        ("live", pa.bool_()),
        ("words", pa.string()),
        ("said", pa.string()),
        ("alpha", pa.float64()),
        ("threshold", pa.float64()),
        ("k", pa.float64()),
        ("target", pa.string()),
        ("surplus", pa.string()),
        ("line", pa.string()),
    ]
)
OUTLINE = ("op", "id", "time", "expires", "replace", "mode", "target")
"""The columns that `nearcast.life` looks at."""

_NOWHERE, _POINT, _BOX, _SHAPE = range(4)
_SURROGATE = re.compile("[\ud800-\udfff]")


def read_events(
    source: bytes | str | Iterable[bytes | str] | pa.Array | pa.ChunkedArray,
    *,
    on_error: Callable[[int, NearcastError], None] | None = None,
    first: int = 1,
    analyzer: Analyzer = DEFAULT_ANALYZER,
) -> pa.Table:
    r"""Read lines into a table of `EVENTS`.

    Parameters
    ----------
    source
        NDJSON, or lines: an iterable, or an Arrow column of strings.
    on_error
        Called with the number of each line that is no event, and its error; without it the first
        such line raises, with its number as `event`.
    first
        Number of the first line. Empty lines have a number but are no events.
    analyzer
        Reads keywords, so it must be that of the hub. Texts are analysed where the table is
        applied.

    Examples
    --------
    >>> table = read_events(b'{"op": "retract", "id": "m1"}\n\n{"op": "advance", "time": 5}')
    >>> table.select(["event", "op", "id", "time"]).to_pylist()[1]
    {'event': 3, 'op': 'advance', 'id': None, 'time': 5.0}
    """
    reader = TableReader(analyzer, _put, stops=on_error is None)
    reader.read(source, first)
    for number, error in sorted(reader.rejected, key=lambda pair: pair[0]):
        if on_error is None:
            error.event = number
            raise error
        on_error(number, error)
    batches = columns.batches_of(reader.batch.columns())
    return pa.Table.from_batches(batches).cast(EVENTS)


class TableReader(EventReader):
    """Reads lines, and keeps what a table needs to say: of subscriptions, their lines."""

    takes_subscriptions = False

    def took(self, read: list[Any], first_row: int) -> None:
        """Keep attributes as text."""
        for row, line in enumerate(read, first_row):
            if type(line) is PublishLine and line.attributes:
                self.batch.put_attribute_text(row, encode_attributes(line.attributes).decode())


def _put(batch: _core.EventBatch, row: int, event: Event, line: str | None) -> None:
    """Put an event that Python has read into its row."""
    if isinstance(event, events.Publish):
        put_message(batch, row, event, _encodable(event.text))
        if event.attributes:
            batch.put_attribute_text(row, encode_attributes(dict(event.attributes)).decode())
        return
    target, place = target_of(event)
    is_whole = not isinstance(event, events.Subscribe) and target != _SHAPE
    if not is_whole and line is None:
        what = "a subscription in a table comes from a line"
        raise InvalidParameterError(what, got=event, wanted="a line")
    put_outline(batch, row, event, place, None if is_whole else _encodable((line or "").strip()))


def _encodable(text: str) -> str:
    """Return a text that a table can hold; no word has a lone surrogate."""
    return text if is_encodable(text) else _SURROGATE.sub("\ufffd", text)


def put_outline(
    batch: _core.EventBatch,
    row: int,
    event: Event,
    place: tuple[float, ...] | None = None,
    line: str | None = None,
) -> None:
    """Put what life looks at into a row."""
    mode, live = (
        (MODES.index(event.mode), event.live) if isinstance(event, events.Subscribe) else (0, False)
    )
    times = (event.time, getattr(event, "expires", None))
    replaces, target = getattr(event, "replace", False), target_of(event)[0]
    op = OPS[type(event)]
    batch.put_outline(row, op, event.id, times, replaces, mode, target, live, place, line)


def target_of(event: Event) -> tuple[int, tuple[float, ...] | None]:
    """Return the code of what a move leads to, and its place if that is a point or a box."""
    if not isinstance(event, events.Move):
        return _NOWHERE, None
    if event.at is not None:
        return _POINT, event.at
    if isinstance(event.area, Bbox):
        return _BOX, columns.core_place(event.area)
    return _SHAPE, None
