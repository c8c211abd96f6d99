"""Snapshots with something of everything, and questions for whatever comes out of a file."""

from __future__ import annotations

import contextlib
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa

import nearcast as nc

if TYPE_CHECKING:
    import random
    from collections.abc import Callable
    from pathlib import Path

WORDS = [f"w{i}" for i in range(12)] + ["é漢字", "a-word-of-more-than-twenty-letters"]
TRIANGLE = {"type": "Polygon", "coordinates": [[[0, 0], [9, 0], [0, 9], [0, 0]]]}
CIRCLE = {"type": "Circle", "center": [1, 1], "radius_m": 300_000}
AREAS = [None, [0, 0, 3, 3], [170, -10, -170, 10], TRIANGLE, CIRCLE, [-5, -5, 5, 5]]
UNION = {"type": "GeometryCollection", "geometries": [TRIANGLE, CIRCLE, TRIANGLE]}
ROUND = {
    "type": "Polygon",  # of so many corners that a tree finds them
    "coordinates": [[[i % 80 / 8, (i * 7) % 80 / 8] for i in range(80)] + [[0, 0]]],
}
EXPRESSIONS = ["w0", "w1 w2", "w1 OR (w2 -w3)", "(w1 OR w2) (w3 OR é漢字) -w4", WORDS[-1]]


def _matcher(kind: str, count: int, **options: Any) -> nc.Matcher:
    matcher = nc.Matcher(kind, **options)
    sample = {"text": [f"{w} w1" for w in WORDS], "lon": [1.0] * 14, "lat": [2.0] * 14}
    matcher.learn_table(pa.table(sample))
    for i in range(count):
        keywords = EXPRESSIONS[i % 5] if i % 3 else f"w{i % 2} w{i % 12}"
        area = AREAS[i % 6] or (None if keywords else [0, 0, 1, 1])
        matcher.subscribe(f"s{i}", keywords=keywords, area=area)
    matcher.subscribe("place alone", area=[0, 0, 3, 3])
    for i in range(0, count, 5):
        matcher.unsubscribe(f"s{i}")
    return matcher


WISHES: list[dict[str, Any]] = [
    {"keywords": '"w1 w2" OR w3*', "where": "price <= 12 AND rooms >= 2"},
    {"keywords": "(w0 OR w1) (w2 OR w3) -w4*", "area": UNION},
    {"where": "price >= 3 AND price <= 9 OR kind IN ('loft', 'flat')", "except_": TRIANGLE},
    {"keywords": "w2", "area": ROUND, "except_": [0, 0, 1, 1]},
    {"where": "NOT sold = true AND tags = 'é漢字' AND rooms EXISTS", "area": [0, 0, 9, 9]},
    {"keywords": "-w5", "where": "price > 4"},
]


def _attributes(number: int) -> dict[str, Any]:
    tags = ["é漢字", "x"][: number % 3]
    kind = ("loft", "house")[number % 2]
    return {"price": number % 14, "rooms": number % 4, "sold": number % 3 == 0, "kind": kind} | (
        {"tags": tags} if tags else {}
    )


def _wishing_matcher(kind: str) -> nc.Matcher:
    matcher = nc.Matcher(kind)
    for i in range(48):
        matcher.subscribe(f"s{i}", **WISHES[i % 6])
    for i in range(0, 48, 5):
        matcher.unsubscribe(f"s{i}")
    return matcher


def _wishing_hub(**options: Any) -> nc.Hub:
    hub: Any = nc.Hub(window=nc.Window(count=40), **options)
    for i in range(24):
        hub.subscribe(f"match{i}", live=i % 2 == 0, **WISHES[i % 6])
        terms = {"keywords": ["w1", WORDS[i % 14]], "alpha": 0.5, "where": "price < 9 OR rooms = 1"}
        hub.subscribe(f"top{i}", mode="top", at=[i % 4, 1], k=1 + i % 4, **terms)
        hub.subscribe(f"rank{i}", mode="rank", area=[-3, -3, 4, 4], threshold=0.2, **terms)
    for i in range(60):
        text = f"w1 w2 {WORDS[i % 14]} {WORDS[i * 3 % 14]}"
        hub.publish(f"m{i}", text, at=[i % 5, i % 3], attributes=_attributes(i), time=i)
    hub.subscribe("match3", replace=True, **WISHES[0])
    hub.publish("m50", "w3 w4", at=[1, 1], attributes=_attributes(7), replace=True)
    for i in range(0, 24, 5):
        hub.unsubscribe(f"match{i}")
    made: nc.Hub = hub
    return made


