"""Match subscriptions by a word that each needs, and texts that answer quickly.

Trees of keywords are read by the oracle; here they are decided with sets, positions by word and
sorted words instead of a look at every place.
"""

from __future__ import annotations

from bisect import bisect_left
from functools import cached_property
from typing import TYPE_CHECKING, Any

from differential.areas import Region
from oracle.events import is_asked_for

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oracle.events import Message, Subscription
    from oracle.keywords import Tree
    from oracle.text import Places


class Text:
    """The text of a message, prepared for many questions."""

    def __init__(self, places: Places) -> None:
        self.places = places
        self.tokens = frozenset(token for token in places if token is not None)

    @cached_property
    def _positions(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for position, token in enumerate(self.places):
            if token is not None:
                found.setdefault(token, []).append(position)
        return found

    @cached_property
    def _sorted(self) -> list[str]:
        return sorted(self.tokens)

    def satisfies(self, tree: Tree) -> bool:
        """Decide keywords."""
        kind, part = tree
        if kind == "words":
            return bool(part <= self.tokens)
        if kind == "not":
            return not self.satisfies(part)
        if kind == "and":
            return all(map(self.satisfies, part))
        if kind == "or":
            return any(map(self.satisfies, part))
        return self._has_start(part) if kind == "prefix" else self._has_phrase(part)

    def _has_start(self, start: str) -> bool:
        at = bisect_left(self._sorted, start)
        return at < len(self._sorted) and self._sorted[at].startswith(start)

    def _has_phrase(self, phrase: Places) -> bool:
        """Look only where the rarest token of the phrase stands."""
        wanted = [(i, token) for i, token in enumerate(phrase) if token is not None]
        if not all(token in self.tokens for _, token in wanted):
            return False
        offset, rarest = min(wanted, key=lambda pair: len(self._positions[pair[1]]))
        starts = (position - offset for position in self._positions[rarest])
        last = len(self.places) - len(phrase)
        return any(
            0 <= start <= last and all(self.places[start + i] == token for i, token in wanted)
            for start in starts
        )


class Wish:
    """What a match subscription asks for."""

    def __init__(self, subscription: Subscription) -> None:
        self.subscription = subscription
        self.region = Region(subscription.area)
        excluded = subscription.excluded
        self.excluded = None if excluded is None else Region(excluded)

    def accepts(self, message: Message, text: Text) -> bool:
        """Decide a pair, the cheapest question first."""
        keywords = self.subscription.keywords
        if keywords is not None and not text.satisfies(keywords):
            return False
        if not is_asked_for(self.subscription, message):
            return False
        boxes = message.place.boxes.parts
        if not self.region.touches(boxes):
            return False
        return self.excluded is None or not self.excluded.touches(boxes)


def needed_words(tree: Tree | None, uses: Mapping[Any, Any]) -> frozenset[str] | None:
    """Return words of which every text that satisfies the tree has one; None if there are none."""
    if tree is None or tree[0] in ("prefix", "not"):
        return None
    kind, part = tree
    if kind in ("words", "phrase"):
        known = [token for token in part if token is not None]
        return frozenset([min(known, key=lambda word: (len(uses.get(word, ())), word))])
    covers = [needed_words(one, uses) for one in part]
    if kind == "or":
        if any(cover is None for cover in covers):
            return None
        return frozenset(word for cover in covers for word in cover or ())
    return min((cover for cover in covers if cover is not None), key=len, default=None)


class MatchSet:
    """Match subscriptions, by the words that they need."""

    def __init__(self) -> None:
        self._keys: dict[Any, list[str | None]] = {}
        self._by_word: dict[str | None, dict[Any, Wish]] = {}

    def add(self, id_: Any, wish: Wish) -> None:
        """Add a subscription under a new id."""
        words = needed_words(wish.subscription.keywords, self._by_word)
        keys: list[str | None] = [None] if words is None else [*words]
        self._keys[id_] = keys
        for key in keys:
            self._by_word.setdefault(key, {})[id_] = wish

    def remove(self, id_: Any) -> None:
        """Remove what was added."""
        for key in self._keys.pop(id_):
            del self._by_word[key][id_]
            if not self._by_word[key]:
                del self._by_word[key]

    def match(self, message: Message, text: Text) -> list[Any]:
        """Return the ids that a message matches, each once."""
        found: dict[Any, bool] = {}
        for word in (None, *text.tokens):
            for id_, wish in self._by_word.get(word, {}).items():
                if id_ not in found:
                    found[id_] = wish.accepts(message, text)
        return [id_ for id_, is_wanted in found.items() if is_wanted]
