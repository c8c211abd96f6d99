"""[Rt]: Rt-tree, Rt+-tree and Rt++-tree. 10 million subscriptions in the paper."""

from __future__ import annotations

from nearcast.bench.paper.experiment import Experiment, Matching, Plot, Study
from nearcast.bench.paper.lengths import SIZES, by_group, by_words
from nearcast.bench.paper.statements import Growth, Order, PanelRatio, PeakInside, Trend, first

PAPER = "P1"
TREES = ("rt++-tree", "rt+-tree", "rt-tree")
TOKENS = (
    "rt+-tree",
    "rt+-tree:representative=idf",
    "rt+-tree:representative=df",
    "rt+-tree:representative=random",
)
PEERS = ("rt++-tree", "keyword-first", "spatial-first", "ir-tree")
_AGAINST_PEERS = (
    *first(*PEERS),
    Order(("spatial-first", "keyword-first"), "ab"),
    Order(("keyword-first", "spatial-first"), "cd"),
    Order(("spatial-first", "ir-tree")),
)
_CLAIM = (
    "The Rt++-tree is fastest; spatial-first beats keyword-first for points, keyword-first beats "
    "spatial-first for ranges, and the IR-tree is behind spatial-first."
)
_RAREST = (
    "Keyword-first files each subscription once here, under its rarest keyword; the paper's finds "
    "all that satisfy the text, by inverted lists, before it looks at places"
)
_RANKED = Matching(alpha=0.5, threshold=0.6)
_TABLE = Study(Matching(), "data", ("TWEETS", "USA"), TREES)

EXPERIMENTS = (
    Experiment(
        PAPER,
        "Table 1",
        "Index sizes",
        "The Rt+-tree is smallest (0.79 GB), the Rt++-tree a little larger (0.89), the Rt-tree "
        "twice as large (1.63).",
        (Plot("bytes of the index", "index_bytes", _TABLE),),
        (Order(("rt+-tree", "rt++-tree", "rt-tree")),),
    ),
    Experiment(
        PAPER,
        "Fig. 7",
        "Which token represents a subscription",
        "Locality-aware tokens are fastest, then idf, then df, then random ones.",
        by_words(*TOKENS),
        (Order(TOKENS),),
        "Locality and idf choose nearly the same tokens here",
    ),
    Experiment(
        PAPER,
        "Fig. 8",
        "Rt-tree with different token sets",
        "The Rt++-tree is faster than the Rt+-tree, which is faster than the Rt-tree.",
        by_words(*TREES),
        (Order(TREES),),
    ),
    Experiment(
        PAPER,
        "Fig. 9",
        "Against existing methods, tweets",
        _CLAIM,
        by_words(*PEERS, "auto"),
        _AGAINST_PEERS,
        _RAREST,
    ),
    Experiment(
        PAPER,
        "Fig. 10",
        "Against existing methods, USA",
        _CLAIM,
        by_words(*PEERS, "auto", data="USA"),
        _AGAINST_PEERS,
        _RAREST,
    ),
    Experiment(
        PAPER,
        "Fig. 11",
        "Number of subscriptions",
        "The time of the Rt++-tree grows more slowly than the number of subscriptions.",
        by_group(Matching(), "subscriptions", SIZES, "rt++-tree"),
        (Growth("rt++-tree", -0.2, 1.0),),
    ),
    Experiment(
        PAPER,
        "Fig. 12",
        "Throughput with updates",
        "Of 80 % messages, 10 % inserts and 10 % deletes the Rt++-tree does 600 to 840 a second "
        "with short point messages and 60 to 120 with long ranges.",
        by_group(
            Matching(mixed=True),
            "subscriptions",
            SIZES[::2],
            "rt++-tree",
            measure="operations_per_s",
        ),
        (PanelRatio("rt++-tree", "a", "d", 5), Trend("rt++-tree", rises=False)),
    ),
    Experiment(
        PAPER,
        "Fig. 13",
        "Ranking: share of space in the score",
        "With a larger α the time rises first, then falls: text prunes at small α, space at large.",
        by_group(_RANKED, "alpha", (0.1, 0.3, 0.5, 0.7, 0.9), *TREES),
        tuple(PeakInside(name) for name in TREES),
    ),
    Experiment(
        PAPER,
        "Fig. 14",
        "Ranking: threshold",
        "The time of the Rt++-tree falls with a larger threshold, and it is fastest.",
        by_group(Matching(alpha=0.3), "threshold", (0.5, 0.6, 0.7, 0.8, 0.9), *PEERS),
        (Trend("rt++-tree", rises=False), *first(*PEERS)),
        _RAREST,
    ),
)