def _rank_matcher(kind: str) -> nc.Matcher:
    matcher = nc.Matcher(kind, mode="rank")
    matcher.set_weights(nc.Weights(documents=100, df={"w1": 50, "w2": 3, "é漢字": 1}))
    for i in range(60):
        matcher.subscribe(
            i,
            keywords=[WORDS[i % 14], WORDS[i * 5 % 14]],
            area=AREAS[1 + i % 2],
            alpha=i % 5 / 4,
            threshold=0.1 + i % 7 / 8,
        )
    for i in range(0, 60, 7):
        matcher.unsubscribe(i)
    return matcher


def _hub(**options: Any) -> nc.Hub:
    hub: Any = nc.Hub(window=nc.Window(count=60), **options)  # any: mypy cannot follow **fields
    hub.set_weights(nc.Weights(documents=100, df={"w1": 50, "w2": 3}))
    box = [-3, -3, 4, 4]
    for i in range(24):
        word, other = WORDS[i % 14], WORDS[i * 5 % 14]
        plain = {"keywords": f"{word} OR {other}", "area": AREAS[1 + i % 5], "live": i % 2 == 0}
        ranked = {"alpha": i % 5 / 4, "keywords": sorted({word, other}), "live": i % 3 == 0}
        hub.subscribe(f"match{i}", **plain, **({"expires": 40 + i} if i % 6 == 0 else {}))
        hub.subscribe(f"rank{i}", mode="rank", area=box, threshold=0.2, **ranked)
        top = {"alpha": 0.5, "keywords": sorted({word, other}), "at": [i % 4, 1], "k": 1 + i % 4}
        hub.subscribe(f"top{i}", mode="top", **top)
    for i in range(80):
        text = f"{WORDS[i % 14]} {WORDS[i * 3 % 14]} {WORDS[i % 2]}"
        place = {"bbox": [175, 0, -175, 2]} if i % 9 == 0 else {"at": [i % 5, i % 3]}
        ends = {"expires": 60 + i} if i % 4 == 0 else {}
        hub.publish(f"m{i}", text, time=i / 4, **place, **ends)
    for i in range(0, 24, 5):
        for mode in ("match", "rank", "top"):
            hub.unsubscribe(f"{mode}{i}")
    hub.retract("m70")
    made: nc.Hub = hub
    return made


def save_corpus(folder: Path) -> None:
    """Write the good snapshots that mutants are made of."""
    made: dict[str, nc.Matcher | nc.Hub] = {
        "auto": _matcher("auto", 90),
        "auto-trees": _matcher("auto", 300, index_parameters={"small_list": 4}),
        "ap-tree": _matcher("ap-tree", 60),
        "rq-tree": _matcher("rq-tree", 40),
        "rank-auto": _rank_matcher("auto"),
        "rank-ir-tree": _rank_matcher("ir-tree"),
        "wishes": _wishing_matcher("auto"),
        "wishes-ap-tree": _wishing_matcher("ap-tree"),
        "hub": _hub(safe_region=True),
        "hub-wishes": _wishing_hub(safe_region=True),
        "hub-wishes-papers": _wishing_hub(index="rq+-tree", topk="igpt"),
        "hub-papers": _hub(index="ap+-tree", topk="igpt", expiry="cskyband"),
        "hub-quad": _hub(index="iq+-tree", topk="ciq", safe_region=True),
        "empty": nc.Matcher(),
        "empty-hub": nc.Hub(),
    }
    for name, one in made.items():
        one.save(folder / name)


def try_out(path: Path, rng: random.Random) -> bool:
    """Open a file, ask it, change it, save it: whether it was opened. Raises what must not be."""
    try:
        opened = open_any(path)
    except (nc.SnapshotError, nc.InvalidParameterError) as error:
        str(error).encode()  # must be printable
        return False
    steps = _hub_steps(opened) if isinstance(opened, nc.Hub) else _matcher_steps(opened)
    steps.append(lambda: opened.save(path.with_suffix(".again")))
    rng.shuffle(steps)
    for step in steps:
        with contextlib.suppress(nc.NearcastError):
            step()
    return True


def open_any(path: Path) -> nc.Hub | nc.Matcher:
    """Open whatever the file holds."""
    first = path.read_bytes()[4096:4160].split(b"\n")[0]
    return nc.Hub.open(path) if first.endswith(b"\thub") else nc.Matcher.open(path)


