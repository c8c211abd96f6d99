"""Which subscriptions gain or lose which messages? Events in, signed changes out.

A façade: it reads events, names them for the core and turns the core's columns into changes.
Clock, life of messages and result sets are the core's, one call per batch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, cast

from nearcast import _core, events
from nearcast.arguments import (
    check_analyzer,
    check_parameters,
    check_same_analyzer,
    check_word,
    checked_path,
)
from nearcast.changes import CHANGES, change_table, changes_of
from nearcast.clocks import clock_from
from nearcast.errors import (
    InvalidParameterError,
    KeepsNothingWarning,
    NearcastError,
    SnapshotError,
    UnknownIdError,
    Verbatim,
    shown,
    warn_caller,
)
from nearcast.event_reader import EventReader
from nearcast.hub_arguments import check_call, space_from
from nearcast.hub_questions import HubQuestions
from nearcast.matcher import DEFAULT_INDEX
from nearcast.model import CHANGE_KINDS, REASONS, Change, Promise, Window, is_encodable
from nearcast.records import Record, core_record, put_message
from nearcast.text import DEFAULT_ANALYZER
from nearcast.weights import Weights

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from os import PathLike

    import pyarrow as pa

    from nearcast.accepted import (
        AreaLike,
        AttributesLike,
        BoxLike,
        ClockLike,
        KeywordsLike,
        PointLike,
        TimeLike,
    )
    from nearcast.arguments import Parameter
    from nearcast.columns import ArrowTable
    from nearcast.events import Event
    from nearcast.model import Mode
    from nearcast.text import Analyzer

_Found: TypeAlias = list[tuple[str, str, int, int, float | None]]
_Promised: TypeAlias = list[tuple[int, str, float]]
_Told: TypeAlias = tuple[_Found, _Promised]

WORLD = (-180, -90, 180, 90)


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


class Hub(HubQuestions):
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
    index_parameters, topk_parameters
        Of these kinds, by name: `nearcast.indexes` and `nearcast.hub.topk_parameters` list them.
    clock
        What time it is for an event without one: that of the hub's clock ("events"), so that a log
        gives the same answers at any speed; or that of the machine ("wall"), or of a function that
        returns seconds since the epoch.
    safe_region
        Tell live match subscriptions how far they may go before their result can change, so that
        they need not report each step: see `safe_distance` and `nearcast.SafeRegion`.
    analyzer
        Reads keywords and texts.

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
        index_parameters: Mapping[str, Parameter] | None = None,
        window: Window | None = None,
        clock: ClockLike = "events",
        weights: Weights | None = None,
        space: BoxLike = WORLD,
        topk: str = "auto",
        expiry: str = "",
        topk_parameters: Mapping[str, Parameter] | None = None,
        safe_region: bool = False,
        analyzer: Analyzer = DEFAULT_ANALYZER,
    ) -> None:
        if window is not None and not isinstance(window, Window):
            what = "window is not a window"
            raise InvalidParameterError(what, got=window, wanted="Window(count=…) or (seconds=…)")
        size = (window.count, window.seconds) if window else (None, None)
        for name, word in (("index", index), ("topk", topk), ("expiry", expiry)):
            check_word(name, word)
        check_analyzer(analyzer)
        own, top = check_parameters(index_parameters), check_parameters(topk_parameters)
        if not isinstance(safe_region, bool):
            what = "safe_region is not a truth value"
            raise InvalidParameterError(what, got=safe_region, wanted="True or False")
        core = _core.Hub(index, own, *size, space_from(space), topk, expiry, top, safe_region)
        self._adopt(core, analyzer, clock)
        if weights is not None:
            self.set_weights(weights)

    def _adopt(self, core: _core.Hub, analyzer: Analyzer, clock: ClockLike) -> None:
        self._now = clock_from(clock)
        self._core = core
        self._analyzer = analyzer
        self._may_split = analyzer.is_plain  # the core may split texts in ASCII
        self._publishes_plain = analyzer.is_plain and self._now is None
        self._promises: dict[str, Promise] = {}
        self._may_warn = core.window == (None, None)

    # ---- one event --------------------------------------------------------------------------

    def subscribe(
        self,
        id: str,
        *,
        keywords: KeywordsLike | None = None,
        area: AreaLike | None = None,
        except_: AreaLike | None = None,
        where: str | None = None,
        mode: Mode = "match",
        live: bool = False,
        at: PointLike | None = None,
        k: int | None = None,
        alpha: float | None = None,
        threshold: float | None = None,
        expires: TimeLike | None = None,
        time: TimeLike | None = None,
        replace: bool = False,
    ) -> list[Change]:
        """Add a subscription, or put another definition in its place.

        Parameters
        ----------
        id
            Yours; free, unless `replace` is given.
        keywords
            An expression such as ``"coffee AND (free OR sale) -decaf"``, or a list of keywords that
            are all required. The modes rank and top take plain keywords.
        area
            Where messages count; absent: anywhere. Mode rank needs a box.
        except_
            Where messages do not count, in mode match.
        where
            What the attributes of a message must be: ``"price <= 1200 AND type IN ('flat')"``.
        mode
            "match": what is asked for decides. "rank": a score that must reach `threshold`. "top":
            the `k` messages with the highest scores.
        live
            Hold the set of live messages that match, and be told what leaves it, too.
        at, k
            Of mode top: where it is, and how many messages it holds.
        alpha
            Of the modes rank and top: how much place counts against text, from 0 to 1.
        threshold
            Of mode rank: above 0, to 1.
        expires
            When it ends by itself.
        time
            When this happens; absent: at the hub's clock.
        replace
            If the id is in use, this definition takes the place of the old one in one step. What
            the subscription holds changes by the net difference.

        Returns
        -------
        list of Change
            What a live or top subscription holds from the start; of one that is replaced, what it
            gains and loses, with the reason "changed".

        Raises
        ------
        InvalidSubscriptionError, DuplicateIdError
            And nothing has changed: what was to be replaced is still there.

        Warns
        -----
        KeepsNothingWarning
            Once, if the subscription is live or top and the hub has no window: it then keeps only
            messages that have `expires`.
        """
        return self._apply_one(
            {
                "op": "subscribe",
                "id": id,
                "keywords": keywords,
                "area": area,
                "except": except_,
                "where": where,
                "mode": mode,
                "live": live,
                "at": at,
                "k": k,
                "alpha": alpha,
                "threshold": threshold,
                "expires": expires,
                "time": time,
                "replace": replace,
            }
        )

    def unsubscribe(self, id: str, *, time: TimeLike | None = None) -> list[Change]:
        """End a subscription; nothing is delivered to it. `UnknownIdError` if it is not there.

        The list has what else happens at that `time`: what is due then goes first.
        """
        return self._apply_one({"op": "unsubscribe", "id": id, "time": time})

    def move(
        self,
        id: str,
        *,
        area: AreaLike | None = None,
        at: PointLike | None = None,
        time: TimeLike | None = None,
    ) -> list[Change]:
        """Give a subscription another `area`, or one of mode top another point `at`.

        Raises
        ------
        InvalidSubscriptionError, UnknownIdError
            And nothing has changed.
        """
        return self._apply_one({"op": "move", "id": id, "area": area, "at": at, "time": time})

    def publish(
        self,
        id: str,
        text: str,
        *,
        at: PointLike | None = None,
        bbox: BoxLike | None = None,
        attributes: AttributesLike | None = None,
        time: TimeLike | None = None,
        expires: TimeLike | None = None,
        replace: bool = False,
    ) -> list[Change]:
        """Publish a message.

        Parameters
        ----------
        id
            Yours; not that of a live message, unless `replace` is given.
        text
            Read by the hub's analyzer.
        at, bbox
            Where it is: exactly one of the two.
        attributes
            What `where` of subscriptions looks at: names with numbers, strings, truth values, or
            lists of strings.
        time
            When it happens; absent: at the hub's clock.
        expires
            When it stops to be live, if not before that by the hub's window.
        replace
            If a live message has this id, this is a new version of it, and the newest message.
            Subscriptions that gain it, lose it or keep it are told so, with the reason "changed".

        Raises
        ------
        InvalidMessageError, DuplicateIdError
            And nothing has changed.
        """
        if bbox is None and attributes is None and type(at) is tuple:  # as nearly all are
            if self._publishes_plain:
                try:
                    told = self._core.publish_plain(id, text, at, time, expires, replace)
                except NearcastError as refusal:
                    raise _unchanged(refusal) from None
                if told is not None:
                    return self._told(*cast("_Told", told))
            plain = events.Publish(id, text, at, time, expires, None, replace)  # type: ignore[arg-type]
            return self._apply_event(plain)
        return self._apply_one(
            {
                "op": "publish",
                "id": id,
                "text": text,
                "at": at,
                "bbox": bbox,
                "attributes": attributes,
                "time": time,
                "expires": expires,
                "replace": replace,
            }
        )

    def retract(self, id: str, *, time: TimeLike | None = None) -> list[Change]:
        """Take a live message back; of what is not live nothing changes."""
        return self._apply_one({"op": "retract", "id": id, "time": time})

    def advance(self, time: TimeLike | None = None) -> list[Change]:
        """Let time pass: the clock moves to `time`, and what is due by then goes.

        A hub that has a clock of its own (`clock="wall"`) needs no `time`: it goes to what it is
        now. A time before the hub's clock changes nothing.

        Examples
        --------
        >>> hub = Hub(window=Window(seconds=60))
        >>> hub.subscribe("s1", keywords="rain", live=True)
        []
        >>> [change.reason for change in hub.publish("m1", "Rain", at=(0, 0), time=0)]
        ['published']
        >>> hub.advance(60)
        [Change(event=1, subscription='s1', message='m1', change='removed', reason='expired')]
        """
        if time is None and self._now is not None:
            time = self._now()
        return self._apply_one({"op": "advance", "time": time})

    def _apply_one(self, fields: Mapping[str, object]) -> list[Change]:
        """Apply one event of the format; what is None was not given."""
        present = {name: value for name, value in fields.items() if value is not None}
        return self._apply_event(events.event_from(present, self._analyzer))

    def _apply_event(self, event: Event) -> list[Change]:
        """Apply one event without building tables."""
        try:
            told = self._core.apply_one(self._record(event))
        except NearcastError as refusal:
            raise _unchanged(refusal) from None
        return self._told(*told)

    def _told(self, found: _Found, promised: _Promised) -> list[Change]:
        if promised:
            self._note(promised, lambda _: 1)
        if not found:
            return []
        return [
            Change(1, subscription, message, CHANGE_KINDS[kind], REASONS[reason], score)
            for subscription, message, kind, reason, score in found
        ]

    def _record(self, event: Event) -> Record:
        """Return an event as the core reads it, with the time that it has in this hub."""
        if self._may_warn and isinstance(event, events.Subscribe):
            self._warn_of(event)
        record = core_record(event, self._analyzer)
        if self._now is None or record[2] is not None:
            return record
        return (*record[:2], self._now(), *record[3:])

    def _warn_of(self, event: events.Subscribe) -> None:
        if event.mode == "top" or event.live:
            self._warn(event.id, "top" if event.mode == "top" else "live")

    def _warn(self, id: str, kind: str) -> None:
        self._may_warn = False
        msg = (
            f"subscription {shown(id)} is {kind}, and the hub has no window: it keeps only "
            "messages that have expires; give it one, as in Hub(window=Window(count=100_000))"
        )
        warn_caller(msg, KeepsNothingWarning)

    # ---- many events ------------------------------------------------------------------------

    def apply(
        self,
        batch: bytes | str | Iterable[Event | Mapping[str, object] | bytes | str] | ArrowTable,
        *,
        on_error: Callable[[int, NearcastError], None] | None = None,
        first: int = 1,
    ) -> pa.Table:
        """Apply many events at once.

        Parameters
        ----------
        batch
            NDJSON; an iterable of events as values, mappings or lines (an iterator may be read
            further than the event that ends the batch); or a table of events, as
            `nearcast.event_table` defines it, of any library that speaks Arrow's capsules.
        on_error
            Called with the number of each rejected event and its error; the others are applied.
            Without it the first rejected event ends the batch: its error is raised, with its
            number as `event` and the changes of what came before it as `changes`.
        first
            Number of the first event, line or row; a table with a column `event` says the number
            of each row itself.

        Returns
        -------
        pyarrow.Table
            event, subscription, message, change, reason, score.
        """
        check_call(batch, on_error, first)
        reader = EventReader(self._analyzer, self._put, stops=on_error is None)
        reader.read(batch, int(first))
        reader.analyze()
        if self._may_warn and (lasting := reader.batch.first_lasting()) is not None:
            self._warn(*cast("tuple[str, str]", lasting))
        if self._now is not None:
            self._tell_time(reader)
        events_, rejected = reader.batch, reader.rejected
        changed, promised, refused = self._core.apply(events_, on_error is None)
        table = change_table(changed)
        self._note(promised, events_.number)
        rejected += [(events_.number(row), error) for row, error in refused]
        for number, error in sorted(rejected, key=lambda pair: pair[0]):
            if on_error is None:
                error.event, error.changes = number, table
                raise error
            on_error(number, error)
        return table

    def _put(self, batch: _core.EventBatch, row: int, event: Event, _line: str | None) -> None:
        """Put an event that Python has read into its row."""
        if not isinstance(event, events.Publish):
            if self._may_warn and isinstance(event, events.Subscribe):
                self._warn_of(event)
            batch.put_record(row, core_record(event, self._analyzer))
            return
        put_message(batch, row, event, event.text if is_encodable(event.text) else "")
        if not is_encodable(event.text):
            batch.put_words(row, self._analyzer.places(event.text))

    def _tell_time(self, reader: EventReader) -> None:
        """Give events the time that they have in this hub."""
        for row in reader.batch.untimed():
            try:
                reader.batch.put_time(row, self._now())  # type: ignore[misc]
            except NearcastError as error:  # noqa: PERF203 — one bad event spares the others
                reader.reject(row, error)
                if reader.is_stopped:
                    return

    def _note(self, promised: _Promised, number_of: Callable[[int], int]) -> None:
        if not promised:
            return
        for row, id_, distance in promised:
            self._promises.pop(id_, None)  # the new one comes last
            self._promises[id_] = Promise(number_of(row), id_, distance)
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
        return [told for told in taken[::-1] if self._is_promised(told.subscription)]

    def _is_promised(self, id: str) -> bool:
        """Whether a subscription still has a promise: it may have gone, or been replaced."""
        try:
            return self._core.safe_distance(id) is not None
        except UnknownIdError:
            return False

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
        clock: ClockLike = "events",
        verify: bool | None = None,
    ) -> Hub:
        """Go on where `save` was called, with the same settings.

        Parameters
        ----------
        path
            Written by `save`.
        analyzer
            The one that the snapshot was made with: another is an error.
        clock
            As of a new hub; it is not part of the file.
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
        hub._adopt(saved, analyzer, clock)
        return hub


def _unchanged(refusal: NearcastError) -> NearcastError:
    """Return the error of an event alone: nothing has changed."""
    refusal.event, refusal.changes = 1, CHANGES.empty_table()
    return refusal
