"""Words and places of a scenario: heavy-tailed, with borders, ties, poles and odd spellings.

Everything is JSON and depends on one `random.Random` only. Circles stay away from distances at
which only rounding would decide.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from oracle.text import analyze

if TYPE_CHECKING:
    from random import Random

Json = dict[str, Any]

_ODD = (
    "é" * 10,
    "é" * 11,
    "漢字",
    "नमस्ते",
    "ß" * 3,
    "\u0301x",
    "3",
    "x²",
    "ﬁre",
    "٣",
    "a\u0301" * 5,
)
_LENGTHS = (1, 18, 19, 20, 21, 22, 63, 64, 65, 255, 256, 500)
_BORDERS = (-180.0, -179.5, 179.5, 180.0, 0.0, -0.0, 90.0, -90.0)
_RADII = (1.0, 777.7, 50_123.7, 112_345.6, 1_000_321.0, 10_100_123.0, 20_016_000.0)


def near(rng: Random, *thresholds: int) -> int:
    """Return one of the thresholds, or one less or more; at least 1."""
    return max(1, rng.choice(thresholds) + rng.choice((-1, 0, 1)))


class World:
    """Draws everything of one scenario."""

    def __init__(self, rng: Random, words: int, *, odd: bool = True) -> None:
        self.rng = rng
        spelled = [f"w{number}" for number in range(words)]
        if odd:
            unusual = [word for raw in _ODD for word in analyze(raw)]
            unusual += ["z" * length for length in _LENGTHS]
            for word in unusual:
                spelled[rng.randrange(words)] = word
        self.words = list(dict.fromkeys(spelled))
        self.centre = rng.choice(((10.0, 50.0), (179.0, -16.0), (0.0, 0.0), (-122.4, 37.8)))
        self.spread = rng.choice((0.01, 1.0, 8.0, 60.0))
        self.grid = rng.choice((0.0, 0.25, 0.01, 1 / 3))
        self.said: list[list[str]] = []  # words of the last texts, in their order

    # ---- words ------------------------------------------------------------------------------

    def word(self) -> str:
        """Return a word by Zipf's law."""
        return self.words[min(int(len(self.words) ** self.rng.random()), len(self.words)) - 1]

    def some_words(self, count: int) -> list[str]:
        """Return that many different words, common ones first to be chosen."""
        chosen: dict[str, None] = {}
        for _ in range(3 * count):
            if len(chosen) == count:
                break
            chosen[self.word()] = None
        for word in self.words:
            if len(chosen) >= count:
                break
            chosen[word] = None
        rest = count - len(chosen)
        return [*chosen, *(f"unheard{number}" for number in range(rest))]

    def text(self, tokens: int) -> str:
        """Return a text with that many different tokens, some said twice, some in capitals."""
        words = self.some_words(tokens) if tokens else []
        if words and self.rng.random() < 0.2:
            words += self.rng.choices(words, k=self.rng.randint(1, 5))
        if words and self.rng.random() < 0.2:
            words[0] = words[0].upper() if analyze(words[0].upper()) == [words[0]] else words[0]
        self.rng.shuffle(words)
        self.said = [*self.said[-7:], [word.lower() for word in words]]
        return self.rng.choice((" ", " ", ", ", "\n", "🙂")).join(words)

    def expression(self, clauses: int, tokens: int) -> str:
        """Return alternatives, some with words that must be absent."""
        groups: set[tuple[str, ...]] = set()
        for number in range(clauses):
            words = sorted(self.some_words(self.rng.randint(1, tokens)))
            unwanted = []
            if self.rng.random() < 0.3:
                unwanted = [f"-{word}" for word in self.some_words(2) if word not in words]
            group = (*words, *sorted(unwanted))
            groups.add((f"alone{number}", *group) if group in groups else group)
        return " OR ".join(f"({' '.join(group)})" for group in sorted(groups))

    # ---- places -----------------------------------------------------------------------------

    def _along(self, axis: int) -> float:
        limit = (180.0, 90.0)[axis]
        choice = self.rng.random()
        if choice < 0.05:
            return max(-limit, min(limit, self.rng.choice(_BORDERS)))
        drawn = self.rng.gauss(self.centre[axis], self.spread)
        if self.grid and choice < 0.7:
            drawn = round(drawn / self.grid) * self.grid
        return max(-limit, min(limit, drawn))

    def at(self) -> list[float]:
        """Return a position."""
        return [self._along(0), self._along(1)]

    def bbox(self) -> list[float]:
        """Return a box: without size, small, large, across the antimeridian, or the world."""
        choice = self.rng.random()
        if choice < 0.03:
            return [-180.0, -90.0, 180.0, 90.0]
        if choice < 0.08:
            return [179.0, -90.0 if choice < 0.05 else self._along(1), -179.0, 90.0]
        (west, south), size = self.at(), self.rng.choice((0.0, 0.25, 1.0, 4.0)) * self.spread
        wide, tall = (size * self.rng.choice((0, 1, 1, 1)) for _ in "xy")
        east, north = west + wide, min(90.0, south + tall)
        return [west, south, east if east <= 180 else max(-180.0, east - 360), north]

    def circle(self) -> Json:
        """Return a circle, sometimes at a pole."""
        centre = [self.rng.choice((0.0, 77.7)), 90.0] if self.rng.random() < 0.1 else self.at()
        is_pole = abs(centre[1]) == 90
        radius = self.rng.choice(_RADII) * self.rng.choice((1, self.rng.random() + 0.1))
        if not is_pole and self.rng.random() < 0.1:
            radius = 0.0
        return {"type": "Circle", "center": centre, "radius_m": radius}

    def polygon(self, corners: int) -> Json:
        """Return a star of that many corners, sometimes with a hole, or an outline at random."""
        choice = self.rng.random()
        if choice < 0.3:
            parts = [[self._star(corners)] for _ in range(2)]
            return {"type": "MultiPolygon", "coordinates": parts}
        if choice < 0.5 and corners >= 8:
            return {"type": "Polygon", "coordinates": self._frame(corners)}
        return {"type": "Polygon", "coordinates": [self._star(corners)]}

    def _frame(self, corners: int) -> list[list[list[float]]]:
        """Return a regular polygon with a smaller one as its hole."""
        x = max(-170.0, min(170.0, self.centre[0]))
        y = max(-80.0, min(80.0, self.centre[1]))
        size = min(8.0, self.spread)
        turns = [2 * math.pi * i / corners for i in range(corners)]
        circle = [(math.cos(turn), math.sin(turn)) for turn in turns]
        rings = [[[x + far * c, y + far * s] for c, s in circle] for far in (size, size / 2)]
        return [[*ring, ring[0]] for ring in rings]

    def _star(self, corners: int) -> list[list[float]]:
        x, y = self.at()
        size = self.spread * self.rng.choice((0.5, 2))
        turns = sorted(self.rng.random() for _ in range(corners))
        if self.rng.random() < 0.1:
            self.rng.shuffle(turns)  # crosses itself
        ring = []
        for turn in turns:
            far = size * self.rng.choice((1, 1, self.rng.random()))
            lon = x + far * math.cos(2 * math.pi * turn)
            lat = y + far * math.sin(2 * math.pi * turn)
            if self.grid and self.rng.random() < 0.5:
                lon, lat = round(lon / self.grid) * self.grid, round(lat / self.grid) * self.grid
            ring.append([max(-180.0, min(180.0, lon)), max(-90.0, min(90.0, lat))])
        return [*ring, ring[0]]

    def area(self, corners: int = 12) -> Any:
        """Return an area of any kind."""
        choice = self.rng.random()
        if choice < 0.7:
            return self.bbox()
        return self.circle() if choice < 0.85 else self.polygon(max(3, corners))

    def place(self, boxes: float = 0.3) -> Json:
        """Return where a message is: this share are boxes."""
        return {"bbox": self.bbox()} if self.rng.random() < boxes else {"at": self.at()}

    def weights(self) -> Json | None:
        """Return a weights epoch, or none."""
        if self.rng.random() < 0.3:
            return None
        documents = self.rng.choice((0, 1, 9, 1000, 10**9))
        chosen = self.rng.sample(self.words, min(len(self.words), self.rng.choice((1, 5, 100))))
        return {
            "documents": documents,
            "df": {word: self.rng.randint(0, documents) for word in chosen},
        }
