"""Cases for matchers, each shaped to cross some of the core's thresholds.

A profile is a function of a world; it returns subscriptions and how messages look. What happens to
them (tables or singly, erasing, opening a snapshot, erasing again) is the same for all.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

from differential.wishes import Wishes
from differential.worlds import Json, World, near

if TYPE_CHECKING:
    from collections.abc import Callable

    from differential.cases import Case, Step

BATCHES = (1, 7, 8, 9, 15, 16, 17, 24, 33, 64)
TOKENS = (0, 1, 2, 4, 5, 8, 15, 16, 17, 23, 24, 25, 31, 32, 33, 63, 64, 65, 127, 128, 129)
LISTS = (4, 16, 31, 32, 63, 64, 128, 256)


class _Plan:
    """What a profile decides."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.rows: list[Json] = []  # subscriptions
        self.tokens: tuple[int, ...] = TOKENS  # of a message, one of them or one more or less
        self.batches: tuple[int, ...] = BATCHES
        self.boxes = 0.3  # share of messages
        self.texts: list[str] = []  # instead of drawn ones
        self.first: int | None = None  # so many at once, the rest one by one
        self.wishes: Wishes | None = None  # messages have attributes

    def token_count(self) -> int:
        return max(0, self.world.rng.choice(self.tokens) + self.world.rng.choice((-1, 0, 0, 1)))

    def message(self) -> Json:
        if self.texts:
            text = self.world.rng.choice(self.texts)
        else:
            text = self.world.text(self.token_count())
        message = {"text": text, **self.world.place(self.boxes)}
        if self.wishes is not None:
            message["attributes"] = self.wishes.attributes()
        return message


def _area_or_none(world: World, share: float = 0.7) -> Json:
    return {"area": world.bbox()} if world.rng.random() < share else {}