def _matcher_steps(matcher: nc.Matcher) -> list[Callable[[], object]]:
    ask: Callable[..., object] = matcher.match if matcher.mode == "match" else matcher.rank
    table = matcher.match_table if matcher.mode == "match" else matcher.rank_table
    ranked: dict[str, Any] = {} if matcher.mode == "match" else {"alpha": 0.5, "threshold": 0.3}
    texts = [f"{word} w1 w2" for word in WORDS]
    messages = pa.table({"text": texts * 2, "lon": [1.0, 175.0] * 14, "lat": [1.0] * 28})

    def change(id_: int | str) -> None:
        matcher.unsubscribe(id_)
        matcher.subscribe(id_, keywords=["w1", "newcomer"], area=[0, 0, 2, 2], **ranked)

    def add() -> None:
        for i in range(40):
            area = AREAS[1 + i % 2]
            matcher.subscribe(f"n{i}", keywords=[f"w{i % 3}", f"new{i}"], area=area, **ranked)

    def remove() -> None:
        for i in range(300):
            for id_ in (f"s{i}", i):
                with contextlib.suppress(nc.NearcastError):
                    matcher.unsubscribe(id_)

    steps: list[Callable[[], object]] = [partial(ask, f"{w} w1", at=(1, 1)) for w in WORDS]
    steps += [lambda: ask(WORDS, bbox=(-10, -10, 10, 10)), lambda: ask("w0 w1", at=(-175, 0))]
    if matcher.mode == "match":
        steps += [
            partial(ask, f"w{i} w1 w2", at=(1, i % 3), attributes=_attributes(i)) for i in range(9)
        ]
        steps += [partial(matcher.subscribe, f"wish{i}", **w) for i, w in enumerate(WISHES)]
    steps += [lambda: table(messages), add, remove, matcher.stats, lambda: len(matcher)]
    steps += [lambda: ask(WORDS, bbox=(-180, -90, 180, 90)), matcher.check_invariants]
    return steps + [partial(change, i) for i in ("s1", "s2", "s7", 1, 2, 50)]


def _hub_steps(hub: nc.Hub) -> list[Callable[[], object]]:
    number = iter(range(10**6))

    def publish(**place: Any) -> None:
        i = next(number)
        text = f"{WORDS[i % 14]} w1 {WORDS[i * 3 % 14]} fresh{i}"
        hub.publish(f"new{i}", text, attributes=_attributes(i) if i % 2 else None, **place)

    def results(id_: str) -> None:
        hub.results(id_)
        hub.explain(id_, "w1 w2", at=(1, 1), attributes=_attributes(4))
        hub.subscription(id_)

    steps: list[Callable[[], object]] = [partial(publish, at=[1, 1])] * 12
    steps += [partial(publish, bbox=[170, 0, -170, 3])] * 3
    for i in range(24):
        for mode in ("match", "rank", "top"):
            steps.append(partial(results, f"{mode}{i}"))
    for i in (1, 2, 4, 7, 12):
        steps.append(partial(hub.move, f"match{i}", area=[1, 1, 4, 4]))
        steps.append(partial(hub.move, f"top{i}", at=[2, 2]))
        steps.append(partial(hub.move, f"rank{i}", area=[1, 1, 4, 4]))
        steps.append(partial(hub.unsubscribe, f"match{i + 5}"))
        steps.append(partial(hub.unsubscribe, f"top{i + 1}"))
        steps.append(partial(hub.unsubscribe, f"rank{i + 1}"))
        steps.append(partial(hub.retract, f"m{60 + i}"))
        steps.append(partial(hub.match, f"w{i} w1", at=(1, 1)))
    steps += [hub.stats, hub.check_invariants, lambda: len(hub)]
    steps += [partial(hub.subscribe, f"wish{i}", live=True, **w) for i, w in enumerate(WISHES)]
    steps.append(partial(hub.subscribe, "match2", replace=True, **WISHES[2]))
    steps.append(partial(hub.publish, "m55", "w1 w3", at=[1, 1], replace=True))
    steps.append(lambda: hub.subscribe("late", keywords="w1", area=[0, 0, 3, 3], live=True))
    steps.append(
        lambda: hub.subscribe("top", mode="top", keywords=["w1"], at=[1, 1], k=3, alpha=0.5)
    )
    steps.append(lambda: hub.set_weights(nc.Weights(documents=9, df={"w1": 5, "other": 1})))
    steps.append(lambda: hub.publish("far", "w1", at=[1, 1], time=10_000))
    return steps
