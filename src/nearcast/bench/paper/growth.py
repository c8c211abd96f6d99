"""How it grows: our own curves, from ten thousand subscriptions to as many as fit.

Sizes here are not the papers': `nearcast bench growth` measures them as they stand, up to `--most`.
"""

from __future__ import annotations

from nearcast.bench.paper.experiment import (
    Experiment,
    K,
    M,
    Matching,
    Parted,
    Plot,
    Spread,
    Study,
    Tops,
)
from nearcast.bench.paper.statements import Growth

PAPER = "G"
OWN = "auto"
KINDS = (OWN, "keyword-first", "ap-tree", "lfilter", "rt++-tree")
SIZES = (10 * K, 30 * K, 100 * K, 300 * K, M, 3 * M, 5 * M, 20 * M)
WORDS = (1, 3, 10, 30, 100, 300, 1_000)

_SIZES = Study(Matching(), "subscriptions", SIZES, (OWN, "keyword-first"))
_KINDS = Study(Matching(), "subscriptions", SIZES[:4], KINDS)
_WINDOW = Study(
    Tops(subscriptions=100 * K), "window", (10 * K, 30 * K, 100 * K, 300 * K, M), (OWN,)
)
_K = Study(Tops(subscriptions=100 * K, window=100 * K), "k", (1, 5, 20, 50, 100), (OWN,))
_SPREAD = Study(
    Spread(subscriptions=300 * K),
    "partitions",
    (1, 2, 4, 8, 16, 32),
    ("hash", "location", "keyword"),
)
_PARTS = Study(
    Parted(subscriptions=20 * K, window=20 * K),
    "partitions",
    (1, 2, 4, 8, 16, 32),
    ("hash", "location", "keyword", "prefix"),
)

EXPERIMENTS = (
    Experiment(
        PAPER,
        "Fig. 1",
        "Number of subscriptions",
        "Time grows more slowly than the number of subscriptions, memory in proportion, and a "
        "subscription takes as long to build at any number.",
        (
            Plot("a: matching", "match_us", _SIZES),
            Plot("b: building", "build_s", _SIZES),
            Plot("c: memory", "bytes", _SIZES),
            Plot("d: slow messages", "p99_us", _SIZES),
        ),
        (Growth(OWN, 0, 0.9, "a"), Growth(OWN, 0.8, 1.2, "b"), Growth(OWN, -0.3, 0.1, "c")),
    ),
    Experiment(
        PAPER,
        "Fig. 2",
        "Number of subscriptions, with the papers' kinds",
        "The same for one kind of each paper.",
        (
            Plot("a: matching", "match_us", _KINDS),
            Plot("b: building", "build_s", _KINDS),
            Plot("c: memory", "bytes", _KINDS),
        ),
        (Growth(OWN, 0, 0.9, "a"),),
    ),
    Experiment(
        PAPER,
        "Fig. 3",
        "Words in a message",
        "Time grows at most in proportion to the words of a message.",
        (
            Plot(
                "matching",
                "match_us",
                Study(Matching(subscriptions=M), "words", WORDS, (OWN, "keyword-first")),
            ),
        ),
        (Growth(OWN, 0.3, 1.1),),
    ),
    Experiment(
        PAPER,
        "Fig. 4",
        "Top lists: messages in the window",
        "A step of top lists grows more slowly than the window.",
        (Plot("a: step", "step_us", _WINDOW), Plot("b: memory", "bytes", _WINDOW)),
        (Growth(OWN, -0.5, 0.9, "a"),),
    ),
    Experiment(
        PAPER,
        "Fig. 5",
        "Top lists: length of a list",
        "A step of top lists grows at most in proportion to k.",
        (Plot("a: step", "step_us", _K), Plot("b: memory", "bytes", _K)),
        (Growth(OWN, 0, 1.1, "a"),),
    ),
    Experiment(
        PAPER,
        "Fig. 6",
        "Top lists: partitions, projected from partitions run one by one",
        "Messages a second grow with the number of partitions.",
        (
            Plot("a: throughput", "messages_per_s", _PARTS),
            Plot("b: communication", "communication", _PARTS),
            Plot("c: copies", "replication", _PARTS),
        ),
        (Growth("hash", 0.3, 1.2, "a"), Growth("prefix", 0.3, 1.2, "a")),
    ),
    Experiment(
        PAPER,
        "Fig. 7",
        "Matching: partitions, projected from partitions run one by one",
        "Messages a second grow with the number of partitions.",
        (
            Plot("a: throughput", "messages_per_s", _SPREAD),
            Plot("b: communication", "communication", _SPREAD),
            Plot("c: copies", "replication", _SPREAD),
        ),
        tuple(Growth(name, 0.3, 1.2, "a") for name in ("hash", "location", "keyword")),
    ),
)
