"""[Skype §8.2]: top lists in partitions. Five million subscriptions in 32 partitions."""

from __future__ import annotations

from nearcast.bench.paper.experiment import Experiment, M, Parted, Plot, Study
from nearcast.bench.paper.statements import (
    Between,
    Growth,
    NotMuchBetter,
    Order,
    Ratio,
    Trend,
    Within,
)

PAPER = "P4"
DATA = ("TWEETS", "GN", "YELP")
CENTRAL = "one machine"
FOUR = ("hash", "location", "keyword", "prefix")
THREE = ("hash", "location", "prefix")
HYBRIDS = ("location-prefix", "prefix-location")

_MECHANISMS = Study(Parted(), "data", DATA, (*FOUR, CENTRAL))
_LEVELS = Study(Parted(), "first_level", (1, 2, 4, 8, 16, 32), (*HYBRIDS, "location", "prefix"))


def _per_data(
    axis: str, values: tuple[int, ...], measure: str, letters: str = "abc"
) -> tuple[Plot, ...]:
    return tuple(
        Plot(f"{letter}: {data}", measure, Study(Parted(data), axis, values, THREE))
        for letter, data in zip(letters, DATA, strict=True)
    )


EXPERIMENTS = (
    Experiment(
        PAPER,
        "Fig. 21",
        "Distribution mechanisms",
        "On tweets prefix is fastest (56 % ahead of hash), location 15 % ahead, keyword slowest; "
        "keyword and prefix send 80 % less; 32 partitions are 26 to 49 times one machine.",
        (
            Plot("a: throughput", "messages_per_s", _MECHANISMS),
            Plot("b: communication", "communication", _MECHANISMS),
        ),
        (
            Ratio("prefix", "hash", 1.3, "a", at="TWEETS"),
            Ratio("location", "hash", 1.05, "a", at="TWEETS"),
            Ratio("hash", "keyword", 1.05, "a", at="TWEETS"),
            Ratio("prefix", "hash", 4, "b", at="TWEETS"),
            Ratio("keyword", "hash", 4, "b", at="TWEETS"),
            Ratio("prefix", CENTRAL, 26, "a"),
        ),
    ),
    Experiment(
        PAPER,
        "Table 5",
        "Copies of a subscription",
        "Hash and location keep one copy, keyword 3.2 to 3.3, prefix 1.9 to 2.1.",
        (Plot("copies", "replication", _MECHANISMS),),
        (
            Within("hash", 1, 1),
            Within("location", 1, 1),
            Within("keyword", 2.5, 3.5),
            Within("prefix", 1.5, 2.3),
            Order(("prefix", "keyword")),
        ),
    ),
    Experiment(
        PAPER,
        "Fig. 22",
        "Number of partitions",
        "All become faster with more partitions; prefix passes hash and location with 16 or more, "
        "not on YELP, and sends less.",
        (
            *_per_data("partitions", (4, 8, 16, 32), "messages_per_s"),
            *_per_data("partitions", (4, 8, 16, 32), "communication", "def"),
        ),
        (
            *(Growth(name, 0.5, 1.2, "abc") for name in THREE),
            Order(("prefix", "hash"), "ab"),
            Order(("hash", "prefix"), "c"),
            Order(("prefix", "hash"), "def"),
        ),
    ),
    Experiment(
        PAPER,
        "Fig. 23",
        "Length k of a list",
        "Throughput falls slowly with k.",
        _per_data("k", (10, 20, 50), "messages_per_s"),
        tuple(claim for name in THREE for claim in (Trend(name, rises=False), Growth(name, -1, 0))),
    ),
    Experiment(
        PAPER,
        "Fig. 24",
        "Number of subscriptions",
        "Throughput falls at most in proportion to the number of subscriptions.",
        _per_data("subscriptions", (5 * M, 10 * M, 20 * M), "messages_per_s"),
        tuple(Growth(name, -1.1, 0) for name in THREE),
    ),
    Experiment(
        PAPER,
        "Fig. 25",
        "Hybrids: throughput",
        "Hybrids are no large improvement over location and prefix.",
        (Plot("throughput", "messages_per_s", _LEVELS),),
        tuple(NotMuchBetter(hybrid, ("location", "prefix"), 1.2) for hybrid in HYBRIDS),
    ),
    Experiment(
        PAPER,
        "Fig. 26",
        "Hybrids: communication",
        "Hybrids send more than prefix and less than location.",
        (Plot("communication", "communication", _LEVELS),),
        tuple(Between("prefix", hybrid, "location") for hybrid in HYBRIDS),
    ),
)
