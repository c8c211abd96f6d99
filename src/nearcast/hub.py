"""Which subscriptions gain or lose which messages? Events in, signed changes out.

A façade: it reads events, names them for the core and turns the core's columns into changes.
Clock, life of messages and result sets are the core's, one call per batch.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import count
from numbers import Integral
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pyarrow as pa

from nearcast import _core, columns, events
from nearcast.arguments import (
    check_analyzer,
    check_parameters,
    check_same_analyzer,
    check_word,
    checked_path,
)
from nearcast.clauses import tree_of
from nearcast.errors import (
    InvalidMessageError,
    InvalidParameterError,
    NearcastError,
    SnapshotError,
    UnknownIdError,
    UnsupportedError,
    Verbatim,
    shown,
)
from nearcast.explain import Explanation, explain
from nearcast.in_process import InProcess
from nearcast.matcher import DEFAULT_INDEX, read_place, read_tokens
from nearcast.model import (
    CHANGE_KINDS,
    MODES,
    REASONS,
    Change,
    Clause,
    Promise,
    Window,
    bbox_from,
    is_encodable,
)
from nearcast.text import DEFAULT_ANALYZER
from nearcast.weights import Weights

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from os import PathLike

    from nearcast.events import Event
    from nearcast.model import Area, Mode
    from nearcast.text import Analyzer

Record: TypeAlias = tuple[int, str, float | None, float | None, Any, Any, Any, bool]
_SUBSCRIBE, _PUBLISH, _MOVE, _RETRACT, _UNSUBSCRIBE, _ADVANCE = range(6)

_KIND_WORDS = columns.string_array(CHANGE_KINDS)
_REASON_WORDS = columns.string_array(REASONS)

WORLD = (-180, -90, 180, 90)
CHANGES = pa.schema(
    [
        ("event", pa.int64()),
        ("subscription", pa.string()),
        ("message", pa.string()),
        ("change", pa.dictionary(pa.int8(), pa.string())),
        ("reason", pa.dictionary(pa.int8(), pa.string())),
        ("score", pa.float64()),
    ]
)


def topk_kinds() -> list[_core.ArrivalKind]:
    """Return the kinds of top-k arrival, the default first.

    Examples
    --------
    >>> [kind.expiry for kind in topk_kinds() if kind.name == "auto"]
    ['slack']
    """
    return list(_core.arrival_kinds())


def expiry_kinds() -> list[_core.ExpiryKind]:
    """Return the kinds of top-k expiry.

    Examples
    --------
    >>> "kmax" in [kind.name for kind in expiry_kinds()]
    True
    """
    return list(_core.expiry_kinds())


def topk_parameters() -> list[_core.ParameterSpec]:
    """Return the parameters of both; they change what top lists cost, never what they hold."""
    return list(_core.top_parameters())


class Hub(InProcess):
    """Subscriptions, messages and the clock, in memory.

    Parameters
    ----------
    index
        One of `nearcast.indexes`.
    window
        How long messages live that do not say so themselves; without one they are not kept.
    weights
        How much words count, in the modes rank and top; without them each counts the same.
    space
        Where top subscriptions are near or far: its diagonal is the unit; the world if not given.
    topk, expiry
        Kinds that keep top lists, if not our own: see `topk_kinds` and `expiry_kinds`.
    topk_parameters
        Of these kinds: `nearcast.hub.topk_parameters` lists them.
    safe_region
        Tell live match subscriptions how far they may go before their result can change, so that
        they need not report each step: see `safe_distance` and `nearcast.SafeRegion`.
    analyzer
        Reads keywords and texts.
    parameters
        Of the index kind.

    Examples
    --------
    >>> hub = Hub()
    >>> hub.subscribe("s1", keywords="coffee AND (free OR sale)", area=[-74, 40, -73, 41])
    []
    >>> for change in hub.publish("m1", "Free coffee!", at=(-73.98, 40.75)):
    ...     print(change.subscription, change.message, change.change, change.reason)
    s1 m1 added published
    """

    def __init__(
        self,
        *,
        index: str = DEFAULT_INDEX,
        window: Window | None = None,
        weights: Weights | None = None,
        space: object = WORLD,
        topk: str = "auto",
        expiry: str = "",
        topk_parameters: Mapping[str, float | str] | None = None,
        safe_region: bool = False,
        analyzer: Analyzer = DEFAULT_ANALYZER,
        **parameters: float | str,
    ) -> None:
        if window is not None and not isinstance(window, Window):
            what = "window is not a window"
            raise InvalidParameterError(what, got=window, wanted="Window(count=…) or (seconds=…)")
        size = (window.count, window.seconds) if window else (None, None)
        for name, word in (("index", index), ("topk", topk), ("expiry", expiry)):
            check_word(name, word)
        check_analyzer(analyzer)
        own, top = (
            check_parameters(parameters),
            check_parameters({} if topk_parameters is None else topk_parameters),
        )
        if not isinstance(safe_region, bool):
            what = "safe_region is not a truth value"
            raise InvalidParameterError(what, got=safe_region, wanted="True or False")
        core = _core.Hub(index, own, *size, _space(space), topk, expiry, top, safe_region)
        self._adopt(core, analyzer)
        if weights is not None:
            self.set_weights(weights)

    def _adopt(self, core: _core.Hub, analyzer: Analyzer) -> None:
        self._core = core
        self._analyzer = analyzer
        self._promises: dict[str, Promise] = {}

    # ---- one event --------------------------------------------------------------------------

    def subscribe(self, id: str, **fields: object) -> list[Change]:
        """Subscribe; `fields` are those of the event format: keywords, area, expires, time.

        Raises
        ------
        InvalidSubscriptionError, DuplicateIdError
            And nothing has changed.
        """
        return self._apply_one({"op": "subscribe", "id": id, **fields})

    def unsubscribe(self, id: str, **fields: object) -> list[Change]:
        """Unsubscribe; nothing is delivered. `UnknownIdError` if it is not there."""
        return self._apply_one({"op": "unsubscribe", "id": id, **fields})

    def move(self, id: str, **fields: object) -> list[Change]:
        """Give a subscription another `area` (or `at`). `UnknownIdError` if it is not there."""
        return self._apply_one({"op": "move", "id": id, **fields})

    def publish(self, id: str, text: str, **fields: object) -> list[Change]:
        """Publish a message with a place: `at` or `bbox`; also `time`, `expires`.

        Raises
        ------
        InvalidMessageError, DuplicateIdError
            And nothing has changed.
        """
        return self._apply_one({"op": "publish", "id": id, "text": text, **fields})

    def retract(self, id: str, **fields: object) -> list[Change]:
        """Take a live message back; of what is not live nothing changes."""
        return self._apply_one({"op": "retract", "id": id, **fields})

    def _apply_one(self, fields: Mapping[str, object]) -> list[Change]:
        """Apply one event without building tables."""
        present = {name: value for name, value in fields.items() if value is not None}
        event = events.event_from(present, self._analyzer)
        try:
            found, promised = self._core.apply_one(core_record(event, self._analyzer))
        except NearcastError as refusal:
            refusal.event, refusal.changes = 1, CHANGES.empty_table()
            raise
        self._note(promised, [1])
        return [
            Change(1, subscription, message, CHANGE_KINDS[kind], REASONS[reason], score)
            for subscription, message, kind, reason, score in found
        ]

    # ---- many events ------------------------------------------------------------------------

    def apply(
        self,
        batch: bytes | str | Iterable[Event | Mapping[str, object] | bytes | str],
        *,
        on_error: Callable[[int, NearcastError], None] | None = None,
        first: int = 1,
    ) -> pa.Table:
        """Apply many events at once.

        Parameters
        ----------
        batch
            NDJSON, or an iterable of events as values, mappings or lines.
        on_error
            Called with the number of each rejected event and its error; the others are applied.
            Without it the first rejected event ends the batch: its error is raised, with its
            number as `event` and the changes of what came before it as `changes`.
        first
            Number of the first event or line.

        Returns
        -------
        pyarrow.Table
            event, subscription, message, change, reason, score.
        """
        _check_call(batch, on_error, first)
        records: list[Record] = []
        numbers: list[int] = []
        rejected: list[tuple[int, NearcastError]] = []
        for number, item in _numbered(batch, first):
            try:
                records.append(core_record(self._read(item), self._analyzer))
                numbers.append(number)
            except NearcastError as refusal:  # noqa: PERF203 — one bad event spares the others
                rejected.append((number, refusal))
                if on_error is None:
                    break
        numbered = np.array(numbers, np.int64)
        changed, promised, refused = self._core.apply(records, numbered, on_error is None)
        table = change_table(changed)
        self._note(promised, numbers)
        rejected += [(numbers[row], error) for row, error in refused]
        for number, error in sorted(rejected, key=lambda pair: pair[0]):
            if on_error is None:
                error.event, error.changes = number, table
                raise error
            on_error(number, error)
        return table

    def _read(self, item: Event | Mapping[str, object] | bytes | str) -> Event:
        if isinstance(item, (bytes, str)):
            return events.read_event(item, self._analyzer)
        if isinstance(item, _EVENTS):
            return item
        return events.event_from(item, self._analyzer)

    def _note(self, promised: list[tuple[int, str, float]], numbers: list[int]) -> None:
        if not promised:
            return
        for row, id_, distance in promised:
            self._promises.pop(id_, None)  # the new one comes last
            self._promises[id_] = Promise(numbers[row], id_, distance)
        if len(self._promises) > 2 * self._core.safe_regions + 100:
            for id_ in [told for told in list(self._promises) if told not in self]:
                self._promises.pop(id_, None)  # it may never be taken

    def take_promises(self) -> list[Promise]:
        """Return what subscribers were promised since the last call, the latest of each.

        A subscriber hears of a promise when it subscribes and when it moves, and between that when
        a message has come that makes it shorter. Only a hub with `safe_region` makes promises, to
        live match subscriptions that have an area.

        Examples
        --------
        >>> hub = Hub(window=Window(count=9), safe_region=True)
        >>> hub.subscribe("s1", keywords="coffee", area=[0, 0, 2, 2], live=True)
        []
        >>> hub.publish("m1", "Coffee", at=(2.5, 1))
        []
        >>> [(told.subscription, round(told.safe_distance, 6)) for told in hub.take_promises()]
        [('s1', 0.5)]
        """
        # One by one: other threads may add some meanwhile.
        taken = [self._promises.popitem()[1] for _ in range(len(self._promises))]
        return taken[::-1]

    def safe_distance(self, id: str) -> float | None:
        """Return how far a subscription's border may move before its result can change.

        In degrees, or in metres if the area is a circle: see `nearcast.safe_region`. Messages that
        are not kept do not count: who gets them depends on the area that was reported last. None:
        nothing was promised.
        """
        return self._core.safe_distance(_known(id))

    def set_weights(self, weights: Weights | None) -> list[Change]:
        """Put another weights epoch in force; None: each word counts the same.

        Everything is weighed anew at once. What the live sets gain and lose by it is returned, with
        the reason "moved" and the event number 1.
        """
        if weights is None:
            changed, _, _ = self._core.end_epoch()
        elif isinstance(weights, Weights):
            changed, _, _ = self._core.start_epoch(weights.documents, dict(weights.df))
        else:
            what = "weights are not weights"
            raise InvalidParameterError(what, got=weights, wanted="Weights(documents, df) or None")
        return changes_of(change_table(changed))

    # ---- lasting state ----------------------------------------------------------------------

    def save(self, path: str | PathLike[str]) -> None:
        """Write everything to a file, whole or not at all: subscriptions, messages, the clock."""
        self._core.save(checked_path(path), self._analyzer.saved())

    @classmethod
    def open(
        cls,
        path: str | PathLike[str],
        *,
        analyzer: Analyzer = DEFAULT_ANALYZER,
        verify: bool | None = None,
    ) -> Hub:
        """Go on where `save` was called, with the same settings.

        Parameters
        ----------
        path
            Written by `save`.
        analyzer
            The one that the snapshot was made with: another is an error.
        verify
            Check the contents before believing them: always, never, or if the file has at most
            64 MiB (None). What is not checked is trusted: see "What may be trusted" in the guide
            to snapshots.
        """
        check_analyzer(analyzer)
        saved, read_by = _core.open_snapshot(checked_path(path), verify)
        if not isinstance(saved, _core.Hub):
            what = f"snapshot {str(path)!r} is of another kind"
            got = Verbatim("a matcher or life alone")
            raise SnapshotError(what, got=got, wanted="a hub", hint="Matcher.open")
        check_same_analyzer(read_by, analyzer, path)
        hub = cls.__new__(cls)
        hub._adopt(saved, analyzer)
        return hub

    # ---- questions --------------------------------------------------------------------------

    def match(
        self, message: str | Sequence[str], *, at: object = None, bbox: object = None
    ) -> list[str]:
        """Return the subscriptions that a text or tokens would reach now; nothing changes."""
        return list(
            self._core.match(read_tokens(message, self._analyzer), read_place(at, bbox)),
        )

    def subscription(self, id: str) -> tuple[tuple[Clause, ...] | None, Area | None]:
        """Return what was subscribed: clauses (None: no keywords), area (None: anywhere)."""
        return _definition(*self._core.definition(_known(id)))

    def explain(self, id: str, text: str, *, at: object = None, bbox: object = None) -> Explanation:
        """Say why a message matches a subscription, or what is missing."""
        if not isinstance(text, str):
            what = "text is not a string"
            raise InvalidMessageError(what, got=text, wanted="a string")
        places, place = self._analyzer.places(text), read_place(at, bbox)
        tokens = [token for token in places if token is not None]
        definition, is_match, is_inside = self._core.judge(_known(id), tokens, place)
        clauses, area = _definition(*definition)
        wanted = events.Subscribe(id, "match", tree_of(clauses), area or WORLD)  # type: ignore[arg-type]
        told = explain(wanted, places, place, is_match=is_match, is_inside=is_inside)
        return told if area is not None else replace(told, reasons=told.reasons[:-1])

    def __contains__(self, id: object) -> bool:
        """Whether a subscription has this id."""
        return self.mode(id) is not None

    def __len__(self) -> int:
        """Return the number of subscriptions."""
        return len(self._core)

    def results(self, id: str) -> list[tuple[str, float | None]]:
        """Return what a live or top subscription holds now: messages, with scores where there are.

        A top list has the best first; the set of a live subscription is in no order.
        """
        return self._core.results(_known(id))

    def mode(self, id: object) -> Mode | None:
        """Return "match", "rank" or "top"; None: no subscription has this id."""
        if not isinstance(id, str) or not is_encodable(id):
            return None
        found = self._core.mode_of(id)
        return None if found is None else MODES[found]

    @property
    def clock(self) -> float:
        """The largest time seen, in seconds since the epoch."""
        return float(self._core.clock)

    def check_invariants(self) -> None:
        """Raise `InternalError` if a structure is broken; for tests."""
        self._core.check_invariants()

    def stats(self) -> dict[str, int]:
        """Return sizes, as `Matcher.stats`, and the number of live messages.

        Bytes by part are those of subscriptions of the modes match and rank (`store_bytes`,
        `id_bytes`, `index_bytes`; together `memory_bytes`), of words (`vocabulary_bytes`), of live
        messages (`message_bytes`) and of what finds them (`message_index_bytes`), of top lists with
        all they need (`top_bytes`), and of expiries and safe regions (`other_bytes`). All together
        are `total_bytes`.
        """
        return dict(self._core.stats)


_EVENTS = (
    events.Publish,
    events.Subscribe,
    events.Move,
    events.Retract,
    events.Unsubscribe,
    events.Advance,
)


def _known(id: object) -> str:
    """Return what may be the id of a subscription; the core knows whether it is."""
    if isinstance(id, str) and is_encodable(id):
        return id
    what = f"subscription {shown(id)}"
    got = Verbatim("an id that is not subscribed")
    raise UnknownIdError(what, got=got, wanted="an id in use")


def _definition(
    clauses: Sequence[tuple[list[str], list[str]]], area: tuple[Any, ...] | None
) -> tuple[tuple[Clause, ...] | None, Area | None]:
    """Return a definition of the core as values."""
    read = tuple(Clause(frozenset(plus), frozenset(minus)) for plus, minus in clauses)
    return None if read == (Clause(frozenset()),) else read, columns.area_of_core(area)


def _check_call(batch: object, on_error: object, first: object) -> None:
    if not isinstance(batch, Iterable):
        what, wanted = "batch is not a batch", "NDJSON, or an iterable of events"
        raise InvalidParameterError(what, got=batch, wanted=wanted)
    if on_error is not None and not callable(on_error):
        what, wanted = "on_error cannot be called", "a function of a number and an error"
        raise InvalidParameterError(what, got=on_error, wanted=wanted)
    if isinstance(first, bool) or not isinstance(first, Integral) or abs(int(first)) > 2**62:
        what = "first is not a whole number in range"
        raise InvalidParameterError(what, got=first, wanted="a whole number of at most 62 bits")


def _space(value: object) -> tuple[float, ...]:
    space = bbox_from(value, field="space")
    if space.west > space.east or (space.west, space.south) == (space.east, space.north):
        what, wanted = "space is not a box", "west <= east, and some extent"
        raise InvalidParameterError(what, got=value, wanted=wanted, field="space")
    return (space.west, space.south, space.east, space.north)


def core_record(event: Event, analyzer: Analyzer = DEFAULT_ANALYZER) -> Record:
    """Return an event as the core reads it."""
    if isinstance(event, events.Publish):
        _refuse_what_is_to_come(event)
        words = analyzer.analyze(event.text)
        place = columns.core_place(event.place)
        return (_PUBLISH, event.id, event.time, event.expires, words, place, None, event.replace)
    if isinstance(event, events.Subscribe):
        area = columns.core_area(event.area)
        _refuse_what_is_to_come(event)
        clauses = columns.core_clauses(event.keywords)
        times = (event.time, event.expires)
        return (_SUBSCRIBE, event.id, *times, clauses, area, _details(event), event.replace)
    if isinstance(event, events.Move):
        area = columns.core_area(event.area)
        return (_MOVE, event.id, event.time, None, None, area, event.at, False)
    if isinstance(event, events.Advance):
        return (_ADVANCE, "", event.time, None, None, None, None, False)
    op = _RETRACT if isinstance(event, events.Retract) else _UNSUBSCRIBE
    return (op, event.id, event.time, None, None, None, None, False)


def _refuse_what_is_to_come(event: events.Subscribe | events.Publish) -> None:
    """Refuse what the event format has and the core does not know yet."""
    for name in ("where", "except_", "attributes"):
        if getattr(event, name, None):
            what = f"{name.rstrip('_')} is not matched yet"
            raise UnsupportedError(what, wanted="no such field", field=name.rstrip("_"))


def _details(event: events.Subscribe) -> tuple[Any, ...] | None:
    """Return what a plain match subscription does not have."""
    if event.mode == "match" and not event.live:
        return None
    mode = MODES.index(event.mode)
    shares = (event.alpha or 0.0, event.threshold or 0.0)
    return (mode, event.live, event.k or 0, *shares, event.at)


def _numbered(batch: bytes | str | Iterable[Any], first: int) -> Iterator[tuple[int, Any]]:
    """Yield events with their numbers; empty lines have one but are not events."""
    items: Iterable[Any] = batch
    if isinstance(batch, (bytes, bytearray)):
        items = bytes(batch).split(b"\n")
    elif isinstance(batch, str):
        items = batch.split("\n")
    for number, item in zip(count(first), items, strict=False):
        if not isinstance(item, (bytes, str)) or item.strip():
            yield number, item


def change_table(changed: _core.Answer) -> pa.Table:
    """Return the changes that the core tells of as a table."""

    def worded(codes: pa.Array, words: pa.Array) -> pa.DictionaryArray:
        return pa.DictionaryArray.from_arrays(codes, words)

    tables = []
    for batch in columns.batches_of(changed):
        event, subscription, message, kind, reason, score = batch.columns
        worded_columns = (worded(kind, _KIND_WORDS), worded(reason, _REASON_WORDS))
        arrays = [event, subscription, message, *worded_columns, score]
        tables.append(pa.Table.from_arrays(arrays, schema=CHANGES))
    return tables[0] if len(tables) == 1 else pa.concat_tables(tables)


def changes_of(table: pa.Table) -> list[Change]:
    """Return the rows of a table of changes as values."""
    return [Change(**row) for row in table.to_pylist()]
