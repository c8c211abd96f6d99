"""Keywords, conditions and areas beyond the plain ones, of one world.

Everything is JSON and depends on one `random.Random` only. Few numbers and strings, so that values
are equal and ranges end where prices are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from differential.worlds import near

if TYPE_CHECKING:
    from differential.worlds import World

Json = dict[str, Any]

_KINDS = ("flat", "house", "flat", "studio", "loft", "it's", "é", "")
_ODD_NUMBERS = (0, -0.0, 1e300, -1e300, 5e-324, 2**53 + 1, 0.1, -1, 1e-9)
_ORDERS = ("<", "<=", ">", ">=")
_NOTS = ("-", "!", "–", "NOT ", "not ", "−")


def _bare(word: str) -> str:
    return word if word.isalnum() else f'"{word}"'


class Wishes:
    """Draws what alerts ask for, and what messages say about themselves."""

    def __init__(self, world: World) -> None:
        self.world, self.rng = world, world.rng
        self._numbers = [self.rng.choice((1, 50, 100)) * i for i in range(self.rng.choice((3, 40)))]
        self._cities: list[Any] = []

    # ---- attributes -------------------------------------------------------------------------

    def _number(self) -> float:
        choice = self.rng.random()
        if choice < 0.1:
            return self.rng.choice(_ODD_NUMBERS)
        if choice < 0.2:
            return round(self.rng.expovariate(0.01), self.rng.choice((0, 2, 15)))
        return self.rng.choice(self._numbers)

    def attributes(self) -> Json:
        """Return attributes as publishers give them: some missing, some of a wrong type."""
        rng = self.rng
        drawn: Json = {}
        if rng.random() < 0.9:
            drawn["price"] = self._number() if rng.random() < 0.95 else rng.choice(("5", True, []))
        if rng.random() < 0.7:
            drawn["rooms"] = rng.randint(0, 5)
        if rng.random() < 0.7:
            drawn["type"] = rng.choice(_KINDS)
        if rng.random() < 0.4:
            drawn["tags"] = rng.sample(_KINDS, rng.randint(0, 3))
        if rng.random() < 0.3:
            drawn["pets"] = rng.random() < 0.5
        if rng.random() < 0.02:
            drawn |= {f"n{i}": i for i in range(64 - len(drawn))}
        return drawn

    def _comparison(self) -> str:
        rng = self.rng
        choice = rng.random()
        if choice < 0.5:
            return f"price {rng.choice(_ORDERS)} {self._number()!r}"
        if choice < 0.65:
            return f"rooms {rng.choice((*_ORDERS, '=', '!='))} {rng.randint(0, 5)}"
        if choice < 0.75:
            return f"{rng.choice(('type', 'tags'))} {rng.choice(('=', '!='))} {self._quoted()}"
        if choice < 0.9:
            values = ", ".join(self._quoted() for _ in range(rng.choice((1, 2, 5))))
            return f"{rng.choice(('type', 'tags', 'price'))} IN ({values}, 5, 100, TRUE)"
        return rng.choice(("pets = TRUE", "pets != false", "price EXISTS", "tags exists", "n7 = 7"))

    def range(self) -> str:
        """Return a range of one attribute, perhaps with something beside it."""
        rng = self.rng
        name = rng.choice(("price", "price", "rooms"))
        low, high = sorted((self._number(), self._number()))
        if rng.random() < 0.3:
            high = low + rng.choice((0, 1, 100))
        text = rng.choice(
            (
                f"{name} >= {low!r} AND {name} <= {high!r}",
                f"{name} > {low!r} AND {name} < {high!r}",
                f"{name} {rng.choice(_ORDERS)} {low!r}",
                f"{name} >= {low!r} AND rooms <= {rng.randint(0, 5)}",
            )
        )
        if rng.random() < 0.1:
            text += f" AND NOT ({self._comparison()})"
        return f"({text}) OR {self._comparison()}" if rng.random() < 0.05 else text

    def _quoted(self) -> str:
        return "'" + self.rng.choice(_KINDS).replace("'", "''") + "'"

    def where(self) -> str:
        """Return a condition: most are one range or two, some are nested."""
        rng = self.rng
        choice = rng.random()
        if choice < 0.5:
            return self._comparison()
        if choice < 0.65:
            low, high = sorted((self._number(), self._number()))
            return f"price >= {low!r} AND price <= {high!r}"
        parts = [self._comparison() for _ in range(rng.choice((2, 2, 3, 5)))]
        if choice < 0.8:
            return " AND ".join(parts)
        joined = " OR ".join(parts[1:])
        return f"{rng.choice(('', 'NOT '))}{parts[0]} {rng.choice(('AND', 'or'))} NOT ({joined})"

    # ---- keywords ---------------------------------------------------------------------------

    def _keyword(self) -> str:
        word = self.world.word()
        choice = self.rng.random()
        if choice < 0.2:
            return f'"{" ".join(self._phrase())}"'
        if choice < 0.35 and len(word) >= 2:
            return f"{word[: self.rng.randint(2, min(6, len(word)))]}*"
        return _bare(word)

    def _phrase(self) -> list[str]:
        """Return words that stood next to each other in a text, or any words."""
        count = self.rng.choice((2, 2, 3, 4, 9))
        said = self.rng.choice(self.world.said) if self.world.said else []
        if len(said) > 1 and self.rng.random() < 0.7:
            first = self.rng.randrange(len(said) - 1)
            return said[first : first + count]
        return [self.world.word() for _ in range(count)]

    def sharing_expression(self) -> str:
        """Return alternatives that share words: about as many as are written with each of them."""
        shared = [*map(_bare, self.world.some_words(near(self.rng, 2, 15, 16, 17)))]
        own = [self._keyword() for _ in range(self.rng.choice((2, 3, 6)))]
        return f"{' '.join(shared)} ({' OR '.join(own)})"

    def forbidding_expression(self) -> str:
        """Return a word and many that must be absent: about as many as a clause has."""
        words = self.world.some_words(near(self.rng, 3, 40, 255, 256, 257, 600))
        return " ".join([self._keyword(), *(f"-{_bare(word)}" for word in words)])

    def _group(self, count: int) -> str:
        return "(" + " OR ".join(self._keyword() for _ in range(count)) + ")"

    def expression(self) -> str:
        """Return groups of alternatives that are all wanted, or any nesting; a word is needed."""
        rng = self.rng
        choice = rng.random()
        if choice < 0.4:
            groups = [self._group(rng.choice((1, 2, 4, 7))) for _ in range(rng.choice((1, 2, 3)))]
            if rng.random() < 0.4:
                groups.append(rng.choice(_NOTS) + self._keyword())
            return rng.choice((" ", " AND ", " and ")).join(groups)
        if choice < 0.6:
            return self._keyword()
        return f"{self._keyword()} ({self.free_expression(3)})"

    def free_expression(self, depth: int = 3) -> str:
        """Return an expression that may hold without any word."""
        rng = self.rng
        if depth == 0 or rng.random() < 0.2:
            return self._keyword()
        if rng.random() < 0.3:
            return f"{rng.choice(_NOTS)}({self.free_expression(depth - 1)})"
        joint = rng.choice((" ", " AND ", " OR ", " or "))
        parts = [self.free_expression(depth - 1) for _ in range(rng.choice((2, 2, 3)))]
        return joint.join(f"({part})" for part in parts)

    def wide_expression(self, keywords: int) -> str:
        """Return so many words in groups, which multiplied out would be far too many clauses."""
        words = [self._keyword() for _ in range(keywords)]
        size = self.rng.choice((2, 3, 6))
        groups = [words[first : first + size] for first in range(0, keywords, size)]
        return " ".join(f"({' OR '.join(group)})" for group in groups)

    # ---- areas ------------------------------------------------------------------------------

    def city(self, corners: int) -> Any:
        """Return one of a few polygons, which many share."""
        if len(self._cities) < 8 or self.rng.random() < 0.05:
            self._cities.append(self.world.polygon(max(3, corners)))
        return self.rng.choice(self._cities)

    def several(self, corners: int = 12) -> Any:
        """Return an area of several parts, in any of its forms."""
        rng = self.rng
        choice = rng.random()
        if choice < 0.5:
            return [self.world.area(corners) for _ in range(rng.choice((1, 2, 2, 3, 9)))]
        polygons = [self.city(corners) for _ in range(rng.choice((1, 2, 3)))]
        if choice < 0.65:
            return {"type": "GeometryCollection", "geometries": polygons}
        features = [{"type": "Feature", "geometry": p, "properties": {}} for p in polygons]
        if choice < 0.8:
            return {"type": "FeatureCollection", "features": features}
        return features[0] if choice < 0.9 else [*features, self.world.bbox()]

    def area(self, corners: int = 12) -> Any:
        """Return an area of any kind, also of several parts."""
        choice = self.rng.random()
        if choice < 0.2:
            return self.several(corners)
        return self.city(corners) if choice < 0.3 else self.world.area(corners)

    # ---- all together -----------------------------------------------------------------------

    def enriched(self, fields: Json, corners: int = 12, share: float = 0.3) -> Json:
        """Return a match subscription with more wishes, each with this probability."""
        rng = self.rng
        if rng.random() < share:
            fields["where"] = self.where()
        if "keywords" in fields and rng.random() < share:
            is_free = "area" in fields or "where" in fields
            written = self.free_expression if is_free and rng.random() < 0.5 else self.expression
            fields["keywords"] = written()
        if "area" in fields and rng.random() < share:
            fields["area"] = self.area(corners)
        if rng.random() < share / 2:
            fields["except"] = self.area(corners)
        return fields
