"""[AP §5.2]: the AP+-Tree for subscriptions that move. A million, and as many messages."""

from __future__ import annotations

from nearcast.bench.paper.experiment import Experiment, K, M, Moving, Plot, Safety, Study
from nearcast.bench.paper.statements import Growth, NotHere, Order, Ratio, Trend, first

PAPER = "P2"
DATA = ("TWEETS-ODB", "TWEETS-SAN", "GN-ODB", "GN-SAN")
TOWNS = ("TWEETS-ODB", "GN-ODB")
KINDS = ("ap+-tree", "rq+-tree", "iq+-tree", "ss-index", "kk-index")
OTHERS = KINDS[1:]
BY_WORDS, BY_SPACE = "ap+-tree:messages=keyword", "ap+-tree:messages=space"
SAFE = "ap+-tree-safe"
NO_ELAPS = NotHere("Elaps stands in another paper and is not rebuilt here")


def _per_town(axis: str, values: tuple[float, ...], measure: str = "move_us") -> tuple[Plot, ...]:
    """Return a panel for each combination of texts with the roads of Oldenburg."""
    return tuple(
        Plot(f"{letter}: {data}", measure, Study(Moving(data), axis, values, KINDS))
        for letter, data in zip("ab", TOWNS, strict=True)
    )


_DETAIL = Study(Moving(), "data", TOWNS, KINDS)
_VARIANTS = Study(Moving(), "data", TOWNS, ("ap+-tree", BY_WORDS, BY_SPACE))
_ALL = Study(Moving(), "data", DATA, (*KINDS, "auto"))
_SAFE_SIZES = Study(Safety(), "objects", (10 * K, 100 * K, 1 * M), ("ap+-tree", SAFE))
_SAFE_RATES = Study(
    Safety(objects=100 * K), "arrivals", (10 * K, 30 * K, 50 * K), ("ap+-tree", SAFE)
)
_SAFE_CLAIMS = (
    NO_ELAPS,
    Order(("ap+-tree", SAFE), "a"),
    Order((SAFE, "ap+-tree"), "b"),
)

EXPERIMENTS = (
    Experiment(
        PAPER,
        "Fig. 19",
        "To keep a message, and to move a subscription",
        "Messages are cheaper to keep in SS- and KK-Index; a move is cheapest in the AP+-Tree and "
        "dearest in the IQ+- and RQ+-Tree.",
        (Plot("a: keeping", "keep_us", _DETAIL), Plot("b: moving", "move_us", _DETAIL)),
        (
            *(
                Order((cheap, dear), "a")
                for cheap in ("ss-index", "kk-index")
                for dear in ("ap+-tree", "iq+-tree", "rq+-tree")
            ),
            *first("ap+-tree", "iq+-tree", "rq+-tree", on="b"),
        ),
    ),
    Experiment(
        PAPER,
        "Fig. 20",
        "Messages in the tree or in an index of their own",
        "With an index of their own messages are matched a little faster, and a move takes nearly "
        "ten times as long.",
        (Plot("a: messages", "publish_us", _VARIANTS), Plot("b: moving", "move_us", _VARIANTS)),
        (
            Order((BY_WORDS, "ap+-tree"), "a"),
            Order((BY_SPACE, "ap+-tree"), "a"),
            Ratio("ap+-tree", BY_WORDS, 8, "b"),
            Ratio("ap+-tree", BY_SPACE, 8, "b"),
        ),
    ),
    Experiment(
        PAPER,
        "Fig. 21",
        "Two texts on two road networks",
        "The AP+-Tree is best at messages, at moves (up to 30 times on GN) and in memory.",
        (
            Plot("a: messages", "publish_us", _ALL),
            Plot("b: moving", "move_us", _ALL),
            Plot("c: memory", "bytes", _ALL),
        ),
        (
            *first("ap+-tree", *OTHERS, on="a"),
            *first("ap+-tree", *OTHERS, on="b"),
            Ratio("ap+-tree", "ss-index", 30, "b", at="GN-ODB"),
            *first("ap+-tree", *OTHERS, on="c"),
        ),
    ),
    Experiment(
        PAPER,
        "Fig. 22",
        "Share that moves in a step",
        "The time of a step grows with the share that moves, and the AP+-Tree takes least.",
        _per_town("mobility", (0.1, 0.2, 0.4, 0.8), "step_ms"),
        (Trend("ap+-tree", rises=True), *first("ap+-tree", *OTHERS)),
    ),
    Experiment(
        PAPER,
        "Fig. 23",
        "Speed",
        "The AP+-Tree is fastest at every speed.",
        _per_town("speed", (0.5, 1.0, 2.0, 4.0)),
        first("ap+-tree", *OTHERS),
    ),
    Experiment(
        PAPER,
        "Fig. 24",
        "Area of a subscription that moves",
        "Larger areas make moves dearer for all; the AP+-Tree stays cheapest and grows least.",
        _per_town("area", (1e-8, 1e-6, 1e-4, 1e-2)),
        (*(Trend(name, rises=True) for name in KINDS), *first("ap+-tree", *OTHERS)),
    ),
    Experiment(
        PAPER,
        "Fig. 25",
        "Number of subscriptions and messages",
        "The AP+-Tree is fastest at every size, and a move grows at most in proportion.",
        _per_town("objects", (M // 2, 3 * M // 2, 5 * M // 2)),
        (*first("ap+-tree", *OTHERS), Growth("ap+-tree", -0.2, 1.1)),
    ),
    Experiment(
        PAPER,
        "Fig. 26",
        "Safe regions: number of subscriptions",
        "The AP+-Tree is far faster than Elaps, which sends least; safe regions in the AP+-Tree "
        "send less than reports at every step, for more time.",
        (
            Plot("a: time", "step_ms", _SAFE_SIZES),
            Plot("b: communication", "step_reports", _SAFE_SIZES),
        ),
        _SAFE_CLAIMS,
    ),
    Experiment(
        PAPER,
        "Fig. 27",
        "Safe regions: messages that come in a step",
        "As with the number of subscriptions: safe regions send less, for more time.",
        (
            Plot("a: time", "step_ms", _SAFE_RATES),
            Plot("b: communication", "step_reports", _SAFE_RATES),
        ),
        _SAFE_CLAIMS,
    ),
)
