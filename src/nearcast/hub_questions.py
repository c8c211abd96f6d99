"""What is there, and what would happen? Questions to a hub, which change nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

from nearcast.attributes import Attributes
from nearcast.definition import Definition, definition_of
from nearcast.errors import InvalidMessageError, UnknownIdError, Verbatim, shown
from nearcast.events import Subscribe
from nearcast.explain import Explanation, explain
from nearcast.explain_score import ScoreExplanation
from nearcast.expressions import And, Word
from nearcast.in_process import InProcess
from nearcast.keywords import parse
from nearcast.matcher import read_place, read_tokens
from nearcast.model import MODES, Bbox, is_encodable
from nearcast.sizes import Sizes
from nearcast.where import parse as parse_where

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nearcast import _core
    from nearcast.accepted import AttributesLike, BoxLike, PointLike
    from nearcast.expressions import Keywords
    from nearcast.model import Mode
    from nearcast.text import Analyzer

_WORLD = Bbox(-180, -90, 180, 90)
_PAGE = 1024  # slots of one look at the core


class HubQuestions(InProcess):
    """The part of `Hub` that only asks."""

    _core: _core.Hub
    _analyzer: Analyzer
    _may_split: bool

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
        if bbox is None and attributes is None:  # what is plain crosses as it is
            found = self._core.match_plain(message, at, self._may_split)
            if found is not None:
                return cast("list[str]", found)
        tokens, place = read_tokens(message, self._analyzer), read_place(at, bbox)
        return list(self._core.match(tokens, place, _read_attributes(attributes)))

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
        said = _read_attributes(attributes)
        places, place = self._analyzer.places(text), read_place(at, bbox)
        judged = self._core.judge(_known(id), places, place, said)
        parts, is_match, is_inside, score, is_excluded = judged
        definition = definition_of(id, parts)
        wanted = self._wanted(definition, is_said=bool(parts[-1]))
        verdicts = {"is_match": is_match, "is_inside": is_inside, "is_excluded": is_excluded}
        told = explain(wanted, places, place, said, **verdicts)
        if score is not None:
            spatial, textual, total, needed = score
            why = ScoreExplanation(spatial, textual, total, needed, definition.alpha or 0.0)
            reasons = tuple(reason for reason in told.reasons if reason.part == "where")
            return Explanation(is_match, reasons, 0.0, why)
        if definition.area is None:
            return replace(told, reasons=tuple(r for r in told.reasons if r.part != "area"))
        return told

    def _wanted(self, definition: Definition, *, is_said: bool) -> Subscribe:
        """Return what a subscription asks for as trees, whatever its mode."""
        said, where = definition.keywords, definition.where
        keywords: Keywords | None = None
        if said is not None and is_said:
            keywords = parse(said, self._analyzer)
        elif said is not None:  # tokens of the core: reading them again may change them
            words = tuple(Word((word,)) for word in said)
            keywords = words[0] if len(words) == 1 else And(words)
        return Subscribe(
            definition.id,
            "match",
            keywords,
            definition.area or _WORLD,
            where=None if where is None else parse_where(where),
            except_=definition.except_,
        )

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
        are not kept do not count: which subscriptions get them depends on the area reported last.
        None: nothing was promised.
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
