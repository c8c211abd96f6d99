"""[LFilter]: MBRTrie, PT-Quadtree and LFilter. 10 million subscriptions in the paper."""

from __future__ import annotations

from nearcast.bench.paper.experiment import Experiment, Matching, Plot, Study
from nearcast.bench.paper.lengths import SIZES, by_group, by_words
from nearcast.bench.paper.statements import Growth, Order, Within, first

PAPER = "P0"
PROBES = ("mbr-trie", "mbr-trie:probe=token-set", "mbr-trie:probe=trie")
OWN = ("lfilter", "pt-quadtree", "mbr-trie")
PEERS = ("lfilter", "rt++-tree", "ir-tree")

EXPERIMENTS = (
    Experiment(
        PAPER,
        "Table 1",
        "Data sets and index sizes",
        "The indexes of ten million subscriptions fit into the 8 GB of the paper's machine; the "
        "table itself is lost.",
        (
            Plot(
                "bytes",
                "bytes",
                Study(Matching(), "data", ("TWEETS", "USA"), OWN),
            ),
        ),
        tuple(Within(name, 1, 8e9 / 10e6) for name in OWN),
        lost=True,
    ),
    Experiment(
        PAPER,
        "Fig. 7",
        "Probe strategies of the MBRTrie",
        "The cost-based probe is faster than probing token sets and than probing the trie.",
        by_words(*PROBES),
        first(*PROBES),
    ),
    Experiment(
        PAPER,
        "Fig. 8",
        "MBRTrie, PT-Quadtree and LFilter",
        "LFilter is fastest; PT-Quadtree beats MBRTrie for points, MBRTrie beats PT-Quadtree for "
        "ranges.",
        by_words(*OWN),
        (
            *first(*OWN),
            Order(("pt-quadtree", "mbr-trie"), "ab"),
            Order(("mbr-trie", "pt-quadtree"), "cd"),
        ),
    ),
    Experiment(
        PAPER,
        "Fig. 9",
        "Against existing methods, tweets",
        "LFilter is faster than the Rt++-tree, which is faster than the IR-tree.",
        by_words(*PEERS, "auto"),
        (Order(PEERS),),
    ),
    Experiment(
        PAPER,
        "Fig. 10",
        "Against existing methods, USA",
        "LFilter is faster than the Rt++-tree, which is faster than the IR-tree.",
        by_words(*PEERS, "auto", data="USA"),
        (Order(PEERS),),
    ),
    Experiment(
        PAPER,
        "Fig. 11",
        "Number of subscriptions",
        "The time of LFilter grows almost linearly with the number of subscriptions, or less.",
        by_group(Matching(), "subscriptions", SIZES, "lfilter"),
        (Growth("lfilter", -0.2, 1.15),),
    ),
)
