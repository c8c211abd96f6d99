"""[AP §5.1]: the AP-Tree for subscriptions that stay. 5 million subscriptions in the paper."""

from __future__ import annotations

from nearcast.bench.paper.experiment import PARAMETER, Experiment, M, Matching, Plot, Study
from nearcast.bench.paper.statements import BestAt, Growth, Order, Ratio, Steady, Trend, first

PAPER = "P2"
DATA = ("TWEETS", "GN", "CARS", "AIS")
TWO = ("TWEETS", "GN")
BASE = Matching(subscriptions=5 * M)
TREES = ("ap-tree", "rq-tree", "iq-tree")
SIZES = (1 * M, 5 * M, 10 * M, 20 * M)
OPTIMAL = "ap-tree:keyword_partition=optimal"
BY_WORDS, BY_SPACE = "ap-tree:priority=keyword", "ap-tree:priority=spatial"
NOT_REBUILT = "ap-tree:rebuild=false"


def _per_data(
    letters: str, axis: str, values: tuple[float, ...] | tuple[int, ...], *contenders: str
) -> tuple[Plot, ...]:
    """Return a panel of matching time for each data set."""
    return tuple(
        Plot(
            f"{letter}: {data}",
            "match_us",
            Study(Matching(data, subscriptions=5 * M), axis, values, contenders),
        )
        for letter, data in zip(letters, DATA, strict=False)
    )


def _parameter(letters: str, name: str, values: tuple[int, ...]) -> tuple[Plot, ...]:
    return _per_data(letters, PARAMETER, values, f"ap-tree:{name}={{x}}")


_VARIANTS = Study(
    Matching(subscriptions=5 * M, area=1e-5),
    "data",
    DATA,
    (OPTIMAL, "ap-tree", BY_WORDS, BY_SPACE, "trie-qd"),
)
_ALL = Study(BASE, "data", DATA, (*TREES, "rt++-tree", "auto"))
_KL = Study(
    Matching(subscriptions=5 * M, built=0.2),
    PARAMETER,
    (0.0001, 0.001, 0.01, 0.1, 0.5),
    ("ap-tree:kl_threshold={x}",),
)
_BUILT = Study(
    Matching(subscriptions=5 * M, built=0.2),
    "built",
    (0.1, 0.3, 0.5, 0.7, 0.9),
    ("ap-tree", NOT_REBUILT, "rq-tree", "iq-tree"),
)
_FEW = (
    "The rarest keyword alone leaves few candidates at this size, and every cut by space or by a "
    "second keyword costs a visit more"
)
_BOOLEAN = Matching(subscriptions=5 * M, expressions=True, keywords=(5, 5))

EXPERIMENTS = (
    Experiment(
        PAPER,
        "Fig. 10",
        "Fan-out f and leaf size θp of the AP-Tree",
        "A fan-out of 200 is best or close to it, and so is a leaf size of 40.",
        (
            *_parameter("abcd", "max_children", (50, 100, 200, 400, 800)),
            *_parameter("efgh", "max_leaf_size", (5, 10, 20, 40, 400)),
        ),
        (BestAt("ap-tree", 200, "abcd"), BestAt("ap-tree", 40, "efgh")),
    ),
    Experiment(
        PAPER,
        "Fig. 11",
        "Variants of the AP-Tree",
        "The optimal keyword partition matches fastest, the heuristic one nearly as fast and is "
        "built far faster; one partition always first is slow, and Trie-Qd too.",
        (Plot("a: matching", "match_us", _VARIANTS), Plot("b: building", "build_s", _VARIANTS)),
        (
            *(Order((OPTIMAL, other), "a") for other in (BY_WORDS, BY_SPACE, "trie-qd")),
            *(Order(("ap-tree", other), "a") for other in (BY_WORDS, BY_SPACE, "trie-qd")),
            Order(("ap-tree", OPTIMAL), "b"),
        ),
    ),
    Experiment(
        PAPER,
        "Fig. 12",
        "Four data sets",
        "The AP-Tree is fastest, 30 times ahead on GN; IQ beats Rt++; Rt++ is built fastest.",
        (
            Plot("a: matching", "match_us", _ALL),
            Plot("b: building", "build_s", _ALL),
            Plot("c: memory", "bytes", _ALL),
        ),
        (
            *first("ap-tree", "rq-tree", "iq-tree", "rt++-tree", on="a"),
            Ratio("ap-tree", "rq-tree", 30, "a", at="GN"),
            Order(("iq-tree", "rt++-tree"), "a"),
            *first("rt++-tree", "ap-tree", "rq-tree", "iq-tree", on="b"),
        ),
        _FEW,
    ),
    Experiment(
        PAPER,
        "Fig. 13",
        "Keywords of a subscription",
        "All become faster with more keywords, and the AP-Tree leads with more than one.",
        _per_data("ab", "keywords", (1, 2, 3, 4, 5), *TREES, "auto"),
        (*(Trend(name, rises=False) for name in TREES), *first(*TREES)),
        _FEW,
    ),
    Experiment(
        PAPER,
        "Fig. 14",
        "Area of a subscription",
        "Larger areas cost all more; the AP-Tree is the steadiest and the fastest.",
        _per_data("ab", "area", (1e-8, 1e-6, 1e-4, 1e-2, 1e-1), *TREES, "auto"),
        (*(Trend(name, rises=True) for name in TREES), *first(*TREES)),
        _FEW,
    ),
    Experiment(
        PAPER,
        "Fig. 15",
        "Number of subscriptions",
        "The AP-Tree is fastest at every size, and its time grows more slowly than the number.",
        _per_data("ab", "subscriptions", SIZES, *TREES, "auto"),
        (*first(*TREES), Growth("ap-tree", -0.2, 1.0)),
        _FEW,
    ),
    Experiment(
        PAPER,
        "Fig. 16",
        "Divergence from which a node is made again",
        "A smaller threshold makes matching faster and inserting slower.",
        (Plot("a: matching", "match_us", _KL), Plot("b: inserting", "insert_us", _KL)),
        (Trend("ap-tree", rises=True, on="a"), Trend("ap-tree", rises=False, on="b")),
    ),
    Experiment(
        PAPER,
        "Fig. 17",
        "Share of the subscriptions that an index is built on",
        "The AP-Tree stays fast however few it is built on and beats the others; without making "
        "nodes again it is slow when built on few, and inserts are cheapest.",
        (Plot("a: matching", "match_us", _BUILT), Plot("b: inserting", "insert_us", _BUILT)),
        (
            Steady("ap-tree", 1.5, "a"),
            *first("ap-tree", NOT_REBUILT, "rq-tree", "iq-tree", on="a"),
            Trend(NOT_REBUILT, rises=False, on="a"),
            *first(NOT_REBUILT, "ap-tree", "rq-tree", "iq-tree", on="b"),
        ),
    ),
    Experiment(
        PAPER,
        "Fig. 18",
        "Boolean expressions",
        "All stay about as fast with more keywords, and the AP-Tree is fastest and grows slowly.",
        (
            Plot("a: keywords", "match_us", Study(_BOOLEAN, "keywords", (3, 4, 5, 6, 7), TREES)),
            Plot("b: subscriptions", "match_us", Study(_BOOLEAN, "subscriptions", SIZES, TREES)),
        ),
        (
            *(Steady(name, 2, "a") for name in TREES),
            *first(*TREES),
            Growth("ap-tree", -0.2, 1.0, "b"),
        ),
    ),
)
