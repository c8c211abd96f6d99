"""Cases for hubs: logs in which subscriptions and messages of all modes come, move and go."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, Any

from differential.wishes import Wishes
from differential.worlds import Json, World, near

if TYPE_CHECKING:
    from differential.cases import Case, Step

_ALPHAS = (0, 0.1, 0.3, 0.5, 0.9, 1)
_THRESHOLDS = (0.1, 0.25, 0.5, 2 / 3, 0.9, 1)


@dataclass
class Plan:
    """How large the parts of a log are."""

    words: int = 30
    events: int = 600
    opening: int = 100  # subscriptions at the start
    modes: tuple[str, ...] = ("match", "match", "rank", "top")
    live: float = 0.7  # share of those that can be live
    tokens: tuple[int, ...] = (1, 2, 3, 5)
    wanted: tuple[int, ...] = (1, 1, 2, 3)  # keywords of a subscription
    ks: tuple[int, ...] = (1, 2, 3, 10)
    boxes: float = 0.2
    corners: int = 12
    batches: tuple[int, ...] = (1, 7, 40, 200)
    publishing: float = 0.6  # share of events
    expiring: float = 0.2  # share of what may end by itself
    window: Json = field(default_factory=dict)
    space: tuple[float, ...] = (-180, -90, 180, 90)
    waiting: int = 0  # messages before the first subscription
    crowds: tuple[int, ...] = ()  # so many top subscriptions with each of the first words
    wishing: float = 0.15  # share of subscriptions with a where, an expression, several areas
    replacing: float = 0.1  # share of what is published or subscribed in the place of another


def _live_sets(rng: Random) -> Plan:
    count = near(rng, 16, 32, 64, 256, 512, 600)
    return Plan(
        words=rng.choice((2, 12, 60)),
        modes=("match", "match", "match", "rank"),
        live=0.95,
        opening=near(rng, 16, 64, 150),
        window={"window_count": count},
        events=count + near(rng, 300, 500),
        tokens=(1, 3, near(rng, 16, 24, 32, 64)),
    )


def _top_lists(rng: Random) -> Plan:
    count = near(rng, 8, 24, 64, 256, 500)
    k = rng.choice((1, 3, 8, 16, 50))
    return Plan(
        words=rng.choice((3, 20, 200)),
        modes=("top",),
        opening=near(rng, 8, 16, 64, 200),
        ks=(k, 1, k + 1),
        wanted=(1, 1, 2, 3, 4, 5, 16, 17),
        window={"window_count": count},
        events=2 * count + near(rng, 100, 300),
        tokens=(1, 2, 4, 5, 15, 16, 17, 24, 25),
        publishing=0.85,
        space=rng.choice(((-180, -90, 180, 90), (5, 45, 15, 55))),
    )


def _crowded_tops(rng: Random) -> Plan:
    """So many top subscriptions with one word that its list is a long one."""
    return Plan(
        words=rng.choice((1, 2, 6)),
        modes=("top",),
        opening=near(rng, 500, 512, 530, 600),
        ks=(1, 2, 5),
        wanted=(1, 1, 1, 2),
        window={"window_count": near(rng, 4, 16)},
        events=near(rng, 60),
        tokens=(1, 2, 3, 24, 25),
        publishing=0.9,
    )


def _equal_tops(rng: Random) -> Plan:
    """Words that so many want that all their lists are searched anew at once."""
    return Plan(
        words=3,
        modes=("top",),
        opening=0,
        crowds=(255, 256, 257),
        ks=(1, 2),
        wanted=(1,),
        window={"window_count": rng.choice((2, 4))},
        events=near(rng, 40),
        tokens=(1,),
        publishing=0.95,
        expiring=0,
        wishing=0,  # all lists of a word change at once
        replacing=0,
    )


def _full_windows(rng: Random) -> Plan:
    """Hundreds of live messages with few words: their lists are split, swept and fitted anew."""
    count = rng.choice((511, 513, 1025))
    return Plan(
        words=rng.choice((1, 3)),
        modes=("match", "match", "rank", "top"),
        live=1,
        opening=near(rng, 8),
        ks=(3, 4, 5, 63, 64, 65),
        wanted=(1,),
        window={"window_count": count},
        events=count + near(rng, 256),
        tokens=(1, 2),
        publishing=0.97,
        expiring=0.02,
        boxes=0.1,
    )


def _backlog(rng: Random) -> Plan:
    """Messages that were there before the first subscription that asks for them."""
    waiting = 2500  # of which some have an id that is in use
    return Plan(
        words=rng.choice((3, 30)),
        live=1,
        waiting=waiting,
        opening=near(rng, 3),
        window=rng.choice(({"window_count": waiting + 5}, {"window_seconds": 3000})),
        events=near(rng, 60, 130),
        publishing=0.5,
        expiring=0.1,
        batches=(1, 3, 40),
    )


def _short_backlog(rng: Random) -> Plan:
    plan = _backlog(rng)
    plan.waiting = near(rng, 128, 256)
    return plan


def _long_messages(rng: Random) -> Plan:
    count = near(rng, 8, 40)
    return Plan(
        words=rng.choice((150, 700)),
        opening=near(rng, 64, 128, 200),
        wanted=(1, 1, 2, 5, 6, 16, 24, 25),
        tokens=tuple(near(rng, 24, 31, 32, 64, 127, 128, 129, 300, 700, 1999) for _ in range(4)),
        window={"window_count": count},
        events=near(rng, 120, 200),
        publishing=0.75,
    )


def _shapes(rng: Random) -> Plan:
    return Plan(
        words=4,
        modes=("match",),
        opening=near(rng, 32, 64),
        corners=max(3, near(rng, 4, 16, 64, 300)),
        window={"window_seconds": rng.choice((5, 50))},
        events=near(rng, 200, 300),
        boxes=0.5,
    )


def _churn(rng: Random) -> Plan:
    """Much that expires; ids and slots are used again."""
    return Plan(
        words=rng.choice((2, 15, 100)),
        opening=near(rng, 8, 32),
        window=rng.choice(({}, {"window_seconds": 7}, {"window_count": 9})),
        events=near(rng, 500, 800),
        publishing=0.4,
        expiring=0.6,
        batches=(1, 5, 300),
    )


def _ranks(rng: Random) -> Plan:
    return Plan(
        words=rng.choice((3, 25)),
        modes=("rank", "rank", "match"),
        opening=near(rng, 64, 128, 300),
        wanted=(1, 2, 3, 5, 6, 7, 25),
        window={"window_count": near(rng, 16, 64, 128)},
        events=near(rng, 250, 350),
        boxes=0.5,
    )


def _alerts(rng: Random) -> Plan:
    """Frequent words with ranges, phrases, prefixes and shared areas; prices that change."""
    return Plan(
        words=rng.choice((3, 20, 200)),
        modes=("match", "match", "match", "match", "rank", "top"),
        opening=near(rng, 64, 128, 300),
        live=0.5,
        tokens=(2, 5, 12),
        corners=max(3, near(rng, 4, 16, 32, 64)),
        window={"window_count": near(rng, 32, 100)},
        events=near(rng, 300, 400),
        wishing=0.6,
        replacing=0.4,
    )


def _phrases(rng: Random) -> Plan:
    """Live phrases in kept messages of about as many words as a place among them has bytes for."""
    return Plan(
        words=rng.choice((20, 900)),
        modes=("match",),
        live=0.9,
        opening=near(rng, 8, 32),
        tokens=(3, 30, 254, 255, 256, 700),
        window={"window_count": near(rng, 16, 40)},
        events=near(rng, 150),
        publishing=0.5,
        wishing=0.8,
    )


def _replaced(rng: Random) -> Plan:
    """Few ids, each of which has many versions, of other modes too."""
    return Plan(
        words=rng.choice((2, 8)),
        opening=near(rng, 8, 32),
        ks=(1, 2, 5),
        window=rng.choice(({"window_count": near(rng, 4, 16)}, {"window_seconds": 6}, {})),
        events=near(rng, 400, 600),
        publishing=0.5,
        expiring=0.3,
        replacing=0.8,
    )


HUB_PROFILES = {
    "live sets": _live_sets,
    "top lists": _top_lists,
    "crowded tops": _crowded_tops,
    "equal tops": _equal_tops,
    "full windows": _full_windows,
    "backlog": _backlog,
    "short backlog": _short_backlog,
    "long messages": _long_messages,
    "shapes": _shapes,
    "churn": _churn,
    "ranks": _ranks,
    "replaced": _replaced,
    "phrases": _phrases,
    "alerts": _alerts,
}


def hub_case(profile: str, seed: int) -> Case:
    """Return a case for hubs."""
    rng = Random(f"hub {profile} {seed}")
    plan = HUB_PROFILES[profile](rng)
    log = _Log(rng, plan)
    window = plan.window
    settings = {**window, "space": list(plan.space), "weights": log.world.weights()}
    return {
        "driver": "hub",
        "settings": {"profile": profile, "seed": seed, "hub": settings},
        "steps": log.steps(),
    }


class _Log:
    """Draws events; an id that it takes for used may have expired, and such events are rejected."""

    def __init__(self, rng: Random, plan: Plan) -> None:
        self.rng, self.plan = rng, plan
        self.world = World(rng, plan.words, odd=not plan.crowds)
        self.wishes = Wishes(self.world)
        self.clock = 0.0
        self.modes: dict[str, str] = {}
        self.messages: list[str] = []
        self.numbers = 0

    def steps(self) -> list[Step]:
        waiting = [self._publish() for _ in range(self.plan.waiting)]
        opening = [self._subscribe() for _ in range(self.plan.opening)]
        for word, crowd in zip(self.world.words, self.plan.crowds, strict=False):
            names = [f"{word}-{number}" for number in range(crowd)]
            opening += [{**self._subscribe(), "id": name, "keywords": [word]} for name in names]
        steps: list[Step] = [{"do": "apply", "rows": waiting}] if waiting else []
        steps.append({"do": "apply", "rows": opening})
        left = self.plan.events
        while left > 0:
            size = min(left, near(self.rng, *self.plan.batches))
            steps.append({"do": "apply", "rows": [self._event() for _ in range(size)]})
            left -= size
            choice = self.rng.random()
            if choice < 0.15:
                steps.append({"do": "save", "verify": self.rng.choice((True, False, None))})
            elif choice < 0.25:
                steps.append({"do": "weights", "weights": self.world.weights()})
            elif choice < 0.35:
                steps.append({"do": "check"})
        return steps

    def _event(self) -> Json:
        event = self._drawn()
        if self.rng.random() < 0.5:
            self.clock += self.rng.choice((0, 0.5, 1, 1, 2))
            event["time"] = self.clock - self.rng.choice((0, 0, 0, 0, 3))
        return event

    def _drawn(self) -> Json:
        if self.rng.random() < self.plan.publishing:
            return self._publish()
        choice = self.rng.random()
        if choice < 0.03:
            return {"op": "advance", "time": self.clock}
        if choice < 0.3 or not self.modes:
            return self._subscribe()
        if choice < 0.5:
            gone = self.rng.choice(list(self.modes))
            del self.modes[gone]
            return {"op": "unsubscribe", "id": gone}
        if choice < 0.8:
            return self._move()
        gone = self.rng.choice(self.messages[-200:] or ["nothing"])
        return {"op": "retract", "id": gone}

    def _publish(self) -> Json:
        self.numbers += 1
        id_ = f"m{self.numbers % 4001}"
        if self.messages and self.rng.random() < 0.1:
            id_ = self.rng.choice(self.messages[-50:])  # in use, or free again
        self.messages.append(id_)
        count = max(0, self.rng.choice(self.plan.tokens) + self.rng.choice((-1, 0, 0, 1)))
        place = self.world.place(self.plan.boxes)
        event = {"op": "publish", "id": id_, "text": self.world.text(count), **place}
        if self.rng.random() < 0.8:
            event["attributes"] = self.wishes.attributes()
        if self.messages and self._replaces():
            event |= {"id": self.rng.choice(self.messages[-50:]), "replace": True}
        if self.rng.random() < self.plan.expiring:
            event["expires"] = self.clock + self.rng.choice((0, 1, 2, 5, 30))
        return event

    def _subscribe(self) -> Json:
        self.numbers += 1
        id_ = f"s{self.numbers % 4999}"
        if self.modes and self.rng.random() < 0.05:
            id_ = self.rng.choice(list(self.modes))
        mode = self.rng.choice(self.plan.modes)
        event: Json = {"op": "subscribe", "id": id_}
        if self.modes and self._replaces():
            id_ = self.rng.choice(list(self.modes))
            event |= {"id": id_, "replace": True}
        event |= {"match": self._matching, "rank": self._ranking, "top": self._topping}[mode]()
        if mode != "top" and self.rng.random() < self.plan.live:
            event["live"] = True
        if self.rng.random() < self.plan.expiring / 2:
            event["expires"] = self.clock + self.rng.choice((0, 1, 5, 20, 60))
        self.modes[id_] = mode
        return event

    def _replaces(self) -> bool:
        return self.rng.random() < self.plan.replacing

    def _condition(self) -> Json:
        is_drawn = self.rng.random() < self.plan.wishing
        return {"where": self.wishes.where()} if is_drawn else {}

    def _keywords(self) -> list[str]:
        return self.world.some_words(self.rng.choice(self.plan.wanted))

    def _matching(self) -> Json:
        choice = self.rng.random()
        fields: Json = {"keywords": self._keywords(), "area": self.world.area(self.plan.corners)}
        if choice < 0.15:
            fields["keywords"] = self.world.expression(self.rng.choice((2, 4, 9)), 3)
        elif choice < 0.25:
            del fields["keywords"]
        elif choice < 0.35:
            del fields["area"]
        return self.wishes.enriched(fields, self.plan.corners, self.plan.wishing)

    def _ranking(self) -> Json:
        return {
            "mode": "rank",
            "keywords": self._keywords(),
            "area": self.world.bbox(),
            "alpha": self.rng.choice(_ALPHAS),
            "threshold": self.rng.choice(_THRESHOLDS),
            **self._condition(),
        }

    def _topping(self) -> Json:
        return {
            "mode": "top",
            "keywords": self._keywords(),
            "at": self.world.at(),
            "alpha": self.rng.choice((*_ALPHAS, self.rng.random())),
            "k": self.rng.choice(self.plan.ks),
            **self._condition(),
        }

    def _move(self) -> Json:
        id_ = self.rng.choice(list(self.modes))
        places: dict[str, Any] = {
            "match": lambda: {"area": self.world.area(self.plan.corners)},
            "rank": lambda: {"area": self.world.bbox()},
            "top": lambda: {"at": self.world.at()},
        }
        return {"op": "move", "id": id_, **places[self.modes[id_]]()}