def _wide_messages(rng: Random) -> _Plan:
    """Every word has a short list, messages have many words: lists fill what reads them at once."""
    words = near(rng, 8, 16, 31, 32, 64, 127, 128, 256, 600)
    plan = _Plan(World(rng, words))
    plan.tokens = (words, words // 8, words // 4, words // 2, 128, 31, 63)
    plan.batches = (1, 8, 9, 16, 40)
    for word in plan.world.words:
        plan.rows += [
            {"keywords": [word], **_area_or_none(plan.world, 0.3)}
            for _ in range(rng.choice((1, 1, 2, 5)))
        ]
    plan.rows += [{"area": plan.world.bbox()} for _ in range(rng.choice((0, 1, 1, 40)))]
    return plan


def _filled_portions(rng: Random) -> _Plan:
    """Eight messages that meet just as many lists as are read at once, one less or one more."""
    words = rng.choice((15, 16))
    plan = _Plan(World(rng, words, odd=False))
    plan.texts = [" ".join(plan.world.words)]
    plan.batches = (8, 16)
    plan.rows = [{"keywords": [word]} for word in plan.world.words]
    plan.rows += [{"area": [-180.0, -90.0, 180.0, 90.0]}] if words == 15 else []
    plan.rows += [{"keywords": [plan.world.word()], "area": plan.world.bbox()} for _ in range(9)]
    return plan


def _heavy_lists(rng: Random) -> _Plan:
    """A few words that very many ask for: lists become trees of one and two levels."""
    plan = _Plan(World(rng, rng.choice((1, 2, 3, 30))))
    plan.tokens = (1, 2, 3, 17, 33)
    plan.batches = (1, 8, 16, 30)
    for word in plan.world.words[:3]:
        length = near(rng, *LISTS, 320, 992, 1100)
        for _ in range(length):
            words = [word] if rng.random() < 0.5 else [word, plan.world.word()]
            plan.rows.append({"keywords": words, **_area_or_none(plan.world, 0.9)})
    plan.rows += [{"area": plan.world.bbox()} for _ in range(near(rng, *LISTS))]
    rng.shuffle(plan.rows)
    return plan


def _equal_boxes(rng: Random) -> _Plan:
    """Hundreds of subscriptions that differ in nothing but the id."""
    plan = _Plan(World(rng, 5))
    plan.tokens = (0, 1, 3)
    shared = {"keywords": [plan.world.word()], "area": plan.world.bbox()}
    plan.rows = [dict(shared) for _ in range(near(rng, 32, 64, 256, 600))]
    plan.rows += [{"area": shared["area"]} for _ in range(near(rng, 32, 64, 256))]
    return plan


def _alternatives(rng: Random) -> _Plan:
    """Up to 64 clauses, each up to a dozen words, some of them unwanted."""
    plan = _Plan(World(rng, rng.choice((3, 40, 300))))
    for _ in range(near(rng, 4, 8, 20)):
        clauses = min(64, near(rng, 1, 2, 3, 8, 31, 32, 63, 64))
        keywords = plan.world.expression(clauses, rng.choice((1, 2, 5, 12)))
        row: Json = {"keywords": keywords}
        if rng.random() < 0.6:
            row["area"] = plan.world.area()
        plan.rows.append(row)
    return plan


def _shapes(rng: Random) -> _Plan:
    """Polygons of three to hundreds of corners, circles, boxes without size."""
    plan = _Plan(World(rng, 6))
    plan.tokens = (0, 1, 3, 6)
    plan.batches = (1, 8, 17)
    for _ in range(near(rng, 16, 64, 100)):
        corners = max(3, near(rng, 3, 4, 8, 16, 32, 64, 128, 400))
        row = {"area": rng.choice((plan.world.polygon(corners), plan.world.area(corners)))}
        if rng.random() < 0.5:
            row["keywords"] = [plan.world.word()]
        plan.rows.append(row)
    return plan


def _many(rng: Random) -> _Plan:
    """As many subscriptions as make frames and trees be fitted anew, with a common tail."""
    plan = _Plan(World(rng, rng.choice((50, 1000))))
    plan.batches = (8, 16, 33)
    plan.tokens = (1, 3, 8, 20, 33)
    for _ in range(near(rng, 511, 512, 513, 600, 1000)):
        words = plan.world.some_words(rng.choice((1, 1, 2, 3)))
        row = {"keywords": words, **_area_or_none(plan.world, 0.9)}
        if rng.random() < 0.05 and "area" in row:
            del row["keywords"]
        plan.rows.append(row)
    return plan


def _thousands(rng: Random) -> _Plan:
    """The last time that frames and quadtrees are fitted anew, one by one past it."""
    plan = _Plan(World(rng, 300))
    plan.batches = (8, 16)
    plan.tokens = (2, 8)
    for _ in range(8194):
        row = {"keywords": plan.world.some_words(rng.choice((1, 2))), "area": plan.world.bbox()}
        plan.rows.append(row)
    plan.first = 8190
    return plan


def _longest_clauses(rng: Random) -> _Plan:
    """As many words as a clause may have."""
    plan = _Plan(World(rng, 5))
    words = [f"t{number}" for number in range(8192)]
    plan.rows = [{"keywords": words[:count]} for count in (8190, 8191, 1, 2)]
    plan.rows.append({"keywords": words[1:8192], "area": plan.world.bbox()})
    plan.texts = [" ".join(words[first:last]) for first in (0, 1) for last in (8190, 8191, 8192)]
    plan.batches = (3, 8)
    return plan


def _long_clauses(rng: Random) -> _Plan:
    """Clauses of up to hundreds of words, and messages that have them all or lack one."""
    plan = _Plan(World(rng, 700))
    plan.tokens = (16, 64, 256, 512, 700, 1999)
    plan.batches = (1, 8, 9)
    for _ in range(near(rng, 8, 64)):
        count = near(rng, 1, 5, 16, 24, 25, 32, 64, 200, 400)
        plan.rows.append({"keywords": plan.world.some_words(count), **_area_or_none(plan.world)})
    return plan


def _mixed(rng: Random) -> _Plan:
    """Everything at once."""
    plan = _Plan(World(rng, rng.choice((2, 20, 200))))
    plan.batches = (64, 128, 256, 500)
    for _ in range(near(rng, *LISTS)):
        choice = rng.random()
        row: Json = {}
        if choice < 0.8:
            row["keywords"] = plan.world.some_words(rng.choice((1, 1, 2, 3, 6)))
        if choice < 0.1:
            row["keywords"] = plan.world.expression(rng.choice((1, 2, 5)), 3)
        if choice > 0.2:
            row["area"] = plan.world.area(near(rng, 4, 16))
        plan.rows.append(row)
    return plan


def _expressions(rng: Random) -> _Plan:
    """Phrases, prefixes and groups of alternatives, some of them very wide."""
    plan = _Plan(World(rng, rng.choice((3, 40, 300))))
    wishes = Wishes(plan.world)
    plan.tokens = (0, 3, 12, 33, 70)
    plan.batches = (1, 8, 40)
    for _ in range(near(rng, 16, 64, 150)):
        row: Json = {"keywords": wishes.expression()}
        if rng.random() < 0.6:
            row = {"keywords": wishes.free_expression(), "area": plan.world.area()}
        if rng.random() < 0.1:
            row["keywords"] = wishes.wide_expression(near(rng, 7, 64, 300, 1023))
        elif rng.random() < 0.1:
            row["keywords"] = wishes.sharing_expression()
        elif rng.random() < 0.05:
            row["keywords"] = wishes.forbidding_expression()
        plan.rows.append(row)
    return plan


def _ranges(rng: Random) -> _Plan:
    """A frequent word, or none at all, and a range: groups of every size."""
    plan = _Plan(World(rng, rng.choice((1, 3, 30))))
    plan.wishes = Wishes(plan.world)
    plan.tokens = (1, 2, 5)
    plan.batches = (1, 8, 30)
    is_narrow = rng.random() < 0.5  # then nearly all are filed by ranges
    for _ in range(near(rng, *LISTS, 500, 1000)):
        row: Json = {"where": plan.wishes.range() if is_narrow else plan.wishes.where()}
        if rng.random() < 0.7:
            row["keywords"] = plan.world.some_words(rng.choice((1, 1, 1, 2)))
        if rng.random() < (0.2 if is_narrow else 0.5):
            row["area"] = plan.world.bbox()
        plan.rows.append(row)
    return plan


def _cities(rng: Random) -> _Plan:
    """Few shapes that very many share, alone and in collections, and parts that are excluded."""
    plan = _Plan(World(rng, 6))
    wishes = Wishes(plan.world)
    plan.tokens = (0, 1, 3, 6)
    plan.batches = (1, 8, 17)
    for _ in range(near(rng, 16, 64, 256, 400)):
        corners = near(rng, 4, 16, 32, 64, 128, 400)
        shape = wishes.several if rng.random() < 0.4 else wishes.city
        row = {"area": shape(corners)}
        if rng.random() < 0.5:
            row["keywords"] = [plan.world.word()]
        if rng.random() < 0.3:
            row["except"] = wishes.area(corners)
        plan.rows.append(row)
    return plan


def _alerts(rng: Random) -> _Plan:
    """Everything that an alert can ask for."""
    plan = _Plan(World(rng, rng.choice((3, 20, 200))))
    plan.wishes = Wishes(plan.world)
    plan.batches = (8, 33, 64)
    for _ in range(near(rng, *LISTS)):
        row: Json = {"keywords": plan.world.some_words(rng.choice((1, 1, 2, 3)))}
        if rng.random() < 0.7:
            row["area"] = plan.world.area(12)
        plan.rows.append(plan.wishes.enriched(row, 16, 0.5))
    return plan


MATCH_PROFILES: dict[str, Callable[[Random], _Plan]] = {
    "wide messages": _wide_messages,
    "filled portions": _filled_portions,
    "heavy lists": _heavy_lists,
    "equal boxes": _equal_boxes,
    "alternatives": _alternatives,
    "shapes": _shapes,
    "many": _many,
    "thousands": _thousands,
    "long clauses": _long_clauses,
    "longest clauses": _longest_clauses,
    "mixed": _mixed,
    "expressions": _expressions,
    "ranges": _ranges,
    "cities": _cities,
    "alerts": _alerts,
}
RANK_PROFILES = (
    *("wide messages", "heavy lists", "equal boxes", "many", "long clauses", "longest clauses"),
)


def match_case(profile: str, seed: int) -> Case:
    """Return a case for match mode."""
    rng = Random(f"match {profile} {seed}")
    return _case("match", profile, seed, MATCH_PROFILES[profile](rng))


def rank_case(profile: str, seed: int) -> Case:
    """Return a case for rank mode: the same subscriptions, with what a score needs."""
    rng = Random(f"rank {profile} {seed}")
    plan = MATCH_PROFILES[profile](rng)
    for row in plan.rows:
        row.setdefault("keywords", plan.world.some_words(rng.choice((1, 2, 5, 6, 25))))
        row.setdefault("area", plan.world.bbox())
        row["alpha"] = rng.choice((0, 0.1, 0.25, 0.3, 0.5, 0.9, 1))
        row["threshold"] = rng.choice(
            (0.1, 0.25, 0.5, 2 / 3, 0.8333333333, 0.9, 1, 1, rng.random())
        )
        row["threshold"] = max(row["threshold"], 1e-3)
    plan.tokens = tuple(min(count, 260) for count in plan.tokens)
    return _case("rank", profile, seed, plan)


def _case(mode: str, profile: str, seed: int, plan: _Plan) -> Case:
    rng = plan.world.rng
    numbered = rng.random() < 0.5
    for number, row in enumerate(plan.rows):
        row["id"] = number if numbered and mode == "match" else f"s{number}"
    return {
        "driver": "tables",
        "settings": {"mode": mode, "profile": profile, "seed": seed},
        "steps": list(_steps(mode, plan)),
    }


def _is_plain(row: Json) -> bool:
    """Return whether a row is for a table with lists of keywords and with boxes."""
    area = row.get("area", [])
    is_box = isinstance(area, list) and not any(isinstance(part, (list, dict)) for part in area)
    is_list = not isinstance(row.get("keywords"), str)
    return is_list and is_box and "except" not in row


def _steps(mode: str, plan: _Plan) -> list[Step]:
    rng = plan.world.rng
    steps: list[Step] = []
    live: dict[Any, Json] = {}

    def subscribe(rows: list[Json], *, singly: bool) -> None:
        live.update((row["id"], row) for row in rows)
        if singly:
            steps.append({"do": "single", "rows": rows})
            return
        steps.append({"do": "table", "rows": [row for row in rows if _is_plain(row)]})
        steps.append({"do": "single", "rows": [row for row in rows if not _is_plain(row)]})

    def match(count: int) -> None:
        form = rng.choice(("text", "text", "tokens", "coded", "single"))
        plan.boxes = rng.choice((0, 0.3, 0.3, 1))
        rows = [plan.message() for _ in range(count)]
        steps.append({"do": "match", "form": form, "rows": rows})

    def drop(count: int) -> list[Json]:
        ids = rng.sample(list(live), max(0, min(count, len(live))))
        steps.append({"do": "drop", "bulk": rng.random() < 0.5, "rows": ids})
        return [live.pop(id_) for id_ in ids]

    rows = plan.rows
    if mode == "match" and rng.random() < 0.3:
        steps.append({"do": "learn", "rows": [plan.message() for _ in range(20)]})
    first = rng.choice((len(rows), len(rows) // 2, len(rows) * 9 // 10, 0))
    first = first if plan.first is None else plan.first
    subscribe(rows[:first], singly=False)
    subscribe(rows[first:], singly=plan.first is not None or rng.random() < 0.7)
    match(near(rng, *plan.batches))
    if mode == "rank":
        steps.append({"do": "weights", "weights": plan.world.weights()})
        match(near(rng, *plan.batches))
    gone = drop(len(live) * rng.choice((1, 2, 2, 3)) // 3)
    match(near(rng, 8, 16))
    steps.append({"do": "save", "verify": rng.choice((True, False, None))})
    match(near(rng, 1, 8))
    subscribe(gone, singly=rng.random() < 0.5)
    match(near(rng, *plan.batches))
    drop(len(live) - near(rng, 1, 31, 32))
    steps.append({"do": "check"})
    match(near(rng, 8))
    return steps
