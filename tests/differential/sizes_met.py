"""Which sizes do cases have? In the words of docs/thresholds.md."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

from differential.reference import FastHub
from oracle.fields import OracleRejects
from oracle.keywords import Tree, read_keywords
from oracle.text import analyze

if TYPE_CHECKING:
    from differential.cases import Case, Step

GROUP = 8  # messages that are matched together
MOST_CLAUSES = 128
Clause = tuple[frozenset[str], frozenset[str]]  # tokens that must, and that must not be there


class Sizes:
    """Values of each kind of size that some case had."""

    def __init__(self) -> None:
        self.met: dict[str, set[int]] = defaultdict(set)

    def see(self, name: str, *values: int) -> None:
        """Note that such sizes occurred."""
        self.met[name].update(values)

    def take(self, case: Case) -> None:
        """Note all sizes of a case."""
        if case["driver"] == "tables":
            _Tables(self).take(case)
        elif case["driver"] == "hub":
            _Hub(self).take(case)

    def see_message(self, text: str) -> set[str]:
        """Note a message, and return its words."""
        words = set(analyze(text))
        self.see("words", len(words))
        self.see("bytes", *(len(word.encode()) for word in words))
        return words

    def see_subscription(self, row: dict[str, Any]) -> list[str | None]:
        """Note a subscription; return its lists: of words that are alone in a clause, or None."""
        area = row.get("area")
        if isinstance(area, dict) and area.get("type") == "Polygon":
            self.see("corners", *(len(ring) - 1 for ring in area["coordinates"]))
        if "keywords" not in row:
            return [None]
        clauses = _clauses(read_keywords(row["keywords"]), negated=False)
        self.see("clauses", len(clauses))
        self.see("tokens", *(len(positive) for positive, _ in clauses))
        return [next(iter(positive)) for positive, _ in clauses if len(positive) == 1]


def _clauses(tree: Tree, *, negated: bool) -> set[Clause]:
    """Multiply out; a phrase and a prefix count as a word, and of very many clauses some."""
    kind, part = tree
    none: frozenset[str] = frozenset()
    if kind == "not":
        return _clauses(part, negated=not negated)
    if kind in ("words", "phrase", "prefix"):
        tokens = {part} if kind == "prefix" else {token for token in part if token is not None}
        return {(none, frozenset({t})) for t in tokens} if negated else {(frozenset(tokens), none)}
    if kind == "and" and not negated and all(one[0] == "words" for one in part):
        return {(frozenset().union(*(one[1] for one in part)), none)}
    groups = [_clauses(one, negated=negated) for one in part]
    if (kind == "or") != negated:
        return set().union(*groups)
    found = {(none, none)}
    for group in groups:
        most = max(1, MOST_CLAUSES // len(found))
        both = {(p | q, n | m) for p, n in found for q, m in list(group)[:most]}
        found = {(p, n) for p, n in both if not p & n} or both
    return found


class _Lists:
    """How many subscriptions have a word as their only one."""

    def __init__(self, sizes: Sizes) -> None:
        self.sizes = sizes
        self.length: Counter[str | None] = Counter()
        self.of: dict[Any, list[str | None]] = {}

    def add(self, row: dict[str, Any], *, is_seen: bool) -> None:
        lists = self.of[row["id"]] = self.sizes.see_subscription(row)
        self.length.update(lists)
        if is_seen:
            self.sizes.see("list", *(self.length[name] for name in lists))
            self.sizes.see("subscriptions", len(self.of))

    def remove(self, id_: Any, *, is_seen: bool) -> None:
        lists = self.of.pop(id_, [])
        self.length.subtract(lists)
        if is_seen:
            self.sizes.see("list", *(self.length[name] for name in lists))
            self.sizes.see("subscriptions", len(self.of))

    def look(self) -> None:
        self.sizes.see("list", *self.length.values())
        self.sizes.see("subscriptions", len(self.of))


class _Tables:
    def __init__(self, sizes: Sizes) -> None:
        self.sizes = sizes
        self.lists = _Lists(sizes)

    def take(self, case: Case) -> None:
        for step in case["steps"]:
            rows = step.get("rows", [])
            if step["do"] in ("table", "single"):
                for row in rows:
                    self.lists.add(row, is_seen=step["do"] == "single")
            elif step["do"] == "drop":
                for id_ in rows:
                    self.lists.remove(id_, is_seen=not step["bulk"])
            elif step["do"] == "match":
                self._match(step)
            self.lists.look()

    def _match(self, step: Step) -> None:
        met: dict[str, list[int]] = {"at": [], "bbox": []}  # lists by message; a table has one kind
        everywhere = int(self.lists.length[None] > 0)
        for row in step["rows"]:
            words = self.sizes.see_message(row["text"])
            found = sum(1 for word in words if self.lists.length[word] > 0)
            met["at" if "at" in row else "bbox"].append(found + everywhere)
        if step["form"] == "single":
            return
        for counts in met.values():
            self.sizes.see("batch", len(counts))
            groups = [counts[first : first + GROUP] for first in range(0, len(counts), GROUP)]
            self.sizes.see("words × batch", *map(sum, groups))


class _Hub:
    def __init__(self, sizes: Sizes) -> None:
        self.sizes = sizes
        self.lists = _Lists(sizes)

    def take(self, case: Case) -> None:
        hub = FastHub(**case["settings"]["hub"])
        for step in case["steps"]:
            if step["do"] == "weights":
                hub.reweigh(0, step["weights"])
            for event in step.get("rows", ()):
                try:
                    changes = hub.apply(0, event)
                except OracleRejects:
                    continue
                self.sizes.see("changes", len(changes))
                self._look(event, hub)

    def _look(self, event: dict[str, Any], hub: FastHub) -> None:
        self.sizes.see("messages", len(hub.messages))
        if event["op"] == "publish":
            words = self.sizes.see_message(event["text"])
            self.sizes.see("messages of a word", *(hub.messages_with(word) for word in words))
        elif event["op"] == "subscribe":
            if "k" in event:
                self.sizes.see("k", event["k"])
            self.lists.remove(event["id"], is_seen=False)  # it may have expired
            self.lists.add(event, is_seen=False)
            self.sizes.see("subscriptions", len(hub.subscriptions))
        elif event["op"] == "unsubscribe":
            self.lists.remove(event["id"], is_seen=False)
            self.sizes.see("subscriptions", len(hub.subscriptions))
