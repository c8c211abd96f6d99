"""What is there, and what would happen? Questions to a hub, which change nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from nearcast import columns
from nearcast.attributes import Attributes
from nearcast.clauses import tree_of
from nearcast.definition import Definition, definition_of
from nearcast.errors import InvalidMessageError, UnknownIdError, Verbatim, shown
from nearcast.events import Subscribe
from nearcast.explain import Explanation, explain
from nearcast.explain_score import ScoreExplanation
from nearcast.in_process import InProcess
from nearcast.matcher import read_place, read_tokens
from nearcast.model import MODES, Bbox, Clause, is_encodable
from nearcast.sizes import Sizes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nearcast import _core
    from nearcast.accepted import AttributesLike, BoxLike, PointLike
    from nearcast.model import Area, Mode
    from nearcast.text import Analyzer

_WORLD = Bbox(-180, -90, 180, 90)
_PAGE = 1024  # slots of one look at the core


class HubQuestions(InProcess):
    """The part of `Hub` that only asks."""

    _core: _core.Hub
    _analyzer: Analyzer

    def match(
        self,
        message: str | Sequence[str],
        *,
        at: PointLike | None = None,
        bbox: BoxLike | None = None,
        attributes: AttributesLike | None = None,
    ) -> list[str]:
        """Return the subscriptions that a text or tokens would reach now; nothing changes.

        A top subscription is reached if the message would be among its k best as its list stands,
        and were kept; what the window would push out for it is still there. This looks at each top
        subscription in turn.
        """
        _read_attributes(attributes)
        return list(
            self._core.match(read_tokens(message, self._analyzer), read_place(at, bbox)),
        )

    def subscription(self, id: str) -> Definition:
        """Return what was subscribed, of any mode; moved ones have their new place.

        Examples
        --------
        >>> from nearcast import Hub
        >>> hub = Hub()
        >>> hub.subscribe("s1", keywords=["coffee"], area=[-74, 40, -73, 41])
        []
        >>> hub.subscription("s1").keywords
        ('coffee',)
        """
        return definition_of(id, self._core.definition(_known(id)))

    def subscriptions(self) -> Iterator[Definition]:
        """Iterate over all subscriptions, in no order.

        The hub may change meanwhile: what is there all the time comes once, and what comes, goes or
        is replaced may be there or not.
        """
        first: int | None = 0
        while first is not None:
            page, first = self._core.definitions(first, _PAGE)
            for id_, parts in page:
                yield definition_of(id_, parts)

    def explain(
        self,
        id: str,
        text: str,
        *,
        at: PointLike | None = None,
        bbox: BoxLike | None = None,
        attributes: AttributesLike | None = None,
    ) -> Explanation:
        """Say why a message matches a subscription, or what is missing.

        Of the modes rank and top: which score it has, from which parts, and which one it needs.
        """
        if not isinstance(text, str):
            what = "text is not a string"
            raise InvalidMessageError(what, got=text, wanted="a string")
        _read_attributes(attributes)
        places, place = self._analyzer.places(text), read_place(at, bbox)
        tokens = [token for token in places if token is not None]
        parts, is_match, is_inside, score = self._core.judge(_known(id), tokens, place)
        clauses, area = _definition(*parts[:2])
        if score is not None:
            spatial, textual, total, needed = score
            alpha = definition_of(id, parts).alpha or 0.0
            why = ScoreExplanation(spatial, textual, total, needed, alpha)
            return Explanation(is_match, (), 0.0, why)
        wanted = Subscribe(id, "match", tree_of(clauses), area or _WORLD)
        told = explain(wanted, places, place, is_match=is_match, is_inside=is_inside)
        return told if area is not None else replace(told, reasons=told.reasons[:-1])

    def __repr__(self) -> str:
        """Return how large it is, and its main settings."""
        sizes, (most, seconds) = self._core.stats, self._core.window
        window = f"count={most}" if most is not None else f"seconds={seconds:g}" if seconds else ""
        return (
            f"<Hub: {sizes['subscriptions']:,} subscriptions, "
            f"{sizes['live_messages']:,} live messages, clock {self.clock:.15g}, "
            f"window {window or 'none'}, index {self._core.index}>"
        )

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

    def stats(self) -> Sizes:
        """Return sizes, as `Matcher.stats`, and the number of live messages.

        Bytes by part are those of subscriptions of the modes match and rank (`store_bytes`,
        `id_bytes`, `index_bytes`; together `memory_bytes`), of words (`vocabulary_bytes`), of live
        messages (`message_bytes`) and of what finds them (`message_index_bytes`), of top lists with
        all they need (`top_bytes`), and of expiries and safe regions (`other_bytes`). All together
        are `total_bytes`.
        """
        return Sizes(self._core.stats)

    def safe_distance(self, id: str) -> float | None:
        """Return how far a subscription's border may move before its result can change.

        In degrees, or in metres if the area is a circle: see `nearcast.safe_region`. Messages that
        are not kept do not count: who gets them depends on the area that was reported last. None:
        nothing was promised.
        """
        return self._core.safe_distance(_known(id))


def _read_attributes(attributes: AttributesLike | None) -> Attributes | None:
    return None if attributes is None else Attributes(attributes)


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
